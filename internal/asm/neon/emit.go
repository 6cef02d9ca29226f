// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"fmt"
	"strings"
)

// An x is a general register, and a v a vector register. They are chosen by hand: each file
// lists what its registers are for.
type (
	x uint8
	v uint8
)

const zr x = 31

// String returns the name of r for Go's assembler. R18 is the operating system's on macOS and
// Windows, R27 is for the assembler, R28 is Go's g, R29 and R30 are the frame and the return.
func (r x) String() string {
	switch {
	case r == zr:
		return "ZR"
	case r == 18 || r > 26:
		panic(fmt.Sprintf("R%d is not for kernels", uint8(r)))
	}
	return fmt.Sprintf("R%d", uint8(r))
}

// in returns r as a vector of lanes, as in V1.S4.
func (r v) in(lanes string) string { return fmt.Sprintf("V%d.%s", uint8(r), lanes) }

// whole returns r as a register without lanes.
func (r v) whole() string { return fmt.Sprintf("V%d", uint8(r)) }

// float returns r as the operand of a load or a store.
func (r v) float() string { return fmt.Sprintf("F%d", uint8(r)) }

// Lanes of vectors, as Go's assembler writes them.
const (
	b16 = "B16"
	s4  = "S4"
	d2  = "D2"
)

// A mem is a place in memory: base + offset, or an argument, whose offset ends with (FP). If post
// is true, the place is base, which is increased by the offset after the access.
type mem struct {
	base   x
	offset string
	post   bool
}

// at returns the place at an offset, a number or an expression of the names in go_asm.h.
func at(base x, offset any) mem { return mem{base, fmt.Sprint(offset), false} }

// next returns the place at base, which is increased by size after the access.
func next(base x, size int) mem { return mem{base, fmt.Sprint(size), true} }

// access returns the name of an instruction for m, and the operand.
func (m mem) access(name string) (instruction, operand string) {
	if m.post {
		name += ".P"
	}
	offset := m.offset
	if strings.HasSuffix(offset, "(FP)") {
		return name, offset
	}
	if strings.ContainsAny(offset, "+*") {
		offset = "(" + offset + ")"
	}
	return name, fmt.Sprintf("%s(%s)", offset, m.base)
}

// A code is instructions in the order in which they are in memory, and what they do to vector
// registers.
type code struct {
	lines   []string
	written map[v]bool
}

// returns is the line for a return, until all registers are known that have been written.
const returns = "\tRET"

func (c *code) op(name string, operands ...any) {
	var list []string
	for _, o := range operands {
		list = append(list, fmt.Sprint(o))
	}
	c.lines = append(c.lines, strings.TrimSuffix("\t"+name+"\t"+strings.Join(list, ", "), "\t"))
}

// writes notes that an instruction writes r.
func (c *code) writes(all ...v) {
	if c.written == nil {
		c.written = make(map[v]bool)
	}
	for _, r := range all {
		c.written[r] = true
	}
}

func (c *code) comment(text string) { c.lines = append(c.lines, "\t// "+text) }
func (c *code) label(name string)   { c.lines = append(c.lines, "", name+":") }
func (c *code) ret()                { c.lines = append(c.lines, returns) }

// add appends the instructions of d.
func (c *code) add(d code) {
	c.lines = append(c.lines, d.lines...)
	for r := range d.written {
		c.writes(r)
	}
}

// join makes one line of the last n, which interleave then keeps together.
func (c *code) join(n int) {
	first := len(c.lines) - n
	c.lines = append(c.lines[:first], strings.Join(c.lines[first:], "\n"))
}

// split returns the first n lines of c, and the others.
func (c code) split(n int) (first, others code) {
	return code{c.lines[:n:n], c.written}, code{c.lines[n:], c.written}
}

// interleave returns a with the instructions of b spread evenly between its own. Neither has
// labels or jumps, and only one of them uses flags or carries.
func interleave(a, b code) (all code) {
	done := 0
	for i, line := range a.lines {
		all.lines = append(all.lines, line)
		for ; done*len(a.lines) < (i+1)*len(b.lines); done++ {
			all.lines = append(all.lines, b.lines[done])
		}
	}
	all.lines = append(all.lines, b.lines[done:]...)
	for _, c := range []code{a, b} {
		for r := range c.written {
			all.writes(r)
		}
	}
	return all
}

