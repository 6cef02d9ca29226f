// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sshmac

import (
	"crypto/subtle"
	"fmt"
	"slices"
	"strings"
	"testing"

	"example.com/fastmac"
	"example.com/fastmac/internal/mactest"
	"example.com/fastmac/internal/umacref"
)

// TestStack looks for secrets on the stack after what x/crypto does with a MAC, with each kernel.
func TestStack(t *testing.T) {
	if !mactest.StackProcess(t, "") {
		return
	}
	fastmac.Hardware() // chooses all kernels, for package mactest
	if err := Register(); err != nil {
		t.Fatal(err)
	}
	var ops []mactest.StackOp
	for _, mode := range allModes() {
		m := macModes[mode.Name]
		for _, n := range []int{20, 200, 1500} {
			ops = append(ops, mactest.StackOp{Name: fmt.Sprintf("%s, a packet of %d bytes", mode.Name, n), Prepare: func(random func(n int) []byte) (func(), func() [][]byte) {
				key, packet, tag := random(m.keySize), append(make([]byte, 4), random(n)...), make([]byte, 0, 64)
				h := m.new(key)
				return func() { h.Write(packet[:4]); h.Write(packet[4:]); tag = h.Sum(tag); h.Reset() }, func() [][]byte {
					if !strings.HasPrefix(mode.Name, "umac") {
						return [][]byte{tag}
					}
					pad := umacref.PDF(key, make([]byte, 8), h.Size())
					hash := slices.Clone(tag[:h.Size()])
					subtle.XORBytes(hash, hash, pad)
					return [][]byte{tag, pad, hash}
				}
			}}, mactest.StackOp{Name: mode.Name + ", a new key", Prepare: func(random func(n int) []byte) (func(), func() [][]byte) {
				key := random(m.keySize)
				return func() { m.new(key) }, func() [][]byte { return nil }
			}})
		}
	}
	mactest.ForAllKernels(t, slices.Concat(mactest.UMAC, mactest.HMAC), func(t *testing.T) { mactest.CheckStack(t, ops) })
}
