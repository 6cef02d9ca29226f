// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"go/ast"
	"go/build"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// wipeRemoved is the kind of a mutant without a wipe.
const wipeRemoved = "WIPE_REMOVED"

// wipeRuns are the folders that have wipes, and the tests that look for what these overwrite: first on the stack, and
// last there again, at more sizes and rooms.
var wipeRuns = []struct {
	dirs, files string
	steps       []string
}{
	{"internal/sha1,internal/sha2,hkdf,pbkdf2", ".", []string{
		"internal/memory -test.short -test.run=^TestStack$/HMAC", "hkdf -test.short", "pbkdf2 -test.short", "internal/sha1 -test.short", "internal/sha2 -test.short -test.run=Start|Tail",
		". -test.short -test.run=HMAC", "internal/memory -test.short -test.run=Scan|Init|Dying|FIPS", "internal/memory FASTMAC_TEST_LONG=1 -test.run=^TestStack$/HMAC"}},
	{".", "^hmac", []string{
		"internal/memory -test.short -test.run=^TestStack$/HMAC", "internal/memory -test.short -test.run=Scan|Init|Dying|FIPS", ". -test.short -test.run=HMAC|FIPS|Destroy|Reset|Clone",
		"internal/memory FASTMAC_TEST_LONG=1 -test.run=^TestStack$/HMAC"}},
	{".", "^[^h]", []string{
		". -test.run=^TestParallelStack$|TestChunkSums", "internal/memory -test.short -test.run=^TestStack$/UMAC",
		". -test.short -test.run=Destroy|Reset|Clone|Chunk|Pad|UMAC|GMAC", "internal/memory -test.short -test.run=Scan|Init|Dying|FIPS",
		"internal/memory FASTMAC_TEST_LONG=1 -test.run=^TestStack$/UMAC"}},
	{"internal/aes,internal/gcm,aesgcm", ".", []string{
		"hwrand", "internal/memory -test.short -test.run=^TestStack$/GCM", "aesgcm -test.short", "internal/gcm -test.short", "internal/aes -test.short -test.run=Seed", "internal/memory -test.short -test.run=Scan|Init|Dying|FIPS"}},
	{"hwrand", ".", []string{"hwrand -test.short"}},
	{"packet", ".", []string{"packet -test.short -test.run=^TestStack$", "packet -test.short", "packet FASTMAC_TEST_LONG=1 -test.run=^TestStack$"}},
	{"sshmac", ".", []string{"sshmac -test.short -test.run=Stack|Scan|Dying"}},
}

// runWipes tests the wipes of the matching files of all of these.
func runWipes(match *regexp.Regexp) (all []*mutant, err error) {
	for _, run := range wipeRuns {
		list, err := readWipes("")(run.dirs, regexp.MustCompile(run.files))
		if err != nil {
			return nil, err
		}
		list = slices.DeleteFunc(list, func(m *mutant) bool { return !match.MatchString(m.file) })
		r := runner{}
		r.setSteps(run.steps)
		if err := r.runAll(list); err != nil {
			return nil, err
		}
		all = append(all, list...)
	}
	return all, nil
}

// readWipes returns a function that reads the wipes of the files that a build with tags has, in folders separated
// by commas.
func readWipes(tags string) func(dirs string, match *regexp.Regexp) ([]*mutant, error) {
	return func(dirs string, match *regexp.Regexp) (list []*mutant, err error) {
		context := build.Default
		context.BuildTags = strings.Split(tags, ",")
		for dir := range strings.SplitSeq(dirs, ",") {
			p, err := context.ImportDir(dir, 0)
			if err != nil {
				return nil, err
			}
			for _, name := range p.GoFiles {
				if name = filepath.Join(dir, name); !match.MatchString(name) {
					continue
				}
				found, err := wipesOf(name)
				if err != nil {
					return nil, err
				}
				list = append(list, found...)
			}
		}
		return list, nil
	}
}

// wipesOf returns the mutants of a file.
func wipesOf(name string) (list []*mutant, err error) {
	err = eachStatement(name, wipeRemoved, func(s ast.Stmt, m *mutant, text func(ast.Node) string) {
		switch s := s.(type) {
		case *ast.ExprStmt:
			if call, ok := s.X.(*ast.CallExpr); ok && isWipe(call) {
				list = append(list, m.remove())
			}
		case *ast.DeferStmt:
			if isWipe(s.Call) {
				list = append(list, m.remove())
			}
		case *ast.AssignStmt:
			if s.Tok != token.ASSIGN || len(s.Lhs) != len(s.Rhs) {
				return
			}
			for i, value := range s.Rhs {
				literal, ok := value.(*ast.CompositeLit)
				switch {
				case !ok || len(literal.Elts) > 0 || isReference(literal.Type):
				case len(s.Rhs) == 1:
					list = append(list, m.remove())
				default: // that one alone
					var left, right []string
					for j := range s.Rhs {
						if j != i {
							left, right = append(left, text(s.Lhs[j])), append(right, text(s.Rhs[j]))
						}
					}
					part := *m
					part.text = strings.Join(left, ", ") + " = " + strings.Join(right, ", ")
					part.source = text(s.Lhs[i]) + " = " + text(value)
					list = append(list, &part)
				}
			}
		}
	})
	slices.SortStableFunc(list, func(a, b *mutant) int { return a.offset - b.offset })
	return list, err
}

// isReference reports whether a value of a type is a map or a slice, which overwrite nothing.
func isReference(t ast.Expr) bool {
	array, ok := t.(*ast.ArrayType)
	_, isMap := t.(*ast.MapType)
	return isMap || ok && array.Len == nil
}

// isWipe reports whether a call overwrites something, by the name of the function. Others are assignments of
// a value without elements. Of a function literal it is the calls in it that count.
func isWipe(call *ast.CallExpr) bool {
	for _, arg := range call.Args {
		if _, ok := arg.(*ast.FuncLit); ok {
			return false
		}
	}
	f := call.Fun
	switch g := f.(type) {
	case *ast.IndexExpr:
		f = g.X
	case *ast.IndexListExpr:
		f = g.X
	}
	switch f := f.(type) {
	case *ast.Ident:
		return f.Name == "clear"
	case *ast.SelectorExpr:
		if p, ok := f.X.(*ast.Ident); ok && p.Name == "wipe" {
			return true
		}
		switch f.Sel.Name {
		case "clear", "Clear", "destroy", "Destroy":
			return true
		}
	}
	return false
}
