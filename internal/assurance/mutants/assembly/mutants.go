// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build linux && amd64

package main

import (
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"

	"example.com/fastmac/internal/assurance/objdump"
)

// A mutant is a program with other bytes for an instruction.
type mutant struct {
	*instruction
	kind  string
	bytes []byte // as many as the instruction has, in the home of the function
	text  string // of objdump
}

const drop = "drop"

// nops returns n bytes of instructions that do nothing.
func nops(n int) (b []byte) {
	longest := [][]byte{
		{0x90}, {0x66, 0x90}, {0x0f, 0x1f, 0x00}, {0x0f, 0x1f, 0x40, 0x00}, {0x0f, 0x1f, 0x44, 0x00, 0x00},
		{0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00}, {0x0f, 0x1f, 0x80, 0x00, 0x00, 0x00, 0x00}, {0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00},
	}
	for n > 0 {
		k := min(n, len(longest))
		b = append(b, longest[k-1]...)
		n -= k
	}
	return b
}

// commutes has instructions whose sources may be swapped, and those that are not swapped
// because the result differs only in speed.
var commutes = strings.Fields(`vpaddq vpaddd vpxor vpxorq vpxord vpor vporq vpord vpand vpandq vpandd vpmuludq vpmulld vpmullq
	vpcmpeqd vpcmpeqq vpcmpeqb xchg test vpminuq vpmaxuq`)

// others has, for an opcode in its space, those that it is replaced with: another lane type,
// direction or operation. An opcode with VEX or EVEX has 0x100 added.
var others = map[[2]int][]byte{
	{1, 0x1d4}: {0xfe, 0xfb}, {1, 0x1fe}: {0xd4, 0xfa}, {1, 0x1fb}: {0xd4, 0xfa}, {1, 0x1fa}: {0xfe, 0xfb}, // vpadd, vpsub
	{1, 0xd4}: {0xfe, 0xfb}, {1, 0xfe}: {0xd4, 0xfa}, {1, 0xfb}: {0xd4, 0xfa}, {1, 0xfa}: {0xfe, 0xfb},
	{1, 0x1ef}: {0xeb, 0xdb}, {1, 0x1eb}: {0xef, 0xdb}, {1, 0x1db}: {0xdf, 0xeb}, {1, 0x1df}: {0xdb, 0xef}, // xor, or, and, andn
	{1, 0xef}: {0xeb, 0xdb}, {1, 0xeb}: {0xef, 0xdb}, {1, 0xdb}: {0xdf, 0xeb}, {1, 0xdf}: {0xdb, 0xef},
	{1, 0x1f4}: {0xd4},                                                                                     // vpmuludq
	{1, 0x162}: {0x6a, 0x6c}, {1, 0x16a}: {0x62, 0x6d}, {1, 0x16c}: {0x6d, 0x62}, {1, 0x16d}: {0x6c, 0x6a}, // unpack
	{1, 0x62}: {0x6a, 0x6c}, {1, 0x6a}: {0x62, 0x6d}, {1, 0x6c}: {0x6d, 0x62}, {1, 0x6d}: {0x6c, 0x6a},
	{1, 0x172}: {0x73}, {1, 0x173}: {0x72}, {1, 0x1d3}: {0xd2}, {1, 0x1d2}: {0xd3}, {1, 0x1f3}: {0xf2}, {1, 0x1f2}: {0xf3}, // shifts
	{1, 0x72}: {0x73}, {1, 0x73}: {0x72}, {1, 0xd3}: {0xd2}, {1, 0xd2}: {0xd3}, {1, 0xf3}: {0xf2}, {1, 0xf2}: {0xf3},
	{1, 0x176}: {0x75, 0x66}, {1, 0x76}: {0x75, 0x66}, // compare
	{1, 0xc6}: {0x70}, {1, 0x70}: {0xc6},
	{2, 0x1dc}: {0xdd, 0xde}, {2, 0x1dd}: {0xdc}, {2, 0xdc}: {0xdd, 0xde}, {2, 0xdd}: {0xdc}, // AES
	{2, 0x145}: {0x46}, {2, 0x146}: {0x45}, {2, 0x147}: {0x45}, {2, 0x136}: {0x16}, {2, 0x18c}: {0x8e},
	{2, 0x158}: {0x59}, {2, 0x159}: {0x58}, {2, 0x114}: {0x15}, {2, 0x115}: {0x14}, {2, 0x1f7}: {0xf5},
	{3, 0x10f}: {0x03}, {3, 0x138}: {0x18},
	{0, 0x01}: {0x11, 0x29}, {0, 0x03}: {0x13, 0x2b}, {0, 0x11}: {0x01, 0x19}, {0, 0x13}: {0x03, 0x1b}, // add, adc
	{0, 0x29}: {0x19, 0x01}, {0, 0x2b}: {0x1b, 0x03}, {0, 0x19}: {0x29, 0x11}, {0, 0x1b}: {0x2b, 0x13}, // sub, sbb
	{0, 0x31}: {0x09, 0x21}, {0, 0x33}: {0x0b, 0x23}, {0, 0x09}: {0x31, 0x21}, {0, 0x0b}: {0x33, 0x23},
	{0, 0x21}: {0x09, 0x31}, {0, 0x23}: {0x0b, 0x33}, {0, 0x39}: {0x29, 0x85}, {0, 0x3b}: {0x2b, 0x85},
	{0, 0x85}: {0x39}, {0, 0x89}: {0x01, 0x8b}, {0, 0x8b}: {0x03, 0x89}, {0, 0x8d}: {0x8b}, {0, 0xd1}: {0xc1},
	{0, 0x05}: {0x2d, 0x35}, {0, 0x3d}: {0x2d, 0x05}, {0, 0x25}: {0x0d, 0x35},
	{1, 0xb6}: {0xb7, 0xbe}, {1, 0xb7}: {0xb6, 0xbf}, {1, 0xaf}: {0xa5},
}

