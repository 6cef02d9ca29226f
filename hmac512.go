// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac

import "example.com/fastmac/internal/sha2"

// SHA-512 is SHA-256 with words of 64 bits in place of 32, and other constants. Of HMAC, this file is what
// the compiler makes twice, once for each.

// hmacMessage is what a stream has of its message, for words of one size. So a stream has no more
// memory than its hash needs.
type hmacMessage[W sha2.Word] struct {
	key   *sha2.Key[W]
	n     uint64 // bytes hashed, including the inner pad
	state sha2.State[W]
	block sha2.Block[W] // its first n modulo BlockSize bytes are in use
}

func (m *hmacMessage[W]) write(p []byte) {
	block := m.block.Bytes()
	used := int(m.n) & (len(block) - 1)
	m.n += uint64(len(p))
	if len(p) < len(block)-used {
		copy(block[used:], p)
		return
	}
	if used > 0 {
		p = p[copy(block[used:], p):]
		m.state.Compress(block)
	}
	if len(p) >= len(block) {
		m.state.Compress(p)
		p = p[len(p)&^(len(block)-1):]
	}
	copy(block, p)
}

func (m *hmacMessage[W]) sum(tag []byte) {
	block := m.block.Bytes()
	used := m.n & uint64(len(block)-1)
	sha2.Sum(tag, &m.state, &m.key.Outer, m.n-used, block[:used])
}

func (m *hmacMessage[W]) reset() {
	clear(m.block[:])
	m.n = uint64(sha2.BlockSize[W]())
	m.state = m.key.Inner // a tuple assignment would copy it to the stack
}

func (m *hmacMessage[W]) destroy(ownsKey bool) {
	if ownsKey {
		*m.key = sha2.Key[W]{}
	}
	m.n, m.state, m.block = 0, sha2.State[W]{}, sha2.Block[W]{}
}
