// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package patchssh

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestModuleRefusals(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(t *testing.T, dir string)
		want   []string
	}{
		{"no go.mod", func(t *testing.T, dir string) { os.Remove(filepath.Join(dir, "go.mod")) },
			[]string{"-C: no go.mod in "}},
		{"no go command", func(t *testing.T, dir string) { t.Setenv("PATH", t.TempDir()) },
			[]string{"no go command: "}},
		{"workspace", func(t *testing.T, dir string) { write(t, filepath.Join(dir, "go.work"), "go 1.26.0\n\nuse .\n") },
			[]string{"go.work is in use", "GOWORK=off"}},
		{"no x/crypto", func(t *testing.T, dir string) {
			write(t, filepath.Join(dir, "go.mod"), "module example.com/program\n\ngo 1.25.0\n")
		}, []string{"go.mod has no golang.org/x/crypto: want ", "go mod tidy"}},
		{"broken go.mod", func(t *testing.T, dir string) { write(t, filepath.Join(dir, "go.mod"), "module") },
			[]string{"go.mod:1"}},
		{"x/crypto itself", func(t *testing.T, dir string) {
			write(t, filepath.Join(dir, "go.mod"), "module golang.org/x/crypto\n\ngo 1.25.0\n")
		}, []string{"is golang.org/x/crypto itself"}},
		{"replaced twice", func(t *testing.T, dir string) {
			goTool(t, dir, "mod", "edit", "-replace=golang.org/x/crypto@v0.1.0=./a", "-replace=golang.org/x/crypto@v0.2.0=./b")
		}, []string{"two replace lines for golang.org/x/crypto"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := newModule(t)
			tt.change(t, dir)
			before := snapshot(t, dir)
			fail(t, apply(dir), tt.want...)
			checkUnchanged(t, dir, before)
		})
	}
}

// TestModuleWorkspace has the module in a workspace, with others or without itself.
func TestModuleWorkspace(t *testing.T) {
	dir := newModule(t)
	succeed(t, apply(dir))
	parent := filepath.Dir(dir)
	work := filepath.Join(parent, "go.work")
	write(t, filepath.Join(parent, "other", "go.mod"), "module example.com/other\n\ngo 1.26.0\n\nrequire golang.org/x/crypto "+usedRelease(t)+"\n")
	t.Setenv("GOFLAGS", "") // -mod=mod is an error in a workspace
	for use, want := range map[string]string{
		"./other":               "want this module in the workspace",
		"\"./a program\"":       "",
		"\"./a program\" other": "",
	} {
		text := "go 1.26.0\n"
		for _, folder := range strings.SplitAfter(use, "\" ") {
			text += "\nuse " + folder + "\n"
		}
		write(t, work, text)
		before := snapshot(t, dir)
		if want == "" {
			succeed(t, check(dir), "is in place")
		} else {
			fail(t, check(dir), "not in place", "the workspace "+work, want)
		}
		fail(t, revert(dir), "go.work is in use", "GOWORK=off")
		checkUnchanged(t, dir, before)
	}
	next := usedRelease(t)[:strings.LastIndexByte(usedRelease(t), '.')] + ".999"
	addRelease(t, next)
	t.Setenv("GOFLAGS", "-modcacherw")
	goTool(t, filepath.Join(parent, "other"), "mod", "edit", "-require=golang.org/x/crypto@"+next)
	write(t, work, "go 1.26.0\n\nuse \"./a program\"\n\nuse ./other\n")
	fail(t, check(dir), "not in place", "use golang.org/x/crypto "+next+" without it")
	t.Setenv("GOWORK", "off")
	succeed(t, check(dir), "is in place")
}

func TestModuleFolder(t *testing.T) {
	dir := newModule(t)
	fail(t, apply(filepath.Join(dir, "main.go")), "-C: ", "main.go is a file: want the folder of a module")
	fail(t, apply(filepath.Join(dir, "missing")), "-C: ", "missing")
}

// TestModuleNoSum has no go.sum. No run may make one.
func TestModuleNoSum(t *testing.T) {
	dir := newModule(t)
	t.Setenv("GOFLAGS", "")
	if err := os.Remove(filepath.Join(dir, "go.sum")); err != nil {
		t.Fatal(err)
	}
	before := snapshot(t, dir)
	fail(t, check(dir), "go.mod does not replace golang.org/x/crypto")
	succeed(t, revert(dir), "nothing to revert")
	checkUnchanged(t, dir, before)
	succeed(t, apply(dir), "is a copy")
	succeed(t, revert(dir), "run go mod tidy")
	checkUnchanged(t, dir, before)
}
