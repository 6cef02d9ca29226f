// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build linux

package qemu

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var cpuFlag = flag.String("qemucpu", "max", "the CPU of TestTraces, as in qemu-aarch64 -cpu help")

// sizes are those of messages: around the units of the code.
var sizes = []int{0, 1, 7, 15, 16, 31, 32, 33, 100, 1023, 1024, 1025, 2049, 5000}

// traced are the operations whose traces must not depend on secrets, with tags of these sizes, or
// with AES keys.
var traced = map[string][]int{
	"tag": {32, 64, 96, 128}, "stream": {32, 64, 96, 128}, "parts": {64, 128}, "batch": {64, 128},
	"verify": {64, 128}, "wrong": {64, 128}, "gmac": {128, 192, 256}, "gmacstream": {128, 192, 256}, "seal": {128, 192, 256}, "open": {128, 192, 256},
	"hmac": {256, 384, 512}, "hmacbatch": {256, 384, 512}, "hmacverify": {256, 384, 512}, "pbkdf2": {256, 384, 512},
	"hmacnew": {256, 512}, "hwrand": {0},
}

// leaks are the operations that leak, and a part of what must be found.
var leaks = []struct{ operation, godebug, want string }{
	{"branch/0/0", "", "main.branch"},
	{"index/0/0", "", "main.index"},
	{"tag/64/100", "cpu.aes=off", "crypto/internal/fips140/aes.encryptBlockGeneric"},
}

// TestTraces runs operations with different keys and messages, of the same sizes and with the same
// nonces: zeros, ones, and random ones. They must execute the same instructions in the same order,
// and access the same addresses. What leaks must be noticed.
//
// It cannot see a branch that only rare values take. On amd64, command valgrind and the proofs in
// internal/assurance can.
func TestTraces(t *testing.T) {
	e := newEmulator(t)
	const rounds = 2
	operations := []string{"init/32/16", "init/64/16", "init/96/24", "init/128/32", "init.gmac/128/0", "init.gmac/192/0", "init.gmac/256/0"}
	for operation, bits := range traced {
		for _, b := range bits {
			for _, n := range sizes {
				operations = append(operations, fmt.Sprintf("%s/%d/%d", operation, b, n))
			}
		}
	}
	slices.Sort(operations)
	run := func(godebug string, secrets int, operations ...string) [][][]record {
		calls, err := e.run(*cpuFlag, godebug, secrets, rounds, operations...)
		if err != nil {
			t.Fatalf("fastmac: %v", err)
		}
		return calls
	}
	first := run("", 0, operations...)
	for secrets := 1; secrets < 8; secrets++ {
		// A leak is in each run. Where objects lie may vary, see comparison: that is tried again.
		var found []string
		for attempt := range 16 {
			if attempt > 0 {
				t.Logf("trying again: %d differences, such as %s", len(found), found[0])
				first = run("", 0, operations...)
			}
			if found = e.compare(operations, first, run("", secrets, operations...)); found == nil {
				break
			}
		}
		if found != nil {
			t.Fatalf("secrets 0 and %d: %d operations differ, such as\n%s", secrets, len(found), strings.Join(found[:min(10, len(found))], "\n"))
		}
	}
	t.Logf("CPU %s: %d operations", *cpuFlag, len(operations))
	if *cpuFlag == "max" {
		e.checkFunctions(t, first)
	}
	for _, l := range leaks {
		found := e.compare([]string{l.operation}, run(l.godebug, 0, l.operation), run(l.godebug, 1, l.operation))
		if found == nil || !strings.Contains(found[0], l.want) {
			t.Errorf("%s leaks in %s, and what is noticed is %q", l.operation, l.want, found)
			continue
		}
		t.Logf("noticed: %s", found[0])
	}
}

