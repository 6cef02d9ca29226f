// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package docs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/doc"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.com/fastmac/internal/mactest"
)

// exampleDirs are the packages for users.
var exampleDirs = []string{".", "sshmac", "aesgcm", "hwrand"}

// notInExamples are the methods that need no example: fmt, encoding and errors call them.
var notInExamples = map[string]bool{"String": true, "Format": true, "MarshalText": true, "Error": true}

// TestExamples checks that an example uses each exported name: each constant, variable and
// function by its name, each type by a value of it, and each method by a call or a value.
func TestExamples(t *testing.T) {
	mactest.NeedGo(t)
	fset := token.NewFileSet()
	imports := exportImporter(t, fset)
	used := make(map[types.Object]bool)
	for _, dir := range exampleDirs {
		names, err := filepath.Glob(filepath.Join(dir, "example*_test.go"))
		if err != nil || len(names) == 0 {
			t.Fatalf("%s: no examples (%v)", dir, err)
		}
		var files []*ast.File
		for _, name := range names {
			file, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, file)
		}
		info := types.Info{Uses: make(map[*ast.Ident]types.Object), Types: make(map[ast.Expr]types.TypeAndValue)}
		config := types.Config{Importer: imports}
		if _, err := config.Check(dir, fset, files, &info); err != nil {
			t.Fatal(err)
		}
		for _, o := range info.Uses {
			used[o] = true
		}
		for _, tv := range info.Types {
			if named := namedType(tv.Type); named != nil {
				used[named.Obj()] = true
			}
		}
	}
	for _, dir := range exampleDirs {
		pkg, err := imports.Import(filepath.ToSlash(filepath.Join("example.com/fastmac", dir)))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range pkg.Scope().Names() {
			o := pkg.Scope().Lookup(name)
			if !o.Exported() {
				continue
			}
			if !used[o] {
				t.Errorf("no example uses %s.%s", pkg.Name(), name)
			}
			named, ok := o.Type().(*types.Named)
			if _, isType := o.(*types.TypeName); !ok || !isType {
				continue
			}
			for m := range named.Methods() {
				if m.Exported() && !notInExamples[m.Name()] && !used[m] {
					t.Errorf("no example uses %s.%s.%s", pkg.Name(), name, m.Name())
				}
			}
		}
	}
}

// namedType returns the type of a value, or that of what it points to, if it has a name.
func namedType(t types.Type) *types.Named {
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem()
	}
	named, _ := t.(*types.Named)
	return named
}

// exportImporter imports what the go command compiles for the examples.
func exportImporter(t *testing.T, fset *token.FileSet) types.Importer {
	t.Helper()
	args := []string{"list", "-deps", "-test", "-export", "-json=ImportPath,Export"}
	for _, dir := range exampleDirs {
		args = append(args, "./"+dir)
	}
	cmd := exec.Command("go", args...)
	cmd.Env = mactest.HostEnv()
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	exports := make(map[string]string)
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct{ ImportPath, Export string }
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		exports[p.ImportPath] = p.Export
	}
	return importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
}

// TestDependencies lists the modules that each package for users brings into a program: only
// sshmac brings more than golang.org/x/sys.
func TestDependencies(t *testing.T) {
	mactest.NeedGo(t)
	module := userModule(t)
	for _, dir := range exampleDirs {
		want := "golang.org/x/sys"
		if dir == "sshmac" {
			want = "golang.org/x/crypto golang.org/x/sys"
		}
		pkg := path.Join("example.com/fastmac", dir)
		cmd := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", pkg)
		cmd.Dir, cmd.Env = module, append(mactest.HostEnv(), "GOPROXY=off")
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v", pkg, err)
		}
		modules := strings.Fields(string(out))
		slices.Sort(modules)
		modules = slices.DeleteFunc(slices.Compact(modules), func(m string) bool { return m == "example.com/fastmac" })
		if got := strings.Join(modules, " "); got != want {
			t.Errorf("%s brings %s, want %s", pkg, got, want)
		}
		t.Logf("%s brings %v", pkg, modules)
	}
}