// wiped returns the lines of c, with instructions before each return that set vector registers to
// zero: those that c has written, and V16 and V17, with which Go code copies.
func (c *code) wiped() (lines []string) {
	for _, line := range c.lines {
		if line == returns {
			for r := range v(32) {
				if c.written[r] || r == 16 || r == 17 {
					lines = append(lines, fmt.Sprintf("\tVEOR\t%[1]s, %[1]s, %[1]s", r.in(b16)))
				}
			}
		}
		lines = append(lines, line)
	}
	return lines
}

// General registers. As in Arm's manual, the first operand is the destination.

func (c *code) loadFrom(name string, to x, m mem) {
	name, operand := m.access(name)
	c.op(name, operand, to)
}

func (c *code) load(to x, m mem)   { c.loadFrom("MOVD", to, m) }
func (c *code) load32(to x, m mem) { c.loadFrom("MOVWU", to, m) }
func (c *code) load16(to x, m mem) { c.loadFrom("MOVHU", to, m) }
func (c *code) load8(to x, m mem)  { c.loadFrom("MOVBU", to, m) }

func (c *code) storeTo(name string, from x, m mem) {
	name, operand := m.access(name)
	c.op(name, from, operand)
}

func (c *code) store(from x, m mem)   { c.storeTo("MOVD", from, m) }
func (c *code) store32(from x, m mem) { c.storeTo("MOVW", from, m) }
func (c *code) store16(from x, m mem) { c.storeTo("MOVH", from, m) }
func (c *code) store8(from x, m mem)  { c.storeTo("MOVB", from, m) }

func (c *code) mov(d, n x)             { c.op("MOVD", n, d) }
func (c *code) constant(d x, n string) { c.op("MOVD", "$"+n, d) }

// prefetch asks for the cache line at p.
func (c *code) prefetch(p x) { c.op("PRFM", fmt.Sprintf("(%s)", p), "PLDL1KEEP") }

// address sets d to the address of a symbol.
func (c *code) address(d x, symbol string) { c.op("MOVD", "$"+symbol+"(SB)", d) }

// three is an instruction of three registers, or with an immediate or shifted operand m.
func (c *code) three(name string, d, n x, m any) {
	if i, ok := m.(int); ok {
		m = fmt.Sprintf("$%d", i)
	}
	c.op(name, m, n, d)
}

// shifted is r << by.
func shifted(r x, by int) string { return fmt.Sprintf("%s<<%d", r, by) }

func (c *code) addx(d, n x, m any) { c.three("ADD", d, n, m) }
func (c *code) adds(d, n x, m any) { c.three("ADDS", d, n, m) }
func (c *code) adc(d, n, m x)      { c.three("ADC", d, n, m) }
func (c *code) sub(d, n x, m any)  { c.three("SUB", d, n, m) }
func (c *code) addw(d, n x, m any) { c.three("ADDW", d, n, m) }
func (c *code) subw(d, n x, m any) { c.three("SUBW", d, n, m) }
func (c *code) subs(d, n x, m any) { c.three("SUBS", d, n, m) }
func (c *code) and(d, n x, m any)  { c.three("AND", d, n, m) }
func (c *code) bic(d, n, m x)      { c.three("BIC", d, n, m) }
func (c *code) orr(d, n x, m any)  { c.three("ORR", d, n, m) }
func (c *code) eor(d, n x, m any)  { c.three("EOR", d, n, m) }
func (c *code) eorw(d, n x, m any) { c.three("EORW", d, n, m) }
func (c *code) lsl(d, n x, m any)  { c.three("LSL", d, n, m) }
func (c *code) lsr(d, n x, m any)  { c.three("LSR", d, n, m) }
func (c *code) lslw(d, n x, m any) { c.three("LSLW", d, n, m) }
func (c *code) rorw(d, n x, m any) { c.three("RORW", d, n, m) }
func (c *code) mul(d, n, m x)      { c.three("MUL", d, n, m) }
func (c *code) mulw(d, n, m x)     { c.three("MULW", d, n, m) }
func (c *code) umulh(d, n, m x)    { c.three("UMULH", d, n, m) }
func (c *code) rev(d, n x)         { c.op("REV", n, d) }
func (c *code) revw(d, n x)        { c.op("REVW", n, d) }

// cmp and cmn set the flags from n-m and n+m.
func (c *code) cmp(n x, m any) {
	if i, ok := m.(int); ok {
		m = fmt.Sprintf("$%d", i)
	}
	c.op("CMP", m, n)
}
func (c *code) cmn(n, m x) { c.op("CMN", m, n) }

// csel sets d to n if the condition holds, else to m.
func (c *code) csel(condition string, d, n, m x) { c.op("CSEL", condition, n, m, d) }

