// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package list

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestComparisons lists who computes a tag in this package and in package sums: only those who write it. All others
// leave that, and the comparison, to Verify of package fastmac, whose time does not depend on tags. To compare in
// another way they would need the right tag.
func TestComparisons(t *testing.T) {
	computing := []string{"Sum", "SumHMAC", "Tag", "TagBatch", "Sign"}
	var found []string
	for _, pattern := range []string{"*.go", "../sums/*.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: no files: %v", pattern, err)
		}
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range file.Decls {
				f, ok := d.(*ast.FuncDecl)
				if !ok {
					continue
				}
				ast.Inspect(f, func(n ast.Node) bool {
					if call, ok := n.(*ast.CallExpr); ok {
						if s, ok := call.Fun.(*ast.SelectorExpr); ok && slices.Contains(computing, s.Sel.Name) {
							found = append(found, filepath.ToSlash(name)+" "+f.Name.Name)
						}
					}
					return true
				})
			}
		}
	}
	want := []string{"stream.go Tag", "stream.go Sign", "write.go Finish", "../sums/tagger.go sign"}
	if !slices.Equal(found, want) {
		t.Errorf("tags are computed in %q, want %q", found, want)
	}
}
