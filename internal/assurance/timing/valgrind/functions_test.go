// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build unix

package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"

	"example.com/fastmac/internal/kernel/table"
	"example.com/fastmac/internal/mactest"
)

func must[T any](v T, err error) func(t *testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// TestPublic checks that what is in public.txt is in the tree, and that most of the tree is not in it.
func TestPublic(t *testing.T) {
	mactest.NeedGo(t)
	root := must(rootOf(""))(t)
	all := must(functions(root, must(sources(""))(t)))(t)
	ran, listed := make(map[string]bool), 0
	for _, name := range all {
		ran[name] = true
		if isPublic(public(), name) {
			listed++
		}
	}
	for _, f := range missing(all, ran, public()) {
		t.Error(f)
	}
	if listed == 0 || listed > len(all)/3 {
		t.Errorf("%d of %d functions are in public.txt", listed, len(all))
	}
}

func TestMissing(t *testing.T) {
	all := []string{"a.go f", "a.go g", "a.go (*T).h", "b.go f", "b.go g"}
	ran := map[string]bool{"a.go f": true, "b.go f": true}
	known := map[string]bool{"b.go": true, "a.go g": true, "a.go x": true, "c.go": true}
	got := strings.Join(missing(all, ran, known), "\n")
	want := "a.go (*T).h: no operation of the probe calls it; public.txt has functions without secrets\n" +
		"a.go x: in public.txt, and not in the tree\nc.go: in public.txt, and not in the tree"
	if got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// TestOverlay checks that no kernel with instructions that valgrind lacks remains in an overlay, in Go or in assembly,
// and that others do.
func TestOverlay(t *testing.T) {
	mactest.NeedGo(t)
	root := must(rootOf(""))(t)
	o := must(overlayFor(root, ""))(t)
	kept, replaced := 0, 0
	for folder := range folders() {
		for name, content := range o {
			if filepath.Dir(name) != filepath.Join(root, folder) {
				continue
			}
			if filepath.Ext(name) == ".s" {
				for line := range strings.Lines(string(content)) {
					if m := textName.FindStringSubmatch(line); m != nil {
						row, err := table.Find("amd64", folder, m[1])
						if err == nil && isReplaced(*row.Row) {
							t.Errorf("%s has %s", name, m[1])
						}
						kept++
					}
				}
				continue
			}
			file := must(parser.ParseFile(token.NewFileSet(), name, content, 0))(t)
			for _, d := range file.Decls {
				if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil {
					if row, err := table.Find("amd64", folder, f.Name.Name); err == nil && isReplaced(*row.Row) {
						if f.Body == nil {
							t.Errorf("%s declares %s", name, f.Name.Name)
						}
						replaced++
					}
				}
			}
		}
	}
	if kept < 30 || replaced < 30 {
		t.Errorf("%d kernels remain, and %d are replaced", kept, replaced)
	}
	t.Log(fmt.Sprint(kept, " functions of assembly remain, ", replaced, " are replaced"))
}
