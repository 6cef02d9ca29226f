// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package arm64

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"strings"

	"example.com/fastmac/internal/assurance/machine"
)

// Decode returns the instruction at the beginning of code, which is at an address. What is not in
// the table of encodings is an error: it has no model.
func Decode(at uint64, code []byte) (*machine.Instruction, error) {
	if len(code) < 4 {
		return nil, errors.New("no instruction")
	}
	w := word{at: at, code: binary.LittleEndian.Uint32(code)}
	for _, e := range encodings {
		if w.bits = e.bits; w.matches() {
			return e.decode(w, code[:4])
		}
	}
	return nil, errors.New("no instruction that a kernel needs")
}

// An encoding is that of one form of an instruction.
type encoding struct {
	bits     string // 0, 1, or the letter of a field
	mnemonic string // without a condition
	operands []operand
}

// flows are those of instructions.
var flows = map[string]machine.Flow{
	"udf": machine.Stop, "nop": machine.Fill, "ret": machine.Return, "b": machine.Jump, "b.": machine.Branch,
	"cbz": machine.Branch, "cbnz": machine.Branch, "tbz": machine.Branch,
}

// decode returns the instruction that w is.
func (e *encoding) decode(w word, code []byte) (*machine.Instruction, error) {
	i := &machine.Instruction{Address: w.at, Bytes: code, Mnemonic: e.mnemonic, Flow: flows[e.mnemonic], Classes: classes(e.mnemonic)}
	if c, n := w.field('c'); n > 0 {
		if i.Condition = conditions[c]; i.Condition == "" {
			return nil, errors.New("no condition that a kernel needs")
		}
	}
	if i.Mnemonic == "b." {
		i.Mnemonic += i.Condition
	}
	var texts []string
	for _, operand := range e.operands {
		o, text, err := operand(w)
		if err != nil {
			return nil, err
		}
		i.Operands = append(i.Operands, o)
		texts = append(texts, text)
	}
	if _, n := w.field('t'); n > 0 {
		i.Target = w.at + uint64(4*w.signed('t'))
		texts = append(texts, fmt.Sprintf("%#x", i.Target))
	} else if i.Condition != "" {
		texts = append(texts, i.Condition)
	}
	if i.Mnemonic == "adc" {
		i.Condition = "cs"
	}
	i.Text = strings.TrimSpace(i.Mnemonic + " " + strings.Join(texts, ", "))
	return i, check(i)
}

// conditions are those of flags, by their numbers in instructions.
var conditions = [16]string{
	0: "eq", 1: "ne", 2: "cs", 3: "cc", 4: "mi", 5: "pl", 8: "hi", 9: "ls", 10: "ge", 11: "lt", 12: "gt", 13: "le",
}

// check returns an error for accesses of which Arm's manual says that anything may happen: two
// registers loaded that are one, or a base changed twice.
func check(i *machine.Instruction) error {
	o := i.MemoryOperand()
	switch {
	case o == nil:
	case strings.HasPrefix(i.Mnemonic, "ldp") && i.Operands[0].Number == i.Operands[1].Number:
		return errors.New("two registers that are one")
	case o.Update != machine.Unchanged && i.Operands[0].Kind == machine.General && i.Operands[0].Number == uint64(o.Base):
		return errors.New("a base with an update that is moved too")
	}
	return nil
}

// A word is an instruction at an address, and the bits of its encoding.
type word struct {
	at   uint64
	code uint32
	bits string
}

// bit returns bit k of the encoding, from the left, as the instruction has it.
func (w word) bit(k int) uint64 { return uint64(w.code >> (31 - k) & 1) }

// number returns the bits of the encoding from k on that have one letter, and how many they are.
func (w word) number(k int) (x uint64, n int) {
	for letter := w.bits[k]; k+n < 32 && w.bits[k+n] == letter; n++ {
		x = x<<1 | w.bit(k+n)
	}
	return x, n
}

// field returns the number in the first field of a letter, and how many bits it has.
func (w word) field(letter byte) (x uint64, n int) {
	if k := strings.IndexByte(w.bits, letter); k >= 0 {
		return w.number(k)
	}
	return 0, 0
}

// matches reports whether the instruction has the encoding. A field that is there twice has the
// same number in both places.
func (w word) matches() bool {
	for k := 0; k < 32; {
		x, n := w.number(k)
		want, _ := w.field(w.bits[k])
		switch letter := w.bits[k]; letter {
		case '0':
			want = 0
		case '1':
			want = 1<<n - 1
		}
		if x != want {
			return false
		}
		k += n
	}
	return true
}

