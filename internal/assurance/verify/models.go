// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// try executes an instruction, and returns what it panics with as an error.
func (m *machine[W, V]) try(i *instruction) (err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case unmodelled:
			err = fmt.Errorf("%v: no model: %s", i, string(r))
		case unprovable:
			err = fmt.Errorf("%v: %s", i, string(r))
		case fault:
			err = fmt.Errorf("%v: %w", i, r)
		default:
			panic(r)
		}
	}()
	m.step(i)
	return nil
}

// Flags of the CPU.
const (
	carryBit    = 1 << 0
	zeroBit     = 1 << 6
	signBit     = 1 << 7
	overflowBit = 1 << 11
)

// flagBits returns the flags that the model has as the CPU has them.
func flagBits(m *machine[uint64, bytes64]) (bits uint64) {
	defined := m.definedFlags()
	if defined&carryBit != 0 {
		bits |= carryBit * m.carryFlag()
	}
	if defined&zeroBit != 0 {
		bits |= zeroBit*m.zeroFlag() | signBit*m.signFlag()
	}
	if defined&overflowBit != 0 {
		bits |= overflowBit * m.overflowFlag()
	}
	return bits
}

// definedFlags returns the bits of the flags that the model has.
func (m *machine[W, V]) definedFlags() (bits uint64) {
	if m.flags.carryKnown {
		bits |= carryBit
	}
	switch m.flags.from {
	case undefined:
	case resultOnly:
		bits |= zeroBit | signBit
	default:
		bits |= zeroBit | signBit | overflowBit
	}
	return bits
}

// models make an algebra from the one of numbers. Those of the instructions are [asTheyAre].
type models func(*numbers) algebra[uint64, bytes64]

func asTheyAre(d *numbers) algebra[uint64, bytes64] { return d }

// A form is the instructions that one model is for: a mnemonic with operands of the same kinds
// and sizes.
type form struct {
	name         string
	instructions []*instruction // with different operands
}

// forms returns the forms of all instructions that can be executed one by one.
func forms(p *program) (all []form) {
	index := make(map[string]int)
	seen := make(map[string]bool)
	for _, f := range p.functions {
		for _, i := range f.code {
			switch i.mnemonic {
			case "nop", "prefetcht0", "ret", "call", "int3", "jmp", "cpuid":
				continue
			}
			if slices.ContainsFunc(i.operands, func(o operand) bool { return o.thread }) {
				continue
			}
			name, text := i.form(), i.mnemonic
			if !i.jumps() {
				text = p.canonical(i)
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
func (i *instruction) form() string {
	name := i.mnemonic
	if i.mask != 0 {
		name += map[bool]string{false: "{k}", true: "{k}{z}"}[i.zeroing]
	}
	for _, o := range i.operands {
		name += fmt.Sprint(" ", []string{"r", "v", "k", "imm", "m"}[o.kind], o.size)
		if o.broadcast {
			name += "bcst"
		}
	}
	return name
}

// compareForms compares the models with the CPU: each form at least a number of times, and each
// instruction 64 times. It returns the numbers of instructions and of comparisons.
func compareForms(s *silicon, with models, all []form, trials int) (instructions, comparisons int, err error) {
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
