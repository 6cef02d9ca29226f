// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package x86

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"syscall"
	"unsafe"

	"example.com/fastmac/internal/assurance/algebra"
	"example.com/fastmac/internal/assurance/machine"
)

// A Silicon is this machine's CPU. It executes one instruction: code in its memory loads all
// registers from a state, executes the instruction, and stores all registers.
type Silicon struct {
	memory []byte // code, then the state
	*cpuState
	run      func()
	features []string // as /proc/cpuinfo has them
	random   *rand.Rand
}

// A cpuState is laid out as the code has it.
type cpuState struct {
	vectors [32]algebra.Bytes64
	general [16]uint64
	masks   [8]uint64
	flags   uint64
	saved   [3]uint64 // RSP, RBP and R14 of Go
	window  [2 * windowSize]byte
	taken   byte // of a conditional jump
}

const windowSize = 512 // of the memory around the operands

const codeSize = 4096

// NewSilicon returns this machine's CPU.
func NewSilicon() (*Silicon, error) {
	info, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return nil, err
	}
	memory, err := syscall.Mmap(-1, 0, codeSize+int(unsafe.Sizeof(cpuState{})),
		syscall.PROT_READ|syscall.PROT_WRITE|syscall.PROT_EXEC, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err != nil {
		return nil, fmt.Errorf("memory for code: %w", err)
	}
	s := &Silicon{memory: memory, cpuState: (*cpuState)(unsafe.Pointer(&memory[codeSize])), features: strings.Fields(string(info)), random: rand.New(rand.NewPCG(1, 2))}
	// A func value is the address of a word that has the address of the code.
	code := &struct{ code *byte }{&memory[0]}
	s.run = *(*func())(unsafe.Pointer(&code))
	return s, nil
}

// Has reports whether the CPU executes the instructions of a class.
func (s *Silicon) Has(c machine.Class) bool {
	return !slices.ContainsFunc(features[c], func(f string) bool { return !slices.Contains(s.features, f) })
}

// Without returns the CPU as one that lacks a class.
func (s *Silicon) Without(c machine.Class) *Silicon {
	less := *s
	less.features = slices.DeleteFunc(slices.Clone(s.features), func(f string) bool { return slices.Contains(features[c], f) })
	return &less
}

// state returns how many vectors code can load and store, and how many bytes of each.
func (s *Silicon) state() (vectors, bytes int) {
	switch {
	case s.Has(AVX512):
		return 32, 64
	case s.Has(AVX2):
		return 16, 32
	}
	return 16, 16
}

// at returns the address of a part of the state.
func (s *Silicon) at(part unsafe.Pointer) uint64 { return uint64(uintptr(part)) }

