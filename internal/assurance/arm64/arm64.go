// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package arm64 has the instructions of arm64: it decodes them, executes a model of each with any
// algebra, and compares the models with an emulated CPU.
package arm64

import (
	"fmt"
	"slices"
	"strings"

	"example.com/fastmac/internal/assurance/machine"
)

// Numbers of general registers. Instructions name the stack pointer or zero by 31.
const (
	X16 = 16 + iota
	X17
	X18
	X27  = 27
	X28  = 28
	X29  = 29
	LR   = 30
	SP   = 31
	Zero = 32 // reads as zeros, and is no register of the state
)

// Architecture is arm64. X18 is the operating system's.
var Architecture = &machine.Architecture{Name: "arm64", StackPointer: SP, FramePointer: X29, Kept: []int{X18, X28, LR}, Goroutine: X28, Copies: []int{16, 17}}

// Models are those of arm64.
type Models[W, V any] struct{}

// Step executes an instruction, except for jumps and returns, which change nothing here.
func (Models[W, V]) Step(m *machine.State[W, V], i *machine.Instruction) { model[W, V]{m}.step(i) }

// Taken returns the condition of a jump.
func (Models[W, V]) Taken(m *machine.State[W, V], i *machine.Instruction) W {
	return model[W, V]{m}.taken(i)
}

// Compared returns the difference of the words on which an instruction with a condition decides. For
// TBZ it is the word of which bit n-1 decides; with the highest bit that is a comparison with 0.
func (Models[W, V]) Compared(m *machine.State[W, V], i *machine.Instruction) (difference W, n int, ok bool) {
	switch i.Mnemonic {
	case "cbz", "cbnz":
		return model[W, V]{m}.get(&i.Operands[0], 64), 64, true
	case "tbz":
		return model[W, V]{m}.get(&i.Operands[0], 64), int(i.Operands[1].Number) + 1, true
	}
	return m.Difference()
}

// CheckReserved returns an error if an instruction of f names a register that a kernel must not use,
// not even for a moment: the operating system and signal handlers of Go may look at it, or change it.
// X27 is the assembler's, and in command emulated it has another use.
func CheckReserved(f *machine.Function) error {
	reserved := append([]int{Architecture.FramePointer, X27}, Architecture.Kept...)
	for _, i := range f.Code {
		for _, o := range i.Operands {
			register := int(o.Number)
			if o.Kind == machine.Memory {
				register = o.Base
			}
			if (o.Kind == machine.General || o.Kind == machine.Memory) && slices.Contains(reserved, register) {
				return fmt.Errorf("%s: %v: general register %d is reserved", f.Name, i, register)
			}
		}
	}
	return nil
}

// Classes of instructions that not every CPU has.
const (
	AES    machine.Class = "AES"
	PMULL  machine.Class = "PMULL"
	SHA2   machine.Class = "SHA2"
	SHA512 machine.Class = "SHA512"
	RNG    machine.Class = "RNG"
)

// classes returns those of a mnemonic.
func classes(mnemonic string) []machine.Class {
	switch {
	case strings.HasPrefix(mnemonic, "aes"):
		return []machine.Class{AES}
	case strings.HasPrefix(mnemonic, "pmull"):
		return []machine.Class{PMULL}
	case strings.HasPrefix(mnemonic, "sha256"):
		return []machine.Class{SHA2}
	case strings.HasPrefix(mnemonic, "sha512"):
		return []machine.Class{SHA512}
	case mnemonic == "rndrrs":
		return []machine.Class{RNG}
	}
	return nil
}
