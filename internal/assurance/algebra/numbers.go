// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package algebra

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
)

// Numbers is the algebra of numbers. A word of n bits is less than 2^n.
type Numbers struct {
	Data   Data     // or nil
	Memory []Region // sorted by address
}

// A Region is memory that a function may use.
type Region struct {
	Base     uint64
	Bytes    []byte
	ReadOnly bool
}

// Bytes64 is a vector.
type Bytes64 = [64]byte

// A Fault is the panic for an access that the CPU or the contract of a function does not allow.
type Fault string

func (f Fault) Error() string { return string(f) }

// Trim returns the lowest n bits of x.
func Trim(n int, x uint64) uint64 { return x & (1<<n - 1) }

// Truth is 1 for true.
func Truth(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// GCD is the greatest common divisor. GCD(0, a) is a.
func GCD(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return max(a, -a)
}

func (*Numbers) Constant(n int, x uint64) uint64  { return Trim(n, x) }
func (*Numbers) Global(address uint64) uint64     { return address }
func (*Numbers) Unknown(int) uint64               { panic(Unprovable("a number that nobody knows")) }
func (*Numbers) Touch(uint64)                     {}
func (*Numbers) Add(n int, a, b uint64) uint64    { return Trim(n, a+b) }
func (*Numbers) Sub(n int, a, b uint64) uint64    { return Trim(n, a-b) }
func (*Numbers) MulLow(n int, a, b uint64) uint64 { return Trim(n, a*b) }
func (*Numbers) Product(a, b uint64) uint64       { return a * b }

func (*Numbers) Wide(a, b uint64) (low, high uint64) {
	high, low = bits.Mul64(a, b)
	return low, high
}

func (*Numbers) Carry(n int, a, b, c uint64) uint64 {
	if n < 64 {
		return (a + b + c) >> n
	}
	_, carry := bits.Add64(a, b, c)
	return carry
}

func (*Numbers) Borrow(_ int, a, b, c uint64) uint64 {
	_, borrow := bits.Sub64(a, b, c)
	return borrow
}

func (*Numbers) And(_ int, a, b uint64) uint64 { return a & b }
func (*Numbers) Or(_ int, a, b uint64) uint64  { return a | b }
func (*Numbers) Xor(_ int, a, b uint64) uint64 { return a ^ b }

func (*Numbers) Ternary(n int, table uint64, a, b, c uint64) (w uint64) {
	for row := range uint64(8) {
		if table>>row&1 == 1 {
			w |= (a ^ (row>>2&1 - 1)) & (b ^ (row>>1&1 - 1)) & (c ^ (row&1 - 1))
		}
	}
	return Trim(n, w)
}

func (*Numbers) Left(n int, a uint64, by uint) uint64  { return Trim(n, a<<by) }
func (*Numbers) Right(_ int, a uint64, by uint) uint64 { return a >> by }

func (*Numbers) RightSigned(n int, a uint64, by uint) uint64 {
	return Trim(n, uint64(int64(a)<<(64-n)>>(64-n)>>by))
}

func (*Numbers) Rotate(n int, a uint64, by uint) uint64 {
	by %= uint(n)
	return Trim(n, a>>by|a<<(uint(n)-by))
}

func (*Numbers) LeftBy(n int, a, by uint64) uint64     { return Trim(n, a<<by) }
func (*Numbers) RightBy(_ int, a, by uint64) uint64    { return a >> by }
func (*Numbers) LowBits(_ int, a, count uint64) uint64 { return a & (1<<count - 1) }
func (*Numbers) Extract(a uint64, from, n int) uint64  { return Trim(n, a>>from) }
func (*Numbers) Extend(_ int, a uint64) uint64         { return a }
func (*Numbers) Equal(_ int, a, b uint64) uint64       { return Truth(a == b) }
func (*Numbers) Less(_ int, a, b uint64) uint64        { return Truth(a < b) }

func (*Numbers) LessSigned(n int, a, b uint64) uint64 {
	return Truth(int64(a<<(64-n)) < int64(b<<(64-n)))
}

func (*Numbers) Choose(_ int, condition, a, b uint64) uint64 {
	if condition == 1 {
		return a
	}
	return b
}

func (*Numbers) Carryless(a, b uint64) (low, high uint64) {
	for k := range 64 {
		if b>>k&1 == 1 {
			low ^= a << k
			high ^= a >> (64 - k)
		}
	}
	return low, high
}

// AES is a round of AES, FIPS 197 section 5.1, or the last one.
func (d *Numbers) AES(low, high, keyLow, keyHigh uint64, last bool) (l, h uint64) {
	in, out := block(low, high), [16]byte{}
	for k := range out { // ShiftRows and SubBytes
		out[k] = SBox[in[(k+4*(k%4))%16]]
	}
	if l, h = words(out); !last {
		l, h = d.MixColumns(l, h)
	}
	return l ^ keyLow, h ^ keyHigh
}

// MixColumns is that of section 5.1.3.
func (*Numbers) MixColumns(low, high uint64) (l, h uint64) {
	in, out := block(low, high), [16]byte{}
	for c := 0; c < 16; c += 4 {
		for r := range 4 {
			a, next := in[c+r], in[c+(r+1)%4]
			out[c+r] = Times2(a) ^ Times2(next) ^ next ^ in[c+(r+2)%4] ^ in[c+(r+3)%4]
		}
	}
	return words(out)
}

func block(low, high uint64) (b [16]byte) {
	binary.LittleEndian.PutUint64(b[:], low)
	binary.LittleEndian.PutUint64(b[8:], high)
	return b
}

func words(b [16]byte) (low, high uint64) {
	return binary.LittleEndian.Uint64(b[:]), binary.LittleEndian.Uint64(b[8:])
}

// Times2 is x*a modulo x^8+x^4+x^3+x+1, FIPS 197 section 4.2.1.
func Times2(a byte) byte { return a<<1 ^ a>>7*0x1b }

// SBox is the inverse modulo that polynomial, followed by the affine map of section 5.1.1.
var SBox = func() (box [256]byte) {
	times := func(a, b byte) (p byte) {
		for ; b > 0; a, b = Times2(a), b>>1 {
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

func (*Numbers) Lane(v *Bytes64, n, i int) uint64 {
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

func (*Numbers) SetLane(v *Bytes64, n, i int, w uint64) {
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

func (d *Numbers) Pick(v *Bytes64, n, first, count int, index uint64) uint64 {
	return d.Lane(v, n, first+int(index)&(count-1))
}

// bytes returns the memory of some bytes at an address.
func (d *Numbers) bytes(address uint64, n int, write bool) []byte {
	k, found := slices.BinarySearchFunc(d.Memory, address, func(r Region, a uint64) int {
		switch {
		case r.Base+uint64(len(r.Bytes)) <= a:
			return -1
		case r.Base > a:
			return 1
		}
		return 0
	})
	if found && !(write && d.Memory[k].ReadOnly) {
		if r := d.Memory[k]; address-r.Base+uint64(n) <= uint64(len(r.Bytes)) {
			return r.Bytes[address-r.Base:][:n]
		}
	}
	if d.Data != nil && !write {
		if s := d.Data(address); address-s.Address+uint64(n) <= uint64(len(s.Bytes)) {
			return s.Bytes[address-s.Address:][:n]
		}
	}
	panic(Fault(fmt.Sprintf("access to %d bytes at %#x", n, address)))
}

func (*Numbers) Align(address uint64, bytes int) {
	if address%uint64(bytes) != 0 {
		panic(Fault(fmt.Sprintf("%#x is no multiple of %d", address, bytes)))
	}
}

func (d *Numbers) Load(address uint64, n int) (v Bytes64) {
	copy(v[:], d.bytes(address, n, false))
	return v
}

func (d *Numbers) LoadMasked(address uint64, n, element int, mask uint64) (v Bytes64) {
	for k := range n / element {
		if mask>>k&1 == 1 {
			copy(v[element*k:], d.bytes(address+uint64(element*k), element, false))
		}
	}
	return v
}

func (d *Numbers) Store(address uint64, v *Bytes64, n int) { copy(d.bytes(address, n, true), v[:n]) }

func (d *Numbers) StoreMasked(address uint64, v *Bytes64, n int, mask uint64) {
	for k := range n {
		if mask>>k&1 == 1 {
			copy(d.bytes(address+uint64(k), 1, true), v[k:])
		}
	}
}

// edges are operands at which carries, signs and saturation change.
var edges = []uint64{0, 1, 2, 1<<7 - 1, 1 << 7, 1<<8 - 1, 1<<15 - 1, 1<<16 - 1, 1<<31 - 1, 1 << 31, 1<<32 - 1, 1 << 32, 1<<32 + 1,
	1<<63 - 1, 1 << 63, 1<<63 + 1, 1<<64 - 59, 1<<64 - 1<<32, 1<<64 - 2, 1<<64 - 1, 0x8080808080808080, 0x0f0e0d0c0b0a0908}

// RandomWord is a random number, an edge, a small number, or two edges.
func RandomWord(r *rand.Rand) uint64 {
	switch x := r.Uint64(); x & 7 {
	case 0:
		return edges[x>>8%uint64(len(edges))]
	case 1:
		return x >> 8 % 80
	case 2:
		return edges[x>>8%uint64(len(edges))]<<32 | edges[x>>32%uint64(len(edges))]&(1<<32-1)
	}
	return r.Uint64()
}
