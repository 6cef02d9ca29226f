// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package rclone tests a large program that somebody else wrote: does one file beside
// rclone's main give it UMAC? Its testdata has both, with the parts of rclone that the
// test needs.
package rclone

import (
	"bytes"
	"debug/buildinfo"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"example.com/fastmac/sshmac"
	"example.com/fastmac/sshmac/sshtest"
)

// umac is what every connection must negotiate. With an AEAD cipher SSH uses no MAC.
var umac = sshtest.Algorithms{Cipher: "aes128-ctr", MAC: sshmac.UMAC128ETM}

var build = flag.Bool("rclone", false, "build rclone from the sources of a module proxy and test it")

const (
	version = "v1.75.1"
	xcrypto = "golang.org/x/crypto"
	newer   = "v0.58.0"
)

// TestRclone syncs 1,000 files to OpenSSH's sshd and back into a third tree: with
// rclone as it is, which must not connect, and with UMAC, on the x/crypto that rclone
// requires, which fastmac must not change, and on a newer one.
func TestRclone(t *testing.T) {
	if !*build {
		t.Skip("downloads sources and builds for minutes: run it with -rclone")
	}
	plain := goBuild(t, "", "main.go")
	own := xcryptoOf(t, plain)

	t.Run("as it is", func(t *testing.T) {
		r := newRun(t, plain)
		stored := filepath.Join(t.TempDir(), "stored")
		out, err := r.sync(newTree(t), ":sftp:"+stored)
		// x/crypto has silently dropped the name that it does not know.
		if err == nil || !bytes.Contains(out, []byte("no common algorithm for client to server MAC")) {
			t.Errorf("sync without UMAC: %v\n%s", err, out)
		}
		if _, err := os.Stat(stored); err == nil {
			t.Error("files arrived")
		}
	})
	for replace, want := range map[string]string{"": own, newer: newer} {
		program := goBuild(t, replace, "main.go", "umac.go")
		if linked := xcryptoOf(t, program); linked != want {
			t.Errorf("x/crypto %s is linked in, want %s", linked, want)
		}
		t.Run("x crypto "+want, func(t *testing.T) {
			r := newRun(t, program)
			source := newTree(t)
			stored := filepath.Join(t.TempDir(), "stored")
			back := filepath.Join(t.TempDir(), "back")
			if out, err := r.sync(source, ":sftp:"+stored); err != nil {
				t.Fatalf("sync to sshd: %v\n%s", err, out)
			}
			if out, err := r.sync(":sftp:"+stored, back); err != nil {
				t.Fatalf("sync from sshd: %v\n%s", err, out)
			}
			want := readTree(t, source)
			for _, dir := range []string{stored, back} {
				if got := readTree(t, dir); !maps.Equal(got, want) {
					t.Errorf("%s: %d files, not the %d of the source", dir, len(got), len(want))
				}
			}
			umac.CheckLog(t, r.server.Log(t))
		})
	}
}

// goBuild builds rclone from files of testdata, with the given release of x/crypto if
// there is one, and returns the program.
func goBuild(t *testing.T, crypto string, files ...string) string {
	t.Helper()
	dir := t.TempDir()
	fastmac, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	mod := fmt.Sprintf("module rclone.invalid\n\ngo 1.26.0\n\nrequire github.com/rclone/rclone %s\n", version)
	if len(files) > 1 {
		mod += fmt.Sprintf("\nrequire example.com/fastmac v0.0.0\n\nreplace example.com/fastmac => %q\n", fastmac)
		mod += fmt.Sprintf("\nrequire example.com/fastmac/sshmac v0.0.0\n\nreplace example.com/fastmac/sshmac => %q\n", filepath.Join(fastmac, "sshmac"))
	}
	if crypto != "" {
		mod += fmt.Sprintf("\nreplace %[1]s => %[1]s %[2]s\n", xcrypto, crypto)
	}
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte(mod), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		content, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// go.mod gets the modules that rclone needs, and go.sum their hashes.
	cmd := exec.Command("go", "build", "-mod=mod", "-o", "rclone", ".")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd, err, out)
	}
	return filepath.Join(dir, "rclone")
}

// xcryptoOf returns the version of x/crypto that is linked into a program.
func xcryptoOf(t *testing.T, program string) string {
	t.Helper()
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range info.Deps {
		if m.Path == xcrypto {
			if m.Replace != nil {
				m = m.Replace
			}
			return m.Version
		}
	}
	t.Fatalf("%s has no %s", program, xcrypto)
	return ""
}

// A run is rclone with a server that offers only UMAC.
type run struct {
	server  *sshtest.Server
	program string
	home    string
	options []string
}

func newRun(t *testing.T, program string) *run {
	t.Helper()
	dir := sshtest.NewDir(t)
	server := dir.Serve(t, umac, "Subsystem sftp internal-sftp", "ForceCommand internal-sftp")
	host, port, err := net.SplitHostPort(server.Address)
	if err != nil {
		t.Fatal(err)
	}
	return &run{server, program, t.TempDir(), []string{
		"--sftp-macs", umac.MAC,
		"--sftp-ciphers", umac.Cipher,
		"--sftp-host", host,
		"--sftp-port", port,
		"--sftp-user", dir.Login,
		"--sftp-key-file", dir.File("identity"),
		"--sftp-known-hosts-file", dir.KnownHosts(t, server.Address),
		"--sftp-shell-type", "none",
		"--config", os.DevNull,
		"--retries", "1",
		"--low-level-retries", "1",
	}}
}

// sync copies a tree and returns rclone's log.
func (r *run) sync(from, to string) ([]byte, error) {
	cmd := exec.Command(r.program, append([]string{"sync", from, to}, r.options...)...)
	// rclone also reads options from the environment.
	cmd.Env = []string{"HOME=" + r.home, "PATH=" + os.Getenv("PATH")}
	return cmd.CombinedOutput()
}

// newTree writes 1,000 files of up to 4 KiB to 50 folders.
func newTree(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	rng := rand.NewChaCha8([32]byte([]byte("1,000 files.    seed of 32 bytes")))
	for i := range 1000 {
		content := make([]byte, rng.Uint64()%4097)
		rng.Read(content)
		name := filepath.Join(dir, fmt.Sprint(i%10), fmt.Sprint(i/200), fmt.Sprint(i))
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// readTree returns the contents of the files below dir by their names.
func readTree(t *testing.T, dir string) map[string]string {
	t.Helper()
	tree := make(map[string]string)
	err := filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(name)
		tree[strings.TrimPrefix(name, dir)] = string(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return tree
}
