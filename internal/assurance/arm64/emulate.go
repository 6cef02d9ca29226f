// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package arm64

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"unsafe"

	"example.com/fastmac/internal/assurance/algebra"
	"example.com/fastmac/internal/assurance/machine"
	"golang.org/x/sys/cpu"
)

// Native reports whether the CPU to compare with is this machine's.
const Native = runtime.GOARCH == "arm64" && (runtime.GOOS == "darwin" || runtime.GOOS == "linux" || runtime.GOOS == "windows")

// ErrMissing is the error where qemu is not installed.
var ErrMissing = errors.New("no qemu-aarch64: apt-get install qemu-user")

// A CPUState is what command emulated gets and returns: that of a CPU, and the memory around the
// operand of an instruction. X18 and X27 to X30 are not part of it.
type CPUState struct {
	Vectors [32][16]byte
	General [32]uint64 // the last one is the stack pointer
	Flags   uint64     // as the register NZCV has them
	Taken   uint64     // whether a branch jumps
	Code    uint64     // index of the slot of the instruction
	Saved   [3]uint64
	Window  [2 * windowSize]byte
}

const windowSize = 256

// Bytes returns the memory of s.
func (s *CPUState) Bytes() []byte { return (*[unsafe.Sizeof(*s)]byte)(unsafe.Pointer(s))[:] }

// A Slot is an instruction, and what returns after it. Where a branch jumps to, X29 becomes 1.
type Slot [4]uint32

const (
	ret      = 0xd65f03c0
	setTaken = 0xd280003d // MOV X29, #1
)

// slot returns that of an instruction. A branch jumps two instructions forward.
func slot(i *machine.Instruction) Slot {
	opcode := binary.LittleEndian.Uint32(i.Bytes)
	switch {
	case i.Flow != machine.Branch:
		return Slot{opcode, ret}
	case i.Mnemonic == "tbz":
		return Slot{opcode&^(1<<19-1<<5) | 2<<5, ret, setTaken, ret}
	}
	return Slot{opcode&^(1<<24-1<<5) | 2<<5, ret, setTaken, ret}
}

// Forms returns the forms of all instructions that can be executed one by one, and that do the same each
// time: not those that make an address, and not RNDRRS.
func Forms(functions []*machine.Function) []machine.Form {
	return machine.Forms(functions, func(i *machine.Instruction) string {
		if strings.HasPrefix(i.Mnemonic, "adr") || i.Mnemonic == "rndrrs" {
			return ""
		}
		name := i.Mnemonic
		for _, o := range i.Operands {
			name += fmt.Sprint(" ", []string{"r", "v", "k", "imm", "m"}[o.Kind])
			switch o.Kind {
			case machine.General:
				name += fmt.Sprint(o.Size, o.Shift.Kind)
			case machine.Vector:
				name += fmt.Sprint(o.Size, "/", o.Element, map[bool]string{true: "[]"}[o.Lane != machine.None])
			case machine.Memory:
				name += fmt.Sprint(o.Size, []string{"", "before", "after"}[o.Update])
			}
		}
		if i.Flow == machine.Next && i.Condition != "" {
			name += " " + i.Condition
		}
		return name
	})
}

