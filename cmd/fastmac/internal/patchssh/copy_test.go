// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package patchssh

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"example.com/fastmac/internal/sshpatch"
)

func TestCopy(t *testing.T) {
	dir := newModule(t)
	target := filepath.Join(dir, "third_party", "golang.org", "x", "crypto")
	before := snapshot(t, dir)
	fail(t, check(dir), "not in place: go.mod does not replace golang.org/x/crypto")
	succeed(t, revert(dir), "nothing to revert")
	checkUnchanged(t, dir, before)

	succeed(t, apply(dir), target+" is a copy", "built and tested", registerLines)
	checkProgram(t, dir)
	patched := snapshot(t, dir)
	for _, name := range []string{"LICENSE", "PATENTS", "go.mod", "bcrypt/bcrypt.go", "ssh/" + sshpatch.Name, "ssh/" + sshpatch.TestName} {
		info, err := os.Stat(filepath.Join(target, name))
		if err != nil || info.Mode()&0o200 == 0 {
			t.Errorf("%s cannot be written: %v, %v", name, info, err)
		}
	}
	if got := read(t, filepath.Join(dir, "go.mod")); !regexp.MustCompile(`\n(replace )?\s*golang.org/x/crypto v\S+ => ./third_party/golang.org/x/crypto\n`).MatchString(got) {
		t.Errorf("go.mod without the replace line:\n%s", got)
	}

	for path := range patched {
		if isTest(filepath.ToSlash(path)) && !strings.HasSuffix(path, sshpatch.TestName) {
			t.Errorf("%s is only for tests of x/crypto", path)
		}
	}
	// What is left out is needed by no package. golang.org/x/net, which acme/autocert needs,
	// may not be in the cache.
	for line := range strings.Lines(goTool(t, target, "list", "-e", "-f", `{{range .DepsErrors}}{{.}}{{"\n"}}{{end}}`, "./...")) {
		if strings.TrimSpace(line) != "" && !strings.HasPrefix(line, "go: downloading") && !strings.HasPrefix(line, "acme/autocert/autocert.go:") {
			t.Errorf("the copy lacks a package: %s", line)
		}
	}
	// A copy with the tests of x/crypto is as good.
	tests := filepath.Join(target, "ssh", "cipher_test.go")
	cache := strings.TrimSpace(goTool(t, dir, "env", "GOMODCACHE"))
	write(t, tests, read(t, filepath.Join(cache, cryptoPath+"@"+usedRelease(t), "ssh", "cipher_test.go")))
	succeed(t, check(dir), "is in place")
	write(t, tests, "package ssh")
	fail(t, check(dir), "differ: 1, first ssh/cipher_test.go")
	if err := os.Remove(tests); err != nil {
		t.Fatal(err)
	}

	succeed(t, apply(dir), "is in place")
	succeed(t, check(dir), "is in place")
	fail(t, Options{Dir: dir, Out: "elsewhere"}, "-o: the copy is in "+target, "--revert")
	checkUnchanged(t, dir, patched)

	// Changes in the copy are left alone.
	license, mac := filepath.Join(target, "LICENSE"), filepath.Join(target, "ssh", "mac.go")
	write(t, license, "mine")
	write(t, filepath.Join(target, "ssh", "mine.go"), "package ssh")
	if err := os.Remove(mac); err != nil {
		t.Fatal(err)
	}
	changed := snapshot(t, dir)
	for _, mode := range modes {
		fail(t, mode(dir), "differ: 3, first LICENSE, ssh/mac.go, ssh/mine.go")
	}
	checkUnchanged(t, dir, changed)
	write(t, license, patched[license])
	write(t, mac, patched[mac])
	if err := os.Remove(filepath.Join(target, "ssh", "mine.go")); err != nil {
		t.Fatal(err)
	}

	// Without its folder the replace line stops every build.
	if err := os.RemoveAll(filepath.Join(dir, "third_party")); err != nil {
		t.Fatal(err)
	}
	fail(t, check(dir), "not in place", target)
	succeed(t, apply(dir), "built and tested")
	checkUnchanged(t, dir, patched)

	succeed(t, revert(dir), target+" is removed", "removed from go.mod")
	checkUnchanged(t, dir, before)
}

// TestCopyUpgrade upgrades the x/crypto of a patched module.
func TestCopyUpgrade(t *testing.T) {
	dir := newModule(t)
	version := usedRelease(t)
	next := version[:strings.LastIndexByte(version, '.')] + ".999"
	addRelease(t, next)

	place := filepath.Join(dir, "third party", "crypto")
	succeed(t, Options{Dir: dir, Out: filepath.Join("third party", "crypto")}, place+" is a copy of golang.org/x/crypto "+version+" ")
	goTool(t, dir, "get", cryptoPath+"@"+next)
	fail(t, check(dir), place+" is a copy of golang.org/x/crypto "+version+", and go.mod has "+next)
	cmd := exec.Command("go", "build", "-o", os.DevNull, ".")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "undefined: ssh.RegisterMAC") {
		t.Errorf("the program with an unpatched x/crypto: %v, %s", err, out)
	}

	succeed(t, apply(dir), place+" is a copy of golang.org/x/crypto "+next+" ")
	if read(t, filepath.Join(place, "ssh", "next.go")) == "" || strings.Contains(read(t, filepath.Join(dir, "go.mod")), "golang.org/x/crypto "+version+" =>") {
		t.Error("the old copy or its replace line is still there")
	}
	succeed(t, check(dir), next)
	succeed(t, revert(dir), place+" is removed")
	if exists(filepath.Join(dir, "third party")) {
		t.Error("the empty folder of the copy is still there")
	}
}

