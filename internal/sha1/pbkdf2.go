// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sha1

import (
	"encoding/binary"

	"example.com/fastmac/internal/wipe"
)

// An Iteration is a block of PBKDF2 under way, RFC 8018 section 5.2. U is the sum of hmac.
type Iteration struct {
	hmac HMAC
	t    [Size]byte
}

// NewIteration returns one with a password, to be started.
func NewIteration(password []byte) *Iteration {
	it := new(Iteration)
	it.hmac.init(password)
	return it
}

// Start sets U and T to the HMAC of the salt and the number of the block.
func (it *Iteration) Start(salt []byte, number uint32) {
	it.hmac.Reset()
	it.hmac.Write(salt)
	it.hmac.Write(binary.BigEndian.AppendUint32(make([]byte, 0, 4), number))
	it.hmac.Sum(it.t[:0])
}

// Iterate makes n more steps: U becomes the HMAC of U, and is added to T.
func (it *Iteration) Iterate(n int) {
	wipe.ReserveShort()
	m := &it.hmac
	m.hashSum()
	for range n {
		for i := range m.key {
			load(m.hash, &m.key[i])
			m.hash.Write(m.last[:])
			save(m.hash, &m.sum)
			copy(m.last[:], m.sum.value())
		}
		for i := 0; i < Size; i += 4 {
			binary.NativeEndian.PutUint32(it.t[i:], binary.NativeEndian.Uint32(it.t[i:])^binary.NativeEndian.Uint32(m.last[i:]))
		}
	}
	wipe.Short()
}

// Copy sets key to the first bytes of T, and returns how many these are.
func (it *Iteration) Copy(key []byte) int { return copy(key, it.t[:]) }

// Clear overwrites all of it.
func (it *Iteration) Clear() {
	it.hmac.hash.Reset()
	*it = Iteration{}
}
