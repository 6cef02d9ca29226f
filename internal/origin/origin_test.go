// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package origin

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestName(t *testing.T) {
	for _, test := range []struct{ info, want string }{
		{"", "unknown (family unknown, model unknown)"},
		{"processor\t: 0\nCPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x1\nCPU part\t: 0xd40\n", "Arm CPU (implementer 0x41, part 0xd40)"},
		{"processor\t: 0\ncpu family\t: 25\nmodel\t\t: 17\nmodel name\t: AMD EPYC\n\nmodel name\t: other\n", "AMD EPYC (family 25, model 17)"},
	} {
		if got := name([]byte(test.info)); got != test.want {
			t.Errorf("%q: %q, want %q", test.info, got, test.want)
		}
	}
	if CPU() == "" {
		t.Error("no name")
	}
}

// TestCommit changes files of a tree. Only those that are built count.
func TestCommit(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git: install the package git")
	}
	root := t.TempDir()
	folder := filepath.Join(root, "internal")
	if err := os.Mkdir(folder, 0o777); err != nil {
		t.Fatal(err)
	}
	t.Chdir(folder)
	for _, v := range os.Environ() { // such as GIT_DIR in a hook
		if name, _, _ := strings.Cut(v, "="); strings.HasPrefix(name, "GIT_") {
			t.Setenv(name, "")
			os.Unsetenv(name)
		}
	}
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	t.Setenv("GIT_CEILING_DIRECTORIES", filepath.Dir(root)) // it is in no other tree
	if got := Commit(); got != "unknown" {
		t.Errorf("%q where there is no tree", got)
	}

	write := func(name, content string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(root, name), []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	git := func(args ...string) {
		t.Helper()
		if out, err := exec.Command("git", args...).CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v: %s", args, err, out)
		}
	}
	built := []string{"a.go", "go.mod", "internal/a.s", "internal/a.go.txt", "internal/Cargo.toml"}
	for _, name := range append(built, "README") {
		write(name, "")
	}
	git("init", "-q", root)
	git("config", "status.showUntrackedFiles", "no")
	git("add", "-A", root)
	git("-c", "user.name=a", "-c", "user.email=a@a.invalid", "-c", "commit.gpgsign=false", "commit", "-q", "-m", "a")

	clean := Commit()
	if !regexp.MustCompile(`^[0-9a-f]{12}$`).MatchString(clean) {
		t.Fatalf("%q, want 12 digits", clean)
	}
	write("README", "changed")
	write("results.txt", "")
	if got := Commit(); got != clean {
		t.Errorf("%q with another README, want %q", got, clean)
	}
	for _, name := range append(built, "internal/new.go") {
		write(name, "changed")
		if got, want := Commit(), clean+"-dirty"; got != want {
			t.Errorf("%q with another %s, want %q", got, name, want)
		}
		if err := os.Remove(filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
		git("checkout", "-q", ":/")
		if got := Commit(); got != clean {
			t.Errorf("%q without a change, want %q", got, clean)
		}
	}
}
