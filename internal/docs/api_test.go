// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package docs

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
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