// TestMisuse checks that go vet reports copies of keys, streams, Nonces and
// ReplayWindows, and that comparisons of them, and of Sealers, do not compile.
func TestMisuse(t *testing.T) {
	mactest.NeedGo(t)
	for name, test := range map[string]struct{ command, source, want string }{
		"copy": {command: "vet", want: "assignment copies lock value", source: `
func copies(k1 *fastmac.UMACKey, u *fastmac.UMAC, k2 *fastmac.HMACSHA512Key, h *fastmac.HMACSHA512, n *fastmac.Nonces, w *fastmac.ReplayWindow, k3 *fastmac.GMACKey, m *fastmac.GMAC, k4 *aesgcm.Key) {
	a := *k1
	b := *u
	c := *k2
	d := *h
	e := *n
	f := *w
	g := *k3
	i := *m
	j := *k4
	a.Size()
	b.Size()
	c.Tag(nil, nil)
	d.Size()
	e.Next(nil)
	f.Accept(1)
	g.Size()
	i.Size()
	j.Destroy()
}
`},
		"compare": {command: "build", want: "invalid operation", source: `
func compares(k1, k2 *fastmac.UMACKey, u, v *fastmac.UMAC, k3, k4 *fastmac.HMACSHA512Key, g, h *fastmac.HMACSHA512, m, n *fastmac.Nonces, w, x *fastmac.ReplayWindow, k5, k6 *fastmac.GMACKey, y, z *fastmac.GMAC, k7, k8 *aesgcm.Key, s, t *aesgcm.Sealer) bool {
	return *k1 == *k2 ||
		*u == *v ||
		*k3 == *k4 ||
		*g == *h ||
		*m == *n ||
		*w == *x ||
		*k5 == *k6 ||
		*y == *z ||
		*k7 == *k8 ||
		*s == *t
}
`},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), name+".go")
			source := "package main\n\nimport (\n\"example.com/fastmac\"\n\"example.com/fastmac/aesgcm\"\n)\n" + test.source + "\nfunc main() {}\n"
			if err := os.WriteFile(file, []byte(source), 0o600); err != nil {
				t.Fatal(err)
			}
			out, err := exec.Command("go", test.command, file).CombinedOutput()
			if err == nil {
				t.Fatalf("go %s reports nothing", test.command)
			}
			for i, line := range strings.Split(source, "\n") {
				bad := strings.Contains(line, ":= *") || strings.Contains(line, "==")
				if reported := strings.Contains(string(out), fmt.Sprintf("%s.go:%d:", name, i+1)); bad != reported {
					t.Errorf("line %d, %q: reported: %v\n%s", i+1, line, reported, out)
				}
			}
			if !strings.Contains(string(out), test.want) {
				t.Errorf("go %s does not report %q:\n%s", test.command, test.want, out)
			}
		})
	}
}

// TestDocumented looks for exported names without a doc comment. Error is documented by its
// interface.
func TestDocumented(t *testing.T) {
	testDocumented(t, "example.com/fastmac", "*.go")
	testDocumented(t, "example.com/fastmac/aesgcm", "aesgcm/*.go")
	testDocumented(t, "example.com/fastmac/hwrand", "hwrand/*.go")
	testDocumented(t, "example.com/fastmac/sshmac", "sshmac/*.go")
}

func testDocumented(t *testing.T, path, pattern string) {
	t.Helper()
	names, err := filepath.Glob(filepath.FromSlash(pattern))
	if err != nil {
		t.Fatal(err)
	}
	fset := token.NewFileSet()
	var files []*ast.File
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(fset, name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	pkg, err := doc.NewFromFiles(fset, files, path)
	if err != nil {
		t.Fatal(err)
	}
	check := func(name, doc string) {
		if doc == "" {
			t.Errorf("%s has no doc comment", name)
		}
	}
	for _, f := range pkg.Funcs {
		check(f.Name, f.Doc)
	}
	for _, v := range append(pkg.Consts, pkg.Vars...) {
		check(v.Names[0], v.Doc)
	}
	for _, typ := range pkg.Types {
		check(typ.Name, typ.Doc)
		for _, v := range append(typ.Consts, typ.Vars...) {
			check(v.Names[0], v.Doc)
		}
		for _, f := range typ.Funcs {
			check(f.Name, f.Doc)
		}
		for _, m := range typ.Methods {
			if m.Name != "Error" {
				check(typ.Name+"."+m.Name, m.Doc)
			}
		}
	}
}
