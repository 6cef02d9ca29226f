// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"example.com/fastmac"
	"example.com/fastmac/internal/mactest"
)

// TestPrinting checks that keys and streams print as their name and nothing else, by
// pointer and by value.
func TestPrinting(t *testing.T) {
	key := bytes.Repeat([]byte{0xa7}, 32)
	umacKey := mactest.Must(fastmac.NewUMACKey(key, 8))
	umac := umacKey.New()
	bound, err := umac.Bind([]byte{0xa7})
	if err != nil {
		t.Fatal(err)
	}
	hmacKey := fastmac.NewHMACSHA512Key(key)
	value := func(p any) any { return reflect.ValueOf(p).Elem().Interface() }
	var gmacKey fastmac.GMACKey
	gmacs := []any{new(fastmac.GMAC)}
	if fastmac.RequireGCM() == nil {
		if err := gmacKey.Init(key); err != nil {
			t.Fatal(err)
		}
		if gmac, err := gmacKey.New(); err == nil {
			bound, err := gmac.Bind(key[:12])
			if err != nil {
				t.Fatal(err)
			}
			gmacs = []any{gmac, value(gmac), bound}
		}
	}
	for want, values := range map[string][]any{
		"fastmac.UMACKey(64-bit tag)":        {umacKey, value(umacKey)},
		"fastmac.UMACKey(no key)":            {new(fastmac.UMACKey)},
		"fastmac.UMAC(64-bit tag)":           {umac, value(umac), bound},
		"fastmac.HMACSHA512Key(512-bit tag)": {hmacKey, value(hmacKey)},
		"fastmac.HMACSHA512(512-bit tag)":    {hmacKey.New()},
		"fastmac.GMACKey(128-bit tag)":       {&gmacKey, value(&gmacKey)},
		"fastmac.GMAC(128-bit tag)":          gmacs,
	} {
		for _, v := range values {
			for _, verb := range strings.Fields("%v %+v %#v %s %+s %#s %q %x %X %#x %d %o %O %b %c %U %e %E %f %g %G %t %z %20v %-20s") {
				if got := fmt.Sprintf(verb, v); got != want {
					t.Errorf("%s of %T: %q, want %q", verb, v, got, want)
				}
			}
			for what, inner := range map[string]any{"slice": []any{v}, "struct": struct{ V any }{v}, "map": map[string]any{"k": v}} {
				if got := fmt.Sprintf("%+v", inner); !strings.Contains(got, want) || len(got) > len(want)+10 {
					t.Errorf("%%+v of a %s with %T: %q, want %q in it", what, v, got, want)
				}
			}
			if got, err := json.Marshal(v); string(got) != `"`+want+`"` || err != nil {
				t.Errorf("JSON of %T: %s, %v; want %q", v, got, err, want)
			}
			for what, handler := range map[string]func(*bytes.Buffer) slog.Handler{
				"text": func(b *bytes.Buffer) slog.Handler { return slog.NewTextHandler(b, nil) },
				"JSON": func(b *bytes.Buffer) slog.Handler { return slog.NewJSONHandler(b, nil) },
			} {
				var log bytes.Buffer
				slog.New(handler(&log)).Info("m", "v", v)
				if got := log.String(); !strings.Contains(got, want) || len(got) > len(want)+90 {
					t.Errorf("%s log of %T: %q, want %q in it", what, v, got, want)
				}
			}
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

// TestDocumented looks for exported names without a doc comment, including methods of
// embedded types. Error is documented by its interface.
func TestDocumented(t *testing.T) {
	testDocumented(t, "example.com/fastmac", "*.go", 6*3)
	testDocumented(t, "example.com/fastmac/aesgcm", "aesgcm/*.go", 2*3)
	testDocumented(t, "example.com/fastmac/hwrand", "hwrand/*.go", 3)
}

func testDocumented(t *testing.T, path, pattern string, embedded int) {
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
	methods := 0
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
			if m.Level > 0 {
				methods++
			}
		}
	}
	if methods != embedded {
		t.Errorf("%s: %d methods of embedded types, want %d", path, methods, embedded)
	}
}
