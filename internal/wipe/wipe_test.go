// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package wipe

import (
	"bytes"
	"crypto/aes"
	"crypto/sha512"
	"testing"
)

// TestValue overwrites states of the standard library, which can be used after that.
func TestValue(t *testing.T) {
	block, err := aes.NewCipher([]byte("0123456789abcdef"))
	if err != nil {
		t.Fatal(err)
	}
	h := sha512.New()
	h.Write([]byte("message"))
	for _, state := range []struct {
		value  any
		result func() []byte
	}{
		{block, func() []byte { b := make([]byte, aes.BlockSize); block.Encrypt(b, b); return b }},
		{h, func() []byte { return h.Sum(nil) }},
	} {
		before := state.result()
		if Value(state.value); bytes.Equal(state.result(), before) {
			t.Errorf("%T: the same result", state.value)
		}
	}

	// Pointers and slices stay, and what they point to is overwritten.
	n := 1
	s := struct {
		array   [2]byte
		slice   []byte
		pointer *int
		any     any
	}{[2]byte{1, 2}, []byte{3}, &n, &[1]int{4}}
	c := s
	c.array = [2]byte{1, 2}
	if Clone(&c); c.array != [2]byte{} || !bytes.Equal(c.slice, []byte{3}) || n != 0 {
		t.Errorf("Clone: %v, and the pointer to %d", c, n)
	}
	n, *s.any.(*[1]int) = 1, [1]int{4}
	if Value(&s); s.array != [2]byte{} || !bytes.Equal(s.slice, []byte{0}) || s.pointer != &n || n != 0 || *s.any.(*[1]int) != [1]int{} {
		t.Errorf("%v, and the pointer to %d", s, n)
	}

	// These have nothing to overwrite, and do not panic.
	Value(nil)
	Value((*int)(nil))
	Value(7)
}
