// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package prefetch

import (
	"bytes"
	"testing"
	"unsafe"

	"example.com/fastmac/internal/mactest"
)

// TestLines has objects that cannot be read, and lists of objects and offsets beside memory that
// cannot.
func TestLines(t *testing.T) {
	mem := mactest.Guarded(t, 64)
	mem = mem[len(mem)-64:]
	object := &mem[len(mem)-1]                                         // what is behind it cannot be read
	objects := (*[Group]*byte)(unsafe.Pointer(&mem[len(mem)-8*Group])) // all nil
	for n := 1; n <= 8; n++ {
		offsets := unsafe.Slice((*uint64)(unsafe.Pointer(&mem[64-8*n])), n) // zeros
		Lines(objects, offsets)
		Lines(&[Group]*byte{nil, object, nil, object}, []uint64{0, 8, 1 << 12, 1 << 40, 1<<64 - 64}[:1+n%5])
	}
	if !bytes.Equal(mem, make([]byte, 64)) {
		t.Error("Lines writes")
	}
}

// TestAll has lists of all lengths up to some groups.
func TestAll(t *testing.T) {
	for n := range 3*Group + 1 {
		All(make([]*byte, n), []uint64{0, 64})
	}
}
