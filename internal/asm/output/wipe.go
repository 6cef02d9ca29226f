// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package output

import (
	"slices"

	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/pass"
	"github.com/mmcloughlin/avo/reg"
	"github.com/mmcloughlin/avo/x86"
)

// pruneMoves removes moves of a vector register to itself. One of a part of a register may set
// the rest to zero, and stays.
func pruneMoves(fn *ir.Function) error {
	fn.Nodes = slices.DeleteFunc(fn.Nodes, func(node ir.Node) bool {
		i, ok := node.(*ir.Instruction)
		if !ok || len(i.Operands) != 2 || i.Operands[0] != i.Operands[1] {
			return false
		}
		r, ok := i.Operands[0].(reg.Physical)
		if !ok {
			return false
		}
		switch i.Opcode {
		case "MOVAPS":
			return true
		case "VMOVDQA": // code with VEX has no longer vectors
			return r.Size() == 32
		case "VMOVDQA64":
			return r.Size() == 64
		}
		return false
	})
	return nil
}

// registers is a set: vector registers by number, and from bit firstMask on mask registers.
type registers uint64

const firstMask = 32

// wipe adds to a compiled function the instructions that set to zero what may have been written: mask
// registers, and vector registers too if it must not keep them.
func wipe(fn *ir.Function, keepsVectors bool) error {
	written := writtenBefore(fn)
	avx := slices.ContainsFunc(fn.Instructions(), func(i *ir.Instruction) bool { return i.Opcode == "VZEROUPPER" })
	var nodes []ir.Node
	for _, node := range fn.Nodes {
		if i, ok := node.(*ir.Instruction); ok && i.Opcode == "RET" {
			// They come before VZEROUPPER, which stays next to RET.
			at := len(nodes)
			if avx {
				at--
			}
			wiped := written[i] | 1<<14
			if keepsVectors {
				wiped &^= 1<<firstMask - 1
			}
			wipes, err := zero(wiped, avx)
			if err != nil {
				return err
			}
			nodes = slices.Insert(nodes, at, wipes...)
		}
		nodes = append(nodes, node)
	}
	fn.Nodes = nodes
	fn.ISA = nil
	return pass.RequiredISAExtensions(fn) // of the new instructions too
}

// writtenBefore returns, for each instruction, the registers that may have been written
// when it is reached.
func writtenBefore(fn *ir.Function) map[*ir.Instruction]registers {
	before := make(map[*ir.Instruction]registers)
	for changed := true; changed; {
		changed = false
		for _, i := range fn.Instructions() {
			after := before[i]
			for _, r := range i.OutputRegisters() {
				switch r.Kind() {
				case reg.KindVector:
					after |= 1 << reg.ToPhysical(r).PhysicalIndex()
				case reg.KindOpmask:
					after |= 1 << (firstMask + reg.ToPhysical(r).PhysicalIndex())
				}
			}
			for _, next := range i.Succ {
				if next != nil && before[next]|after != before[next] {
					before[next] |= after
					changed = true
				}
			}
		}
	}
	return before
}

// zero returns instructions that set the full width of each register in r to zero.
func zero(r registers, avx bool) (nodes []ir.Node, err error) {
	for n := range firstMask + 8 {
		if r&(1<<n) == 0 {
			continue
		}
		var i *ir.Instruction
		x := reg.Vector.Lookup(reg.Index(n), reg.S128)
		switch {
		case n >= firstMask: // KXORW also sets the upper bits to zero
			k := reg.Opmask.Lookup(reg.Index(n-firstMask), reg.S64)
			i, err = x86.KXORW(k, k, k)
		case !avx:
			i, err = x86.PXOR(x, x)
		case n < 16:
			i, err = x86.VPXOR(x, x, x)
		default: // VEX cannot encode registers above 15
			i, err = x86.VPXORQ(x, x, x)
		}
		if err != nil {
			return nil, err
		}
		nodes = append(nodes, i)
	}
	return nodes, nil
}
