// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build unix

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"example.com/fastmac/internal/mactest"
)

// TestToy tests mutants of testdata/toy: in functions, methods and a constant, with each
// result. One of them never ends. In the long run it does the same with -alone.
func TestToy(t *testing.T) {
	const file = "testdata/toy/toy.go"
	source, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct{ line, operator, kind, status, want string }{
		{"size = 2 + 3", "+", "ARITHMETIC_BASE", covered, killed},
		{"if a > b", ">", "CONDITIONALS_BOUNDARY", covered, lived},
		{"if a > b", ">", "CONDITIONALS_NEGATION", covered, killed},
		{`"hello " + name`, "+", "ARITHMETIC_BASE", covered, notViable},
		{"c.n--", "--", "INCREMENT_DECREMENT", covered, killed},
		{"n -= 1", "-=", "INVERT_ASSIGNMENTS", covered, timedOut},
		{"size != 5", "!=", "CONDITIONALS_NEGATION", notCovered, notCovered},
	}
	type mutation struct {
		Type, Status string
		Line, Column int
	}
	var mutations []mutation
	for _, test := range tests {
		at := strings.Index(string(source), test.line)
		at += strings.Index(test.line, test.operator)
		before := string(source[:at])
		mutations = append(mutations, mutation{test.kind, test.status, 1 + strings.Count(before, "\n"), at - strings.LastIndex(before, "\n")})
	}
	data, err := json.Marshal(map[string]any{"files": []any{map[string]any{"file_name": file, "mutations": mutations}}})
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "mutants.json")
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, alone := range []bool{false, true} {
		if alone && !mactest.Long() {
			break // each mutant takes a build
		}
		list, err := readMutants(name, regexp.MustCompile("toy"))
		if err != nil || len(list) != len(tests) {
			t.Fatalf("%d mutants, error %v", len(list), err)
		}
		r := runner{alone: alone, steps: []step{{dir: filepath.Dir(file)}}}
		if err := r.runAll(list); err != nil {
			t.Fatal(err)
		}
		for _, m := range list {
			ok := false
			for _, test := range tests {
				ok = ok || strings.Contains(m.source, test.line) && m.kind == test.kind && m.status == test.want
			}
			if !ok {
				t.Errorf("alone %v: %v", alone, m)
			}
		}
	}
}

// TestRemovals leaves out statements of the same package, and reads the list of those that
// lived.
func TestRemovals(t *testing.T) {
	const file = "testdata/toy/toy.go"
	list, err := removals(file)
	if err != nil || len(list) != 2 || list[0].old != "c.n--" || list[1].old != "n -= 1" {
		t.Fatalf("%v, error %v", list, err)
	}
	folder, err := readFolder(filepath.Dir(file), regexp.MustCompile("toy"))
	if err != nil || len(folder) != 2 || folder[1].String() != list[1].String() {
		t.Fatalf("of the folder: %v, error %v", folder, err)
	}
	list[1].status = lived
	again, err := readLived([]byte(list[0].String()+"\n"+list[1].String()+"\n"), regexp.MustCompile("."))
	if err != nil || len(again) != 1 {
		t.Fatalf("%v, error %v", again, err)
	}
	again[0].status = lived
	if again[0].String() != list[1].String() {
		t.Errorf("%v, want %v", again[0], list[1])
	}
}

// TestWipes leaves out the wipes of testdata/wiped, also of a generic function and of a part of an assignment. Its test
// looks at one field.
func TestWipes(t *testing.T) {
	list, err := readWipes("")("testdata/wiped", regexp.MustCompile("."))
	if err != nil {
		t.Fatal(err)
	}
	r := runner{}
	r.setSteps([]string{"testdata/wiped"})
	if err := r.runAll(list); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range list {
		got = append(got, m.status+" "+m.source)
	}
	want := []string{killed + " s.a = [2]T{}", lived + " s.b = [2]T{}", killed + " defer s.Destroy()", lived + " clear(buf)"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