// notTraced are the functions of arm64 alone that TestTraces does not run, by their files and names, and why.
var notTraced = map[string]string{
	"kernels_arm64.go registerNH":               "it knows the CPU only",
	"kernels_arm64.go hasNH":                    "it knows the CPU only",
	"kernels_arm64.go padsFirst":                "it returns false",
	"kernels_arm64.go padEach":                  "it calls padEachGeneric, and only on CPUs without AES instructions",
	"kernels_arm64.go tagOnly":                  "it chooses a kernel, on CPUs without AES instructions: crypto/aes has left traces before",
	"kernels_arm64.go tagTwo":                   "it chooses a kernel, on CPUs without AES instructions: crypto/aes has left traces before",
	"kernels_arm64.go nhPoly128":                "it calls poly128Blocks, for messages that are too long to be traced",
	"kernels_arm64.go nhBlocks":                 "it chooses a kernel, for messages that are too long to be traced",
	"kernels_arm64.go tagWords":                 "it chooses a kernel, for messages that are too long to be traced",
	"internal/aes/aes_arm64.go register":        "it knows the CPU only",
	"internal/aes/aes_arm64.go InUse":           "it knows the CPU only",
	"internal/aes/aes_arm64.go Missing":         "it knows the CPU only",
	"internal/aes/aes_arm64.go hasSeed":         "it knows the CPU only",
	"internal/aes/aes_arm64.go seed":            "it draws a word, which is another one in each run",
	"internal/gcm/gcm_arm64.go register":        "it knows the CPU only",
	"internal/gcm/gcm_arm64.go isLong":          "it returns false",
	"internal/gcm/gcm_arm64.go isShort":         "it returns false",
	"internal/gcm/gcm_arm64.go sealLong":        "never called, because isLong returns false",
	"internal/gcm/gcm_arm64.go openLong":        "never called, because isLong returns false",
	"internal/gcm/gcm_arm64.go sealShort":       "never called, because isShort returns false",
	"internal/gcm/gcm_arm64.go openShort":       "never called, because isShort returns false",
	"internal/sha2/sha2_arm64.go register256":   "it knows the CPU only",
	"internal/sha2/sha2_arm64.go register512":   "it knows the CPU only",
	"internal/sha2/sha2_arm64.go LaneCount":     "it returns 0",
	"internal/sha2/sha2_arm64.go compressLanes": "never called, because LaneCount returns 0",
	"internal/sha2/sha2_arm64.go iterateLanes":  "never called, because sideBySide returns false",
}

// checkFunctions checks that the calls run all functions of arm64 that valgrind cannot run.
func (e *emulator) checkFunctions(t *testing.T, calls [][][]record) {
	t.Helper()
	type line struct {
		file string
		n    int
	}
	lines, seen := make(map[line]bool), make(map[record]bool)
	for _, rounds := range calls {
		for _, call := range rounds {
			for _, r := range call {
				if r.isAccess() || seen[r] {
					continue
				}
				seen[r] = true
				file, n, _ := e.table.PCToLine(uint64(r))
				if file, ok := strings.CutPrefix(file, module); ok {
					_, file, _ = strings.Cut(file, "/") // after the version
					lines[line{file, n}] = true
				}
			}
		}
	}
	const root = "../../../.."
	var files []string
	for _, pattern := range []string{"*_arm64.go", "internal/*/*_arm64.go"} {
		names, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, names...)
	}
	found := 0
	for _, name := range files {
		relative, err := filepath.Rel(root, name)
		if err != nil {
			t.Fatal(err)
		}
		relative = filepath.ToSlash(relative)
		if path.Dir(relative) == "internal/kernel" { // knows the CPU only
			continue
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Body == nil {
				continue
			}
			ran := false
			for n := set.Position(f.Pos()).Line; n <= set.Position(f.End()).Line; n++ {
				ran = ran || lines[line{relative, n}]
			}
			found++
			switch what := relative + " " + f.Name.Name; {
			case !ran && notTraced[what] == "":
				t.Errorf("%s: no operation runs it", what)
			case ran && notTraced[what] != "":
				t.Errorf("%s runs, and is in notTraced", what)
			}
		}
	}
	t.Logf("%d functions of arm64 alone, %d not traced", found, len(notTraced))
}

// A comparison is one of two runs. The heap and the stacks may lie elsewhere, page by page, because
// the runtime starts threads at times that vary, and allocates for each. What is in the probe's
// variables, such as keys, messages and tables, is where it is. Within a page an object may lie
// elsewhere too, if the runtime has allocated another one of about its size; but not in each run.
type comparison struct {
	*emulator
	there, back map[uint64]uint64 // the page in the other run
}

// compare returns the first difference of each operation in two runs.
func (e *emulator) compare(operations []string, a, b [][][]record) (found []string) {
	c := &comparison{e, make(map[uint64]uint64), make(map[uint64]uint64)}
	for i, operation := range operations {
		for round := range a[i] {
			if d := c.difference(a[i][round], b[i][round]); d != "" {
				found = append(found, fmt.Sprintf("%s, call %d: %s", operation, round, d))
				break
			}
		}
	}
	return found
}

// same reports whether a record of one run and one of the other stand for the same.
func (c *comparison) same(a, b record) bool {
	if !a.isAccess() || a.address() < c.end {
		return a == b
	}
	const page = 8192 // of the runtime, which allocates whole ones
	p, q := a.address()/page, b.address()/page
	if _, ok := c.there[p]; !ok {
		c.there[p] = q
	}
	if _, ok := c.back[q]; !ok {
		c.back[q] = p
	}
	return a>>56 == b>>56 && a%page == b%page && c.there[p] == q && c.back[q] == p
}

