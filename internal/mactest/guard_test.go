// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package mactest

import (
	"runtime"
	"testing"
)

// TestGuarded reads and writes the bytes next to each guard page, which must be possible, and
// one byte further, which must not.
func TestGuarded(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("guard pages are on Linux only")
	}
	m := Guarded(t, 5000)
	clear(m)
	sum := byte(0)
	for _, n := range []int{0, 1, 64, len(m)} {
		for _, end := range []bool{false, true} {
			at, inside := 0, 1 // the indexes of the byte outside, and of its neighbour
			if end {
				at, inside = n, n-1
			}
			if !m.Catches(n, end, func(p []byte) { sum += p[at] }) {
				t.Errorf("a byte outside can be read, at the end: %v", end)
			}
			if !m.Catches(n, end, func(p []byte) { p[at] = 1 }) {
				t.Errorf("a byte outside can be written, at the end: %v", end)
			}
			if n > 0 && m.Catches(n, end, func(p []byte) { p[inside] = 1 }) {
				t.Errorf("the byte next to the guard page cannot be written, at the end: %v", end)
			}
		}
	}
	if m.Catches(10, true, func(p []byte) { sum += m[0] }) {
		t.Error("caught what does not touch a guard page")
	}
}
