// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"example.com/fastmac"
	"example.com/fastmac/internal/mactest"
)

// TestPrinting checks that keys and streams print as their name and nothing else.
func TestPrinting(t *testing.T) {
	key := bytes.Repeat([]byte{0xa7}, 32)
	umacKey := mactest.Must(fastmac.NewUMACKey(key, 8))
	umac := umacKey.New()
	bound, err := umac.Bind([]byte{0xa7})
	if err != nil {
		t.Fatal(err)
	}
	hmacKey := fastmac.NewHMACSHA512Key(key)
	gmacKey, gmacs := new(fastmac.GMACKey), []any{new(fastmac.GMAC)}
	if fastmac.RequireGCM() == nil {
		gmacKey = mactest.Must(fastmac.NewGMACKey(key))
		if gmac, err := gmacKey.New(); err == nil {
			bound, err := gmac.Bind(key[:12])
			if err != nil {
				t.Fatal(err)
			}
			gmacs = append(gmacs, gmac, bound)
		}
	}
	for want, values := range map[string][]any{
		"fastmac.UMACKey(64-bit tag)":        {umacKey},
		"fastmac.UMACKey(no key)":            {new(fastmac.UMACKey)},
		"fastmac.UMAC(64-bit tag)":           {umac, bound},
		"fastmac.HMACSHA512Key(512-bit tag)": {hmacKey},
		"fastmac.HMACSHA512(512-bit tag)":    {hmacKey.New()},
		"fastmac.GMACKey(128-bit tag)":       {gmacKey, new(fastmac.GMACKey)},
		"fastmac.GMAC(128-bit tag)":          gmacs,
	} {
		for _, v := range values {
			mactest.Printing(t, want, v)
		}
	}
}

// TestMisuse checks that go vet reports copies of keys, streams, Nonces and
// ReplayWindows, and that comparisons of them, and of Sealers, do not compile.
func TestMisuse(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skipf("needs the go command: %v", err)
	}
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