// candidates returns alterations of an instruction, some of which may be no instructions, or
// the same.
func candidates(i *instruction, rng *rand.Rand) (all []*mutant) {
	e := parse(i.bytes)
	alter := func(kind string, change func(b []byte)) {
		b := slices.Clone(i.bytes)
		change(b)
		all = append(all, &mutant{instruction: i, kind: kind, bytes: b})
	}
	flip := func(kind string, at int, bits byte) { alter(kind, func(b []byte) { b[at] ^= bits }) }
	if e.jump() {
		flip("condition", e.opcode, 1)
		flip("condition", e.opcode, 1<<(1+rng.IntN(3)))
		return all
	}
	op := int(i.bytes[e.opcode])
	switch key := [2]int{e.space, op}; {
	case e.vex == 0 && e.space == 1 && op>>4 == 4: // CMOV
		flip("condition", e.opcode, 1)
	default:
		if e.vex > 0 {
			key[1] |= 0x100
		}
		for _, other := range others[key] {
			alter("operation", func(b []byte) { b[e.opcode] = other })
		}
	}
	if e.modrm < 0 {
		if e.space == 0 && (op>>4 == 5 || op>>4 == 0xb) || e.space == 1 && op>>3 == 0xc8>>3 {
			flip("register", e.opcode, byte(1+rng.IntN(7)))
		}
		if immediate := len(i.bytes) - e.imm; immediate > 0 && op != 0xe8 && op != 0xe9 && op != 0xeb {
			flip("immediate", e.imm+rng.IntN(immediate), 1<<rng.IntN(8))
		}
		return all
	}
	e.registers(flip, rng)
	e.widths(flip)
	if e.register() && !slices.Contains(commutes, i.mnemonic()) {
		alter("swap", e.swap)
	}
	switch {
	case e.dispN == 1:
		flip("offset", e.disp, 1<<rng.IntN(6))
	case e.dispN == 4:
		flip("offset", e.disp, 8<<rng.IntN(5))
	}
	if len(i.bytes) == e.imm+1 {
		used := usedBits(i.mnemonic())
		flip("immediate", e.imm, 1<<rng.IntN(8)&used)
		flip("immediate", e.imm, 1)
	} else if len(i.bytes) > e.imm {
		flip("immediate", e.imm+rng.IntN(len(i.bytes)-e.imm), 1<<rng.IntN(8))
	}
	return all
}

// usedBits has the bits of an immediate that an instruction uses.
func usedBits(mnemonic string) byte {
	switch {
	case strings.Contains(mnemonic, "pinsrq") || strings.Contains(mnemonic, "pextrq") || strings.HasPrefix(mnemonic, "vextract") || strings.HasPrefix(mnemonic, "vinsert"):
		return 1
	case strings.Contains(mnemonic, "pclmul"):
		return 0x11
	}
	return 0xff
}

