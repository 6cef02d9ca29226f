// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package dropin has tests in which modules of other people move to fastmac's HMAC and PBKDF2, as
// docs/moving.md says: their import lines change, and their go.mod gets fastmac. Before and after it
// their own tests run, and connections to servers that do not use fastmac, and benchmarks.
package dropin

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/parser"
	"go/token"
	"go/version"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var sample = flag.Bool("sample", false, "download a sample of the modules and test them (FASTMAC_TEST_LONG=1: all)")

// replaced are the packages that modules import, and what they import instead.
var replaced = map[string]string{
	"crypto/hmac":                "example.com/fastmac/hmac",
	"crypto/hkdf":                "example.com/fastmac/hkdf",
	"golang.org/x/crypto/hkdf":   "example.com/fastmac/x/crypto/hkdf",
	"crypto/pbkdf2":              "example.com/fastmac/pbkdf2",
	"golang.org/x/crypto/pbkdf2": "example.com/fastmac/x/crypto/pbkdf2",
}

// TestSuites runs the tests of modules before and after they move. None may fail, and none may be
// skipped, or not be there, in one of the two only. The go line may be raised to that of fastmac: a
// godebug line must then restore the default GODEBUG, and the results where it alone has changed them.
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
			before, after := newTree(t, m), newTree(t, m)
			after.move(t, m)
			used := goRun(t, after.main, nil, append([]string{"list", "-deps", "-test"}, packages...)...)
			if !bytes.Contains(used, []byte("example.com/fastmac/")) {
				t.Error("the tests do not use fastmac")
			}
			old, raised := before.goLine(t), after.goLine(t)
			if want := later(old, fastmac.goLine(t)); raised != want {
				t.Errorf("go %s became go %s, want %s", old, raised, want)
			}
			meaning, changed := before.godebug(t, packages), after.godebug(t, packages)
			after.edit(t, "-godebug=default="+version.Lang("go"+old))
			if kept := after.godebug(t, packages); kept != meaning {
				t.Errorf("GODEBUG is %q, and with a godebug line %q", meaning, kept)
			}
			if !m.raised {
				after.edit(t, "-dropgodebug=default")
			}
			t.Logf("go %s became %s, and of GODEBUG %d settings became %d", old, raised, strings.Count(meaning, "="), strings.Count(changed, "="))

			var env []string
			if m.server != nil {
				env = m.server(t, before.main)
			}
			want, output := before.test(t, m, env, packages)
			if m.raised {
				// The same results without fastmac, and with it where no godebug line is.
				alone, moved := newTree(t, m), newTree(t, m)
				alone.edit(t, "-go="+raised)
				moved.move(t, m)
				got, _ := alone.testOnce(t, m, env, packages)
				gotMoved, outputMoved := moved.testOnce(t, m, env, packages)
				if d := differences(got, gotMoved); d != "" {
					t.Errorf("with go %s before the change, and after it:\n%s\n%s", raised, d, outputMoved)
				}
				if differences(want, got) == "" {
					t.Errorf("go %s changes no result", raised)
				}
			}
			got, outputAfter := after.test(t, m, env, packages)
			passed := 0
			for result := range want {
				if strings.HasSuffix(result, " fail") {
					t.Errorf("%s before the change", result)
				}
				if test := strings.Fields(result); len(test) == 3 && test[2] == "pass" && !strings.HasSuffix(test[1], "/") {
					passed++
				}
			}
			if differs := differences(want, got); differs != "" {
				t.Errorf("before the change, and after it:\n%s\nbefore:\n%s\nafter:\n%s", differs, output, outputAfter)
			}
			t.Logf("%d tests pass", passed)
			if long && passed != m.tests {
				t.Errorf("%d tests pass, want %d", passed, m.tests)
			}
		})
	}
}

// differences has a line for each result that is not there equally often.
func differences(before, after map[string]int) string {
	all := maps.Clone(before)
	maps.Copy(all, after)
	var b strings.Builder
	for _, result := range slices.Sorted(maps.Keys(all)) {
		if before[result] != after[result] {
			fmt.Fprintf(&b, "%s: %d times, then %d\n", result, before[result], after[result])
		}
	}
	return b.String()
}

