// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	_ "embed"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// A function is one with a body.
type function struct {
	name        string // with its file, as in "internal/gcm/gcm_asm.go (*Key).Seal"
	decl        *ast.FuncDecl
	first, last int // lines
}

// withoutSecrets are packages of the module that the probe links, and why nothing in them is secret.
var withoutSecrets = map[string]string{
	"internal/kernel":                          "it knows the CPU only",
	"internal/fork":                            "it knows the process only",
	"internal/lifetime":                        "it has numbers of keys",
	"internal/made":                            "it knows hashes without a key",
	"internal/opaque":                          "it has names",
	"internal/replay":                          "it has numbers of packets",
	"internal/mactest":                         "it is for tests",
	"internal/assurance/timing/macs":           "it is for tests",
	"internal/assurance/timing/valgrind/probe": "it is for tests",
}

// sources returns the Go files of the other packages that the probe links, for all systems but arm64: package qemu
// sees what arm64 has alone.
func sources(module string) (files []string, err error) {
	cmd := exec.Command("go", "list", "-deps", "-f", `{{with .Module}}{{if or .Main .Replace}}{{$.ImportPath}} {{$.Dir}}{{end}}{{end}}`, probePath)
	cmd.Dir = module
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	for line := range strings.Lines(string(out)) {
		pkg, folder, _ := strings.Cut(strings.TrimSpace(line), " ")
		if withoutSecrets[strings.TrimPrefix(pkg, "example.com/fastmac/")] != "" {
			continue
		}
		names, err := filepath.Glob(filepath.Join(folder, "*.go"))
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			if !strings.HasSuffix(name, "_test.go") && !strings.HasSuffix(name, "_arm64.go") {
				files = append(files, name)
			}
		}
	}
	return files, nil
}

// functionsIn returns the functions of a file.
func functionsIn(root, name string, source []byte) (all []function, err error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, name, source, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	relative, err := filepath.Rel(root, name)
	if err != nil {
		return nil, err
	}
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Body != nil {
			all = append(all, function{
				name: filepath.ToSlash(relative) + " " + nameOf(f), decl: f,
				first: set.Position(f.Pos()).Line, last: set.Position(f.End()).Line,
			})
		}
	}
	return all, nil
}

// nameOf returns the name of a function with its receiver, as in "(*Key).Seal".
func nameOf(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return f.Name.Name
	}
	t, format := f.Recv.List[0].Type, "%s.%s"
	if star, ok := t.(*ast.StarExpr); ok {
		t, format = star.X, "(*%s).%s"
	}
	switch x := t.(type) {
	case *ast.IndexExpr:
		t = x.X
	case *ast.IndexListExpr:
		t = x.X
	}
	return fmt.Sprintf(format, t.(*ast.Ident).Name, f.Name.Name)
}

// functions returns the names of all functions of the files in the tree.
func functions(root string, files []string) (names []string, err error) {
	for _, file := range files {
		source, err := overlay(nil).read(file)
		if err != nil {
			return nil, err
		}
		in, err := functionsIn(root, file, source)
		if err != nil {
			return nil, err
		}
		for _, f := range in {
			names = append(names, f.name)
		}
	}
	return names, nil
}

// public.txt lists the functions that have no secrets, each group after the reason.
//
//go:embed public.txt
var publicText string

// public returns which functions have no secrets. Those of a whole file have no name.
func public() map[string]bool {
	names := make(map[string]bool)
	for line := range strings.Lines(publicText) {
		if words := strings.Fields(line); strings.HasPrefix(line, "\t") {
			for _, name := range words[1:] {
				names[strings.TrimSuffix(words[0]+" "+name, " *")] = true
			}
		}
	}
	return names
}

// isPublic reports whether a function is in names, by itself or with its file.
func isPublic(names map[string]bool, function string) bool {
	file, _, _ := strings.Cut(function, " ")
	return names[function] || names[file]
}

// missing returns, as findings, the functions that are not public and did not run, and what is listed as public and is
// not there.
func missing(all []string, ran map[string]bool, public map[string]bool) (findings []string) {
	unknown := maps.Clone(public)
	for _, name := range all {
		file, _, _ := strings.Cut(name, " ")
		delete(unknown, name)
		delete(unknown, file)
		if !ran[name] && !isPublic(public, name) {
			findings = append(findings, name+": no operation of the probe calls it; public.txt has functions without secrets")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(unknown)) {
		findings = append(findings, name+": in public.txt, and not in the tree")
	}
	return findings
}
