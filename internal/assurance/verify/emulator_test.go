// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"encoding/binary"
	"go/types"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
)

var declared = sync.OnceValues(declarations)

// An emulator executes kernels with the models, on any machine. A kernel that reads or writes
// anything outside of the memory that place has returned fails the test.
type emulator struct {
	t        *testing.T
	random   *rand.Rand
	program  *program
	declared map[string]*types.Signature
	memory   *numbers
	next     uint64 // where the next memory is placed
}

// executed has the instructions that emulators have executed.
var executed = make(map[*instruction]bool)

func newEmulator(t *testing.T) *emulator {
	t.Helper()
	d, err := declared()
	if err != nil {
		t.Fatal(err)
	}
	e := &emulator{t: t, random: rand.New(rand.NewPCG(3, 4)), program: linkedProgram(t), declared: d}
	e.reset()
	return e
}

// reset removes all memory.
func (e *emulator) reset() {
	e.memory = &numbers{program: e.program}
	e.next = 1 << 40
}

// bytes returns random bytes.
func (e *emulator) bytes(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(e.random.Uint32())
	}
	return b
}

// place makes memory of b, at an address that is a multiple of align, and returns it.
func (e *emulator) place(b []byte, align int, readOnly bool) uint64 {
	e.next += 1 << 16
	at := e.next + uint64(align*e.random.IntN(64/align))
	e.memory.memory = append(e.memory.memory, region{at, b, readOnly})
	e.next += uint64(len(b))
	return at
}

// in places memory that is only read, at any address.
func (e *emulator) in(b []byte) uint64 { return e.place(b, 1, true) }

// words places memory of words, which a kernel may change.
func (e *emulator) words(b []byte) uint64 { return e.place(b, 8, false) }

// state places memory of words that is only read.
func (e *emulator) state(b []byte) uint64 { return e.place(b, 8, true) }

// call calls a kernel with words and returns the words of its results.
func (e *emulator) call(name string, arguments ...uint64) (results []uint64) {
	e.t.Helper()
	var f *function
	for _, g := range e.program.functions {
		if strings.HasSuffix(g.pkg+"."+g.name, name) {
			f = g
		}
	}
	if f == nil {
		e.t.Fatalf("no function %s", name)
	}
	sig := newSignature(e.declared[f.pkg+"."+f.name])
	if len(arguments) != sig.results {
		e.t.Fatalf("%s has %d words of arguments, got %d", name, sig.results, len(arguments))
	}
	const frame, size = frameLimit, frameLimit + 128
	memory := e.bytes(size)
	base := e.place(memory, 64, false)
	for k, a := range sig.arguments[:sig.results] {
		binary.LittleEndian.PutUint64(memory[frame+argumentBase+a.offset:], arguments[k])
	}
	m := &machine[uint64, bytes64]{algebra: e.memory, thread: e.state(make([]byte, 64))}
	for k := range m.general {
		m.general[k] = e.random.Uint64()
	}
	for k := range m.vectors {
		copy(m.vectors[k][:], e.bytes(64))
	}
	m.general[rsp] = base + frame
	if err := m.run(f, func(w uint64) bool { return w == 1 }, func(i *instruction) { executed[i] = true }); err != nil {
		e.t.Fatalf("%s: %v", name, err)
	}
	if m.general[rsp] != base+frame {
		e.t.Fatalf("%s changes the stack pointer", name)
	}
	for _, r := range sig.arguments[sig.results:] {
		results = append(results, binary.LittleEndian.Uint64(memory[frame+argumentBase+r.offset:]))
	}
	return results
}

// datum returns the address of a variable of the program.
func (e *emulator) datum(name string) uint64 {
	for _, s := range e.program.symbols {
		if s.Name == name {
			return s.Value
		}
	}
	panic("no variable " + name)
}

// slice returns the words of a slice of n elements.
func slice(at uint64, n int) []uint64 { return []uint64{at, uint64(n), uint64(n)} }

// littleEndian returns the bytes of words.
func littleEndian(words ...uint64) (b []byte) {
	for _, w := range words {
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	return b
}

// TestEmulated runs after the tests that execute kernels. They must have executed 97 % of the
// instructions. The others are for the stack to grow, and code that cannot be reached, such as
// loops over groups of 256 bytes after all of 512.
func TestEmulated(t *testing.T) {
	if len(executed) == 0 {
		t.Skip("no kernel has been executed")
	}
	var done, all int
	for _, f := range linkedProgram(t).functions {
		before := done
		for _, i := range f.code {
			switch i.mnemonic {
			case "nop", "int3", "ret", "call":
				continue
			}
			all++
			if executed[i] {
				done++
			}
		}
		if done == before {
			t.Errorf("%s has not been executed", f.name)
		}
	}
	t.Logf("%d of %d instructions", done, all)
	if 100*done < 97*all {
		t.Error("want 97 % of the instructions")
	}
}
