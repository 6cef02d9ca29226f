// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package dropin has tests in which modules of other people use fastmac's HMAC and PBKDF2: their import
// lines change, and nothing else. Before and after it their own tests run, and connections to servers
// that do not use fastmac, and benchmarks.
package dropin

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var sample = flag.Bool("sample", false, "download a sample of the modules and test them (FASTMAC_TEST_LONG=1: all)")

// replaced are the packages that modules import, and what they import instead.
var replaced = map[string]string{
	"crypto/hmac":                "example.com/fastmac/hmac",
	"crypto/pbkdf2":              "example.com/fastmac/pbkdf2",
	"golang.org/x/crypto/pbkdf2": "example.com/fastmac/x/crypto/pbkdf2",
}

// TestSuites runs the tests of modules before and after the change. None may fail, and none may be
// skipped, or not be there, in one of the two only.
func TestSuites(t *testing.T) {
	long := needProxy(t)
	for _, m := range modules {
		packages := m.sample
		if long {
			packages = m.packages
		}
		if packages == nil {
			continue
		}
		t.Run(m.path, func(t *testing.T) {
			before, after := newWorkspace(t, false, m), newWorkspace(t, true, m)
			used := goRun(t, after.folder(m.path), after.env(), append([]string{"list", "-deps", "-test"}, packages...)...)
			if !bytes.Contains(used, []byte("example.com/fastmac/")) {
				t.Error("the tests do not use fastmac")
			}
			var env []string
			if m.server != nil {
				env = m.server(t, before.folder(m.path))
			}
			want, output := before.test(t, m, env, packages)
			got, changed := after.test(t, m, env, packages)
			passed := 0
			for result, n := range want {
				if got[result] != n {
					t.Errorf("%s: %d times before the change, %d after it", result, n, got[result])
				}
				if strings.HasSuffix(result, " fail") {
					t.Errorf("%s before the change", result)
				}
				if test := strings.Fields(result); len(test) == 3 && test[2] == "pass" && !strings.HasSuffix(test[1], "/") {
					passed++
				}
			}
			if len(got) != len(want) {
				t.Errorf("%d results before the change, %d after it", len(want), len(got))
			}
			if t.Failed() {
				t.Logf("before:\n%s\nafter:\n%s", output, changed)
			}
			t.Logf("%d tests pass", passed)
			if long && passed != m.tests {
				t.Errorf("want %d", m.tests)
			}
		})
	}
}

// TestTable checks that docs/moving.md has what TestSuites checks.
func TestTable(t *testing.T) {
	page, err := os.ReadFile("../../docs/moving.md")
	if err != nil {
		t.Fatal(err)
	}
	_, page, _ = bytes.Cut(page, []byte("\n### With other people's modules\n"))
	rows := bytes.Count(page, []byte("\n| `github.com/"))
	for _, m := range modules {
		if m.lines == 0 {
			continue
		}
		rows--
		if row := fmt.Sprintf("\n| `%s` %s | %d | %d |\n", m.path, m.version, m.lines, m.tests); !bytes.Contains(page, []byte(row)) {
			t.Errorf("it has not %s", strings.TrimSpace(row))
		}
	}
	if rows != 0 {
		t.Errorf("it has %d rows for other modules", rows)
	}
}

// needProxy reports whether all modules are tested, and skips the test if none is.
func needProxy(t *testing.T) (long bool) {
	t.Helper()
	long = os.Getenv("FASTMAC_TEST_LONG") != ""
	if !long && !*sample {
		t.Skip("downloads modules of other people: needs -sample, or FASTMAC_TEST_LONG=1 for all of them")
	}
	return long
}

// A workspace is a folder with copies of modules and a go.work, in which fastmac is too. So their go.mod
// stays as it is. Dependencies have the same versions before and after the change.
type workspace struct{ dir string }

// newWorkspace downloads modules, and those that they name, and changes their imports if change is set.
func newWorkspace(t *testing.T, change bool, ms ...module) workspace {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	w := workspace{t.TempDir()}
	// As in its own repository, the go line of a module says what GODEBUG is.
	var mod struct{ Go string }
	work := fmt.Sprintf("go 1.26.0\nuse %q\n", root)
	for i, m := range ms {
		work += w.add(t, change, m)
		for _, path := range m.with {
			work += w.add(t, change, named(t, path))
		}
		if i == 0 {
			if err := json.Unmarshal(goRun(t, w.folder(m.path), nil, "mod", "edit", "-json"), &mod); err != nil {
				t.Fatal(err)
			}
			var minor int
			fmt.Sscanf(mod.Go, "1.%d", &minor)
			work += fmt.Sprintf("godebug default=go1.%d\n", max(minor, 20))
		}
	}
	if err := os.WriteFile(filepath.Join(w.dir, "go.work"), []byte(work), 0o666); err != nil {
		t.Fatal(err)
	}
	return w
}

