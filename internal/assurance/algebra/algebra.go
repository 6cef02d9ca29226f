// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package algebra has what models of instructions compute with, and numbers as one kind of it.
package algebra

// An Algebra computes with words W of 1 to 64 bits and vectors V of 64 bytes. The models of
// the instructions are written once, for any algebra, and executed with three of them: [Numbers],
// what is secret (package secrets) and formulas (package formula). The first argument of
// most operations is the number of bits.
type Algebra[W, V any] interface {
	Constant(n int, x uint64) W // the lowest n bits of x
	Global(address uint64) W    // the address of a datum in the program
	Unknown(n int) W            // public, and else anything

	Add(n int, a, b W) W
	Sub(n int, a, b W) W
	MulLow(n int, a, b W) W    // the lowest n bits of the product
	Product(a, b W) W          // of words of 32 bits
	Wide(a, b W) (low, high W) // the product of words of 64 bits
	Carry(n int, a, b, c W) W  // of a+b+c
	Borrow(n int, a, b, c W) W // of a-b-c

	And(n int, a, b W) W
	Or(n int, a, b W) W
	Xor(n int, a, b W) W
	Ternary(n int, table uint64, a, b, c W) W // bits of table, with those of a, b and c for an index
	Left(n int, a W, by uint) W
	Right(n int, a W, by uint) W
	RightSigned(n int, a W, by uint) W
	Rotate(n int, a W, by uint) W      // right
	LeftBy(n int, a, by W) W           // by < n
	RightBy(n int, a, by W) W          // by < n
	LowBits(n int, a, count W) W       // clears all bits but the lowest count
	Extract(a W, from, n int) W        // n bits
	Extend(n int, a W) W               // from n to 64 bits, with zeros
	Equal(n int, a, b W) W             // 1 bit
	Less(n int, a, b W) W              // 1 bit, unsigned
	LessSigned(n int, a, b W) W        // 1 bit
	Choose(n int, condition, a, b W) W // a if condition is 1

	Carryless(a, b W) (low, high W) // the carry-less product of words of 64 bits
	AES(low, high, keyLow, keyHigh W, last bool) (l, h W)
	MixColumns(low, high W) (l, h W) // the part of AES that the last round lacks

	Lane(v *V, n, i int) W // n bits
	SetLane(v *V, n, i int, w W)
	Pick(v *V, n, first, count int, index W) W // lane first + index modulo count

	// Align is called for an address of which the CPU requires that it is a multiple of bytes, and
	// Touch for one that it only prefetches.
	Align(address W, bytes int)
	Touch(address W)
	Load(address W, bytes int) V
	LoadMasked(address W, bytes, element int, mask W) V // elements that are not in mask are zeros, and not read
	Store(address W, v *V, bytes int)
	StoreMasked(address W, v *V, bytes int, mask W) // bytes that are not in mask are not written
}

// A Datum is what the linker has put at an address: the symbol there, and where it is.
type Datum struct {
	Address  uint64 // of its beginning
	Bytes    []byte // what it begins as
	Constant bool   // the program cannot change it
}

// Data returns the datum that has an address. Without one, it has no bytes.
type Data func(address uint64) Datum

// Unprovable is the panic when control flow or an address depends on a variable.
type Unprovable string
