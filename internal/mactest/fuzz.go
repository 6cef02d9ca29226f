// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package mactest

import (
	"bytes"
	"math/rand/v2"
)

// Message returns the message that a few bytes stand for. The fuzzer changes few bytes well,
// and rarely makes long ones. The first two are the size, modulo most + 1. If the third is
// even, the others are a pattern that is repeated; else it and they are the seed of random
// bytes.
func Message(code []byte, most int) []byte {
	s := Script(code)
	msg := make([]byte, (int(s.Byte())<<8|int(s.Byte()))%(most+1))
	kind := s.Byte()
	switch {
	case kind%2 == 1:
		var seed [32]byte
		seed[0] = kind
		for i, b := range s {
			seed[(i+1)%len(seed)] ^= b
		}
		rand.NewChaCha8(seed).Read(msg)
	case len(s) > 0:
		for n := copy(msg, s); n < len(msg); n *= 2 {
			copy(msg[n:], msg[:n])
		}
	}
	return msg
}

// A Script says what a fuzz target does. After its end all bytes are zeros.
type Script []byte

// Byte takes the next byte.
func (s *Script) Byte() byte {
	if len(*s) == 0 {
		return 0
	}
	b := (*s)[0]
	*s = (*s)[1:]
	return b
}

// Size takes a byte for a size of 0 to 4032: all up to 63, and then in steps that grow.
func (s *Script) Size() int {
	b := int(s.Byte())
	if b < 32 {
		return b
	}
	return (32 + b%32) << (b/32 - 1)
}

// Damage returns a copy of b in which a bit is flipped, of which the end is missing, or
// which has another byte at its end. The copy may be equal to b.
func (s *Script) Damage(b []byte) []byte {
	b = bytes.Clone(b)
	how, at := s.Byte(), int(s.Byte())<<8|int(s.Byte())
	switch {
	case how%4 == 3:
		return append(b, byte(at))
	case len(b) == 0:
	case how%4 == 2:
		return b[:at%len(b)]
	default:
		b[at%len(b)] ^= how >> 1
	}
	return b
}
