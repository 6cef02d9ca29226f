// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package proofs

import (
	"bytes"
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/sha1"
	"encoding"
	"encoding/binary"
	"slices"
	"testing"

	"example.com/fastmac/internal/mactest"
)

// TestEmulateSHA1 compares 1 to 3 steps of the kernels of package sha1 with crypto/pbkdf2.
func TestEmulateSHA1(t *testing.T) {
	e := newEmulator(t)
	for count, kernel := range []string{"sha1.iterate1SHA", "sha1.iteratePair1SHA"} {
		for steps := 1; steps < 4; steps++ {
			e.reset()
			var its []byte
			var want [][]byte
			for range count + 1 {
				password, salt := e.bytes(20), e.bytes(16)
				pad := func(with byte) []byte {
					h, b := sha1.New(), bytes.Repeat([]byte{with}, sha1.BlockSize)
					for i := range password {
						b[i] ^= password[i]
					}
					h.Write(b)
					return mactest.Must(h.(encoding.BinaryMarshaler).MarshalBinary())[4:][:sha1.Size]
				}
				m := hmac.New(sha1.New, password)
				m.Write(append(salt, 0, 0, 0, 1))
				u := m.Sum(nil)
				its = slices.Concat(its, sha1InMemory(pad(0x36)), sha1InMemory(pad(0x5c)), sha1InMemory(u), sha1InMemory(u))
				want = append(want, mactest.Must(pbkdf2.Key(sha1.New, string(password), salt, steps+1, sha1.Size)))
			}
			e.call(kernel, e.place(its, 4, false), uint64(steps))
			for i, want := range want {
				if got := its[128*i:][96:128]; !bytes.Equal(got, sha1InMemory(want)) {
					t.Errorf("%s, %d steps: key %d: %x, want %x", kernel, steps, i, got, sha1InMemory(want))
				}
			}
		}
	}
}

// sha1InMemory returns the words of a hash, a to e, in the order of the assembly.
func sha1InMemory(hash []byte) []byte {
	b := make([]byte, 32)
	for i, at := range []int{3, 2, 1, 0, 7} {
		binary.LittleEndian.PutUint32(b[4*at:], binary.BigEndian.Uint32(hash[4*i:]))
	}
	return b
}