func (c *code) jump(to string)                     { c.op("B", to) }
func (c *code) jumpIf(condition, to string)        { c.op("B"+condition, to) }
func (c *code) jumpZero(r x, to string)            { c.op("CBZ", r, to) }
func (c *code) jumpNotZero(r x, to string)         { c.op("CBNZ", r, to) }
func (c *code) jumpBitClear(r x, n int, to string) { c.op("TBZ", fmt.Sprintf("$%d", n), r, to) }

// Vector registers.

func (c *code) vload(name string, to v, m mem) {
	name, operand := m.access(name)
	c.op(name, operand, to.float())
	c.writes(to)
}

func (c *code) ldrq(to v, m mem) { c.vload("FMOVQ", to, m) } // 16 bytes
func (c *code) ldrd(to v, m mem) { c.vload("FMOVD", to, m) } // 8 bytes; the others are zeros

// ldp loads two registers.
func (c *code) ldp(first, second v, m mem) {
	name, operand := m.access("FLDPQ")
	c.op(name, operand, fmt.Sprintf("(%s, %s)", first.float(), second.float()))
	c.writes(first, second)
}

func (c *code) vstore(name string, from v, m mem) {
	name, operand := m.access(name)
	c.op(name, from.float(), operand)
}

func (c *code) strq(from v, m mem) { c.vstore("FMOVQ", from, m) }
func (c *code) strd(from v, m mem) { c.vstore("FMOVD", from, m) }

// stp stores two registers.
func (c *code) stp(first, second v, m mem) {
	name, operand := m.access("FSTPQ")
	c.op(name, fmt.Sprintf("(%s, %s)", first.float(), second.float()), operand)
}

// lane returns 64-bit lane i of r.
func (r v) lane(i int) string { return fmt.Sprintf("%s[%d]", r.in("D"), i) }

func (c *code) toGeneral(d x, n v, lane int) { c.op("VMOV", n.lane(lane), d) }

// toVector sets a lane and leaves the other.
func (c *code) toVector(d v, lane int, n x) {
	c.op("VMOV", n, d.lane(lane))
	c.writes(d)
}

// dup sets all lanes to n.
func (c *code) dup(d v, n x, lanes string) {
	c.op("VDUP", n, d.in(lanes))
	c.writes(d)
}

func (c *code) vmov(d, n v) {
	c.op("VMOV", n.in(b16), d.in(b16))
	c.writes(d)
}

func (c *code) vthree(name string, d, n, m v, lanes string) {
	c.op(name, m.in(lanes), n.in(lanes), d.in(lanes))
	c.writes(d)
}

func (c *code) vadd(d, n, m v, lanes string)  { c.vthree("VADD", d, n, m, lanes) }
func (c *code) vaddp(d, n, m v, lanes string) { c.vthree("VADDP", d, n, m, lanes) }
func (c *code) veor(d, n, m v)                { c.vthree("VEOR", d, n, m, b16) }
func (c *code) vand(d, n, m v)                { c.vthree("VAND", d, n, m, b16) }
func (c *code) uzp1(d, n, m v, lanes string)  { c.vthree("VUZP1", d, n, m, lanes) }
func (c *code) uzp2(d, n, m v, lanes string)  { c.vthree("VUZP2", d, n, m, lanes) }
func (c *code) zero(d v)                      { c.veor(d, d, d) }

func (c *code) vshift(name string, d, n v, by int, lanes string) {
	c.op(name, fmt.Sprintf("$%d", by), n.in(lanes), d.in(lanes))
	c.writes(d)
}

func (c *code) ushr(d, n v, by int, lanes string) { c.vshift("VUSHR", d, n, by, lanes) }
func (c *code) shl(d, n v, by int, lanes string)  { c.vshift("VSHL", d, n, by, lanes) }

// rev32 reverses the bytes of each word.
func (c *code) rev32(d, n v) {
	c.op("VREV32", n.in(b16), d.in(b16))
	c.writes(d)
}

// tbl sets each byte of d to the byte of n that the byte of m chooses, or to zero if that is
// above 15.
func (c *code) tbl(d, n, m v) {
	c.op("VTBL", m.in(b16), "["+n.in(b16)+"]", d.in(b16))
	c.writes(d)
}

// rev64 reverses the bytes of each doubleword.
func (c *code) rev64(d, n v) {
	c.op("VREV64", n.in(b16), d.in(b16))
	c.writes(d)
}

// ext sets d to the upper half of n and, above it, the lower half of m.
func (c *code) ext(d, n, m v) {
	c.op("VEXT", "$8", m.in(b16), n.in(b16), d.in(b16))
	c.writes(d)
}

