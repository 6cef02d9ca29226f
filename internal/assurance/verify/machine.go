// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"fmt"
	"strings"
)

// An algebra computes with words W of 1 to 64 bits and vectors V of 64 bytes. The models of
// the instructions are written once, for any algebra, and executed with three of them: numbers
// (concrete.go), what is secret (taint.go) and formulas (symbolic.go). The first argument of
// most operations is the number of bits.
type algebra[W, V any] interface {
	constant(n int, x uint64) W // the lowest n bits of x
	global(address uint64) W    // the address of a datum in the program

	add(n int, a, b W) W
	sub(n int, a, b W) W
	mulLow(n int, a, b W) W    // the lowest n bits of the product
	product(a, b W) W          // of words of 32 bits
	wide(a, b W) (low, high W) // the product of words of 64 bits
	carry(n int, a, b, c W) W  // of a+b+c
	borrow(n int, a, b, c W) W // of a-b-c

	and(n int, a, b W) W
	or(n int, a, b W) W
	xor(n int, a, b W) W
	ternary(n int, table uint64, a, b, c W) W // bits of table, with those of a, b and c for an index
	left(n int, a W, by uint) W
	right(n int, a W, by uint) W
	rightSigned(n int, a W, by uint) W
	rotate(n int, a W, by uint) W      // right
	leftBy(n int, a, by W) W           // by < n
	rightBy(n int, a, by W) W          // by < n
	lowBits(n int, a, count W) W       // clears all bits but the lowest count
	extract(a W, from, n int) W        // n bits
	extend(n int, a W) W               // from n to 64 bits, with zeros
	equal(n int, a, b W) W             // 1 bit
	less(n int, a, b W) W              // 1 bit, unsigned
	lessSigned(n int, a, b W) W        // 1 bit
	choose(n int, condition, a, b W) W // a if condition is 1

	carryless(a, b W) (low, high W) // the carry-less product of words of 64 bits
	aes(low, high, keyLow, keyHigh W, last bool) (l, h W)

	lane(v *V, n, i int) W // n bits
	setLane(v *V, n, i int, w W)
	pick(v *V, n, first, count int, index W) W // lane first + index modulo count

	load(address W, bytes int) V
	loadMasked(address W, bytes, element int, mask W) V // elements that are not in mask are zeros, and not read
	store(address W, v *V, bytes int)
}

// A machine is the state of a CPU.
type machine[W, V any] struct {
	algebra[W, V]
	general [16]W
	vectors [32]V
	masks   [8]W
	flags   flags[W]
	thread  W // the word that Go keeps in the segment of the thread: the address of the goroutine
}

// unmodelled is the panic for an instruction that has no model.
type unmodelled string

// step executes an instruction, except for jumps, calls and returns, which change nothing here.
func (m *machine[W, V]) step(i *instruction) {
	if i.jumps() {
		return
	}
	switch i.mnemonic {
	case "nop", "prefetcht0", "ret", "call", "int3":
		return
	}
	if m.scalar(i) || m.shuffle(i) || m.arithmetic(i) {
		return
	}
	panic(unmodelled(i.mnemonic))
}

// run executes a function until it returns. isTrue decides what follows a jump.
func (m *machine[W, V]) run(f *function, isTrue func(W) bool, visit func(*instruction)) (err error) {
	n := 0
	for f.code[n].mnemonic != "ret" {
		i := f.code[n]
		visit(i)
		next := f.successors(n)
		n = next[len(next)-1]
		if i.branches() && isTrue(m.condition(i.mnemonic[1:])) {
			n = next[0]
		}
		if err := m.try(i); err != nil {
			return err
		}
	}
	visit(f.code[n])
	return nil
}

// where returns the address of a memory operand.
func (m *machine[W, V]) where(o *operand) W {
	if o.base == none && o.index == none {
		return m.global(o.number)
	}
	at := m.constant(64, o.number)
	if o.base != none {
		at = m.add(64, m.general[o.base], at)
	}
	if o.index != none {
		shift := map[uint64]uint{1: 0, 2: 1, 4: 2, 8: 3}[o.scale]
		at = m.add(64, m.left(64, m.general[o.index], shift), at)
	}
	return at
}

// get returns a scalar operand. An immediate has n bits.
func (m *machine[W, V]) get(o *operand, n int) W {
	switch o.kind {
	case general:
		return m.extract(m.general[o.number], 0, o.size)
	case immediate:
		return m.constant(n, o.number)
	case opmask:
		return m.masks[o.number]
	case vector:
		return m.lane(&m.vectors[o.number], n, 0)
	}
	if o.thread {
		return m.thread
	}
	v := m.load(m.where(o), o.size/8)
	return m.lane(&v, o.size, 0)
}

// set sets a scalar operand.
func (m *machine[W, V]) set(o *operand, w W) {
	switch {
	case o.kind == general && o.size == 64:
		m.general[o.number] = w
	case o.kind == general && o.size == 32:
		m.general[o.number] = m.extend(32, w)
	case o.kind == memory:
		var v V
		m.setLane(&v, o.size, 0, w)
		m.store(m.where(o), &v, o.size/8)
	default:
		panic(unmodelled(fmt.Sprintf("operand of %d bits", o.size)))
	}
}