// add copies a module into the workspace, and returns its line of go.work.
func (w workspace) add(t *testing.T, change bool, m module) string {
	t.Helper()
	var from struct{ Dir, Sum string }
	name, ours := strings.CutSuffix(m.path, ".invalid")
	if ours {
		from.Dir = filepath.Join("testdata", name)
	} else {
		out := goRun(t, w.dir, []string{"GOWORK=off"}, "mod", "download", "-json", m.path+"@"+m.version)
		if err := json.Unmarshal(out, &from); err != nil || from.Sum != m.sum {
			t.Fatalf("%s: %v, error %v, want %s", m.path, from, err, m.sum)
		}
	}
	if err := os.CopyFS(w.folder(m.path), os.DirFS(from.Dir)); err != nil {
		t.Fatal(err)
	}
	if ours {
		if err := os.WriteFile(filepath.Join(w.folder(m.path), "go.mod"), []byte("module "+m.path+"\n\ngo 1.26.0\n"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if change && m.lines > 0 {
		if lines := changeImports(t, w.folder(m.path)); lines != m.lines {
			t.Errorf("%s: %d lines change, want %d", m.path, lines, m.lines)
		}
	}
	return fmt.Sprintf("use %q\n", w.folder(m.path))
}

// folder returns the folder of a module.
func (w workspace) folder(path string) string {
	return filepath.Join(w.dir, strings.ReplaceAll(path, "/", "-"))
}

// env returns the variable that makes the go command use the workspace, and more.
func (w workspace) env(more ...string) []string {
	return append(more, "GOWORK="+filepath.Join(w.dir, "go.work"))
}

// changeImports replaces the imports of all Go files in dir that are not tests, and returns their number.
func changeImports(t *testing.T, dir string) (lines int) {
	t.Helper()
	err := filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return err
		}
		source, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		positions := token.NewFileSet()
		file, err := parser.ParseFile(positions, name, source, parser.ImportsOnly)
		if err != nil {
			return err
		}
		found := lines
		for _, spec := range slices.Backward(file.Imports) {
			path, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			if ours, ok := replaced[path]; ok {
				at := positions.Position(spec.Path.Pos()).Offset
				source = slices.Replace(source, at, at+len(spec.Path.Value), []byte(strconv.Quote(ours))...)
				lines++
			}
		}
		if lines == found {
			return nil
		}
		return os.WriteFile(name, source, 0o666)
	})
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

// test runs the tests of packages in the folder of a module, up to three times until none fails: some of
// other people's tests have limits of time, which a busy machine can miss.
func (w workspace) test(t *testing.T, m module, env, packages []string) (results map[string]int, failures string) {
	t.Helper()
	for try := 1; ; try++ {
		results, failures = w.testOnce(t, m, env, packages)
		failed := false
		for result := range results {
			failed = failed || strings.HasSuffix(result, " fail")
		}
		if !failed || try == 3 {
			return results, failures
		}
		t.Logf("again, because of:\n%s", failures)
	}
}

// testOnce counts the results, "package test action", and returns the output of what fails. Subtests, some
// of which have a random name, are all one, "test/".
func (w workspace) testOnce(t *testing.T, m module, env, packages []string) (results map[string]int, failures string) {
	t.Helper()
	// With the names of temporary folders in them, packages would be built each time.
	args := []string{"test", "-json", "-count=1", "-vet=off", "-trimpath"}
	if m.serial {
		args = append(args, "-parallel=1")
	}
	cmd := goCommand(w.folder(m.path), w.env(env...), append(args, packages...)...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	failed := cmd.Run() // what fails is in the events
	results = make(map[string]int)
	output := make(map[string]string)
	for events := json.NewDecoder(&stdout); ; {
		var event struct{ Action, Package, Test, Output string }
		if err := events.Decode(&event); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("%v: %v\n%s", cmd, err, &stderr)
		}
		name := event.Package + " " + event.Test
		output[name] += event.Output
		switch event.Action {
		case "build-output":
			failures += event.Output
		case "fail":
			failures += output[name]
			fallthrough
		case "pass", "skip":
			if test, _, sub := strings.Cut(event.Test, "/"); sub {
				name = event.Package + " " + test + "/"
			}
			results[name+" "+event.Action]++
		}
	}
	if len(results) == 0 {
		t.Fatalf("%v: %v, no results\n%s", cmd, failed, &stderr)
	}
	return results, failures + stderr.String()
}

// goCommand returns the go command in dir, with more variables.
func goCommand(dir string, env []string, args ...string) *exec.Cmd {
	cmd := exec.Command("go", args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	return cmd
}

// goRun runs it and returns its standard output.
func goRun(t *testing.T, dir string, env []string, args ...string) []byte {
	t.Helper()
	var stderr strings.Builder
	cmd := goCommand(dir, env, args...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s%s", cmd, err, out, &stderr)
	}
	return out
}