// registers alters each number of a register.
func (e *encoding) registers(flip func(kind string, at int, bits byte), rng *rand.Rand) {
	bits := func() byte { return byte(1 + rng.IntN(7)) }
	kind := "register"
	if e.extended() {
		kind = "operation"
	}
	flip(kind, e.modrm, bits()<<3)
	flip("register", e.modrm, bits())
	if !e.register() && e.bytes[e.modrm]&7 == 4 { // SIB
		flip("register", e.modrm+1, bits())
		flip("register", e.modrm+1, bits()<<3)
		if e.bytes[e.modrm+1]>>3&7 != 4 || e.rex >= 0 && e.bytes[e.rex]&2 != 0 {
			flip("scale", e.modrm+1, 1<<(6+rng.IntN(2)))
		}
	}
	if e.vex == 0 {
		return
	}
	at := e.vex
	if e.bytes[e.vex-1] != 0xc5 {
		at++
	}
	flip("register", at, byte(1+rng.IntN(15))<<3)
	if e.isEVEX() {
		flip("mask", e.vex+2, bits())
		if e.bytes[e.vex+2]&7 != 0 {
			flip("zeroing", e.vex+2, 0x80)
		}
		flip("broadcast", e.vex+2, 0x10)
	}
}

// widths alters the sizes of lanes and operands.
func (e *encoding) widths(flip func(kind string, at int, bits byte)) {
	switch {
	case e.rex >= 0:
		flip("width", e.rex, 8)
	case e.isEVEX():
		flip("width", e.vex+1, 0x80)
		if length := e.bytes[e.vex+2] >> 5 & 3; length > 0 {
			flip("length", e.vex+2, length<<5^(length-1)<<5)
		} else if e.mayLeave() {
			flip("length", e.vex+2, 0x20)
		}
	case e.vex > 0 && e.bytes[e.vex-1] == 0xc4:
		flip("width", e.vex+1, 0x80)
		if e.bytes[e.vex+1]&4 != 0 || e.mayLeave() {
			flip("length", e.vex+1, 4)
		}
	case e.vex > 0 && (e.bytes[e.vex]&4 != 0 || e.mayLeave()):
		flip("length", e.vex, 4)
	}
}

// mayLeave reports whether a longer vector could be more than an object in memory has. One in
// registers only computes more lanes.
func (e *encoding) mayLeave() bool { return !e.register() && !e.relative() }

// swap exchanges the registers of the two sources, or of the source and the destination if
// there is one source.
func (e *encoding) swap(b []byte) {
	modrm := &b[e.modrm]
	switch {
	case e.vex == 0 && e.extended():
	case e.vex == 0:
		*modrm = *modrm&0xc0 | *modrm&7<<3 | *modrm>>3&7
		if e.rex >= 0 {
			rex := b[e.rex]
			b[e.rex] = rex&^5 | rex&1<<2 | rex>>2&1
		}
	case b[e.vex-1] == 0xc5:
		// Without B, only the lower registers can be ModRM.rm.
		if other := ^b[e.vex] >> 3 & 15; other < 8 {
			b[e.vex] = b[e.vex]&^0x78 | ^*modrm&7<<3 | 0x40
			*modrm = *modrm&^7 | other
		}
	default:
		other := ^b[e.vex+1] >> 3 & 15
		source := *modrm&7 | ^b[e.vex]>>5&1<<3
		b[e.vex] = b[e.vex]&^0x20 | ^other>>3&1<<5
		b[e.vex+1] = b[e.vex+1]&^0x78 | ^source&15<<3
		*modrm = *modrm&^7 | other&7
		if e.isEVEX() { // bit 4: V' and X, both inverted
			high, x := b[e.vex+2]>>3&1, b[e.vex]>>6&1
			b[e.vex+2] = b[e.vex+2]&^8 | x<<3
			b[e.vex] = b[e.vex]&^0x40 | high<<6
		}
	}
}

var number = regexp.MustCompile(`(0x[0-9a-f]+|\b[0-9a-f]{5,}\b|[0-9]+)`)

// form is an instruction without its numbers.
func (i *instruction) form() string {
	e := parse(i.bytes)
	return fmt.Sprint(i.function.name, " ", number.ReplaceAllString(i.text, "n"), e.dispN, e.relative(), len(i.bytes)-e.imm)
}