// difference returns the first difference of two calls, or nothing.
func (c *comparison) difference(a, b []record) string {
	a, b = c.watched(a), c.watched(b)
	var at record // the last instruction
	for i := range min(len(a), len(b)) {
		if !c.same(a[i], b[i]) {
			return fmt.Sprintf("after %s: %s, or %s", c.describe(at), c.describe(a[i]), c.describe(b[i]))
		}
		if !a[i].isAccess() {
			at = a[i]
		}
	}
	if len(a) != len(b) {
		return fmt.Sprintf("%d records, or %d", len(a), len(b))
	}
	return ""
}

// watched returns the records of all code but that of the Go runtime, such as its allocator, which
// depends on what other threads do. Of the runtime it has memmove, memclr and their like, which the
// compiler calls. What the others are called with depends on what is watched.
func (e *emulator) watched(call []record) (watched []record) {
	keep := false
	for _, r := range call {
		if !r.isAccess() {
			f := e.function(r)
			p := f.PackageName()
			keep = p != "runtime" && !strings.HasPrefix(p, "internal/runtime/") ||
				strings.HasPrefix(f.Name, "runtime.mem") || strings.HasPrefix(f.Name, "runtime.duff")
		}
		if keep {
			watched = append(watched, r)
		}
	}
	return watched
}

func (e *emulator) describe(r record) string {
	if r.isAccess() {
		return fmt.Sprintf("an access of %d bytes at %#x, store: %v", r.size(), r.address(), r.isStore())
	}
	f := e.function(r)
	file, line, _ := e.table.PCToLine(uint64(r))
	return fmt.Sprintf("%s+%#x (%s:%d)", f.Name, uint64(r)-f.Entry, file, line)
}

// TestUninterrupted has a function that is interrupted twice, first where it begins.
func TestUninterrupted(t *testing.T) {
	e := newEmulator(t)
	start, stop := record(e.table.LookupFunc("main.start").Entry), record(e.table.LookupFunc("main.stop").Entry)
	f, more := record(e.table.LookupFunc("main.main").Entry), record(e.table.LookupFunc("runtime.morestack_noctxt").Entry)
	const access = 1<<63 | 1000
	want := []record{start, start + 4, access, f, access, f + 4, f + 8, stop}
	got := e.uninterrupted(slices.Clone([]record{start, start + 4, access, f, access, f + 4, f + 100, more, access, stop + 4,
		f, access, f + 4, f + 100, more, start, more, f, access, f + 4, f + 8, stop}))
	if !slices.Equal(got, want) {
		t.Errorf("%x, want %x", got, want)
	}
}

// TestSame has places of the heap, in pages and in other ones, and a variable.
func TestSame(t *testing.T) {
	const load, store, heap = 3<<56 | 1<<63, 3<<56 | 3<<62, 1 << 40
	c := &comparison{&emulator{end: 1 << 20}, make(map[uint64]uint64), make(map[uint64]uint64)}
	for _, x := range []struct {
		a, b record
		want bool
	}{
		{load | heap, load | heap + 8192*4, true},
		{load | heap + 8, load | heap + 8192*4 + 8, true},
		{load | heap + 8, load | heap + 8192*4 + 16, false},
		{load | heap + 8, store | heap + 8192*4 + 8, false},
		{load | heap + 8, load | heap + 8192*5 + 8, false}, // which was at 4
		{load | heap + 8192, load | heap + 8192*4, false},  // where another page is
		{load | heap + 8192, load | heap + 8192, false},    // which is elsewhere, see above
		{load | heap + 8192*3, load | heap + 8192*3, true},
		{load | 8192, load | 8192*2, false},
		{load | 8192, load | 8192, true},
		{8192, 8196, false},
	} {
		if got := c.same(x.a, x.b); got != x.want {
			t.Errorf("%#x and %#x: %v", uint64(x.a), uint64(x.b), got)
		}
	}
}

// TestRefused has a plugin that qemu refuses, and none at all.
func TestRefused(t *testing.T) {
	e := newEmulator(t)
	e.buildPlugin(t, 99)
	if _, err := e.run("max", "", 0, 1); err == nil || !strings.Contains(err.Error(), "99") {
		t.Errorf("a plugin of API version 99: error %v", err)
	}
	if err := os.Remove(filepath.Join(e.dir, "plugin.so")); err != nil {
		t.Fatal(err)
	}
	if _, err := e.run("max", "", 0, 1); err == nil || !strings.Contains(err.Error(), "plugin.so") {
		t.Errorf("no plugin: error %v", err)
	}
}
