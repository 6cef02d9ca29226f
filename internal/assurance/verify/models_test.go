// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"testing"

	"example.com/fastmac/internal/mactest"
)

// TestModels compares the model of each instruction with this machine's CPU.
func TestModels(t *testing.T) {
	s, err := newSilicon()
	if err != nil {
		t.Fatal(err)
	}
	if s == nil {
		t.Skip("this CPU lacks instructions of the kernels")
	}
	trials := 5_000
	if mactest.Long() {
		trials = 1_000_000
	}
	all := forms(linkedProgram(t))
	instructions, comparisons, err := compareForms(s, asTheyAre, all, trials)
	if err != nil {
		t.Error(err)
	}
	t.Logf("%d forms, %d instructions, %d comparisons", len(all), instructions, comparisons)
}

// TestWrongModels has models that are wrong for some operands.
func TestWrongModels(t *testing.T) {
	s, err := newSilicon()
	if err != nil || s == nil {
		t.Skip("no CPU to compare with: ", err)
	}
	all := forms(linkedProgram(t))
	for name, with := range map[string]models{
		"the highest bit of a product":      func(d *numbers) algebra[uint64, bytes64] { return wrongProduct{d} },
		"a carry that makes zero":           func(d *numbers) algebra[uint64, bytes64] { return wrongCarry{d} },
		"a borrow of equal words":           func(d *numbers) algebra[uint64, bytes64] { return wrongBorrow{d} },
		"an unsigned comparison":            func(d *numbers) algebra[uint64, bytes64] { return wrongLess{d} },
		"the sign of a shift":               func(d *numbers) algebra[uint64, bytes64] { return wrongSign{d} },
		"one bit of the S-box's use":        func(d *numbers) algebra[uint64, bytes64] { return wrongAES{d} },
		"the highest carry-less bit":        func(d *numbers) algebra[uint64, bytes64] { return wrongCarryless{d} },
		"the lane of a shuffle":             func(d *numbers) algebra[uint64, bytes64] { return wrongPick{d} },
		"the rows of a truth table":         func(d *numbers) algebra[uint64, bytes64] { return wrongTernary{d} },
		"a count of 64 bits":                func(d *numbers) algebra[uint64, bytes64] { return wrongLowBits{d} },
		"bytes that a mask does not select": func(d *numbers) algebra[uint64, bytes64] { return wrongMasked{d} },
	} {
		if _, _, err := compareForms(s, with, all, 500); err == nil {
			t.Errorf("wrong: %s: not noticed", name)
		}
	}
}

type (
	wrongProduct   struct{ *numbers }
	wrongCarry     struct{ *numbers }
	wrongBorrow    struct{ *numbers }
	wrongLess      struct{ *numbers }
	wrongSign      struct{ *numbers }
	wrongAES       struct{ *numbers }
	wrongCarryless struct{ *numbers }
	wrongPick      struct{ *numbers }
	wrongTernary   struct{ *numbers }
	wrongLowBits   struct{ *numbers }
	wrongMasked    struct{ *numbers }
)

func (wrongProduct) product(a, b uint64) uint64               { return a * b &^ (1 << 63) }
func (wrongCarry) carry(_ int, a, b, c uint64) uint64         { return truth(a+b+c < a && a+b+c != 0) }
func (wrongBorrow) borrow(_ int, a, b, _ uint64) uint64       { return truth(a < b) }
func (wrongLess) lessSigned(_ int, a, b uint64) uint64        { return truth(a < b) }
func (wrongSign) rightSigned(_ int, a uint64, by uint) uint64 { return a >> by }

func (w wrongAES) aes(low, high, keyLow, keyHigh uint64, last bool) (l, h uint64) {
	return w.numbers.aes(low, high, keyLow, keyHigh, true)
}

func (w wrongCarryless) carryless(a, b uint64) (low, high uint64) {
	low, high = w.numbers.carryless(a, b)
	return low, high &^ (1 << 62)
}

func (w wrongPick) pick(v *bytes64, n, first, count int, index uint64) uint64 {
	return w.numbers.pick(v, n, 0, count, index)
}

func (w wrongTernary) ternary(n int, table uint64, a, b, c uint64) uint64 {
	return w.numbers.ternary(n, table, c, b, a)
}

func (wrongLowBits) lowBits(_ int, a, count uint64) uint64 { return a & (1<<(count&63) - 1) }

func (w wrongMasked) loadMasked(address uint64, n, _ int, _ uint64) bytes64 {
	return w.load(address, n)
}
