// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package program

import (
	"testing"

	"example.com/fastmac/internal/assurance/algebra"
	"example.com/fastmac/internal/assurance/machine"
	"example.com/fastmac/internal/assurance/x86"
	"example.com/fastmac/internal/mactest"
)

// TestModels compares the model of each instruction with this machine's CPU.
func TestModels(t *testing.T) {
	trials := 5_000
	if mactest.Long() {
		trials = 1_000_000
	}
	s, err := x86.NewSilicon()
	if err != nil {
		t.Fatal(err)
	}
	// This CPU, and as many of its registers as older ones have.
	for _, s := range []*x86.Silicon{s, s.Without(x86.AVX512), s.Without(x86.AVX512).Without(x86.AVX2)} {
		done, err := machine.Compare(s, x86.Forms(linkedProgram(t).Functions), machine.AsItIs, trials)
		if err != nil {
			t.Error(err)
		}
		forms, times := 0, 0
		for _, c := range done {
			times += c.Times
			forms += min(c.Times, 1)
		}
		t.Logf("%d of %d forms, %d comparisons", forms, len(done), times)
		trials = 100
	}
}

// TestWrongModels has models that are wrong for some operands.
func TestWrongModels(t *testing.T) {
	s, err := x86.NewSilicon()
	if err != nil {
		t.Fatal(err)
	}
	if !s.Has(x86.AVX512) || !s.Has(x86.VAES) {
		t.Skip("this CPU lacks instructions of the kernels")
	}
	all := x86.Forms(linkedProgram(t).Functions)
	for name, with := range map[string]machine.Arithmetic{
		"the highest bit of a product": func(d *algebra.Numbers) algebra.Algebra[uint64, algebra.Bytes64] { return wrongProduct{d} },
		"a carry that makes zero":      func(d *algebra.Numbers) algebra.Algebra[uint64, algebra.Bytes64] { return wrongCarry{d} },
		"a borrow of equal words":      func(d *algebra.Numbers) algebra.Algebra[uint64, algebra.Bytes64] { return wrongBorrow{d} },
		"an unsigned comparison":       func(d *algebra.Numbers) algebra.Algebra[uint64, algebra.Bytes64] { return wrongLess{d} },
		"the sign of a shift":          func(d *algebra.Numbers) algebra.Algebra[uint64, algebra.Bytes64] { return wrongSign{d} },
		"one bit of the S-box's use":   func(d *algebra.Numbers) algebra.Algebra[uint64, algebra.Bytes64] { return wrongAES{d} },
		"the highest carry-less bit":   func(d *algebra.Numbers) algebra.Algebra[uint64, algebra.Bytes64] { return wrongCarryless{d} },
		"the lane of a shuffle":        func(d *algebra.Numbers) algebra.Algebra[uint64, algebra.Bytes64] { return wrongPick{d} },
		"the rows of a truth table":    func(d *algebra.Numbers) algebra.Algebra[uint64, algebra.Bytes64] { return wrongTernary{d} },
		"a count of 64 bits":           func(d *algebra.Numbers) algebra.Algebra[uint64, algebra.Bytes64] { return wrongLowBits{d} },
		"the first element of a mask":  func(d *algebra.Numbers) algebra.Algebra[uint64, algebra.Bytes64] { return wrongMasked{d} },
	} {
		if _, err := machine.Compare(s, all, with, 500); err == nil {
			t.Errorf("wrong: %s: not noticed", name)
		}
	}
}

type (
	wrongProduct   struct{ *algebra.Numbers }
	wrongCarry     struct{ *algebra.Numbers }
	wrongBorrow    struct{ *algebra.Numbers }
	wrongLess      struct{ *algebra.Numbers }
	wrongSign      struct{ *algebra.Numbers }
	wrongAES       struct{ *algebra.Numbers }
	wrongCarryless struct{ *algebra.Numbers }
	wrongPick      struct{ *algebra.Numbers }
	wrongTernary   struct{ *algebra.Numbers }
	wrongLowBits   struct{ *algebra.Numbers }
	wrongMasked    struct{ *algebra.Numbers }
)

func (wrongProduct) Product(a, b uint64) uint64               { return a * b &^ (1 << 63) }
func (wrongCarry) Carry(_ int, a, b, c uint64) uint64         { return algebra.Truth(a+b+c < a && a+b+c != 0) }
func (wrongBorrow) Borrow(_ int, a, b, _ uint64) uint64       { return algebra.Truth(a < b) }
func (wrongLess) LessSigned(_ int, a, b uint64) uint64        { return algebra.Truth(a < b) }
func (wrongSign) RightSigned(_ int, a uint64, by uint) uint64 { return a >> by }

func (w wrongAES) AES(low, high, keyLow, keyHigh uint64, last bool) (l, h uint64) {
	return w.Numbers.AES(low, high, keyLow, keyHigh, true)
}

func (w wrongCarryless) Carryless(a, b uint64) (low, high uint64) {
	low, high = w.Numbers.Carryless(a, b)
	return low, high &^ (1 << 62)
}

func (w wrongPick) Pick(v *algebra.Bytes64, n, first, count int, index uint64) uint64 {
	return w.Numbers.Pick(v, n, 0, count, index)
}

func (w wrongTernary) Ternary(n int, table uint64, a, b, c uint64) uint64 {
	return w.Numbers.Ternary(n, table, c, b, a)
}

func (wrongLowBits) LowBits(_ int, a, count uint64) uint64 { return a & (1<<(count&63) - 1) }

func (w wrongMasked) LoadMasked(address uint64, n, element int, mask uint64) algebra.Bytes64 {
	return w.Numbers.LoadMasked(address, n, element, mask&(mask-1))
}
