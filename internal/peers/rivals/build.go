// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package rivals

import (
	"cmp"
	"context"
	"crypto/sha256"
	"embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"example.com/fastmac/internal/peers/serve"
)

//go:embed c rust/Cargo.toml rust/src fakeboboliu
var sources embed.FS

// GoPeer is the name of this program as a peer, with GoOps.
const GoPeer = "Go"

const (
	// needsC and needsRust are what has to be installed: packages of Debian.
	needsC    = "(Debian packages gcc libc6-dev%s)"
	needsRust = "(Debian packages cargo gcc libc6-dev%s, or rustup; Rust 1.85 or newer)"

	// rustCPU allows all instructions of this CPU. RustCrypto's AES-GCM is far faster
	// with them: it encrypts 64 bytes in 106 ns, and in 175 without, on Zen 4.
	rustCPU = "target-cpu=native"

	// failure is a line of a compiler's output that says why it failed.
	failure = `(?m)^.*(\berror\b|cannot|undefined).*$`
)

// Built is the peers that were built, the versions of what they measure and of
// their compilers, and for each peer that was not built, the reason.
type Built struct {
	Peers    map[string]serve.Peer
	Versions map[string]string
	LeftOut  []string

	ctx    context.Context
	dir    string
	needed map[string]bool // names of peers
}

// Build builds in dir all peers of the groups that are not this program. Most machines
// lack something: peers that cannot be built are left out, and contenders that this
// program cannot run. openssh and fakeboboliu are directories with sources from outside
// the tree, or "". BoringSSL, which takes minutes, is built if boringssl is true.
func Build(ctx context.Context, dir string, groups []Group, openssh, fakeboboliu string, boringssl bool) (*Built, error) {
	b, err := newBuilt(ctx, dir, groups)
	if err != nil {
		return nil, err
	}
	b.buildC()
	b.buildRust("", nil, "RustCrypto", "ring", "orion", "aws-lc-rs")
	b.buildBoringSSL(boringssl)
	b.buildOpenSSH(openssh)
	b.buildFakeboboliu(fakeboboliu)
	for _, g := range groups {
		for _, c := range g.Contenders {
			if err := c.Missing(); err != nil {
				b.leaveOut(c.Title(), err)
			}
		}
	}
	return b, nil
}

func newBuilt(ctx context.Context, dir string, groups []Group) (*Built, error) {
	if err := os.CopyFS(dir, sources); err != nil {
		return nil, fmt.Errorf("fastmac: %w", err)
	}
	b := &Built{Peers: make(map[string]serve.Peer), Versions: GoVersions(), ctx: ctx, dir: dir, needed: make(map[string]bool)}
	for _, g := range groups {
		for _, c := range g.Contenders {
			b.needed[c.Peer()] = true
		}
	}
	return b, nil
}

// leaveOut adds the reason for which a peer or a contender is left out, once.
func (b *Built) leaveOut(name string, err error) {
	line := name + " left out: " + strings.TrimPrefix(strings.TrimSpace(err.Error()), "fastmac: ")
	if !slices.Contains(b.LeftOut, line) {
		b.LeftOut = append(b.LeftOut, line)
	}
}

// add adds the peer name, which argv builds to the file exe in directory wd, or the
// reason why it cannot be built, unless no group needs it. needs is what has to be installed. An error in before
// is a reason too.
func (b *Built) add(name, exe, needs, wd string, before error, argv ...string) bool {
	if !b.needed[name] {
		return false
	}
	err := before
	if err == nil {
		cmd := exec.CommandContext(b.ctx, argv[0], argv[1:]...)
		cmd.Dir = wd
		var out []byte
		if out, err = cmd.CombinedOutput(); errors.Is(err, exec.ErrNotFound) {
			err = fmt.Errorf("%s not found %s", argv[0], needs)
		} else if err != nil {
			line := cmp.Or(strings.TrimSpace(string(regexp.MustCompile(failure).Find(out))), err.Error())
			err = fmt.Errorf("%s: %s %s", argv[0], line, needs)
		}
	}
	if err != nil {
		b.leaveOut(name, err)
		return false
	}
	b.Peers[name] = serve.Peer{Name: name, Argv: []string{exe}}
	return true
}

// cc adds a peer in C, which needs these packages too.
func (b *Built) cc(name, packages string, before error, args ...string) {
	exe := filepath.Join(b.dir, name)
	argv := append([]string{"cc", "-O2", "-o", exe}, args...)
	if b.add(name, exe, fmt.Sprintf(needsC, packages), b.dir, before, argv...) {
		b.Versions["C compiler"] = firstLine(b.ctx, "cc", "--version")
	}
}

func (b *Built) buildC() {
	b.cc("nettle", " nettle-dev", nil, "c/nettle.c", "-lnettle")
	b.cc("OpenSSL", " libssl-dev", nil, "c/openssl.c", "-lcrypto")
	b.cc("ipsec-mb", " libipsec-mb-dev", nil, "c/ipsec-mb.c", "-lIPSec_MB")
	b.cc("reading", "", nil, "c/read.c")
}

