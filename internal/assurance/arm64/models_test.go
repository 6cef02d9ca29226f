// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package arm64_test

import (
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"example.com/fastmac/internal/assurance/algebra"
	"example.com/fastmac/internal/assurance/arm64"
	"example.com/fastmac/internal/assurance/machine"
	"example.com/fastmac/internal/assurance/program"
	"example.com/fastmac/internal/mactest"
)

// forms returns those of the kernels, and of random operands of all encodings.
func forms(t *testing.T) []machine.Form {
	t.Helper()
	mactest.NeedGo(t)
	p, err := program.Linked(arm64.Architecture)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(7, 8))
	others := new(machine.Function)
	for k := range arm64.Encodings {
		for range 30 {
			i, err := arm64.Decode(0, binary.LittleEndian.AppendUint32(nil, arm64.RandomInstruction(k, r)))
			if err == nil && !slices.ContainsFunc(i.Operands, isReserved) {
				others.Code = append(others.Code, i)
			}
		}
	}
	return arm64.Forms(append(p.Functions, others))
}

// isReserved reports whether an operand has a register that is not part of the state.
func isReserved(o machine.Operand) bool {
	reserved := []int{arm64.X18, arm64.X27, arm64.X28, arm64.X29, arm64.LR}
	return o.Kind == machine.General && slices.Contains(reserved, int(o.Number)) || o.Kind == machine.Memory && slices.Contains(reserved, o.Base)
}

// compare compares the models of forms with an emulated CPU, or skips the test.
func compare(t *testing.T, all []machine.Form, with machine.Arithmetic, trials int) ([]machine.Comparison, error) {
	t.Helper()
	done, err := arm64.Compare(all, with, trials)
	if errors.Is(err, arm64.ErrMissing) {
		t.Skip(err)
	}
	return done, err
}

// TestModels compares the model of each instruction with an emulated CPU.
func TestModels(t *testing.T) {
	trials := 500
	if mactest.Long() {
		trials = 100_000
	}
	done, err := compare(t, forms(t), machine.AsItIs, trials)
	if err != nil {
		t.Error(err)
	}
	compared, times := 0, 0
	for _, c := range done {
		times += c.Times
		compared += min(c.Times, 1)
	}
	t.Logf("%d of %d forms, %d comparisons", compared, len(done), times)
}

// TestWrongModels has models that are wrong for some operands.
func TestWrongModels(t *testing.T) {
	all := forms(t)
	for name, with := range map[string]machine.Arithmetic{
		"the highest bit of a product": func(d *algebra.Numbers) algebra.Algebra[uint64, algebra.Bytes64] { return wrongProduct{d} },
		"the upper half of a product":  func(d *algebra.Numbers) algebra.Algebra[uint64, algebra.Bytes64] { return wrongWide{d} },
		"a carry that makes zero":      func(d *algebra.Numbers) algebra.Algebra[uint64, algebra.Bytes64] { return wrongCarry{d} },
		"a borrow of equal words":      func(d *algebra.Numbers) algebra.Algebra[uint64, algebra.Bytes64] { return wrongBorrow{d} },
		"an index behind the table":    func(d *algebra.Numbers) algebra.Algebra[uint64, algebra.Bytes64] { return wrongLess{d} },
		"the lane of a table":          func(d *algebra.Numbers) algebra.Algebra[uint64, algebra.Bytes64] { return wrongPick{d} },
		"one bit of the S-box's use":   func(d *algebra.Numbers) algebra.Algebra[uint64, algebra.Bytes64] { return wrongAES{d} },
		"a function of three words":    func(d *algebra.Numbers) algebra.Algebra[uint64, algebra.Bytes64] { return wrongTernary{d} },
		"the columns of AES":           func(d *algebra.Numbers) algebra.Algebra[uint64, algebra.Bytes64] { return wrongColumns{d} },
		"a count of a register":        func(d *algebra.Numbers) algebra.Algebra[uint64, algebra.Bytes64] { return wrongCount{d} },
		"the bits that are extended":   func(d *algebra.Numbers) algebra.Algebra[uint64, algebra.Bytes64] { return wrongExtend{d} },
		"what is stored":               func(d *algebra.Numbers) algebra.Algebra[uint64, algebra.Bytes64] { return wrongStore{d} },
	} {
		if _, err := compare(t, all, with, 64); err == nil {
			t.Errorf("wrong: %s: not noticed", name)
		}
	}
}

type (
	wrongProduct struct{ *algebra.Numbers }
	wrongWide    struct{ *algebra.Numbers }
	wrongCarry   struct{ *algebra.Numbers }
	wrongBorrow  struct{ *algebra.Numbers }
	wrongLess    struct{ *algebra.Numbers }
	wrongPick    struct{ *algebra.Numbers }
	wrongAES     struct{ *algebra.Numbers }
	wrongColumns struct{ *algebra.Numbers }
	wrongTernary struct{ *algebra.Numbers }
	wrongCount   struct{ *algebra.Numbers }
	wrongExtend  struct{ *algebra.Numbers }
	wrongStore   struct{ *algebra.Numbers }
)

func (wrongProduct) Product(a, b uint64) uint64         { return a * b &^ (1 << 63) }
func (wrongCarry) Carry(_ int, a, b, c uint64) uint64   { return algebra.Truth(a+b+c < a && a+b+c != 0) }
func (wrongBorrow) Borrow(_ int, a, b, _ uint64) uint64 { return algebra.Truth(a <= b) }
func (wrongLess) Less(_ int, _, _ uint64) uint64        { return 1 }
func (wrongCount) LeftBy(_ int, a, by uint64) uint64    { return a << (by & 31) }
func (wrongExtend) Extend(n int, a uint64) uint64       { return uint64(int64(a<<(64-n)) >> (64 - n)) }

// Ternary is ch for maj too.
func (w wrongTernary) Ternary(n int, _ uint64, a, b, c uint64) uint64 {
	return w.Numbers.Ternary(n, 0xca, a, b, c)
}

func (w wrongWide) Wide(a, b uint64) (low, high uint64) {
	low, high = w.Numbers.Wide(a, b)
	return low, high &^ (1 << 63)
}

func (w wrongPick) Pick(v *algebra.Bytes64, n, first, count int, index uint64) uint64 {
	return w.Numbers.Pick(v, n, first, count/2, index)
}

func (w wrongAES) AES(low, high, keyLow, keyHigh uint64, last bool) (l, h uint64) {
	return w.Numbers.AES(low, high, keyLow, 1, last)
}

func (w wrongColumns) MixColumns(low, high uint64) (l, h uint64) {
	h, l = w.Numbers.MixColumns(low, high)
	return l, h
}

func (w wrongStore) Store(address uint64, v *algebra.Bytes64, n int) {
	w.Numbers.Store(address, v, n-1)
}
