// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

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
	"slices"
	"strings"
)

//go:embed c fakeboboliu rust/Cargo.toml rust/src serve.go ssh.go go.mod go.sum
var sources embed.FS

// cPeers are compiled from c at run time. The packages are Debian's.
var cPeers = []struct{ name, file, lib, packages string }{
	{"nettle", "nettle.c", "-lnettle", "nettle-dev"},
	{"OpenSSL", "openssl.c", "-lcrypto", "libssl-dev"},
	{"reading", "read.c", "", ""},
}

// rustPeers are the programs of the crate in rust. Each is a feature of that name,
// which brings in the crates that are measured. The first builds in seconds.
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

// builder builds the peers in dir. What cannot be built it leaves out and says
// why: on most machines something is missing.
type builder struct {
	ctx      context.Context
	dir      string
	peers    map[string]peer
	versions map[string]string
	leftOut  []string
}

func newBuilder(ctx context.Context, dir string) (*builder, error) {
	if err := os.CopyFS(dir, sources); err != nil {
		return nil, fmt.Errorf("fastmac: %w", err)
	}
	p, err := self()
	if err != nil {
		return nil, err
	}
	return &builder{
		ctx:      ctx,
		dir:      dir,
		peers:    map[string]peer{goPeer: p},
		versions: goVersions(),
	}, nil
}

func (b *builder) leaveOut(name string, why error) {
	b.leftOut = append(b.leftOut, name+" left out: "+why.Error())
}

// add keeps the peer that was built to path, if it was.
func (b *builder) add(name, path string, err error) {
	if err != nil {
		b.leaveOut(name, err)
		return
	}
	b.peers[name] = peer{name, []string{path}}
}

func (b *builder) buildC() {
	for _, p := range cPeers {
		exe := filepath.Join(b.dir, p.name)
		args := []string{filepath.Join(b.dir, "c", p.file)}
		if p.lib != "" {
			args = append(args, p.lib)
		}
		b.add(p.name, exe, b.cc(p.packages, exe, args...))
	}
}

// cc compiles to exe. Without a compiler or the headers of packages, the error
// names what to install.
func (b *builder) cc(packages, exe string, args ...string) error {
	install := strings.TrimSpace("gcc libc6-dev " + packages)
	path, err := exec.LookPath("cc")
	if err != nil {
		return fmt.Errorf("cc not found (Debian packages %s)", install)
	}
	args = append([]string{"-O2", "-o", exe}, args...)
	if err := run(exec.CommandContext(b.ctx, path, args...), `(?m)^.*error: .*$|^.*cannot find .*$`); err != nil {
		return fmt.Errorf("cc: %w (Debian packages %s)", err, install)
	}
	if b.versions["C compiler"] == "" {
		b.versions["C compiler"] = firstLine(b.ctx, path, "--version")
	}
	return nil
}

// buildRust builds the peers one by one: where one does not build, others may.
func (b *builder) buildRust() {
	for _, p := range rustPeers {
		b.add(p.name, filepath.Join(b.dir, "rust", "target", "release", p.name), b.cargo(p.name, p.crates))
	}
}

// cargo builds the program name. cargo fetches the crates that it does not have.
func (b *builder) cargo(name string, crates []string) error {
	const install = "(Debian packages cargo gcc libc6-dev, or rustup; Rust " + minRust + " or newer)"
	path, err := exec.LookPath("cargo")
	if err != nil {
		return fmt.Errorf("cargo not found %s", install)
	}
	dir := filepath.Join(b.dir, "rust")
	cmd := exec.CommandContext(b.ctx, path, "build", "--release", "--target-dir", "target", "--features", name, "--bin", name)
	cmd.Dir = dir
	if err := run(cmd, `(?m)^error.*$`); err != nil {
		return fmt.Errorf("cargo: %w %s", err, install)
	}
	lock, err := os.ReadFile(filepath.Join(dir, "Cargo.lock"))
	if err != nil {
		return err
	}
	for _, crate := range crates {
		b.versions["crate "+crate] = crateVersion(string(lock), crate)
	}
	b.versions["Rust compiler"] = firstLine(b.ctx, "rustc", "--version")
	return nil
}