// source returns a vector operand of a number of bits.
func (m *machine[W, V]) source(o *operand, n int) V {
	if o.kind == vector {
		return m.vectors[o.number]
	}
	if o.broadcast {
		one := m.load(m.where(o), o.size/8)
		var v V
		for k := range n / o.size {
			m.setLane(&v, o.size, k, m.lane(&one, o.size, 0))
		}
		return v
	}
	return m.load(m.where(o), o.size/8)
}

// sources returns the two sources of an instruction for vectors. Where it has two operands,
// the first is a source too.
func (m *machine[W, V]) sources(i *instruction) (a, b V) {
	size := i.operands[0].size
	first := 1
	if !i.vex() {
		first = 0
	}
	return m.source(&i.operands[first], size), m.source(&i.operands[first+1], size)
}

// vex reports whether i has a VEX or EVEX encoding: three operands, and the rest of the vector
// register becomes zero.
func (i *instruction) vex() bool { return strings.HasPrefix(i.mnemonic, "v") }

// lanes sets the first operand to lanes of n bits, as far as they are in the mask.
func (m *machine[W, V]) lanes(i *instruction, n int, f func(k int) W) {
	o, v := &i.operands[0], *new(V)
	for k := range o.size / n {
		w := f(k)
		if i.mask != 0 {
			old := m.constant(n, 0)
			if !i.zeroing {
				old = m.lane(&m.vectors[o.number], n, k)
			}
			w = m.choose(n, m.extract(m.masks[i.mask], k, 1), w, old)
		}
		m.setLane(&v, n, k, w)
	}
	m.write(i, v)
}

// write sets the first operand to a vector.
func (m *machine[W, V]) write(i *instruction, v V) {
	o := &i.operands[0]
	if o.kind == memory {
		m.store(m.where(o), &v, o.size/8)
		return
	}
	rest := m.vectors[o.number]
	for k := o.size / 64; k < 8; k++ {
		w := m.constant(64, 0)
		if !i.vex() {
			w = m.lane(&rest, 64, k)
		}
		m.setLane(&v, 64, k, w)
	}
	m.vectors[o.number] = v
}

// flags are what the last instructions that set flags have left. Most are never read, so they
// are computed when they are.
type flags[W any] struct {
	from            flagSource
	n               int
	a, b, c, result W // operands, carry before, and result
	carryKnown      bool
}

type flagSource int

const (
	undefined  flagSource = iota
	logic                 // of a result: no carry, no overflow
	resultOnly            // of a result: carry and overflow are undefined
	sum                   // of a+b+c
	difference            // of a-b-c
	decrement             // of a-1; the carry before does not change, and is not known or c
)

func (m *machine[W, V]) setFlags(from flagSource, n int, a, b, c, result W) {
	m.flags = flags[W]{from: from, n: n, a: a, b: b, c: c, result: result, carryKnown: from != undefined && from != resultOnly}
}

// carryFlag returns CF.
func (m *machine[W, V]) carryFlag() W {
	f := &m.flags
	if !f.carryKnown {
		panic(unmodelled("use of an undefined CF"))
	}
	switch f.from {
	case logic:
		return m.constant(1, 0)
	case sum:
		return m.carry(f.n, f.a, f.b, f.c)
	case difference:
		return m.borrow(f.n, f.a, f.b, f.c)
	}
	return f.c
}

func (m *machine[W, V]) zeroFlag() W {
	if m.flags.from == undefined {
		panic(unmodelled("use of an undefined ZF"))
	}
	return m.equal(m.flags.n, m.flags.result, m.constant(m.flags.n, 0))
}

func (m *machine[W, V]) signFlag() W {
	if m.flags.from == undefined {
		panic(unmodelled("use of an undefined SF"))
	}
	return m.extract(m.flags.result, m.flags.n-1, 1)
}

// overflowFlag returns OF: the sign of the result is wrong.
func (m *machine[W, V]) overflowFlag() W {
	f := &m.flags
	var wrong W
	switch f.from {
	case logic:
		return m.constant(1, 0)
	case sum:
		wrong = m.and(f.n, m.xor(f.n, f.a, f.result), m.xor(f.n, f.b, f.result))
	case difference, decrement:
		wrong = m.and(f.n, m.xor(f.n, f.a, f.b), m.xor(f.n, f.a, f.result))
	default:
		panic(unmodelled("use of an undefined OF"))
	}
	return m.extract(wrong, f.n-1, 1)
}

// condition returns a condition by the suffix of its jump.
func (m *machine[W, V]) condition(suffix string) W {
	not := func(w W) W { return m.xor(1, w, m.constant(1, 1)) }
	less := func() W { return m.xor(1, m.signFlag(), m.overflowFlag()) }
	switch suffix {
	case "e":
		return m.zeroFlag()
	case "ne":
		return not(m.zeroFlag())
	case "b":
		return m.carryFlag()
	case "ae":
		return not(m.carryFlag())
	case "be":
		return m.or(1, m.carryFlag(), m.zeroFlag())
	case "a":
		return not(m.or(1, m.carryFlag(), m.zeroFlag()))
	case "l":
		return less()
	case "ge":
		return not(less())
	case "le":
		return m.or(1, less(), m.zeroFlag())
	case "g":
		return not(m.or(1, less(), m.zeroFlag()))
	}
	panic(unmodelled("condition " + suffix))
}