// mutants returns mutants of the instructions for which wanted is true: each is dropped, and
// one of each form in each function is altered in so many ways as sample. The seed selects them.
func (p *program) mutants(wanted func(*instruction) bool, sample int, seed uint64) (all []*mutant, err error) {
	rng := rand.New(rand.NewPCG(seed, 0))
	taken := make(map[string]bool)
	var altered []*mutant
	for _, n := range rng.Perm(len(p.instructions)) {
		i := p.instructions[n]
		if form := i.form(); i.works() && !taken[form] {
			taken[form] = true
			c := candidates(i, rng)
			rng.Shuffle(len(c), func(a, b int) { c[a], c[b] = c[b], c[a] })
			if wanted(i) {
				altered = append(altered, c...)
			}
		}
	}
	if err := name(altered); err != nil {
		return nil, err
	}
	for _, i := range p.instructions {
		if wanted(i) && i.works() {
			all = append(all, &mutant{instruction: i, kind: drop, bytes: nops(len(i.bytes)), text: "nop"})
		}
	}
	seen := make(map[string]bool)
	ways := make(map[*instruction]int)
	for _, m := range altered {
		if m.valid() && !seen[m.key()] && ways[m.instruction] < sample {
			seen[m.key()] = true
			ways[m.instruction]++
			all = append(all, m)
		}
	}
	slices.SortStableFunc(all, func(a, b *mutant) int { return cmp.Compare(a.first+a.index, b.first+b.index) })
	return all, nil
}

// works reports whether an instruction does something.
func (i *instruction) works() bool {
	switch i.mnemonic() {
	case "nop", "int3", "data16":
		return false
	}
	return i.text != "xchg ax,ax" && !strings.HasPrefix(i.text, "cs nop")
}

// key identifies a mutant, as long as its function stays the same.
func (m *mutant) key() string {
	return fmt.Sprintf("%s+%#x %x %x", m.function.name, m.offset, m.instruction.bytes, m.bytes)
}

// same has instructions that differ in name alone, except for masks and broadcasts.
var same = strings.NewReplacer("vpxorq", "vpxor", "vpxord", "vpxor", "vpandq", "vpand", "vpandd", "vpand", "vporq", "vpor", "vpord", "vpor",
	"vpandnq", "vpandn", "vpandnd", "vpandn", "vpternlogq", "vpternlogd", "vmovdqu64", "vmovdqu32", "vmovdqu8", "vmovdqu32",
	"vmovdqa64", "vmovdqa32", "vextracti64x4", "vextractf32x8", "vextracti32x8", "vextractf32x8", "vextracti64x2", "vextractf32x4", "vextracti32x4", "vextractf32x4",
	"vinserti64x4", "vinsertf32x8", "vinserti32x8", "vinsertf32x8", "vinserti64x2", "vinsertf32x4", "vinserti32x4", "vinsertf32x4", "vinserti128", "vinsertf128",
	"vbroadcasti64x2", "vbroadcastf32x4", "vbroadcasti32x4", "vbroadcastf32x4", "vpermd", "vpermps")

// idle matches bits of a prefix that mean nothing in an instruction, and bad what objdump prints
// for what is none.
var (
	idle = regexp.MustCompile(`^rex(\.[WRXB]+)? `)
	bad  = regexp.MustCompile(`\(bad\)|bad\}`)
)

// valid reports whether a mutant is another instruction.
func (m *mutant) valid() bool {
	before, after := idle.ReplaceAllString(m.instruction.text, ""), idle.ReplaceAllString(m.text, "")
	return after != "" && !bad.MatchString(after) && before != after &&
		(strings.Contains(after, "{") || same.Replace(before) != same.Replace(after))
}

// name sets the texts of mutants. That of bytes that are not one instruction stays empty.
func name(all []*mutant) error {
	if len(all) == 0 {
		return nil
	}
	const room = 24 // for an instruction, and NOPs, after which any disassembly goes on
	code := bytes.Repeat([]byte{0x90}, room*len(all))
	at := make(map[int]*mutant)
	for n, m := range all {
		copy(code[room*n:], m.bytes)
		at[room*n] = m
	}
	lines, err := objdump.Bytes(code, 0)
	if err != nil {
		return err
	}
	for _, line := range lines {
		if m := at[int(line.Address)]; m != nil && len(line.Bytes) == len(m.bytes) {
			m.text = clean(line.Text)
		}
	}
	return nil
}

// patch returns the bytes of a mutant in a binary, where relative addresses may differ from
// those in the home of the function.
func (m *mutant) patch(original []byte) []byte {
	if m.kind == drop {
		return m.bytes
	}
	patched := slices.Clone(original)
	for n := range patched {
		patched[n] ^= m.instruction.bytes[n] ^ m.bytes[n]
	}
	return patched
}

func (m *mutant) String() string {
	return fmt.Sprintf("%s+%#x line %d: %s: %s -> %s", m.function.name, m.offset, m.line, m.kind, m.instruction.text, m.text)
}