func TestCopyRefusals(t *testing.T) {
	const place = "third_party/golang.org/x/crypto/"
	for _, tt := range []struct {
		name   string
		change func(t *testing.T, dir string)
		mode   mode
		want   []string
	}{
		{"replaced", func(t *testing.T, dir string) {
			write(t, filepath.Join(dir, "fork", "go.mod"), "module golang.org/x/crypto\n\ngo 1.25.0\n")
			goTool(t, dir, "mod", "edit", "-replace=golang.org/x/crypto=./fork")
		}, apply, []string{"go.mod already replaces golang.org/x/crypto by ./fork", "want no replace line"}},
		{"replaced for another version", func(t *testing.T, dir string) {
			goTool(t, dir, "mod", "edit", "-replace=golang.org/x/crypto@v0.1.0=golang.org/x/crypto@v0.2.0")
		}, apply, []string{"already replaces golang.org/x/crypto by golang.org/x/crypto v0.2.0"}},
		{"older copy that is not in the cache", func(t *testing.T, dir string) {
			write(t, filepath.Join(dir, place, "go.mod"), "module golang.org/x/crypto\n")
			goTool(t, dir, "mod", "edit", "-replace=golang.org/x/crypto@v0.0.1=./"+place)
		}, apply, []string{"golang.org/x/crypto v0.0.1: ", "GOPROXY=off"}},
		{"folder of somebody else", func(t *testing.T, dir string) {
			write(t, filepath.Join(dir, place, "mine"), "mine")
		}, apply, []string{"third_party", "is not what patch-ssh makes of golang.org/x/crypto v", "first .gitattributes, ", "want an unchanged copy, or nothing there"}},
		{"link", func(t *testing.T, dir string) {
			write(t, filepath.Join(dir, place, "mine"), "mine")
			if err := os.Symlink("crypto", filepath.Join(dir, "third_party/golang.org/x/link")); err != nil {
				t.Skip(err)
			}
		}, func(dir string) Options { return Options{Dir: dir, Out: "third_party/golang.org/x/link"} }, []string{"-o: ", "link is a symbolic link, which patch-ssh does not follow"}},
		{"file", func(t *testing.T, dir string) { write(t, filepath.Join(dir, "copy"), "mine") },
			func(dir string) Options { return Options{Dir: dir, Out: "copy"} }, []string{"copy is not a folder", "want an unchanged copy"}},
		{"the module", func(t *testing.T, dir string) {},
			func(dir string) Options { return Options{Dir: dir, Out: "."} }, []string{"-o: ", "contains the module: want a folder for the copy alone"}},
		{"above the module", func(t *testing.T, dir string) {},
			func(dir string) Options { return Options{Dir: dir, Out: filepath.Dir(dir)} }, []string{"-o: ", "contains the module"}},
		{"outside of the module", func(t *testing.T, dir string) {},
			func(dir string) Options { return Options{Dir: dir, Out: "../copy"} }, []string{"-o: ", "copy is outside of the module ", "want a folder in it"}},
		{"a copy outside of the module", func(t *testing.T, dir string) {
			write(t, filepath.Join(filepath.Dir(dir), "shared", "ssh", sshpatch.Name), sshpatch.Source)
			goTool(t, dir, "mod", "edit", "-replace=golang.org/x/crypto@v0.1.0=../shared")
		}, revert, []string{"the replace line of go.mod: ", "shared is outside of the module "}},
		{"revert of somebody else's folder", func(t *testing.T, dir string) {
			write(t, filepath.Join(dir, place, "mine"), "mine")
		}, revert, []string{"is not what patch-ssh makes"}},
		{"revert of somebody else's replace line", func(t *testing.T, dir string) {
			write(t, filepath.Join(dir, place, "go.mod"), "module golang.org/x/crypto\n")
			goTool(t, dir, "mod", "edit", "-replace=golang.org/x/crypto=./"+place)
		}, revert, []string{"go.mod already replaces golang.org/x/crypto"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := newModule(t)
			tt.change(t, dir)
			before := snapshot(t, dir)
			fail(t, tt.mode(dir), tt.want...)
			checkUnchanged(t, dir, before)
		})
	}
}

// TestCopyLinks has links in the place of folders of the module. What is behind them is left alone.
func TestCopyLinks(t *testing.T) {
	for _, out := range []string{"", "link/crypto"} {
		dir, shared := newModule(t), t.TempDir()
		link := filepath.Join(dir, "third_party")
		if out != "" {
			link = filepath.Join(dir, "link")
		}
		// What a run that was killed would leave.
		stage := filepath.Join(shared, "golang.org", "x", ".fastmac-patch-ssh")
		write(t, filepath.Join(stage, "file"), "content")
		write(t, filepath.Join(shared, ".fastmac-patch-ssh", "file"), "content")
		before := snapshot(t, shared)
		if err := os.Symlink(shared, link); err != nil {
			t.Skip(err)
		}
		for _, mode := range modes {
			o := mode(dir)
			o.Out = out
			fail(t, o, link+" is a symbolic link, which patch-ssh does not follow")
			checkUnchanged(t, shared, before)
		}
	}
}
