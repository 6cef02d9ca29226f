// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package x86

import (
	"fmt"
	"slices"
	"strings"
)

// An Instruction is what Decode returns. The operand that is written comes first.
type Instruction struct {
	Address  uint64
	Bytes    []byte
	Mnemonic string
	Operands []Operand
	Mask     int    // number of an opmask, or 0
	Zeroing  bool   // elements that are not in mask become zeros
	Target   uint64 // of a jump or call
	Text     string // in Intel's syntax
}

func (i *Instruction) String() string { return fmt.Sprintf("%#x: %s", i.Address, i.Text) }

// Jumps reports whether i may be followed by another instruction than the next one.
func (i *Instruction) Jumps() bool { return strings.HasPrefix(i.Mnemonic, "j") }

// Branches reports whether flags decide what follows i.
func (i *Instruction) Branches() bool { return i.Jumps() && i.Mnemonic != "jmp" }

// Condition returns the suffix of the condition of flags on which the result of i depends, or "".
func (i *Instruction) Condition() string {
	switch {
	case i.Branches():
		return i.Mnemonic[1:]
	case strings.HasPrefix(i.Mnemonic, "cmov"):
		return i.Mnemonic[4:]
	case i.Mnemonic == "adc" || i.Mnemonic == "sbb":
		return "b"
	}
	return ""
}

// A Kind is that of an operand.
type Kind int

const (
	General   Kind = iota // RAX to R15
	Vector                // XMM, YMM or ZMM
	Opmask                // k0 to k7
	Immediate             // number
	Memory                // [base + scale*index + displacement]
)

// An Operand of an instruction.
type Operand struct {
	Kind
	Number  uint64 // of a register; of an immediate, extended to 64 bits; of memory: displacement
	Size    int    // in bits, of what is read or written
	Address        // of memory
}

// An Address in memory. With neither base nor index the displacement is an absolute address.
type Address struct {
	Base, Index int // general registers, or none
	Scale       uint64
	Broadcast   bool // the datum is for all elements of a vector
	Thread      bool // in the segment of the thread
}

// None is no register.
const None = -1

// Numbers of general registers.
const (
	RAX = iota
	RCX
	RDX
	RBX
	RSP
	RBP
	R14 = 14
)

// MemoryOperand returns the memory operand of i, or nil. LEA has one too.
func (i *Instruction) MemoryOperand() *Operand {
	n := slices.IndexFunc(i.Operands, func(o Operand) bool { return o.Kind == Memory })
	if n < 0 {
		return nil
	}
	return &i.Operands[n]
}