// The instructions for SHA-256. sha256h and sha256h2 are four rounds, see fourRounds; sha256su0 and
// sha256su1 make four words of the message schedule.
func (c *code) sha256h(d, n, m v)   { c.hash("SHA256H", d, n, m, s4) }
func (c *code) sha256h2(d, n, m v)  { c.hash("SHA256H2", d, n, m, s4) }
func (c *code) sha256su1(d, n, m v) { c.vthree("SHA256SU1", d, n, m, s4) }

func (c *code) sha256su0(d, n v) {
	c.op("SHA256SU0", n.in(s4), d.in(s4))
	c.writes(d)
}

// The instructions for SHA-512. sha512h and sha512h2 are two rounds, see doubleRound; sha512su0 and
// sha512su1 make two words of the message schedule.
func (c *code) sha512h(d, n, m v)   { c.hash("SHA512H", d, n, m, d2) }
func (c *code) sha512h2(d, n, m v)  { c.hash("SHA512H2", d, n, m, d2) }
func (c *code) sha512su1(d, n, m v) { c.vthree("SHA512SU1", d, n, m, d2) }

// hash is an instruction whose last operand alone has lanes.
func (c *code) hash(name string, d, n, m v, lanes string) {
	c.op(name, m.in(lanes), n.whole(), d.whole())
	c.writes(d)
}

func (c *code) sha512su0(d, n v) {
	c.op("SHA512SU0", n.in(d2), d.in(d2))
	c.writes(d)
}

// pmull sets d to the carry-less product of the lower halves of n and m, pmull2 to that of the
// upper ones.
func (c *code) pmull(d, n, m v) {
	c.op("VPMULL", m.in("D1"), n.in("D1"), d.in("Q1"))
	c.writes(d)
}

func (c *code) pmull2(d, n, m v) {
	c.op("VPMULL2", m.in(d2), n.in(d2), d.in("Q1"))
	c.writes(d)
}

// aese is AddRoundKey, SubBytes and ShiftRows of FIPS 197. CPUs execute it as one with the aesmc,
// MixColumns, that follows.
func (c *code) aese(state, key v) {
	c.op("AESE", key.in(b16), state.in(b16))
	c.writes(state)
}

func (c *code) aesmc(state v) {
	c.op("AESMC", state.in(b16), state.in(b16))
	c.writes(state)
}

// round is a round except for the last one. The two instructions stay together.
func (c *code) round(state, key v) {
	c.aese(state, key)
	c.aesmc(state)
	c.join(2)
}

// Instructions that Go 1.26's assembler lacks. TestWords compares the comment, in the syntax of
// Arm's manual, with a disassembly. Go 1.27 has them: then this function is the one to change.

func (c *code) word(opcode uint32, name string, d, n v, m any, wide, narrow string) {
	last := fmt.Sprint(m)
	if r, ok := m.(v); ok {
		opcode |= uint32(r) << 16
		last = fmt.Sprintf("V%d.%s", uint8(r), narrow)
	}
	opcode |= uint32(n)<<5 | uint32(d)
	c.lines = append(c.lines, fmt.Sprintf("\tWORD\t$%#08x // %s V%d.%s, V%d.%s, %s", opcode, name, uint8(d), wide, uint8(n), narrow, last))
	c.writes(d)
}

// umull and umlal multiply the lower two words of n and m, umull2 and umlal2 the upper two. The
// second ones add to d.
func (c *code) umull(d, n, m v)  { c.word(0x2ea0c000, "UMULL", d, n, m, "2D", "2S") }
func (c *code) umull2(d, n, m v) { c.word(0x6ea0c000, "UMULL2", d, n, m, "2D", "4S") }
func (c *code) umlal(d, n, m v)  { c.word(0x2ea08000, "UMLAL", d, n, m, "2D", "2S") }
func (c *code) umlal2(d, n, m v) { c.word(0x6ea08000, "UMLAL2", d, n, m, "2D", "4S") }

// vmul and vmla multiply all words, modulo 2^32. The second one adds to d.
func (c *code) vmul(d, n, m v) { c.word(0x4ea09c00, "MUL", d, n, m, "4S", "4S") }
func (c *code) vmla(d, n, m v) { c.word(0x4ea09400, "MLA", d, n, m, "4S", "4S") }

// shll and shll2 set the lanes of d to the lower, or upper, two words of n, times 2^32.
func (c *code) shll(d, n v)  { c.word(0x2ea13800, "SHLL", d, n, "#32", "2D", "2S") }
func (c *code) shll2(d, n v) { c.word(0x6ea13800, "SHLL2", d, n, "#32", "2D", "4S") }
