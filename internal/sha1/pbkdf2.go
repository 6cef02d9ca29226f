// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sha1

import (
	"encoding/binary"
	"sync"

	"example.com/fastmac/internal/kernel"
	"example.com/fastmac/internal/sha2"
	"example.com/fastmac/internal/wipe"
)

//go:generate go run -C ../asm ./sha1 -out ../../internal/sha1/sha1_amd64.s

// words are a hash or a chaining value as the SHA instructions have them: d, c, b, a, three zeros, and e.
type words [8]uint32

func (w *words) set(v []byte) {
	for i := range 4 {
		w[3-i] = binary.BigEndian.Uint32(v[4*i:])
	}
	w[7] = binary.BigEndian.Uint32(v[16:])
}

func (w *words) encode(v []byte) {
	for i := range 4 {
		binary.BigEndian.PutUint32(v[4*i:], w[3-i])
	}
	binary.BigEndian.PutUint32(v[16:], w[7])
}

// An iteration is a block of PBKDF2 under way, RFC 8018 section 5.2: the last HMAC, U, and the sum of all of them, T.
type iteration struct{ inner, outer, u, t words }

// MaxBlocks is the greatest number of blocks that are made side by side.
const MaxBlocks = 2

// maxSteps is how many steps assembly makes in one go. They take 70 microseconds.
const maxSteps = 1024

// Blocks are blocks of a key that are under way.
type Blocks struct {
	hmac HMAC // has the password
	its  [MaxBlocks]iteration
	out  [MaxBlocks * Size]byte
}

// NewBlocks returns blocks with a password, to be started.
func NewBlocks(password []byte) *Blocks {
	Choose()
	b := new(Blocks)
	b.setPassword(password)
	return b
}

func (b *Blocks) setPassword(password []byte) {
	b.hmac.setKey(password)
	for i := range b.its {
		b.its[i].inner.set(b.hmac.key[0].value())
		b.its[i].outer.set(b.hmac.key[1].value())
	}
}

// Start sets U and T of block i to the HMAC of a salt and the number of the block.
func (b *Blocks) Start(i int, salt []byte, number uint32) {
	b.hmac.Reset()
	b.hmac.Write(salt)
	b.hmac.Write(binary.BigEndian.AppendUint32(make([]byte, 0, 4), number))
	b.its[i].u.set(b.hmac.Sum(b.out[:0]))
	b.its[i].t = b.its[i].u
}

// Iterate makes n more steps of the first count blocks: U becomes the HMAC of U, and is added to T.
func (b *Blocks) Iterate(count, n int) {
	its := b.its[:count]
	if hasAssembly() {
		for left := n; left > 0; left -= maxSteps {
			iterate(its, min(left, maxSteps))
		}
		return
	}
	for i := range its { // on a stack that Start has grown
		b.hmac.iterate(&its[i], n)
	}
	wipe.Short()
}

// iterate makes n steps of an iteration under the key of m.
func (m *HMAC) iterate(it *iteration, n int) {
	it.u.encode(m.sum.value())
	m.hashSum()
	for range n {
		for i := range m.key {
			load(m.hash, &m.key[i])
			m.hash.Write(m.last[:])
			save(m.hash, &m.sum)
			copy(m.last[:], m.sum.value())
		}
		for i := range 4 {
			it.t[3-i] ^= binary.BigEndian.Uint32(m.last[4*i:])
		}
		it.t[7] ^= binary.BigEndian.Uint32(m.last[16:])
	}
	it.u.set(m.sum.value())
}

// Copy sets key to the first bytes of T of the first count blocks, and returns how many these are.
func (b *Blocks) Copy(key []byte, count int) int {
	for i := range count {
		b.its[i].t.encode(b.out[i*Size:])
	}
	return copy(key, b.out[:count*Size])
}

// Clear overwrites all of it.
func (b *Blocks) Clear() {
	b.hmac.hash.Reset()
	*b = Blocks{}
}

var answerAdded sync.Once

// Choose chooses the kernel of SHA-256, with a known answer of iterations with SHA-1.
func Choose() {
	answerAdded.Do(func() { kernel.AddAnswer(kernel.SHA256, func() bool { return answer() == wantAnswer }) })
	sha2.Choose[uint32]()
}

// wantAnswer is what crypto/sha1 computes: see TestAnswer.
const wantAnswer = 0x96dab56e999c4381

// answer returns a checksum of iterations.
func answer() (a kernel.Answer) {
	b, salt := new(Blocks), make([]byte, 16)
	kernel.FillAnswer(salt)
	b.setPassword(salt)
	for i := range b.its {
		b.Start(i, salt, uint32(i))
	}
	b.Iterate(1, 2)
	b.Iterate(MaxBlocks, 2)
	for i := range b.its {
		for j := range b.its[i].u {
			a.Add(uint64(b.its[i].u[j])<<32 | uint64(b.its[i].t[j]))
		}
	}
	return a
}
