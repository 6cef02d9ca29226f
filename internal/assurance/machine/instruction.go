// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package machine has what the machine code of all architectures has in common: functions, their
// instructions, and the state that these change. The packages of architectures decode
// instructions, and have a model of each.
package machine

import (
	"fmt"
	"slices"
)

// An Architecture has the registers that the conventions of Go's assembly name.
type Architecture struct {
	Name         string // as GOARCH
	StackPointer int
	FramePointer int
	Kept         []int // others that a function must not change
	Goroutine    int   // the one that has the address of the goroutine, or None
	Copies       []int // vector registers, with which Go code copies 16 bytes at a time
}

// An Instruction is one of the machine code.
type Instruction struct {
	Address  uint64
	Bytes    []byte
	Mnemonic string    // as in the manual of the architecture, in small letters
	Operands []Operand // the one that is written comes first
	Flow
	Condition string  // of flags, on which the result or what follows depends, or ""
	Target    uint64  // of a jump or a call
	Classes   []Class // of which it is
	Text      string  // in the manual's syntax

	Mask    int  // number of an opmask, or 0
	Zeroing bool // elements that are not in the mask become zeros
}

// A Class is instructions that a CPU has together.
type Class string

// A Flow is what follows an instruction.
type Flow int

const (
	Next   Flow = iota // the next one
	Jump               // Target
	Leave              // Target, which is another function
	Branch             // Target or the next one
	Call               // Target, and then the next one
	Return             // what the caller has next
	Fill               // the next one; the instruction does nothing
	Stop               // a fault
)

func (i *Instruction) String() string { return fmt.Sprintf("%#x: %s", i.Address, i.Text) }

// Jumps reports whether i may be followed by Target.
func (i *Instruction) Jumps() bool { return i.Flow == Jump || i.Flow == Branch }

// Branches reports whether what follows i depends on the state.
func (i *Instruction) Branches() bool { return i.Flow == Branch }

// A Kind is that of an operand.
type Kind int

const (
	General   Kind = iota // a general register
	Vector                // a vector register
	Opmask                // k0 to k7
	Immediate             // a number
	Memory                // [base + scale*index + displacement]
)

// An Operand of an instruction.
type Operand struct {
	Kind
	Number  uint64 // of a register; of an immediate, extended to 64 bits; of memory: displacement
	Size    int    // in bits, of what is read or written
	Element int    // of arm64's vectors: bits of an element
	Lane    int    // of arm64's vectors: the element that is meant, or None
	Shift   Shift  // of arm64's general registers
	Address        // of memory
}

// A Shift is what is done to a register before it is used.
type Shift struct {
	By   uint
	Kind string // lsl, lsr, asr, ror, or "" for none
}

// An Address in memory. With neither base nor index the displacement is an absolute address.
type Address struct {
	Base, Index int // general registers, or None
	Scale       uint64
	Broadcast   bool   // the datum is for all elements of a vector
	Thread      bool   // in the segment of the thread
	Update      Update // of the base
}

// An Update is how an access changes the register of its base, by the displacement.
type Update int

const (
	Unchanged Update = iota
	Before           // the sum is the address
	After            // the address is the base
)

// None is no register, and no lane.
const None = -1

// MemoryOperand returns the memory operand of i, or nil. LEA has one too.
func (i *Instruction) MemoryOperand() *Operand {
	n := slices.IndexFunc(i.Operands, func(o Operand) bool { return o.Kind == Memory })
	if n < 0 {
		return nil
	}
	return &i.Operands[n]
}
