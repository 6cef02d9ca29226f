// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package mactest

import (
	"runtime"
	"runtime/debug"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Guarded returns at least n bytes, whole pages, with pages before and after
// them that cannot be read.
func Guarded(t testing.TB, n int) Memory {
	page := unix.Getpagesize()
	size := (n + page - 1) / page * page
	mem, err := unix.Mmap(-1, 0, page+size+page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Munmap(mem) })
	for _, guard := range [][]byte{mem[:page], mem[page+size:]} {
		if err := unix.Mprotect(guard, unix.PROT_NONE); err != nil {
			t.Fatal(err)
		}
	}
	return mem[page:][:size:size]
}

// Catches reports whether a guard page of m stops use, which is given n bytes and one byte
// more: the first byte of the page after m if end is true, and otherwise the last byte of the
// page before m.
func (m Memory) Catches(n int, end bool, use func(p []byte)) (caught bool) {
	page := uintptr(unix.Getpagesize())
	first := uintptr(unsafe.Pointer(&m[0]))
	begin := unsafe.Add(unsafe.Pointer(&m[0]), -1)
	guard := first - page
	if end {
		begin, guard = unsafe.Add(unsafe.Pointer(&m[0]), len(m)-n), first+uintptr(len(m))
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		switch r := recover().(type) {
		case nil:
		case interface {
			runtime.Error
			Addr() uintptr
		}:
			caught = r.Addr()-guard < page
		default:
			panic(r)
		}
	}()
	use(unsafe.Slice((*byte)(begin), n+1))
	return false
}
