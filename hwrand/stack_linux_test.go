// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package hwrand

import (
	"fmt"
	"testing"
	"time"

	"example.com/fastmac/internal/mactest"
)

// TestStack looks for keys, buffers and seeds on the stack after each operation.
func TestStack(t *testing.T) {
	if !mactest.StackProcess(t, "") {
		return
	}
	mactest.ForAllKernels(t, mactest.AES, func(t *testing.T) { mactest.CheckStack(t, stackOps()) })
}

func stackOps() (ops []mactest.StackOp) {
	reader := func(random func(n int) []byte) *Reader {
		seed := func(p []byte) { copy(p, random(len(p))) }
		return newReader(func() time.Duration { return 0 }, seed, seed)
	}
	for _, n := range []int{3, 32, 480, 700, 2048} {
		ops = append(ops, mactest.StackOp{Name: fmt.Sprintf("Read of %d bytes", n), Prepare: func(random func(n int) []byte) (func(), func() [][]byte) {
			r, p := reader(random), make([]byte, n)
			return func() { r.Read(p); clear(p); r.Read(p) }, func() [][]byte { return [][]byte{p} }
		}})
	}
	return append(ops, mactest.StackOp{Name: "New and Destroy", Prepare: func(random func(n int) []byte) (func(), func() [][]byte) {
		seeds := random(10 * stateSize)
		next := func(n int) (p []byte) { p, seeds = seeds[:n], seeds[n:]; return p }
		return func() { reader(next).Destroy() }, func() [][]byte { return nil }
	}})
}
