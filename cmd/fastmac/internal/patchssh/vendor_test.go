// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package patchssh

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/fastmac/internal/sshpatch"
)

// vendoredModule returns a module with a vendor folder.
func vendoredModule(t *testing.T) string {
	t.Helper()
	dir := newModule(t)
	t.Setenv("GOFLAGS", "")
	goTool(t, dir, "mod", "vendor")
	return dir
}

func TestVendor(t *testing.T) {
	dir := vendoredModule(t)
	before := snapshot(t, dir)
	file := filepath.Join(dir, "vendor", "golang.org", "x", "crypto", "ssh", sshpatch.Name)
	fail(t, check(dir), "not in place", file)
	fail(t, Options{Dir: dir, Out: "x"}, "-o: the vendor folder is in use")
	succeed(t, revert(dir), "nothing to revert")
	checkUnchanged(t, dir, before)

	succeed(t, apply(dir), file+" is added", "built and tested", registerLines)
	checkProgram(t, dir)
	patched := snapshot(t, dir)
	if len(patched) != len(before)+1 {
		t.Errorf("%d files and folders more than before", len(patched)-len(before))
	}
	succeed(t, apply(dir), "is in place")
	succeed(t, check(dir), "is in place")
	checkUnchanged(t, dir, patched)

	write(t, file, sshpatch.Source+"// mine\n")
	for _, mode := range modes {
		fail(t, mode(dir), file+" is not what patch-ssh makes")
	}
	write(t, file, sshpatch.Source)
	succeed(t, revert(dir), file+" is removed")
	checkUnchanged(t, dir, before)
}

// TestVendorOfCopy has a vendor folder that was made from a copy.
func TestVendorOfCopy(t *testing.T) {
	dir := newModule(t)
	succeed(t, apply(dir))
	t.Setenv("GOFLAGS", "")
	goTool(t, dir, "mod", "vendor")
	before := snapshot(t, dir)
	succeed(t, check(dir), "is in place")
	fail(t, revert(dir), "comes from ./third_party/golang.org/x/crypto", "GOFLAGS=-mod=mod")
	checkUnchanged(t, dir, before)
	t.Setenv("GOFLAGS", "-mod=mod")
	succeed(t, revert(dir), "is removed")
}

func TestVendorRefusals(t *testing.T) {
	for _, tt := range []struct {
		name, imports string
		want          string
	}{
		{"no x/crypto/ssh", "golang.org/x/crypto/blowfish", "want a module that imports golang.org/x/crypto/ssh, after go mod vendor"},
		{"no x/crypto", "example.com/fastmac", "go.mod has no golang.org/x/crypto: want a module that imports"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := newModule(t)
			t.Setenv("GOFLAGS", "")
			write(t, filepath.Join(dir, "main.go"), "package main\n\nimport _ \""+tt.imports+"\"\n\nfunc main() {}\n")
			if tt.name == "no x/crypto" {
				goTool(t, dir, "mod", "edit", "-droprequire="+cryptoPath)
			}
			goTool(t, dir, "mod", "vendor")
			before := snapshot(t, dir)
			fail(t, apply(dir), tt.want)
			checkUnchanged(t, dir, before)
		})
	}
	t.Run("does not compile", func(t *testing.T) {
		dir := vendoredModule(t)
		mac := filepath.Join(dir, "vendor/golang.org/x/crypto/ssh/mac.go")
		write(t, mac, strings.ReplaceAll(read(t, mac), "macModes", "renamed"))
		before := snapshot(t, dir)
		fail(t, apply(dir), "go test: exit status 1", "undefined: macModes")
		checkUnchanged(t, dir, before)
	})
}

// TestVendorLinks has links in the vendor folder, and in place of the file.
func TestVendorLinks(t *testing.T) {
	dir, elsewhere := vendoredModule(t), t.TempDir()
	sshDir := filepath.Join(dir, "vendor", "golang.org", "x", "crypto", "ssh")
	file := filepath.Join(sshDir, sshpatch.Name)
	if err := os.Symlink(filepath.Join(elsewhere, "file"), file); err != nil {
		t.Skip(err)
	}
	for _, mode := range modes {
		fail(t, mode(dir), file+" is a symbolic link")
	}
	if err := errors.Join(os.Remove(file), os.Rename(sshDir, filepath.Join(elsewhere, "ssh")), os.Symlink(filepath.Join(elsewhere, "ssh"), sshDir)); err != nil {
		t.Fatal(err)
	}
	before := snapshot(t, elsewhere)
	for _, mode := range modes {
		fail(t, mode(dir), sshDir+" is a symbolic link")
	}
	checkUnchanged(t, elsewhere, before)
}
