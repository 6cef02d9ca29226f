// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"go/types"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"example.com/fastmac/internal/assurance/arm64"
	"example.com/fastmac/internal/assurance/machine"
	"example.com/fastmac/internal/assurance/program"
	"example.com/fastmac/internal/assurance/x86"
)

// TestChanged has programs in which functions are moved, have other code, or read other data.
func TestChanged(t *testing.T) {
	root, err := program.Root()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		*machine.Architecture
		file, moved string
		replaced    []string // each old text, which is there last, and the new one
		want        []string
	}{
		{x86.Architecture, "internal/aes/aes_amd64.s", "expandKey128", []string{
			"DATA rotate6<>+15(SB)/1, $0x04", "DATA rotate6<>+15(SB)/1, $0x05",
			"\tPXOR    X14, X14\n", "",
		}, []string{"expandKey192", "rdseed"}},
		{arm64.Architecture, "internal/gcm/gcm_arm64.s", "initKey", []string{"\tVEOR\tV16.B16, V16.B16, V16.B16\n", ""}, []string{"openARMv8"}},
		{arm64.Architecture, "internal/gcm/gcm_arm64.s", "initKey", []string{"+184(SB)/8, $0x0", "+184(SB)/8, $0x1"}, []string{"gmacARMv8", "hashARMv8", "initKey", "openARMv8", "sealARMv8"}},
	} {
		now, err := program.Linked(tt.Architecture)
		if err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(filepath.Join(root, tt.file))
		if err != nil {
			t.Fatal(err)
		}
		text := string(b)
		replace := func(old, new string) {
			at := strings.LastIndex(text, old)
			if at < 0 || old == "" {
				t.Fatalf("%s has no %q", tt.file, old)
			}
			text = text[:at] + new + text[at+len(old):]
		}
		for pair := range slices.Chunk(tt.replaced, 2) {
			replace(pair[0], pair[1])
		}
		block := regexp.MustCompile(`(?s)TEXT ·` + tt.moved + `\(SB\).*?\n\tRET\n`).FindString(text)
		replace(block, "")
		text += "\n" + block
		before, err := program.Load(tt.Architecture, map[string]string{tt.file: text})
		if err != nil {
			t.Fatal(err)
		}
		if got := changed(now, before); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q have changed, want %q", tt.Name, got, tt.want)
		}
	}
}

// TestNarrow has a program in which one function is new, and one has a pointer to another struct.
func TestNarrow(t *testing.T) {
	now, err := program.Linked(x86.Architecture)
	if err != nil {
		t.Fatal(err)
	}
	before := *now
	same := func(p *program.Program, all string) bool {
		return (&revision{all: all, programs: map[*machine.Architecture]*program.Program{x86.Architecture: p}}).same(now)
	}
	more, chosen := *now, *now
	more.Functions = append(slices.Clone(now.Functions), now.Functions[0])
	other := *now.Choices[0]
	other.Above++
	chosen.Choices = append([]*program.Choice{&other}, now.Choices[1:]...)
	if !same(now, "") || same(now, "x is not the same") || same(&more, "") || same(&chosen, "") || (*revision)(nil).same(now) {
		t.Error("a program is not the same as itself, or as one with another function or choice")
	}
	before.Functions = slices.DeleteFunc(slices.Clone(now.Functions), func(f *machine.Function) bool { return f.Name == "lines" })
	before.Declared = maps.Clone(now.Declared)
	word := types.NewVar(0, nil, "word", types.NewPointer(types.NewStruct([]*types.Var{types.NewField(0, nil, "x", types.Typ[types.Uint64], false)}, nil)))
	name := program.ModulePath + "/internal/aes.rdseed"
	before.Declared[name] = types.NewSignatureType(nil, nil, nil, types.NewTuple(word), now.Declared[name].Results(), false)
	r := &revision{name: "old", programs: map[*machine.Architecture]*program.Program{x86.Architecture: &before}}
	some := regexp.MustCompile(".")
	for _, tt := range []struct {
		*revision
		match *regexp.Regexp
		want  []string
		says  string
	}{
		{r, some, []string{"rdseed", "lines"}, "2 of "},
		{&revision{name: "old", all: "x is not the same"}, some, allNames(now), "All functions are proved, because in old x is not the same\n"},
		{nil, some, allNames(now), ""},
	} {
		var w strings.Builder
		match := tt.revision.narrow(&w, now, tt.match)
		got := slices.DeleteFunc(allNames(now), func(name string) bool { return !match.MatchString(name) })
		if !slices.Equal(got, tt.want) || !strings.HasPrefix(w.String(), tt.says) {
			t.Errorf("%q are proved, want %q: %s", got, tt.want, w.String())
		}
	}
}

func allNames(p *program.Program) (names []string) {
	for _, f := range p.Functions {
		names = append(names, f.Name)
	}
	return names
}

// TestDescribe has types that differ only in what a type in them is.
func TestDescribe(t *testing.T) {
	structOf := func(field types.Type) types.Type {
		named := types.NewNamed(types.NewTypeName(0, types.NewPackage("p", "p"), "key", nil), nil, nil)
		named.SetUnderlying(types.NewStruct([]*types.Var{types.NewField(0, nil, "next", types.NewPointer(named), false), types.NewField(0, nil, "x", field, false)}, nil))
		return types.NewPointer(named)
	}
	word, row := types.Typ[types.Uint64], func(n int64) types.Type { return types.NewSlice(types.NewArray(types.Typ[types.Uint8], n)) }
	if got, want := describe(structOf(word)), "*p.key=struct{next *p.key;x uint64;}"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if describe(structOf(row(8))) == describe(structOf(row(16))) {
		t.Error("arrays of 8 and of 16 bytes are described in the same way")
	}
}

// TestOutput has the variables of a hook of another repository.
func TestOutput(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git: install the package git")
	}
	t.Setenv("GIT_DIR", t.TempDir())
	t.Setenv("GIT_WORK_TREE", t.TempDir())
	dir := t.TempDir()
	if _, err := output("git", "init", "-q", dir); err != nil {
		t.Fatal(err)
	}
	root, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	if top, err := output("git", "-C", dir, "rev-parse", "--show-toplevel"); err != nil || top != root {
		t.Errorf("git works in %s, error %v, want %s", top, err, root)
	}
}