// signed returns the number in a field as a signed one.
func (w word) signed(letter byte) int64 {
	x, n := w.field(letter)
	return int64(x) << (64 - n) >> (64 - n)
}

// An operand returns an operand of an instruction, and its text.
type operand func(w word) (o machine.Operand, text string, err error)

// general returns a general register of a size. Number 31 is zero.
func general(letter byte, size int) operand {
	return func(w word) (o machine.Operand, text string, err error) {
		n, _ := w.field(letter)
		prefix := map[int]string{32: "w", 64: "x"}[size]
		if n == 31 {
			return machine.Operand{Kind: machine.General, Number: Zero, Size: size}, prefix + "zr", nil
		}
		return machine.Operand{Kind: machine.General, Number: n, Size: size}, fmt.Sprint(prefix, n), nil
	}
}

func x(letter byte) operand { return general(letter, 64) }
func w(letter byte) operand { return general(letter, 32) }

// notSP returns a general register in a place where number 31 is the stack pointer: no kernel
// computes with it.
func notSP(letter byte, size int) operand {
	return func(w word) (machine.Operand, string, error) {
		o, text, err := general(letter, size)(w)
		if o.Number == Zero {
			err = errors.New("the stack pointer")
		}
		return o, text, err
	}
}

// shifted returns a general register that is shifted by i: to the left, or as k says.
func shifted(letter byte) operand {
	return func(w word) (machine.Operand, string, error) {
		o, text, err := x(letter)(w)
		by, _ := w.field('i')
		kind, _ := w.field('k')
		if by != 0 {
			o.Shift = machine.Shift{By: uint(by), Kind: []string{"lsl", "lsr"}[kind]}
			text += fmt.Sprintf(", %s #%d", o.Shift.Kind, by)
		} else if kind != 0 {
			err = errors.New("a shift that is none")
		}
		return o, text, err
	}
}

// arrangements are the sizes of vectors, and of their elements.
var arrangements = map[string]struct{ size, element int }{
	"16b": {128, 8}, "4s": {128, 32}, "2d": {128, 64}, "1q": {128, 128}, "2s": {64, 32}, "1d": {64, 64},
}

// vector returns a vector register, or the one that follows it by so many.
func vector(letter byte, arrangement string, next ...int) operand {
	a := arrangements[arrangement]
	return func(w word) (machine.Operand, string, error) {
		n, _ := w.field(letter)
		for _, more := range next {
			n = (n + uint64(more)) % 32
		}
		return machine.Operand{Kind: machine.Vector, Number: n, Size: a.size, Element: a.element, Lane: machine.None}, fmt.Sprintf("v%d.%s", n, arrangement), nil
	}
}

// lane returns lane i of a vector register.
func lane(letter byte, name string, element int) operand {
	return func(w word) (machine.Operand, string, error) {
		n, _ := w.field(letter)
		i, _ := w.field('i')
		return machine.Operand{Kind: machine.Vector, Number: n, Size: 128, Element: element, Lane: int(i)}, fmt.Sprintf("v%d.%s[%d]", n, name, i), nil
	}
}

// scalar returns a vector register of one element: q or d.
func scalar(letter byte, size int) operand {
	return func(w word) (machine.Operand, string, error) {
		n, _ := w.field(letter)
		return machine.Operand{Kind: machine.Vector, Number: n, Size: size, Element: size, Lane: machine.None}, fmt.Sprint(map[int]string{64: "d", 128: "q"}[size], n), nil
	}
}

func q(letter byte) operand { return scalar(letter, 128) }
func d(letter byte) operand { return scalar(letter, 64) }

// number returns an immediate, which compute makes of the instruction.
func number(compute func(w word) (uint64, error)) operand {
	return func(w word) (machine.Operand, string, error) {
		n, err := compute(w)
		return machine.Operand{Kind: machine.Immediate, Number: n}, fmt.Sprintf("#%#x", n), err
	}
}

// immediate is the number i, shifted to the left.
func immediate(by int) operand {
	return number(func(w word) (uint64, error) {
		n, _ := w.field('i')
		return n << by, nil
	})
}

// from is a number plus i.
func from(first uint64) operand {
	return number(func(w word) (uint64, error) {
		n, _ := w.field('i')
		return first + n, nil
	})
}

// minus is a number less i.
func minus(from uint64) operand {
	return number(func(w word) (uint64, error) {
		n, _ := w.field('i')
		return from - n, nil
	})
}

