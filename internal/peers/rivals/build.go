// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package rivals

import (
	"bytes"
	"context"
	"crypto/sha256"
	"embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"example.com/fastmac/internal/peers/serve"
)

//go:embed c rust/Cargo.toml rust/src fakeboboliu
var sources embed.FS

// GoPeer is the name of this program as a peer, with GoOps.
const GoPeer = "Go"

// cPeers are compiled from c. The packages are Debian's.
var cPeers = []struct{ name, file, lib, packages string }{
	{"nettle", "nettle.c", "-lnettle", "nettle-dev"},
	{"OpenSSL", "openssl.c", "-lcrypto", "libssl-dev"},
	{"reading", "read.c", "", ""},
}

// rustPeers are the programs of the crate in rust. Each is a feature of that name,
// which adds the crates that are measured. The first builds in seconds.
var rustPeers = []struct {
	name   string
	crates []string
}{
	{"RustCrypto", []string{"hmac", "sha2"}},
	{"ring", []string{"ring"}},
	{"orion", []string{"orion"}},
	{"aws-lc-rs", []string{"aws-lc-rs"}},
}

// minRust is the oldest Rust that builds the crates of rust/Cargo.toml.
const minRust = "1.85"

// Built is the peers that were built, the versions of what they measure and of
// their compilers, and for each peer that was not built, the reason.
type Built struct {
	Peers    map[string]serve.Peer
	Versions map[string]string
	LeftOut  []string

	ctx context.Context
	dir string
}

// Build builds in dir all peers that are not this program. Most machines lack
// something: peers that cannot be built are left out. openssh and fakeboboliu are
// directories with sources from outside the tree, or "".
func Build(ctx context.Context, dir, openssh, fakeboboliu string) (*Built, error) {
	b, err := newBuilt(ctx, dir)
	if err != nil {
		return nil, err
	}
	b.buildC()
	b.buildRust()
	b.buildOpenSSH(openssh)
	b.buildFakeboboliu(fakeboboliu)
	return b, nil
}

func newBuilt(ctx context.Context, dir string) (*Built, error) {
	if err := os.CopyFS(dir, sources); err != nil {
		return nil, fmt.Errorf("fastmac: %w", err)
	}
	return &Built{Peers: make(map[string]serve.Peer), Versions: GoVersions(), ctx: ctx, dir: dir}, nil
}

// add adds the peer at path, or the reason why there is none.
func (b *Built) add(name, path string, err error) {
	if err != nil {
		b.LeftOut = append(b.LeftOut, name+" left out: "+err.Error())
		return
	}
	b.Peers[name] = serve.Peer{Name: name, Argv: []string{path}}
}

func (b *Built) buildC() {
	for _, p := range cPeers {
		exe := filepath.Join(b.dir, p.name)
		args := []string{filepath.Join(b.dir, "c", p.file)}
		if p.lib != "" {
			args = append(args, p.lib)
		}
		b.add(p.name, exe, b.cc(p.packages, exe, args...))
	}
}

// cc compiles to exe. Its errors name the packages to install.
func (b *Built) cc(packages, exe string, args ...string) error {
	install := strings.TrimSpace("gcc libc6-dev " + packages)
	path, err := exec.LookPath("cc")
	if err != nil {
		return fmt.Errorf("cc not found (Debian packages %s)", install)
	}
	cmd := exec.CommandContext(b.ctx, path, append([]string{"-O2", "-o", exe}, args...)...)
	if err := compile(cmd, `(?m)^.*error: .*$|^.*cannot find .*$`); err != nil {
		return fmt.Errorf("cc: %w (Debian packages %s)", err, install)
	}
	b.Versions["C compiler"] = firstLine(b.ctx, path, "--version")
	return nil
}

