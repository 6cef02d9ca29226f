// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sha2

import (
	"crypto/subtle"
	"unsafe"

	"example.com/fastmac/internal/wipe"
)

// A Key is an expanded key for HMAC, RFC 2104: the chaining values after the inner and the outer pad.
type Key[W Word] struct{ Inner, Outer State[W] }

// A KeyRoom has room for a Key, whatever the size of its words: see [In].
type KeyRoom [2]State[uint64]

// In returns the key in r, whose words have that size.
func In[W Word](r *KeyRoom) *Key[W] { return (*Key[W])(unsafe.Pointer(r)) }

// Init expands key for a hash of size bytes with that initial value. It calls [Choose].
func (k *Key[W]) Init(initial *State[W], size int, key []byte) {
	wipe.ReserveStack()
	Choose[W]()
	k.init(initial, size, key)
}

func (k *Key[W]) init(initial *State[W], size int, key []byte) {
	var b Block[W]
	b.setKey(initial, size, key)
	k.Inner = *initial
	k.Outer = *initial
	if HasPairs[W]() {
		var outer Block[W]
		subtle.XORBytes(outer.Bytes(), b.Bytes(), outerPad.Bytes())
		subtle.XORBytes(b.Bytes(), b.Bytes(), innerPad.Bytes())
		CompressPair(&k.Inner, &k.Outer, b.Bytes(), outer.Bytes())
		clear(outer[:])
	} else {
		subtle.XORBytes(b.Bytes(), b.Bytes(), innerPad.Bytes())
		k.Inner.Compress(b.Bytes())
		b.FlipPad()
		k.Outer.Compress(b.Bytes())
	}
	clear(b[:])
}

// HMAC sets tag, of h.Size bytes, to the HMAC of msg under key.
func (h *Hash) HMAC(tag, key, msg []byte) {
	if h.Wide() {
		sumUnder(h.Initial512, tag, key, msg)
	} else {
		sumUnder(h.Initial256, tag, key, msg)
	}
}

func sumUnder[W Word](initial *State[W], tag, key, msg []byte) {
	wipe.ReserveStack()
	var k Key[W]
	k.Init(initial, len(tag), key)
	Sum(tag, &k.Inner, &k.Outer, uint64(BlockSize[W]()), msg)
	k = Key[W]{}
}

// SetOuterPad sets b to the outer pad of a key for a hash of size bytes with that initial value.
func (b *Block[W]) SetOuterPad(initial *State[W], size int, key []byte) {
	b.setKey(initial, size, key)
	subtle.XORBytes(b.Bytes(), b.Bytes(), outerPad.Bytes())
}

// FlipPad turns one pad into the other.
func (b *Block[W]) FlipPad() { subtle.XORBytes(b.Bytes(), b.Bytes(), flipPad.Bytes()) }

// setKey sets b to the key, or to its hash of size bytes if it is longer than b, and zeros.
func (b *Block[W]) setKey(initial *State[W], size int, key []byte) {
	*b = Block[W]{}
	if len(key) > len(b.Bytes()) {
		Sum(b.Bytes()[:size], initial, nil, 0, key)
	} else {
		copy(b.Bytes(), key)
	}
}

// The bytes that are added to the key, RFC 2104 section 2, and those that turn one pad into the other.
// Nothing changes them.
var (
	innerPad = Block[uint64]{inner8, inner8, inner8, inner8, inner8, inner8, inner8, inner8, inner8, inner8, inner8, inner8, inner8, inner8, inner8, inner8}
	outerPad = Block[uint64]{outer8, outer8, outer8, outer8, outer8, outer8, outer8, outer8, outer8, outer8, outer8, outer8, outer8, outer8, outer8, outer8}
	flipPad  = Block[uint64]{flip8, flip8, flip8, flip8, flip8, flip8, flip8, flip8, flip8, flip8, flip8, flip8, flip8, flip8, flip8, flip8}
)

const (
	inner8 = 0x3636363636363636
	outer8 = 0x5c5c5c5c5c5c5c5c
	flip8  = inner8 ^ outer8
)