// halfword is i, shifted by h times 16 bits. With invert all bits are the other ones.
func halfword(invert bool) operand {
	return number(func(w word) (uint64, error) {
		n, _ := w.field('i')
		h, _ := w.field('h')
		if n <<= 16 * h; invert {
			n = ^n
		}
		return n, nil
	})
}

// leftShift is the number of bits by which UBFM shifts to the left, of so many.
func leftShift(size uint64) operand {
	return number(func(w word) (uint64, error) {
		r, _ := w.field('r')
		s, _ := w.field('s')
		if r != s+1 || r == size {
			return 0, errors.New("bits of a word")
		}
		return size - 1 - s, nil
	})
}

// bitmask is the immediate of a logical instruction: an element of 2 to 64 bits, again and again.
// Of these s+1 are ones, rotated to the right by r.
func bitmask(w word) (uint64, error) {
	n, _ := w.field('l')
	r, _ := w.field('r')
	s, _ := w.field('s')
	log := bits.Len64(n<<6|^s&63) - 1
	if log < 1 {
		return 0, errors.New("a reserved immediate")
	}
	size := 1 << log
	ones := int(s)&(size-1) + 1
	if ones == size || int(r) >= size {
		return 0, errors.New("a reserved immediate, or one with idle bits")
	}
	element := uint64(1)<<ones - 1
	for filled := size; filled < 64; filled *= 2 {
		element |= element << filled
	}
	return bits.RotateLeft64(element, -int(r)), nil
}

// page is the address of ADRP's page.
func page(w word) (machine.Operand, string, error) {
	low, _ := w.field('j')
	to := w.at&^0xfff + uint64(w.signed('i')<<2|int64(low))<<12
	return machine.Operand{Kind: machine.Immediate, Number: to}, fmt.Sprintf("%#x", to), nil
}

// memory returns a memory operand of so many bits, at a register plus a displacement.
func memory(size int, update machine.Update, displacement func(w word) int64) operand {
	return func(w word) (machine.Operand, string, error) {
		n, _ := w.field('n')
		to := displacement(w)
		name := fmt.Sprint("x", n)
		if n == SP {
			name = "sp"
		}
		o := machine.Operand{Kind: machine.Memory, Number: uint64(to), Size: size}
		o.Address = machine.Address{Base: int(n), Index: machine.None, Scale: 1, Update: update}
		switch {
		case update == machine.After:
			return o, fmt.Sprintf("[%s], #%d", name, to), nil
		case update == machine.Before:
			return o, fmt.Sprintf("[%s, #%d]!", name, to), nil
		case to == 0:
			return o, fmt.Sprintf("[%s]", name), nil
		}
		return o, fmt.Sprintf("[%s, #%d]", name, to), nil
	}
}

// at is memory of so many bits, with a multiple of its size for the displacement.
func at(size int) operand {
	return memory(size, machine.Unchanged, func(w word) int64 {
		n, _ := w.field('i')
		return int64(n) * int64(size/8)
	})
}

// near is memory of so many bits, with any displacement.
func near(size int, update machine.Update) operand {
	return memory(size, update, func(w word) int64 { return w.signed('i') })
}

// pair is memory of two words of so many bits.
func pair(size int, update machine.Update) operand {
	return memory(2*size, update, func(w word) int64 { return w.signed('i') * int64(size/8) })
}

// Complete turns each ADRP, and the ADD that follows it, into what both do: the ADD writes an address,
// and the ADRP only fills space. Nothing jumps between them.
func Complete(f *machine.Function) error {
	for n, i := range f.Code {
		if i.Mnemonic != "adrp" {
			continue
		}
		if n+1 == len(f.Code) {
			return fmt.Errorf("%s: %v is the last instruction", f.Name, i)
		}
		next, register := f.Code[n+1], i.Operands[0]
		if next.Mnemonic != "add" || next.Operands[0] != register || next.Operands[1] != register || next.Operands[2].Kind != machine.Immediate {
			return fmt.Errorf("%s: %v is not followed by ADD of a number", f.Name, i)
		}
		for _, j := range f.Code {
			if j.Jumps() && j.Target == next.Address {
				return fmt.Errorf("%s: %v jumps behind an ADRP", f.Name, j)
			}
		}
		address := machine.Operand{Kind: machine.Immediate, Number: i.Operands[1].Number + next.Operands[2].Number}
		i.Flow = machine.Fill
		next.Mnemonic, next.Operands = "adr", []machine.Operand{register, address}
	}
	return nil
}
