// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"example.com/fastmac/internal/mactest"
)

// TestProofs proves a part of the sizes, or all of them.
func TestProofs(t *testing.T) {
	step := 61
	if mactest.Long() {
		step = 1
	}
	var out strings.Builder
	if err := proveAll(&out, linkedProgram(t), step); err != nil {
		t.Error(err)
	}
	t.Log(out.String())
}

// TestBrokenKernels alters an instruction of a kernel at a time. One of the kernel's proofs must
// fail. All kernels are altered only if long tests run.
func TestBrokenKernels(t *testing.T) {
	p := linkedProgram(t)
	tried := make(map[string]int)
	for _, f := range p.functions {
		own := slices.DeleteFunc(slices.Clone(proofs), func(x proof) bool { return !strings.HasPrefix(f.name, x.kernels) })
		if len(own) == 0 || !mactest.Long() && own[0].kernels != "nhAdd" && own[0].kernels != "tagWords" {
			continue
		}
		for what, alter := range alterations {
			if what == "a sum modulo 2^32" && strings.HasPrefix(f.name, "stretch") {
				continue // a counter of blocks, which is less in these proofs
			}
			for range 2 {
				broken, n := f.altered(alter, tried[what])
				if broken == nil {
					break
				}
				tried[what]++
				noticed := slices.ContainsFunc(own, func(x proof) bool {
					_, err := x.prove(newProver(p, broken, 7))
					return err != nil
				})
				if !noticed {
					t.Errorf("%s: %s: %v: not noticed", f.name, what, f.code[n])
				}
			}
		}
	}
	for _, what := range slices.Sorted(maps.Keys(alterations)) {
		t.Logf("%d times %s", tried[what], what)
		if tried[what] == 0 && mactest.Long() {
			t.Errorf("no kernel has a place for %s", what)
		}
	}
}

// alterations change an instruction, and report whether they could.
var alterations = map[string]func(i *instruction) bool{
	"a wrong shift": func(i *instruction) bool {
		last := len(i.operands) - 1
		i.operands = slices.Clone(i.operands)
		if strings.HasPrefix(i.mnemonic, "vpsrlq") {
			i.operands[last].number ^= 8
			return true
		}
		return false
	},
	"the key of another word": func(i *instruction) bool {
		i.operands = slices.Clone(i.operands)
		if o := i.memoryOperand(); i.mnemonic == "vpaddd" && o != nil {
			o.number += 4
			return true
		}
		return false
	},
	"a lane that is dropped": func(i *instruction) bool {
		if i.mnemonic == "vpaddq" {
			i.mnemonic = "nop"
			return true
		}
		return false
	},
	"a product with itself": func(i *instruction) bool {
		i.operands = slices.Clone(i.operands)
		if i.mnemonic == "vpmuludq" && i.operands[2].kind == vector && i.operands[1] != i.operands[2] {
			i.operands[2] = i.operands[1]
			return true
		}
		return false
	},
	"a sum modulo 2^32": func(i *instruction) bool {
		if i.mnemonic == "vpaddq" {
			i.mnemonic = "vpaddd"
			return true
		}
		return false
	},
	"an end that is off by one": func(i *instruction) bool {
		i.operands = slices.Clone(i.operands)
		o := i.memoryOperand()
		if o != nil && (i.mnemonic == "vmovdqu8" || i.mnemonic == "lea" && o.index != none && o.number == 1<<64-16) {
			o.number++
			return true
		}
		return false
	},
	"a jump that is not taken": func(i *instruction) bool {
		if i.mnemonic == "jae" || i.mnemonic == "jge" {
			i.mnemonic = "nop"
			return true
		}
		return false
	},
	"the key of another round": func(i *instruction) bool {
		i.operands = slices.Clone(i.operands)
		if o := i.memoryOperand(); (i.mnemonic == "movups" || i.mnemonic == "vbroadcasti32x4") && o != nil && o.base != none && o.number > 0 {
			o.number += 16
			return true
		}
		return false
	},
	"a round that is dropped": func(i *instruction) bool {
		if i.mnemonic == "aesenc" || i.mnemonic == "vaesenc" {
			i.mnemonic = "nop"
			return true
		}
		return false
	},
	"a constant that differs": func(i *instruction) bool {
		i.operands = slices.Clone(i.operands)
		if i.mnemonic == "imul" {
			i.operands[2].number++
			return true
		}
		return false
	},
}

// altered returns f with an instruction that is altered, and its index. It tries them from a
// place on that depends on seed.
func (f *function) altered(alter func(i *instruction) bool, seed int) (*function, int) {
	for k := range f.code {
		n := (k + 997*seed) % len(f.code)
		i := *f.code[n]
		if alter(&i) {
			broken := *f
			broken.code = slices.Clone(f.code)
			broken.code[n] = &i
			return &broken, n
		}
	}
	return nil, 0
}