// TestRaised moves a program of Go 1.20, and checks what docs/moving.md says of the go line: what it changes,
// and what keeps the old meaning.
func TestRaised(t *testing.T) {
	const program = `package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
)

func main() {
	hmac.New(sha256.New, nil)
	var indexes []func() int
	for i := 0; i < 3; i++ {
		indexes = append(indexes, func() int { return i })
	}
	for _, index := range indexes {
		fmt.Print(index(), " ")
	}
	defer func() { fmt.Print(recover() == nil) }()
	panic(nil)
}
`
	w := tree{t.TempDir()}
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(w.main, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	check := func(what, want string) {
		t.Helper()
		if got := goRun(t, w.main, nil, "run", "."); string(got) != want {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
	}
	sums, err := os.ReadFile(filepath.Join(fastmac.main, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	write("go.mod", "module program.invalid\n\ngo 1.20\n\ntoolchain go1.22.1\n")
	write("go.sum", string(sums))
	write("main.go", program)
	check("before the change", "3 3 3 true")
	w.move(t, module{lines: 1})
	mod, err := os.ReadFile(filepath.Join(w.main, "go.mod"))
	if want := "\ngo " + fastmac.goLine(t) + "\n"; err != nil || !bytes.Contains(mod, []byte(want)) || bytes.Contains(mod, []byte("toolchain")) {
		t.Errorf("error %v, want go.mod with %q and no toolchain:\n%s", err, want, mod)
	}
	check("after it", "0 1 2 false")
	moved, err := os.ReadFile(filepath.Join(w.main, "main.go"))
	if err != nil {
		t.Fatal(err)
	}
	write("main.go", "//go:debug default=go1.20\n"+string(moved))
	check("go:debug", "0 1 2 true")
	write("main.go", "//go:build go1.21\n\n"+string(moved))
	check("go:build", "3 3 3 false")
	w.edit(t, "-godebug=default=go1.20")
	check("go:build, and a godebug line", "3 3 3 true")
}

// TestTable checks that docs/moving.md names the modules of the table that move, and no others, and the
// version to which their go lines are raised.
func TestTable(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(fastmac.main, "docs", "moving.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n### With other people's modules\n")
	section, _, _ = strings.Cut(section, "\nWhat a call takes")
	var named, moved []string
	for _, found := range regexp.MustCompile("`([a-z]+[.][^`]+/[^`]+)`").FindAllStringSubmatch(section, -1) {
		named = append(named, found[1])
	}
	tests := 0
	for _, m := range modules {
		if m.lines > 0 {
			moved = append(moved, m.path)
			tests += m.tests
		}
	}
	slices.Sort(named)
	slices.Sort(moved)
	if !slices.Equal(named, moved) {
		t.Errorf("it names\n%s\nwant\n%s", strings.Join(named, "\n"), strings.Join(moved, "\n"))
	}
	if want := "raises a lower `go` line of your `go.mod` to " + fastmac.goLine(t) + ","; !strings.Contains(string(page), want) {
		t.Errorf("it has not %q", want)
	}
	if want := fmt.Sprintf("\n%d modules with %d tests ", len(moved), tests); !strings.Contains(section, want) {
		t.Errorf("it has not %q", want)
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

// A tree has a module in the folder main, with a go.mod of its own.
type tree struct{ main string }

// fastmac is the module that others move to.
var fastmac = tree{filepath.Join("..", "..")}

// newTree downloads a module and copies it. A module of ours gets a go.mod that requires those that it names.
func newTree(t *testing.T, m module) tree {
	t.Helper()
	w := tree{filepath.Join(t.TempDir(), "main")}
	copyModule(t, w.main, m)
	if strings.HasSuffix(m.path, ".invalid") {
		goRun(t, w.main, nil, "mod", "init", m.path)
		for _, path := range m.with {
			w.edit(t, "-require="+path+"@"+named(t, path).version)
		}
	}
	return w
}

// move changes the imports of the module, and of those that it names, in copies beside it.
func (w tree) move(t *testing.T, m module) {
	t.Helper()
	root, err := filepath.Abs(fastmac.main)
	if err != nil {
		t.Fatal(err)
	}
	w.edit(t, "-require=example.com/fastmac@v0.0.0", "-replace=example.com/fastmac="+root)
	changeImports(t, w.main, m)
	for _, path := range m.with {
		if with := named(t, path); with.lines > 0 {
			dir := filepath.Join(filepath.Dir(w.main), strings.ReplaceAll(path, "/", "-"))
			copyModule(t, dir, with)
			changeImports(t, dir, with)
			w.edit(t, "-replace="+path+"="+dir)
		}
	}
	goRun(t, w.main, nil, "mod", "tidy")
}

// edit changes go.mod.
func (w tree) edit(t *testing.T, flags ...string) {
	t.Helper()
	goRun(t, w.main, nil, append([]string{"mod", "edit"}, flags...)...)
}

// goLine returns the version in the go line. Without one, it is Go 1.16.
func (w tree) goLine(t *testing.T) string {
	t.Helper()
	var mod struct{ Go string }
	if err := json.Unmarshal(goRun(t, w.main, nil, "mod", "edit", "-json"), &mod); err != nil {
		t.Fatal(err)
	}
	return cmp.Or(mod.Go, "1.16")
}

// godebug returns the default GODEBUG of the tests of packages, each once.
func (w tree) godebug(t *testing.T, packages []string) string {
	t.Helper()
	out := goRun(t, w.main, nil, append([]string{"list", "-mod=mod", "-test", "-f", `{{if eq .Name "main"}}{{.DefaultGODEBUG}}{{end}}`}, packages...)...)
	return strings.Join(slices.Compact(slices.Sorted(strings.FieldsSeq(string(out)))), " ")
}

// later returns the later of two versions of Go.
func later(a, b string) string {
	if version.Compare("go"+a, "go"+b) > 0 {
		return a
	}
	return b
}

// copyModule copies a module to dir, ours from testdata.
func copyModule(t *testing.T, dir string, m module) {
	t.Helper()
	name, ours := strings.CutSuffix(m.path, ".invalid")
	var from struct{ Dir, Sum string }
	if ours {
		from.Dir = filepath.Join("testdata", name)
	} else {
		out := goRun(t, t.TempDir(), nil, "mod", "download", "-json", m.path+"@"+m.version)
		if err := json.Unmarshal(out, &from); err != nil || from.Sum != m.sum {
			t.Fatalf("%s: %v, error %v, want %s", m.path, from, err, m.sum)
		}
	}
	if err := os.CopyFS(dir, os.DirFS(from.Dir)); err != nil {
		t.Fatal(err)
	}
}

// changeImports replaces the imports of all Go files of a module in dir that are not tests.
func changeImports(t *testing.T, dir string, m module) {
	t.Helper()
	lines := 0
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
	if lines != m.lines {
		t.Errorf("%s: %d lines change, want %d", m.path, lines, m.lines)
	}
}

// test runs the tests of packages in the folder of a module, up to three times until none fails: some of
// other people's tests have limits of time, which a busy machine can miss.
func (w tree) test(t *testing.T, m module, env, packages []string) (results map[string]int, failures string) {
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
func (w tree) testOnce(t *testing.T, m module, env, packages []string) (results map[string]int, failures string) {
	t.Helper()
	// With the names of temporary folders in them, packages would be built each time.
	args := []string{"test", "-mod=mod", "-json", "-count=1", "-vet=off", "-trimpath", "-skip=" + cmp.Or(m.skip, "^$")}
	if m.serial {
		args = append(args, "-parallel=1")
	}
	cmd := goCommand(w.main, env, append(args, packages...)...)
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
	cmd.Dir, cmd.Env = dir, append(append(os.Environ(), "GOWORK=off"), env...)
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