// buildRust builds the programs one by one, because some may build where others do
// not. cargo downloads the crates that it does not have.
func (b *Built) buildRust() {
	const install = "(Debian packages cargo gcc libc6-dev, or rustup; Rust " + minRust + " or newer)"
	dir := filepath.Join(b.dir, "rust")
	for _, p := range rustPeers {
		exe := filepath.Join(dir, "target", "release", p.name)
		path, err := exec.LookPath("cargo")
		if err != nil {
			b.add(p.name, exe, errors.New("cargo not found "+install))
			continue
		}
		cmd := exec.CommandContext(b.ctx, path, "build", "--release", "--target-dir", "target", "--features", p.name, "--bin", p.name)
		cmd.Dir = dir
		if err := compile(cmd, `(?m)^error.*$`); err != nil {
			b.add(p.name, exe, fmt.Errorf("cargo: %w %s", err, install))
			continue
		}
		lock, err := os.ReadFile(filepath.Join(dir, "Cargo.lock"))
		for _, crate := range p.crates {
			b.Versions["crate "+crate] = crateVersion(string(lock), crate)
		}
		b.Versions["Rust compiler"] = firstLine(b.ctx, "rustc", "--version")
		b.add(p.name, exe, err)
	}
}

// crateVersion returns the version of a crate in a Cargo.lock.
func crateVersion(lock, crate string) string {
	_, rest, _ := strings.Cut(lock, fmt.Sprintf("name = %q\nversion = \"", crate))
	version, _, _ := strings.Cut(rest, `"`)
	return version
}

// buildOpenSSH compiles umac.c from a directory of OpenSSH's sources. It compiles
// copies beside the headers in c/openssh, because umac.c looks for headers in its own
// directory first, and OpenSSH's need its configure script.
func (b *Built) buildOpenSSH(from string) {
	const name = "OpenSSH"
	dir := filepath.Join(b.dir, "c", "openssh")
	exe := filepath.Join(b.dir, name)
	b.add(name, exe, func() error {
		if from == "" {
			return errors.New("no -openssh")
		}
		for _, file := range []string{"umac.c", "umac.h", "umac128.c"} {
			data, err := os.ReadFile(filepath.Join(from, file))
			if err != nil {
				return err
			}
			if err := os.WriteFile(filepath.Join(dir, file), data, 0o666); err != nil {
				return err
			}
			// $OpenBSD: umac.c,v 1.30 2026/03/03 09:57:26 dtucker Exp $
			if id := regexp.MustCompile(`umac\.c,v (\S+) (\S+)`).FindSubmatch(data); id != nil {
				b.Versions["OpenSSH umac.c"] = fmt.Sprintf("%s (%s)", id[1], id[2])
			}
		}
		// umac.c reads words through pointers of other types. OpenSSH's configure
		// script adds the same option.
		return b.cc("libssl-dev", exe, "-fno-strict-aliasing", "-I", dir,
			filepath.Join(b.dir, "c", "openssh.c"), filepath.Join(dir, "umac.c"), filepath.Join(dir, "umac128.c"), "-lcrypto")
	}())
}

// buildFakeboboliu builds fakeboboliu/main.go in this module, whose go.mod is
// replaced by one that also requires the module in the directory from.
func (b *Built) buildFakeboboliu(from string) {
	const name = "fakeboboliu"
	exe := filepath.Join(b.dir, name+".exe")
	b.add(name, exe, func() error {
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
		goMod := firstLine(b.ctx, "go", "env", "GOMOD")
		modFile := filepath.Join(b.dir, "fakeboboliu.mod")
		for ext, more := range map[string]string{
			"mod": fmt.Sprintf("\nrequire github.com/fakeboboliu/umac v0.0.0\n\nreplace github.com/fakeboboliu/umac => %q\n", from),
			"sum": "",
		} {
			data, err := os.ReadFile(strings.TrimSuffix(goMod, "mod") + ext)
			if err != nil {
				return err
			}
			if err := os.WriteFile(strings.TrimSuffix(modFile, "mod")+ext, append(data, more...), 0o666); err != nil {
				return err
			}
		}
		// A file that is named is built in spite of its constraint.
		cmd := exec.CommandContext(b.ctx, "go", "build", "-modfile", modFile, "-o", exe, "rivals/fakeboboliu/main.go")
		cmd.Dir = filepath.Dir(goMod)
		cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod")
		return compile(cmd, `(?m)^[^#].*$`)
	}())
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

// compile runs a compiler. The error is the first line of its output that matches
// the pattern.
func compile(cmd *exec.Cmd, pattern string) error {
	out, err := cmd.CombinedOutput()
	if err == nil {
		return nil
	}
	if line := regexp.MustCompile(pattern).Find(out); line != nil {
		return errors.New(string(bytes.TrimSpace(line)))
	}
	return err
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