// setCode sets the instruction that run executes. Its address relative to RIP, if it has one,
// becomes that of the middle of the window.
func (s *Silicon) setCode(i *machine.Instruction) {
	var code []byte
	emit := func(b ...byte) { code = append(code, b...) }
	base := s.at(unsafe.Pointer(s.cpuState))
	// field emits an instruction with RAX and the offset of a part of the state.
	field := func(part unsafe.Pointer, b ...byte) {
		emit(b...)
		code = binary.LittleEndian.AppendUint32(code, uint32(s.at(part)-base))
	}
	loadRAX := func() {
		emit(0x48, 0xb8) // MOVQ $base, RAX
		code = binary.LittleEndian.AppendUint64(code, base)
	}
	move := func(opcode byte, r int, part unsafe.Pointer) { // MOVQ: 0x8b loads, 0x89 stores
		field(part, 0x48|byte(r>>3<<2), opcode, 0x80|byte(r&7<<3))
	}
	vectors, size := s.state()
	vectorsAndMasks := func(vector, mask byte) { // vector is the opcode of VMOVDQU64 and VMOVDQU
		for n := range vectors {
			part, register := unsafe.Pointer(&s.vectors[n]), 0x80|byte(n&7<<3)
			switch size {
			case 64:
				field(part, 0x62, 0x61|^byte(n)>>3&1<<7|^byte(n)>>4&1<<4, 0xfe, 0x48, vector, register)
			case 32:
				field(part, 0xc4, 0x61|^byte(n)>>3&1<<7, 0x7e, vector, register)
			default: // MOVDQU
				field(part, 0xf3, 0x40|byte(n)>>3<<2, 0x0f, vector, register)
			}
		}
		for n := range s.masks { // KMOVQ
			if size < 64 {
				break
			}
			field(unsafe.Pointer(&s.masks[n]), 0xc4, 0xe1, 0xf8, mask, 0x80|byte(n<<3))
		}
	}
	saved := []int{RSP, RBP, R14}

	loadRAX()
	for n, r := range saved {
		move(0x89, r, unsafe.Pointer(&s.saved[n]))
	}
	vectorsAndMasks(0x6f, 0x90)
	field(unsafe.Pointer(&s.flags), 0xff, 0xb0) // PUSHQ
	emit(0x9d)                                  // POPFQ
	for r := len(s.general) - 1; r >= 0; r-- {
		move(0x8b, r, unsafe.Pointer(&s.general[r])) // RAX last
	}

	at := s.at(unsafe.Pointer(&s.memory[0])) + uint64(len(code))
	emit(s.relocate(i, at)...)
	if i.Branches() {
		// A jump over MOVB $0, taken.
		next := s.at(unsafe.Pointer(&s.memory[0])) + uint64(len(code)) + 7
		emit(0xc6, 0x05)
		code = binary.LittleEndian.AppendUint32(code, uint32(s.at(unsafe.Pointer(&s.taken))-next))
		emit(0)
	}

	next := s.at(unsafe.Pointer(&s.memory[0])) + uint64(len(code)) + 7
	emit(0x48, 0x89, 0x05) // MOVQ RAX, general[RAX], relative to RIP
	code = binary.LittleEndian.AppendUint32(code, uint32(s.at(unsafe.Pointer(&s.general[RAX]))-next))
	loadRAX()
	for r := 1; r < len(s.general); r++ {
		move(0x89, r, unsafe.Pointer(&s.general[r]))
	}
	move(0x8b, RSP, unsafe.Pointer(&s.saved[0]))
	emit(0x9c)                                  // PUSHFQ
	field(unsafe.Pointer(&s.flags), 0x8f, 0x80) // POPQ
	vectorsAndMasks(0x7f, 0x91)
	for n, r := range saved {
		move(0x8b, r, unsafe.Pointer(&s.saved[n]))
	}
	emit(0x66, 0x45, 0x0f, 0xef, 0xff) // PXOR X15, X15: Go expects zeros
	if size > 16 {
		emit(0xc5, 0xf8, 0x77) // VZEROUPPER
	}
	emit(0xc3) // RET
	if len(code) > codeSize {
		panic("the code is too long")
	}
	copy(s.memory, code)
}

// relocate returns the bytes of an instruction for another address.
func (s *Silicon) relocate(i *machine.Instruction, at uint64) []byte {
	if i.Branches() { // 7 bytes forward
		opcode := i.Bytes[0] + 0x10 // of the long form
		if i.Bytes[0] == 0x0f {
			opcode = i.Bytes[1]
		}
		return []byte{0x0f, opcode, 7, 0, 0, 0}
	}
	code := slices.Clone(i.Bytes)
	o := i.MemoryOperand()
	if o == nil || o.Base != machine.None || o.Index != machine.None {
		return code
	}
	old := binary.LittleEndian.AppendUint32(nil, uint32(o.Number-i.Address-uint64(len(code))))
	k := strings.LastIndex(string(code), string(old))
	binary.LittleEndian.PutUint32(code[k:], uint32(s.middle()-at-uint64(len(code))))
	return code
}

// middle is the address of the middle of the window.
func (s *Silicon) middle() uint64 { return s.at(unsafe.Pointer(&s.window[windowSize])) }

