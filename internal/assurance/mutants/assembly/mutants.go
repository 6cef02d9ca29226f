// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build linux && amd64

package main

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"

	"example.com/fastmac/internal/assurance/arm64"
	"example.com/fastmac/internal/assurance/machine"
	"example.com/fastmac/internal/assurance/program"
	"example.com/fastmac/internal/assurance/x86"
)

// A mutant is a program with other bytes for an instruction.
type mutant struct {
	*instruction
	kind    string
	after   []byte // as many bytes as the instruction has
	becomes string // their text in Intel's syntax
}

const drop = "drop"

// dropped returns the mutant that lacks an instruction.
func dropped(i *instruction) *mutant {
	none := bytes.Repeat([]byte{nop}, len(i.Bytes))
	if i.function.Architecture == arm64.Architecture {
		none = nopARM64
	}
	return &mutant{i, drop, none, "nop"}
}

const (
	nop  = 0x90 // of amd64
	rexW = 0x48 // the prefix of an instruction for 64 bits, with no other bit
)

// nopARM64 is the instruction of arm64 that does nothing.
var nopARM64 = []byte{0x1f, 0x20, 0x03, 0xd5}

// alterations returns the mutants of an instruction, except for the dropped one, by their kinds.
// What the bits of the encoding mean is found by decoding it with one or two bits of a byte
// flipped.
func alterations(i *instruction) map[string][]*mutant {
	found := make(map[string][]*mutant)
	try := func(b []byte) {
		code, at := b, i.Address
		if code[0] == nop && i.Bytes[0] == rexW {
			code, at = code[1:], at+1
		}
		changed, err := program.Decode(i.function.Architecture, at, code)
		if err != nil || len(changed.Bytes) != len(code) {
			return
		}
		if kind := alteration(i.Instruction, changed); kind != "" {
			found[kind] = append(found[kind], &mutant{i, kind, b, changed.Text})
		}
	}
	for n := range i.Bytes {
		for first := range 8 {
			for second := range first + 1 {
				b := slices.Clone(i.Bytes)
				b[n] ^= 1<<first | 1<<second // one bit if they are the same
				try(b)
			}
		}
	}
	if i.function.Architecture == x86.Architecture && i.Bytes[0] == rexW { // without the bit, nothing is left of it
		try(append([]byte{nop}, i.Bytes[1:]...))
	}
	for a := range i.Operands {
		for b := range a {
			try(swap(i, a, b))
		}
	}
	return found
}

// swap returns the bytes of an instruction with two registers exchanged, as far as they have room for
// that: of the bits that are numbers of registers it flips those in which the two differ.
func swap(i *instruction, a, b int) []byte {
	swapped := slices.Clone(i.Bytes)
	if i.Operands[a].Kind > machine.Opmask || i.Operands[b].Kind > machine.Opmask {
		return swapped
	}
	differ := i.Operands[a].Number ^ i.Operands[b].Number
	for n := range i.Bytes {
		for bit := range 8 {
			flipped := slices.Clone(i.Bytes)
			flipped[n] ^= 1 << bit
			changed, err := program.Decode(i.function.Architecture, i.Address, flipped)
			if err != nil || alteration(i.Instruction, changed) != "register" {
				continue
			}
			for _, k := range []int{a, b} {
				if to := changed.Operands[k].Number ^ i.Operands[k].Number; to != 0 && to&^differ == 0 {
					swapped[n] ^= 1 << bit
				}
			}
		}
	}
	return swapped
}

// Instructions that do the same with their sources exchanged, those that use only bit 0 of their
// immediate, and those that use only the bits that count those of their operand.
var (
	commutes      = regexp.MustCompile(`^(vp(add|x?or|mul|min|max|cmpeq)\w+|vpand[dq]?|vpx?or|xchg|test)$`)
	commutesARM64 = regexp.MustCompile(`^(adds?|adc|and|orr|eor|cmn|mul|umulh|[pu]mull2?|umlal2?|mla)$`)
	usesBit0      = regexp.MustCompile(`^v?(p?insert|p?extract|pinsr|pextr)`)
	rotates       = regexp.MustCompile(`^(sh[lr]d?|sar|ro[lr]|rorx)$`)
)

// Names of which some differ in nothing but the elements that a mask or a broadcast would select.
var (
	elements  = regexp.MustCompile(`^(vp(?:xor|andn?|or|ternlog)|vmovdq[au]|v(?:extract|insert|broadcast))[fi]?[dq0-9x]*$`)
	sameNames = map[string]string{"vpermd": "vpermps", "vpbroadcastd": "vbroadcastss", "vpbroadcastq": "vbroadcastsd"}
)

// same reports whether instructions with the same operands differ in name alone.
func same(a, b *machine.Instruction) bool {
	masked := a.Mask+b.Mask > 0 || slices.ContainsFunc(a.Operands, func(o machine.Operand) bool { return o.Broadcast })
	return !masked && slices.Equal(a.Operands, b.Operands) &&
		(elements.ReplaceAllString(a.Mnemonic, "$1") == elements.ReplaceAllString(b.Mnemonic, "$1") || sameNames[a.Mnemonic] == b.Mnemonic || sameNames[b.Mnemonic] == a.Mnemonic)
}

// farAway is an offset that only leads out of all memory.
const farAway = 1 << 12