// crateVersion returns the version of a crate in a Cargo.lock, if it is there.
func crateVersion(lock, crate string) string {
	_, rest, _ := strings.Cut(lock, fmt.Sprintf("name = %q\nversion = \"", crate))
	version, _, _ := strings.Cut(rest, `"`)
	return version
}

// buildOpenSSH compiles umac.c from a directory of OpenSSH's sources. It takes
// copies because umac.c looks for headers beside itself first, where OpenSSH's
// own would be, which want its configure script.
func (b *builder) buildOpenSSH(from string) {
	const name = "OpenSSH"
	dir := filepath.Join(b.dir, "c", "openssh")
	for _, file := range []string{"umac.c", "umac.h", "umac128.c"} {
		data, err := os.ReadFile(filepath.Join(from, file))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, file), data, 0o666)
		}
		if err != nil {
			b.leaveOut(name, err)
			return
		}
		// $OpenBSD: umac.c,v 1.30 2026/03/03 09:57:26 dtucker Exp $
		if id := regexp.MustCompile(`umac\.c,v (\S+) (\S+)`).FindSubmatch(data); id != nil {
			b.versions["OpenSSH umac.c"] = fmt.Sprintf("%s (%s)", id[1], id[2])
		}
	}
	exe := filepath.Join(b.dir, name)
	// umac.c reads words by pointers of other types; the configure script knows.
	b.add(name, exe, b.cc("libssl-dev", exe, "-fno-strict-aliasing", "-I", dir,
		filepath.Join(b.dir, "c", "openssh.c"), filepath.Join(dir, "umac.c"), filepath.Join(dir, "umac128.c"), "-lcrypto"))
}

// buildFakeboboliu builds a module around the one in the directory from.
func (b *builder) buildFakeboboliu(from string) {
	const name = "fakeboboliu"
	dir := filepath.Join(b.dir, name)
	exe := filepath.Join(b.dir, name+".peer")
	b.add(name, exe, func() error {
		from, err := filepath.Abs(from)
		if err != nil {
			return err
		}
		if b.versions["fakeboboliu/umac"], err = hashGo(from); err != nil {
			return err
		}
		for _, file := range []string{"serve.go", "ssh.go", "go.sum"} {
			data, err := sources.ReadFile(file)
			if err != nil {
				return err
			}
			if err := os.WriteFile(filepath.Join(dir, file), data, 0o666); err != nil {
				return err
			}
		}
		ours, err := sources.ReadFile("go.mod")
		if err != nil {
			return err
		}
		crypto := regexp.MustCompile(`golang\.org/x/crypto v\S+`).Find(ours)
		mod := fmt.Sprintf("module peer\n\ngo 1.26.0\n\nrequire github.com/fakeboboliu/umac v0.0.0\n\nrequire %s\n\nreplace github.com/fakeboboliu/umac => %q\n", crypto, from)
		if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte(mod), 0o666); err != nil {
			return err
		}
		// Files that are named are built whatever their constraint.
		cmd := exec.CommandContext(b.ctx, "go", "build", "-o", exe, "main.go", "serve.go", "ssh.go")
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod")
		return run(cmd, `(?m)^[^#].*$`)
	}())
}

// hashGo identifies a copy that may have no version by its Go files.
func hashGo(dir string) (string, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(files) == 0 {
		return "", errors.Join(err, fmt.Errorf("no Go files in %s", dir))
	}
	h := sha256.New()
	for _, file := range slices.Sorted(slices.Values(files)) {
		data, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(h, "%s %d\n%s", filepath.Base(file), len(data), data)
	}
	return fmt.Sprintf("copy with SHA-256 %x", h.Sum(nil)[:6]), nil
}

// run runs a compiler. The error has the first line of what it said that
// matches the pattern.
func run(cmd *exec.Cmd, pattern string) error {
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