// Compare executes an instruction a number of times with the CPU and with the model, and
// returns an error at the first difference: in any register, in memory, or in a flag that the
// model defines.
func (s *Silicon) Compare(i *machine.Instruction, with machine.Arithmetic, trials int) error {
	s.setCode(i)
	memory := make([]byte, len(s.window))
	start := s.at(unsafe.Pointer(&s.window[0]))
	m := &machine.State[uint64, algebra.Bytes64]{Algebra: with(&algebra.Numbers{Memory: []algebra.Region{{Base: start, Bytes: memory}}})}
	moved := *i
	if o := i.MemoryOperand(); o != nil && o.Base == machine.None && o.Index == machine.None {
		moved.Operands = slices.Clone(i.Operands)
		moved.MemoryOperand().Number = s.middle()
	}
	for trial := range trials {
		if trial%64 == 0 {
			s.randomize()
		}
		s.randomizeOperands(i)
		a, b := algebra.RandomWord(s.random), algebra.RandomWord(s.random)
		m.SetFlags(machine.Subtraction, 64, a, b, 0, a-b)
		s.flags = 1<<1 | flagBits(m)
		s.taken = 1
		m.Vectors, m.Masks = s.vectors, s.masks
		copy(m.General[:], s.general[:])
		copy(memory, s.window[:])
		condition := uint64(1)
		if i.Branches() {
			condition = Models[uint64, algebra.Bytes64]{}.Taken(m, i)
		}
		if err := m.Try(Models[uint64, algebra.Bytes64]{}, &moved); err != nil {
			return err
		}
		s.run()
		defined := definedFlags(m)
		vectors, size := s.state()
		for n := range m.Vectors { // what code cannot store
			from := size
			if n >= vectors {
				from = 0
			}
			copy(s.vectors[n][from:], m.Vectors[n][from:])
		}
		if s.vectors != m.Vectors || s.general != [16]uint64(m.General[:]) || s.masks != m.Masks || string(memory) != string(s.window[:]) ||
			(s.flags^flagBits(m))&defined != 0 || uint64(s.taken) != condition {
			return fmt.Errorf("%v: the CPU and the model differ", i)
		}
	}
	return nil
}

// randomize sets all registers and memory.
func (s *Silicon) randomize() {
	for n := range s.vectors {
		s.randomizeVector(n)
	}
	for n := range s.general {
		s.general[n] = algebra.RandomWord(s.random)
	}
	for n := range s.masks {
		s.masks[n] = algebra.RandomWord(s.random)
	}
	for n := 0; n < len(s.window); n += 8 {
		binary.LittleEndian.PutUint64(s.window[n:], algebra.RandomWord(s.random))
	}
}

func (s *Silicon) randomizeVector(n int) {
	for k := 0; k < 64; k += 8 {
		binary.LittleEndian.PutUint64(s.vectors[n][k:], algebra.RandomWord(s.random))
	}
}

// randomizeOperands sets the registers that an instruction names or implies. Its address is
// within the window.
func (s *Silicon) randomizeOperands(i *machine.Instruction) {
	for _, o := range i.Operands {
		switch o.Kind {
		case machine.General:
			s.general[o.Number] = algebra.RandomWord(s.random)
		case machine.Vector:
			s.randomizeVector(int(o.Number))
		case machine.Opmask:
			s.masks[o.Number] = algebra.RandomWord(s.random)
		}
	}
	if i.Mask != 0 {
		s.masks[i.Mask] = algebra.RandomWord(s.random)
	}
	switch i.Mnemonic {
	case "mulx":
		s.general[RDX] = algebra.RandomWord(s.random)
	case "push", "pop":
		s.general[RSP] = s.middle()
	}
	o := i.MemoryOperand()
	if o == nil {
		return
	}
	if k := windowSize + s.random.IntN(56); s.random.IntN(4) == 0 {
		binary.LittleEndian.PutUint64(s.window[k:], algebra.RandomWord(s.random))
	}
	at := s.middle() + uint64(s.random.IntN(64))
	at -= at%uint64(alignment(i)) + o.Number
	switch {
	case o.Base == machine.None && o.Index == machine.None:
	case o.Index == machine.None:
		s.general[o.Base] = at
	case o.Base == o.Index:
		s.general[o.Base] = at / (1 + o.Scale)
	default:
		s.general[o.Index] = uint64(s.random.IntN(64))
		s.general[o.Base] = at - o.Scale*s.general[o.Index]
	}
}
