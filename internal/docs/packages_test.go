// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package docs

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"example.com/fastmac/internal/mactest"
)

// packages returns the folders of the packages that have a kind of check in .ci/packages.
func packages(t *testing.T, kind string) (folders []string) {
	t.Helper()
	for line := range strings.Lines(readText(t, ".ci/packages")) {
		if fields := strings.Fields(line); len(fields) > 0 && fields[0] != "#" && slices.Contains(fields[1:], kind) {
			folders = append(folders, fields[0])
		}
	}
	if len(folders) == 0 {
		t.Errorf(".ci/packages has no package of the kind %q", kind)
	}
	return folders
}

// public returns the folders of the packages for users, also of sshmac.
func public(t *testing.T) []string {
	return append(packages(t, "public"), "sshmac")
}

// TestPackages checks that .ci/packages has each package for users, only packages that have tests, and only kinds
// that it explains.
func TestPackages(t *testing.T) {
	mactest.NeedGo(t)
	cmd := exec.Command("go", "list", "-f", `{{if ne .Name "main"}}{{.ImportPath}}{{end}}`, "./...")
	cmd.Env = mactest.HostEnv()
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for name := range strings.FieldsSeq(string(out)) {
		if name, _ = strings.CutPrefix(name, "example.com/fastmac/"); !strings.HasPrefix(name, "internal/") && !strings.HasPrefix(name, "embedded/") {
			want = append(want, strings.Replace(name, "example.com/fastmac", ".", 1))
		}
	}
	got := packages(t, "public")
	slices.Sort(got)
	if slices.Sort(want); !slices.Equal(got, want) {
		t.Errorf(".ci/packages has the public packages %q, and the module %q", got, want)
	}
	text := readText(t, ".ci/packages")
	explained := make(map[string]bool)
	for _, m := range regexp.MustCompile(`(?m)^#   (\w+) `).FindAllStringSubmatch(text, -1) {
		explained[m[1]] = true
		packages(t, m[1])
	}
	seen := make(map[string]bool)
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) == 0 || fields[0] == "#" {
			continue
		}
		if tests, err := filepath.Glob(filepath.Join(fields[0], "*_test.go")); len(tests) == 0 || seen[fields[0]] {
			t.Errorf(".ci/packages: %s: %d files of tests, %v; twice: %v", fields[0], len(tests), err, seen[fields[0]])
		}
		seen[fields[0]] = true
		for _, kind := range fields[1:] {
			if !explained[kind] {
				t.Errorf(".ci/packages: %s has the kind %q, which the head does not explain", fields[0], kind)
			}
		}
	}
}

// inShell matches where .ci/run asks for the packages of a kind.
var inShell = regexp.MustCompile(`\$\(packages (\w+)\)`)

// readCI returns .ci/run with the packages in place of their kinds, as its function packages prints them.
func readCI(t *testing.T) string {
	t.Helper()
	ci, err := os.ReadFile(filepath.FromSlash(".ci/run"))
	if err != nil {
		t.Fatal(err)
	}
	return inShell.ReplaceAllStringFunc(string(ci), func(call string) string {
		folders := packages(t, inShell.FindStringSubmatch(call)[1])
		for i, folder := range folders {
			if folder != "." {
				folders[i] = "./" + folder
			}
		}
		return strings.Join(folders, " ")
	})
}

// places are the files of which one must name each package for users, or import it, except for some.
var places = []struct {
	pattern string
	except  map[string]string // with the reason
}{
	{"README.md", nil},
	{"doc.go", nil},
	{"CONTRIBUTING.md", nil},
	{"docs/fips-140.md", nil},
	{"internal/kernel/*_test.go", nil}, // TestFirstUse
	{"internal/compare/operations/*.go", map[string]string{"hkdf": "the commits to compare with do not have it"}},
	{"internal/memory/*_test.go", map[string]string{"hmac": "its streams are those of the root package", "hwrand": "it has its own TestScan"}},
	{"internal/assurance/timing/valgrind/probe/*.go", map[string]string{"hmac": "its streams are those of the root package"}},
}

// TestPlaces checks that what must name each package for users does.
func TestPlaces(t *testing.T) {
	for _, folder := range packages(t, "public") {
		if folder == "." || strings.Contains(folder, "/") { // package x/crypto/pbkdf2 calls pbkdf2
			continue
		}
		inText, imported := regexp.MustCompile("[ (`]"+folder+"[ ,/`]"), regexp.MustCompile(`"example\.com/fastmac/`+folder+`"`)
		for _, place := range places {
			if place.except[folder] != "" {
				continue
			}
			name := inText
			if strings.Contains(place.pattern, "*") {
				name = imported
			}
			files, err := filepath.Glob(filepath.FromSlash(place.pattern))
			if err != nil {
				t.Fatal(err)
			}
			if !slices.ContainsFunc(files, func(file string) bool { return name.MatchString(readText(t, file)) }) {
				t.Errorf("%s does not have package %s", place.pattern, folder)
			}
		}
	}
}
