// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package proofs

import (
	"encoding/binary"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"example.com/fastmac/internal/assurance/algebra"
	"example.com/fastmac/internal/assurance/machine"
	"example.com/fastmac/internal/assurance/program"
	"example.com/fastmac/internal/assurance/secrets"
	"example.com/fastmac/internal/assurance/x86"
)

// An emulator executes kernels with the models, on any machine. A kernel that reads or writes
// anything outside of the memory that place has returned fails the test.
type emulator struct {
	t       *testing.T
	random  *rand.Rand
	program *program.Program
	memory  *algebra.Numbers
	next    uint64 // where the next memory is placed
}

// executed has the instructions that emulators have executed.
var executed = make(map[*machine.Instruction]bool)

func newEmulator(t *testing.T) *emulator {
	t.Helper()
	e := &emulator{t: t, random: rand.New(rand.NewPCG(3, 4)), program: linkedProgram(t)}
	e.reset()
	return e
}

// reset removes all memory.
func (e *emulator) reset() {
	e.memory = &algebra.Numbers{Data: e.program.At}
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
	e.memory.Memory = append(e.memory.Memory, algebra.Region{Base: at, Bytes: b, ReadOnly: readOnly})
	e.next += uint64(len(b))
	return at
}

// in places memory that is only read, at any address.
func (e *emulator) in(b []byte) uint64 { return e.place(b, 1, true) }

// words places memory of words, which a kernel may change.
func (e *emulator) words(b []byte) uint64 { return e.place(b, 8, false) }

// state places memory of words that is only read.
func (e *emulator) state(b []byte) uint64 { return e.place(b, 8, true) }

// find returns the kernel of a name.
func (e *emulator) find(name string) *machine.Function {
	e.t.Helper()
	n := slices.IndexFunc(e.program.Functions, func(f *machine.Function) bool { return strings.HasSuffix(f.Pkg+"."+f.Name, name) })
	if n < 0 {
		e.t.Fatalf("no function %s", name)
	}
	return e.program.Functions[n]
}

// call calls a kernel with words and returns the words of its results.
func (e *emulator) call(name string, arguments ...uint64) (results []uint64) {
	e.t.Helper()
	f := e.find(name)
	sig := secrets.NewSignature(e.program.Declared[f.Pkg+"."+f.Name])
	if len(arguments) != sig.Results {
		e.t.Fatalf("%s has %d words of arguments, got %d", name, sig.Results, len(arguments))
	}
	const frame, size = machine.FrameLimit, machine.FrameLimit + 128
	memory := e.bytes(size)
	base := e.place(memory, 64, false)
	for k, a := range sig.Arguments[:sig.Results] {
		binary.LittleEndian.PutUint64(memory[frame+machine.ArgumentBase+a.Offset:], arguments[k])
	}
	m := &machine.State[uint64, algebra.Bytes64]{Algebra: e.memory, Thread: e.state(make([]byte, 64))}
	for k := range m.General {
		m.General[k] = e.random.Uint64()
	}
	for k := range m.Vectors {
		copy(m.Vectors[k][:], e.bytes(64))
	}
	m.General[f.StackPointer] = base + frame
	if err := m.Run(program.Models[uint64, algebra.Bytes64](f.Architecture), f, 0, func(_ *machine.Instruction, w uint64) bool { return w == 1 }, func(i *machine.Instruction) error { executed[i] = true; return nil }); err != nil {
		e.t.Fatalf("%s: %v", name, err)
	}
	if m.General[f.StackPointer] != base+frame {
		e.t.Fatalf("%s changes the stack pointer", name)
	}
	for _, r := range sig.Arguments[sig.Results:] {
		results = append(results, binary.LittleEndian.Uint64(memory[frame+machine.ArgumentBase+r.Offset:]))
	}
	return results
}

// datum returns the address of a variable of the program.
func (e *emulator) datum(name string) uint64 {
	for _, s := range e.program.Symbols {
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
	for _, f := range linkedProgram(t).Functions {
		before := done
		for _, i := range f.Code {
			switch i.Mnemonic {
			case "nop", "int3", "ret", "call":
				continue
			}
			all++
			if executed[i] {
				done++
			}
		}
		if done == before && !slices.Contains([]string{"cpuid", "rdseed", "rndrrs"}, f.Name) {
			t.Errorf("%s has not been executed", f.Name)
		}
	}
	t.Logf("%d of %d instructions", done, all)
	if 100*done < 97*all {
		t.Error("want 97 % of the instructions")
	}
}

func TestMain(m *testing.M) {
	debug.SetGCPercent(400) // as in command verify: a third less time
	m.Run()
}

// linkedProgram returns the program with all kernels for amd64.
func linkedProgram(t *testing.T) *program.Program {
	t.Helper()
	return linkedFor(t, x86.Architecture)
}

// linkedFor returns the program with all kernels for an architecture.
func linkedFor(t *testing.T, a *machine.Architecture) *program.Program {
	t.Helper()
	p, err := program.Linked(a)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