// alteration returns in what instruction b differs from a, or "" if it does the same or is of another
// form. A jump to another place is no alteration, and neither is a longer vector in memory, which
// may be more than an object there has.
func alteration(a, b *machine.Instruction) string {
	sameKinds := slices.EqualFunc(a.Operands, b.Operands, func(o, p machine.Operand) bool { return o.Kind == p.Kind })
	conditional := func(i *machine.Instruction) bool { return i.Branches() || strings.HasPrefix(i.Mnemonic, "cmov") }
	switch {
	case !sameKinds || a.Target != b.Target || a.Branches() != b.Branches() || a.Target != 0 && !a.Branches() || same(a, b):
		return ""
	case a.Mnemonic != b.Mnemonic && conditional(a) && conditional(b), a.Mnemonic == b.Mnemonic && a.Condition != b.Condition:
		return "condition"
	case a.Mnemonic != b.Mnemonic && lanes(a) == lanes(b):
		return "width"
	case a.Mnemonic != b.Mnemonic:
		return "operation"
	case a.Mask != b.Mask:
		return "mask"
	case a.Zeroing != b.Zeroing:
		return "zeroing"
	}
	for k, o := range a.Operands {
		switch p := b.Operands[k]; {
		case o == p:
			continue
		case k+1 < len(a.Operands) && p == a.Operands[k+1] && o == b.Operands[k+1]:
			if commutes.MatchString(a.Mnemonic) || k > 0 && commutesARM64.MatchString(a.Mnemonic) {
				return ""
			}
			return "swap"
		case o.Broadcast != p.Broadcast:
			return "broadcast"
		case o.Kind == machine.Vector && o.Size != p.Size:
			if m := a.MemoryOperand(); m != nil && m.Size < b.MemoryOperand().Size {
				return ""
			}
			return "length"
		case o.Size != p.Size:
			return "width"
		case o.Kind == machine.Immediate:
			if (o.Number^p.Number)&usedBits(a) == 0 {
				return ""
			}
			return "immediate"
		case o.Base != p.Base || o.Index != p.Index:
			return "register"
		case o.Scale != p.Scale:
			return "scale"
		case o.Kind == machine.Memory:
			if o.Number-p.Number+farAway > 2*farAway {
				return ""
			}
			return "offset"
		}
		return "register"
	}
	return ""
}

// lanes returns the name of an instruction without the width of its lanes.
func lanes(i *machine.Instruction) string { return strings.TrimRight(i.Mnemonic, "bwdqx0123456789") }

// usedBits has the bits of an immediate that an instruction uses.
func usedBits(i *machine.Instruction) uint64 {
	switch {
	case usesBit0.MatchString(i.Mnemonic):
		return 1
	case rotates.MatchString(i.Mnemonic):
		return uint64(i.Operands[0].Size - 1)
	}
	return 1<<64 - 1
}

var number = regexp.MustCompile(`0x[0-9a-f]+|[0-9]+`)

// form is an instruction without its numbers.
func (i *instruction) form() string {
	return fmt.Sprint(i.function.Name, " ", number.ReplaceAllString(i.Text, "n"), len(i.Bytes))
}

// works reports whether an instruction does something.
func (i *instruction) works() bool { return i.Flow != machine.Fill && i.Flow != machine.Stop }

// mutants returns mutants of the functions whose names match: one instruction of so many as every is
// dropped, and one of each form in each function is altered in so many ways as sample, of different
// kinds as far as there are so many. The seed selects them.
func (p *suite) mutants(match *regexp.Regexp, every, sample int, seed uint64) (all []*mutant) {
	chosen := make(map[string]*instruction)
	for _, n := range rand.New(rand.NewPCG(seed, 0)).Perm(len(p.instructions)) {
		chosen[p.instructions[n].form()] = p.instructions[n]
	}
	for n, i := range p.instructions {
		if !match.MatchString(i.function.Name) || !i.works() {
			continue
		}
		// What is chosen does not depend on which functions match.
		if rand.New(rand.NewPCG(seed, ^uint64(n))).IntN(every) == 0 {
			all = append(all, dropped(i))
		}
		if chosen[i.form()] != i {
			continue
		}
		rng := rand.New(rand.NewPCG(seed, uint64(n+1)))
		found := alterations(i)
		kinds := slices.Sorted(maps.Keys(found))
		rng.Shuffle(len(kinds), func(a, b int) { kinds[a], kinds[b] = kinds[b], kinds[a] })
		for taken := 0; taken < sample && len(kinds) > 0; taken++ {
			kind := kinds[0]
			k := rng.IntN(len(found[kind]))
			all = append(all, found[kind][k])
			found[kind] = slices.Delete(found[kind], k, k+1)
			if kinds = kinds[1:]; len(found[kind]) > 0 {
				kinds = append(kinds, kind)
			}
		}
	}
	return all
}

// key identifies a mutant, as long as its function stays the same.
func (m *mutant) key() string {
	return fmt.Sprintf("%s+%#x %x %x", m.function.Name, m.offset(), m.Bytes, m.after)
}

// patch returns the bytes of a mutant in a binary, where relative addresses may differ from
// those in the home of the function.
func (m *mutant) patch(original []byte) []byte {
	if m.kind == drop || len(original) != len(m.after) {
		return m.after
	}
	patched := slices.Clone(original)
	for n := range patched {
		patched[n] ^= m.Bytes[n] ^ m.after[n]
	}
	return patched
}

func (m *mutant) String() string {
	return fmt.Sprintf("%s+%#x line %d: %s: %s -> %s", m.function.Name, m.offset(), m.line, m.kind, m.Text, m.becomes)
}
