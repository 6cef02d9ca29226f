// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build !purego

package kernel_test

import (
	"os"
	"path"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"example.com/fastmac/internal/kernel"
	"example.com/fastmac/internal/kernel/table"
	fastsha1 "example.com/fastmac/internal/sha1"
	"golang.org/x/sys/unix"
)

// TestWrongKernels makes each function of assembly wrong, one at a time: it returns at once, or faults. A known answer
// must be wrong with a kernel that the function is for, and with each kernel for a function of each contract. Each
// answer must find one at least.
func TestWrongKernels(t *testing.T) {
	fastsha1.Choose() // its answer
	type use struct {
		layer            kernel.Layer
		kernel, contract string
	}
	refused := make(map[use]bool)
	finds := make(map[kernel.Layer][]bool) // of each answer
	functions := 0
	for entry, name := range assembly(t) {
		folder, name := path.Split(name)
		pkg, name, _ := strings.Cut(name, ".")
		folder = path.Clean("./" + strings.TrimPrefix(folder+pkg, "example.com/fastmac"))
		f, err := table.Find("amd64", folder, name)
		if err != nil || len(f.Kernels) == 0 {
			continue // another module's, or no kernel
		}
		functions++
		for how, code := range map[string]byte{"returns at once": 0xc3, "faults": 0xf4} { // RET, HLT
			runs, wrong := false, false
			for i, k := range kernel.List(f.Layer) {
				before := kernel.Select(f.Layer, i)
				var each []bool
				withCode(t, entry, code, func() { each = kernel.EachRight(f.Layer) })
				kernel.Select(f.Layer, before)
				right := !slices.Contains(each, false)
				wrong = wrong || !right
				isFor := slices.Contains(f.Kernels, k)
				runs = runs || isFor
				if u := (use{f.Layer, k, f.Contract}); isFor || !right {
					refused[u] = refused[u] || !right
				}
				if finds[f.Layer] == nil {
					finds[f.Layer] = make([]bool, len(each))
				}
				for i, right := range each {
					finds[f.Layer][i] = finds[f.Layer][i] || !right
				}
			}
			if runs && !wrong {
				t.Errorf("%s in %s %s, and no known answer is wrong", name, folder, how)
			}
		}
	}
	for u, is := range refused {
		if !is {
			t.Errorf("no known answer of %s needs %s of the kernel %s", u.layer, u.contract, u.kernel)
		}
	}
	for l, each := range finds {
		if i := slices.Index(each, false); kernel.Lacks(l) == "" && i >= 0 {
			t.Errorf("answer %d of %s finds nothing", i, l)
		}
	}
	if functions < 60 || len(refused) == 0 {
		t.Errorf("%d functions, %d with a kernel", functions, len(refused))
	}
}

// withCode calls f while the code at an address is another instruction, of one byte.
func withCode(t *testing.T, entry uintptr, instruction byte, f func()) {
	size := uintptr(os.Getpagesize())
	page := unsafe.Slice(pointer(entry&^(size-1)), size)
	protect := func(flags int) {
		if err := unix.Mprotect(page, flags); err != nil {
			t.Skip("code cannot be changed here: ", err)
		}
	}
	protect(unix.PROT_READ | unix.PROT_WRITE | unix.PROT_EXEC)
	defer protect(unix.PROT_READ | unix.PROT_EXEC)
	code := pointer(entry)
	defer func(first byte) { *code = first }(*code)
	*code = instruction
	f()
}

// pointer returns a pointer to code, which does not move.
func pointer(at uintptr) *byte { return *(**byte)(unsafe.Pointer(&at)) }

// assembly returns where functions of assembly are in this program, with their names.
func assembly(t *testing.T) map[uintptr]string {
	here := uint64(reflect.ValueOf(assembly).Pointer())
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	functions := make(map[uintptr]string)
	for line := range strings.Lines(string(maps)) {
		from, line, _ := strings.Cut(line, "-")
		to, _, _ := strings.Cut(line, " ")
		at, errFrom := strconv.ParseUint(from, 16, 64)
		end, errTo := strconv.ParseUint(to, 16, 64)
		if errFrom != nil || errTo != nil || here < at || here >= end {
			continue
		}
		for ; at < end; at += 16 { // as functions are aligned
			f := runtime.FuncForPC(uintptr(at))
			if f == nil || f.Entry() != uintptr(at) {
				continue
			}
			if file, _ := f.FileLine(f.Entry()); strings.HasSuffix(file, ".s") {
				functions[f.Entry()] = f.Name()
			}
		}
	}
	return functions
}