// buildRust builds programs of the crate in rust one by one, because some may build
// where others do not. Each has a feature of its name, which adds the crates that are
// measured. cargo downloads the crates that it does not have. They need these packages too. RUSTFLAGS in the
// environment replaces rustCPU.
func (b *Built) buildRust(packages string, before error, names ...string) {
	dir := filepath.Join(b.dir, "rust")
	for _, name := range names {
		exe := filepath.Join(dir, "target", "release", name)
		if b.add(name, exe, fmt.Sprintf(needsRust, packages), dir, before,
			"cargo", "build", "--release", "--config", `build.rustflags="-C`+rustCPU+`"`,
			"--target-dir", "target", "--features", name, "--bin", name) {
			b.Versions["Rust compiler"] = firstLine(b.ctx, "rustc", "--version")
			if os.Getenv("RUSTFLAGS") == "" {
				b.Versions["Rust compiler"] += ", " + rustCPU
			}
		}
	}
	lock, _ := os.ReadFile(filepath.Join(dir, "Cargo.lock")) // of what cargo built
	for _, crate := range regexp.MustCompile(`name = "(hkdf|hmac|pbkdf2|sha2|aes-gcm|aes|polyval|ring|orion|aws-lc-rs|boring-sys)"\nversion = "(.*)"`).FindAllSubmatch(lock, -1) {
		b.Versions["crate "+string(crate[1])] = string(crate[2])
	}
}

// buildBoringSSL builds the crate that has BoringSSL's sources.
func (b *Built) buildBoringSSL(wanted bool) {
	var missing error
	if !wanted {
		missing = errors.New("no -boringssl")
	}
	b.buildRust(" cmake g++ libclang-dev", missing, "BoringSSL")
}

// buildOpenSSH compiles umac.c from a directory of OpenSSH's sources. It compiles
// copies beside the headers in c/openssh, because umac.c looks for headers in its own
// directory first, and OpenSSH's need its configure script.
func (b *Built) buildOpenSSH(from string) {
	missing := func() error {
		if from == "" {
			return errors.New("no -openssh")
		}
		for _, file := range []string{"umac.c", "umac.h", "umac128.c"} {
			data, err := os.ReadFile(filepath.Join(from, file))
			if err != nil {
				return err
			}
			if err := os.WriteFile(filepath.Join(b.dir, "c", "openssh", file), data, 0o666); err != nil {
				return err
			}
			// $OpenBSD: umac.c,v 1.30 2026/03/03 09:57:26 dtucker Exp $
			if id := regexp.MustCompile(`umac\.c,v (\S+) (\S+)`).FindSubmatch(data); id != nil {
				b.Versions["OpenSSH umac.c"] = fmt.Sprintf("%s (%s)", id[1], id[2])
			}
		}
		return nil
	}()
	// umac.c reads words through pointers of other types. OpenSSH's configure script
	// adds the same option.
	b.cc("OpenSSH", " libssl-dev", missing, "-fno-strict-aliasing", "-Ic/openssh",
		"c/openssh.c", "c/openssh/umac.c", "c/openssh/umac128.c", "-lcrypto")
}

// buildFakeboboliu builds fakeboboliu/main.go in this module, whose go.mod is
// replaced by one that also requires the module in the directory from.
func (b *Built) buildFakeboboliu(from string) {
	const name = "fakeboboliu"
	exe, modFile := filepath.Join(b.dir, name+".exe"), filepath.Join(b.dir, name+".mod")
	goMod := firstLine(b.ctx, "go", "env", "GOMOD")
	missing := func() error {
		if from == "" {
			return errors.New("no -fakeboboliu")
		}
		from, err := filepath.Abs(from)
		if err != nil {
			return err
		}
		hash, err := hashGo(from)
		if err != nil {
			return err
		}
		b.Versions["fakeboboliu/umac"] = "copy with SHA-256 " + hash
		mod, errMod := os.ReadFile(goMod)
		sum, errSum := os.ReadFile(strings.TrimSuffix(goMod, "mod") + "sum")
		mod = fmt.Appendf(mod, "\nrequire github.com/fakeboboliu/umac v0.0.0\n\nreplace github.com/fakeboboliu/umac => %q\n", from)
		return errors.Join(errMod, errSum, os.WriteFile(modFile, mod, 0o666),
			os.WriteFile(filepath.Join(b.dir, name+".sum"), sum, 0o666))
	}()
	// A file that is named is built in spite of its constraint.
	b.add(name, exe, "", filepath.Dir(goMod), missing,
		"go", "build", "-mod=mod", "-modfile", modFile, "-o", exe, "rivals/fakeboboliu/main.go")
}

// hashGo identifies the Go files in a directory, which may be a copy that has no
// version.
func hashGo(dir string) (string, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.go")) // sorted
	if err != nil || len(files) == 0 {
		return "", errors.Join(err, fmt.Errorf("no Go files in %s", dir))
	}
	h := sha256.New()
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(h, "%s %d\n%s", filepath.Base(file), len(data), data)
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:6]), nil
}

// firstLine returns the first line of a command's output, or "unknown".
func firstLine(ctx context.Context, name string, args ...string) string {
	out, err := exec.CommandContext(ctx, name, args...).Output()
	line, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	if err != nil || line == "" {
		return "unknown"
	}
	return line
}
