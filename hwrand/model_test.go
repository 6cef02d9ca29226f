// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package hwrand

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"fmt"
	"testing"
	"time"

	"example.com/fastmac/internal/fork"
)

// model is what a Reader should do, written for clarity, on crypto/cipher.
type model struct {
	source source
	key    []byte
	buffer []byte // what is next
	made   int
	seeded time.Duration
	forked bool // since the last read

	hardened time.Duration // when bytes of the CPU were added

	keys, returned [][]byte // former keys, and what was read
}

// source is what a Reader is made of, with values that repeat.
type source struct {
	clock time.Duration
	seeds int // that were drawn
	cpus  int // times that the CPU was asked
}

func (s *source) now() time.Duration { return s.clock }

func (s *source) seed(p []byte) {
	if len(p) != 32 {
		panic(fmt.Sprintf("a seed of %d bytes", len(p)))
	}
	seed := seedOf(s.seeds)
	copy(p, seed[:])
	s.seeds++
}

// cpu draws 0 to 4 words.
func (s *source) cpu(p []byte) {
	if len(p) != 32 {
		panic(fmt.Sprintf("%d bytes of the CPU", len(p)))
	}
	clear(p)
	words := sha256.Sum256(fmt.Appendf(nil, "cpu %d", s.cpus))
	copy(p, words[:8*(s.cpus%5)])
	s.cpus++
}

func seedOf(i int) [32]byte { return sha256.Sum256(fmt.Appendf(nil, "seed %d", i)) }

func newModel() *model {
	m := &model{key: make([]byte, 32), hardened: -time.Hour}
	m.reseed()
	return m
}

func (m *model) reseed() {
	seed, cpu := make([]byte, 32), make([]byte, 32)
	if m.source.clock > m.hardened+time.Second {
		m.source.cpu(cpu)
		m.hardened = m.source.clock
	}
	m.source.seed(seed)
	m.keys = append(m.keys, m.key)
	m.key = bytes.Clone(m.key)
	for i := range seed {
		m.key[i] ^= seed[i] ^ cpu[i]
	}
	m.made, m.seeded = 0, m.source.clock
}

func keystream(key []byte, n int) []byte {
	block, err := aes.NewCipher(key)
	if err != nil {
		panic(err)
	}
	p := make([]byte, n)
	cipher.NewCTR(block, make([]byte, 16)).XORKeyStream(p, p)
	return p
}

func (m *model) draw(n int) (p []byte) {
	for range n {
		if len(m.buffer) == 0 {
			if m.made+992 > 1048576 || m.source.clock > m.seeded+time.Second {
				m.reseed()
			}
			m.keys = append(m.keys, m.key)
			p := keystream(m.key, 1024)
			m.key, m.buffer = p[:32], p[32:]
			m.made += 992
		}
		p = append(p, m.buffer[0])
		m.buffer = m.buffer[1:]
	}
	return p
}

func (m *model) read(n int) (p []byte) {
	if m.forked {
		m.reseed()
		m.buffer, m.forked = nil, false
	}
	for n >= 512 {
		size := min(n-n%512, 65536)
		made := size
		if len(m.buffer) < 32 {
			made += 992 // for the key
		}
		if m.made+made > 1048576 {
			m.reseed()
			m.buffer = nil
		}
		key := m.draw(32)
		m.keys = append(m.keys, key)
		m.made += size
		p = append(p, keystream(key, size)...)
		n -= size
	}
	p = append(p, m.draw(n)...)
	m.returned = append(m.returned, p)
	return p
}

// pair is a Reader and its model.
type pair struct {
	r      *Reader
	m      *model
	source *source // of r
}

func newPair() *pair {
	s := new(source)
	return &pair{newReader(s.now, s.seed, s.cpu), newModel(), s}
}

// advance moves both clocks.
func (p *pair) advance(d time.Duration) {
	p.source.clock += d
	p.m.source.clock += d
}

// fork makes both think that they are in a child process.
func (p *pair) fork() {
	fork.Pretend()
	p.m.forked = true
}

// read reads n bytes from both, and compares them and the states.
func (p *pair) read(t *testing.T, n int) []byte {
	t.Helper()
	const around = 0xa5
	buf := bytes.Repeat([]byte{around}, 7+n+9)
	if got, err := p.r.Read(buf[7:][:n:n]); got != n || err != nil {
		t.Fatalf("Read of %d bytes: %d, %v", n, got, err)
	}
	want := p.m.read(n)
	if !bytes.Equal(buf[7:][:n], want) {
		t.Fatalf("Read of %d bytes, not as the model's, after %d reads", n, len(p.m.returned)-1)
	}
	if buf[6] != around || buf[7+n] != around {
		t.Fatalf("Read of %d bytes writes to those around", n)
	}
	if *p.source != p.m.source {
		t.Fatalf("Read of %d bytes: drawn %+v, want %+v", n, *p.source, p.m.source)
	}
	state := append(bytes.Clone(p.m.key), make([]byte, 992)...)
	copy(state[1024-len(p.m.buffer):], p.m.buffer)
	if !bytes.Equal(p.r.state[:], state) || p.r.next != 1024-len(p.m.buffer) {
		t.Fatalf("after a Read of %d bytes: state %x from %d, want %x from %d",
			n, p.r.state, p.r.next, state, 1024-len(p.m.buffer))
	}
	if p.r.made > 1<<20 {
		t.Fatalf("after a Read of %d bytes: %d made from one seed", n, p.r.made)
	}
	return want
}
