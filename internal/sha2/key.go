// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sha2

import (
	"unsafe"

	"example.com/fastmac/internal/wipe"
)

// A Key is an expanded key for HMAC, RFC 2104: the chaining values after the inner and the outer pad.
type Key[W Word] struct{ Inner, Outer State[W] }

// A KeyRoom has room for a Key, whatever the size of its words: see [In].
type KeyRoom [2]State[uint64]

// In returns the key in r, whose words have that size.
func In[W Word](r *KeyRoom) *Key[W] { return (*Key[W])(unsafe.Pointer(r)) }

// Init expands key for a hash of size bytes with that initial value. [Choose] must have been called. While
// the key is in a variable, Init calls nothing that could make the stack grow, except for the standard
// library: so a small stack stays as it is.
func (k *Key[W]) Init(initial *State[W], size int, key []byte) {
	if !HasAssembly[W]() {
		wipe.ReserveStack()
	}
	var b Block[W]
	b.setKey(initial, size, key)
	k.Inner = *initial
	k.Outer = *initial
	if HasPairs[W]() {
		outer := b
		b.add(innerPad)
		outer.add(outerPad)
		CompressPair(&k.Inner, &k.Outer, b.Bytes(), outer.Bytes())
		clear(outer[:])
	} else {
		b.add(innerPad)
		k.Inner.Compress(b.Bytes())
		b.add(innerPad ^ outerPad)
		k.Outer.Compress(b.Bytes())
	}
	clear(b[:])
}

// SumUnder sets tag to the HMAC of msg under key, for a hash with that initial value and the size of tag.
func SumUnder[W Word](initial *State[W], tag, key, msg []byte) {
	Choose[W]()
	var k Key[W]
	k.Init(initial, len(tag), key) // uses more stack than Sum
	Sum(tag, &k.Inner, &k.Outer, uint64(BlockSize[W]()), msg)
	k = Key[W]{}
}

// setKey sets b to the key, or to its hash of size bytes if it is longer than b, and zeros.
func (b *Block[W]) setKey(initial *State[W], size int, key []byte) {
	*b = Block[W]{}
	if len(key) > len(b.Bytes()) {
		Sum(b.Bytes()[:size], initial, nil, 0, key)
	} else {
		copy(b.Bytes(), key)
	}
}

// The words that are added to the key, RFC 2104 section 2.
const (
	innerPad = 0x3636363636363636
	outerPad = 0x5c5c5c5c5c5c5c5c
)

// add adds a word to each word of b, four at a time, which takes 2 % less of a new key for HMAC-SHA-512.
func (b *Block[W]) add(word uint64) {
	for i := 0; i < len(b); i += 4 {
		w := (*[4]W)(b[i:])
		w[0], w[1], w[2], w[3] = w[0]^W(word), w[1]^W(word), w[2]^W(word), w[3]^W(word)
	}
}
