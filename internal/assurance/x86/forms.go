// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package x86

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"example.com/fastmac/internal/assurance/algebra"
)

// Models make an algebra from the one of numbers. Those of the instructions are [asTheyAre].
type Models func(*algebra.Numbers) algebra.Algebra[uint64, algebra.Bytes64]

func AsTheyAre(d *algebra.Numbers) algebra.Algebra[uint64, algebra.Bytes64] { return d }

// A form is the instructions that one model is for: a mnemonic with operands of the same kinds
// and sizes.
type form struct {
	name         string
	instructions []*Instruction // with different operands
}

// Forms returns the forms of all instructions that can be executed one by one.
func Forms(functions []*Function) (all []form) {
	index := make(map[string]int)
	seen := make(map[string]bool)
	for _, f := range functions {
		for _, i := range f.Code {
			switch i.Mnemonic {
			case "nop", "prefetcht0", "ret", "call", "int3", "jmp", "cpuid":
				continue
			}
			if slices.ContainsFunc(i.Operands, func(o Operand) bool { return o.Thread }) {
				continue
			}
			name, text := i.form(), i.Mnemonic
			if !i.Jumps() {
				text = fmt.Sprint(i.Mnemonic, i.Operands, i.Mask, i.Zeroing)
			}
			if seen[text] {
				continue
			}
			seen[text] = true
			k, ok := index[name]
			if !ok {
				k = len(all)
				index[name] = k
				all = append(all, form{name: name})
			}
			all[k].instructions = append(all[k].instructions, i)
		}
	}
	slices.SortFunc(all, func(a, b form) int { return strings.Compare(a.name, b.name) })
	return all
}

// form returns the name of the form of an instruction.
func (i *Instruction) form() string {
	name := i.Mnemonic
	if i.Mask != 0 {
		name += map[bool]string{false: "{k}", true: "{k}{z}"}[i.Zeroing]
	}
	for _, o := range i.Operands {
		name += fmt.Sprint(" ", []string{"r", "v", "k", "imm", "m"}[o.Kind], o.Size)
		if o.Broadcast {
			name += "bcst"
		}
	}
	return name
}

// CompareForms compares the models with the CPU: each form at least a number of times, and each
// instruction 64 times. It returns the numbers of instructions and of comparisons.
func CompareForms(s *silicon, with Models, all []form, trials int) (instructions, comparisons int, err error) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, f := range all {
		each := max(64, (trials+len(f.instructions)-1)/len(f.instructions))
		for _, i := range f.instructions {
			if err := s.compare(i, with, each, r); err != nil {
				return instructions, comparisons, err
			}
			instructions++
			comparisons += each
		}
	}
	return instructions, comparisons, nil
}