// Compare compares the models of forms with an emulated CPU, or with this machine's where it is one of
// arm64: see [machine.Compare].
func Compare(forms []machine.Form, with machine.Arithmetic, trials int) (done []machine.Comparison, err error) {
	dir, err := os.MkdirTemp("", "fastmac-emulated-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	e := &emulator{random: rand.New(rand.NewPCG(1, 2)), slots: make(map[*machine.Instruction]uint64)}
	var slots []Slot
	for _, f := range forms {
		for _, i := range f.Instructions {
			e.slots[i] = uint64(len(slots))
			slots = append(slots, slot(i))
		}
	}
	if err := e.start(filepath.Join(dir, "emulated.exe"), slots); err != nil {
		return nil, err
	}
	done, err = machine.Compare(e, forms, with, trials)
	return done, errors.Join(err, e.stop())
}

// An emulator is command emulated.
type emulator struct {
	random *rand.Rand
	slots  map[*machine.Instruction]uint64
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	window uint64 // its address
}

// start builds the command, and gives it the instructions.
func (e *emulator) start(name string, slots []Slot) error {
	run, system := []string{name}, runtime.GOOS
	if !Native {
		run, system = []string{"qemu-aarch64", "-cpu", "max", name}, "linux"
		if _, err := exec.LookPath(run[0]); err != nil {
			return ErrMissing
		}
	}
	build := exec.Command("go", "build", "-o", name, "example.com/fastmac/internal/assurance/arm64/emulated")
	build.Env = append(os.Environ(), "GOOS="+system, "GOARCH=arm64", "GOARM64=v8.0", "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("command emulated: %w: %s", err, out)
	}
	e.cmd = exec.Command(run[0], run[1:]...)
	// No signal should come while the stack pointer is that of an instruction.
	e.cmd.Env = append(os.Environ(), "GODEBUG=asyncpreemptoff=1")
	e.cmd.Stderr = os.Stderr
	var err error
	if e.in, err = e.cmd.StdinPipe(); err != nil {
		return err
	}
	out, err := e.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	e.out = bufio.NewReaderSize(out, 1<<16)
	if err := e.cmd.Start(); err != nil {
		return err
	}
	if err := binary.Write(e.in, binary.LittleEndian, uint32(len(slots))); err != nil {
		return err
	}
	if err := binary.Write(e.in, binary.LittleEndian, slots); err != nil {
		return err
	}
	return binary.Read(e.out, binary.LittleEndian, &e.window)
}

// stop ends the command, whatever it has still to write.
func (e *emulator) stop() error {
	e.in.Close()
	if _, err := io.Copy(io.Discard, e.out); err != nil {
		return err
	}
	return e.cmd.Wait()
}

// Has reports whether the CPU executes the instructions of a class.
func (*emulator) Has(c machine.Class) bool {
	if !Native {
		return true
	}
	return map[machine.Class]bool{AES: cpu.ARM64.HasAES, PMULL: cpu.ARM64.HasPMULL, SHA2: cpu.ARM64.HasSHA2, SHA512: cpu.ARM64.HasSHA512}[c]
}

// Compare executes an instruction a number of times with the CPU and with the model, and
// returns an error at the first difference: in any register, in memory, or in a flag.
func (e *emulator) Compare(i *machine.Instruction, with machine.Arithmetic, trials int) error {
	states, results := make([]CPUState, trials), make([]CPUState, trials)
	m := &machine.State[uint64, algebra.Bytes64]{}
	for k := range states {
		s := &states[k]
		if k%64 == 0 {
			e.randomize(s)
		} else {
			*s = states[k-1]
		}
		e.randomizeOperands(s, i)
		s.Code = e.slots[i]
		results[k] = *s
		if err := e.execute(m, i, with, s, &results[k]); err != nil {
			return err
		}
	}
	written := make(chan error, 1)
	go func() {
		for k := range states {
			if _, err := e.in.Write(states[k].Bytes()); err != nil {
				written <- err
				return
			}
		}
		written <- nil
	}()
	var differs error
	for k := range results {
		var s CPUState
		if _, err := io.ReadFull(e.out, s.Bytes()); err != nil {
			return err
		}
		s.Code, s.Saved = results[k].Code, results[k].Saved
		if s != results[k] && differs == nil {
			differs = fmt.Errorf("%v: the CPU and the model differ", i)
		}
	}
	return errors.Join(differs, <-written)
}

// execute sets result to what the model makes of s, which is the same.
func (e *emulator) execute(m *machine.State[uint64, algebra.Bytes64], i *machine.Instruction, with machine.Arithmetic, s, result *CPUState) error {
	m.Algebra = with(&algebra.Numbers{Memory: []algebra.Region{{Base: e.window, Bytes: result.Window[:]}}})
	a, b := algebra.RandomWord(e.random), algebra.RandomWord(e.random)
	if e.random.IntN(2) == 0 {
		m.SetFlags(machine.Subtraction, 64, a, b, 0, a-b)
	} else {
		m.SetFlags(machine.Sum, 64, a, b, 0, a+b)
	}
	s.Flags = flagBits(m)
	m.General = s.General
	for n := range m.Vectors {
		copy(m.Vectors[n][:], s.Vectors[n][:])
	}
	result.Taken = 0
	if i.Branches() {
		result.Taken = Models[uint64, algebra.Bytes64]{}.Taken(m, i)
	}
	if err := m.Try(Models[uint64, algebra.Bytes64]{}, i); err != nil {
		return err
	}
	result.General, result.Flags = m.General, flagBits(m)
	for n := range m.Vectors {
		copy(result.Vectors[n][:], m.Vectors[n][:])
	}
	return nil
}

// flagBits returns the flags of the model as the CPU has them.
func flagBits(m *machine.State[uint64, algebra.Bytes64]) uint64 {
	c := model[uint64, algebra.Bytes64]{m}.carry()
	return m.SignFlag()<<31 | m.ZeroFlag()<<30 | c<<29 | m.OverflowFlag()<<28
}

// middle is the address of the middle of the window.
func (e *emulator) middle() uint64 { return e.window + windowSize }

// randomize sets all registers and memory.
func (e *emulator) randomize(s *CPUState) {
	for n := range s.Vectors {
		e.randomizeBytes(s.Vectors[n][:])
	}
	for n := range s.General {
		s.General[n] = algebra.RandomWord(e.random)
	}
	s.General[SP] = e.middle() &^ 15
	e.randomizeBytes(s.Window[:])
}

func (e *emulator) randomizeBytes(b []byte) {
	for k := 0; k < len(b); k += 8 {
		binary.LittleEndian.PutUint64(b[k:], algebra.RandomWord(e.random))
	}
}

// randomizeOperands sets the registers that an instruction names. Its address is within the window.
func (e *emulator) randomizeOperands(s *CPUState, i *machine.Instruction) {
	for _, o := range i.Operands {
		switch {
		case o.Kind == machine.General && o.Number != Zero:
			s.General[o.Number] = algebra.RandomWord(e.random)
		case o.Kind == machine.Vector:
			e.randomizeBytes(s.Vectors[o.Number][:])
		}
	}
	o := i.MemoryOperand()
	if o == nil {
		return
	}
	at := e.middle() + uint64(e.random.IntN(64))
	if o.Update != machine.After {
		at -= o.Number
	}
	if o.Base == SP { // the CPU requires it
		at &^= 15
	}
	s.General[o.Base] = at
	e.randomizeBytes(s.Window[windowSize+8*e.random.IntN(12):][:8])
}
