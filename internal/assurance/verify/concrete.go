// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"
)

// numbers is the algebra of numbers. A word of n bits is less than 2^n.
type numbers struct {
	program *program
	memory  []region // sorted by address
}

// A region is memory that a function may use.
type region struct {
	base     uint64
	bytes    []byte
	readOnly bool
}

type bytes64 = [64]byte

// A fault is the panic for an access to other memory.
type fault struct {
	address uint64
	bytes   int
}

func (f fault) Error() string { return fmt.Sprintf("access to %d bytes at %#x", f.bytes, f.address) }

func trim(n int, x uint64) uint64 { return x & (1<<n - 1) }

func truth(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

func (*numbers) constant(n int, x uint64) uint64  { return trim(n, x) }
func (*numbers) global(address uint64) uint64     { return address }
func (*numbers) add(n int, a, b uint64) uint64    { return trim(n, a+b) }
func (*numbers) sub(n int, a, b uint64) uint64    { return trim(n, a-b) }
func (*numbers) mulLow(n int, a, b uint64) uint64 { return trim(n, a*b) }
func (*numbers) product(a, b uint64) uint64       { return a * b }

func (*numbers) wide(a, b uint64) (low, high uint64) {
	high, low = bits.Mul64(a, b)
	return low, high
}

func (*numbers) carry(n int, a, b, c uint64) uint64 {
	if n < 64 {
		return (a + b + c) >> n
	}
	_, carry := bits.Add64(a, b, c)
	return carry
}

func (*numbers) borrow(_ int, a, b, c uint64) uint64 {
	_, borrow := bits.Sub64(a, b, c)
	return borrow
}

func (*numbers) and(_ int, a, b uint64) uint64 { return a & b }
func (*numbers) or(_ int, a, b uint64) uint64  { return a | b }
func (*numbers) xor(_ int, a, b uint64) uint64 { return a ^ b }

func (*numbers) ternary(n int, table uint64, a, b, c uint64) (w uint64) {
	for row := range uint64(8) {
		if table>>row&1 == 1 {
			w |= (a ^ (row>>2&1 - 1)) & (b ^ (row>>1&1 - 1)) & (c ^ (row&1 - 1))
		}
	}
	return trim(n, w)
}

func (*numbers) left(n int, a uint64, by uint) uint64  { return trim(n, a<<by) }
func (*numbers) right(_ int, a uint64, by uint) uint64 { return a >> by }

func (*numbers) rightSigned(n int, a uint64, by uint) uint64 {
	return trim(n, uint64(int64(a)<<(64-n)>>(64-n)>>by))
}

func (*numbers) rotate(n int, a uint64, by uint) uint64 {
	by %= uint(n)
	return trim(n, a>>by|a<<(uint(n)-by))
}

func (*numbers) leftBy(n int, a, by uint64) uint64     { return trim(n, a<<by) }
func (*numbers) rightBy(_ int, a, by uint64) uint64    { return a >> by }
func (*numbers) lowBits(_ int, a, count uint64) uint64 { return a & (1<<count - 1) }
func (*numbers) extract(a uint64, from, n int) uint64  { return trim(n, a>>from) }
func (*numbers) extend(_ int, a uint64) uint64         { return a }
func (*numbers) equal(_ int, a, b uint64) uint64       { return truth(a == b) }
func (*numbers) less(_ int, a, b uint64) uint64        { return truth(a < b) }

func (*numbers) lessSigned(n int, a, b uint64) uint64 {
	return truth(int64(a<<(64-n)) < int64(b<<(64-n)))
}

func (*numbers) choose(_ int, condition, a, b uint64) uint64 {
	if condition == 1 {
		return a
	}
	return b
}

func (*numbers) carryless(a, b uint64) (low, high uint64) {
	for k := range 64 {
		if b>>k&1 == 1 {
			low ^= a << k
			high ^= a >> (64 - k)
		}
	}
	return low, high
}

// aes is a round of AES, FIPS 197 section 5.1, or the last one.
func (*numbers) aes(low, high, keyLow, keyHigh uint64, last bool) (l, h uint64) {
	var in, out [16]byte
	binary.LittleEndian.PutUint64(in[:], low)
	binary.LittleEndian.PutUint64(in[8:], high)
	for c := range 4 {
		var s [4]byte // ShiftRows and SubBytes
		for r := range s {
			s[r] = sBox[in[4*((c+r)%4)+r]]
		}
		for r := range s {
			out[4*c+r] = s[r]
			if !last { // MixColumns
				next := s[(r+1)%4]
				out[4*c+r] = times2(s[r]) ^ times2(next) ^ next ^ s[(r+2)%4] ^ s[(r+3)%4]
			}
		}
	}
	return binary.LittleEndian.Uint64(out[:]) ^ keyLow, binary.LittleEndian.Uint64(out[8:]) ^ keyHigh
}

// times2 is x*a modulo x^8+x^4+x^3+x+1, FIPS 197 section 4.2.1.
func times2(a byte) byte { return a<<1 ^ a>>7*0x1b }

// sBox is the inverse modulo that polynomial, followed by the affine map of section 5.1.1.
var sBox = func() (box [256]byte) {
	times := func(a, b byte) (p byte) {
		for ; b > 0; a, b = times2(a), b>>1 {
			p ^= b & 1 * a
		}
		return p
	}
	for a := range 256 {
		inverse := byte(1)
		for range 254 {
			inverse = times(inverse, byte(a))
		}
		box[a] = 0x63
		for k := range 5 {
			box[a] ^= bits.RotateLeft8(inverse, k)
		}
	}
	return box
}()

func (*numbers) lane(v *bytes64, n, i int) uint64 {
	switch n {
	case 64:
		return binary.LittleEndian.Uint64(v[8*i:])
	case 32:
		return uint64(binary.LittleEndian.Uint32(v[4*i:]))
	case 16:
		return uint64(binary.LittleEndian.Uint16(v[2*i:]))
	}
	return uint64(v[i])
}

func (*numbers) setLane(v *bytes64, n, i int, w uint64) {
	switch n {
	case 64:
		binary.LittleEndian.PutUint64(v[8*i:], w)
	case 32:
		binary.LittleEndian.PutUint32(v[4*i:], uint32(w))
	case 16:
		binary.LittleEndian.PutUint16(v[2*i:], uint16(w))
	default:
		v[i] = byte(w)
	}
}

func (d *numbers) pick(v *bytes64, n, first, count int, index uint64) uint64 {
	return d.lane(v, n, first+int(index)&(count-1))
}

// bytes returns the memory of some bytes at an address.
func (d *numbers) bytes(address uint64, n int, write bool) []byte {
	k, found := slices.BinarySearchFunc(d.memory, address, func(r region, a uint64) int {
		switch {
		case r.base+uint64(len(r.bytes)) <= a:
			return -1
		case r.base > a:
			return 1
		}
		return 0
	})
	if found && !(write && d.memory[k].readOnly) {
		if r := d.memory[k]; address-r.base+uint64(n) <= uint64(len(r.bytes)) {
			return r.bytes[address-r.base:][:n]
		}
	}
	if b := d.program.at(address); !write && len(b) >= n {
		return b[:n]
	}
	panic(fault{address, n})
}

func (d *numbers) load(address uint64, n int) (v bytes64) {
	copy(v[:], d.bytes(address, n, false))
	return v
}

func (d *numbers) loadMasked(address uint64, n, element int, mask uint64) (v bytes64) {
	for k := range n / element {
		if mask>>k&1 == 1 {
			copy(v[element*k:], d.bytes(address+uint64(element*k), element, false))
		}
	}
	return v
}

func (d *numbers) store(address uint64, v *bytes64, n int) { copy(d.bytes(address, n, true), v[:n]) }
