// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"syscall"
	"unsafe"
)

// A silicon is this machine's CPU. It executes one instruction: code in its memory loads all
// registers from a state, executes the instruction, and stores all registers.
type silicon struct {
	memory []byte // code, then the state
	*cpuState
	run func()
}

// A cpuState is laid out as the code has it.
type cpuState struct {
	vectors [32]bytes64
	general [16]uint64
	masks   [8]uint64
	flags   uint64
	saved   [3]uint64 // RSP, RBP and R14 of Go
	window  [2 * windowSize]byte
	taken   byte // of a conditional jump
}

const windowSize = 512 // of the memory around the operands

const codeSize = 4096

// newSilicon returns nil if the CPU lacks instructions of the kernels.
func newSilicon() (*silicon, error) {
	info, _ := os.ReadFile("/proc/cpuinfo")
	has := strings.Fields(string(info))
	for _, feature := range []string{"avx512f", "avx512bw", "avx512dq", "avx512vl", "vaes", "vpclmulqdq", "bmi1", "bmi2"} {
		if !slices.Contains(has, feature) {
			return nil, nil
		}
	}
	memory, err := syscall.Mmap(-1, 0, codeSize+int(unsafe.Sizeof(cpuState{})),
		syscall.PROT_READ|syscall.PROT_WRITE|syscall.PROT_EXEC, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err != nil {
		return nil, fmt.Errorf("memory for code: %w", err)
	}
	s := &silicon{memory: memory, cpuState: (*cpuState)(unsafe.Pointer(&memory[codeSize]))}
	// A func value is the address of a word that has the address of the code.
	code := &struct{ code *byte }{&memory[0]}
	s.run = *(*func())(unsafe.Pointer(&code))
	return s, nil
}

// at returns the address of a part of the state.
func (s *silicon) at(part unsafe.Pointer) uint64 { return uint64(uintptr(part)) }

// setCode sets the instruction that run executes. Its address relative to RIP, if it has one,
// becomes that of the middle of the window.
func (s *silicon) setCode(i *instruction) {
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
	vectorsAndMasks := func(vector, mask byte) {
		for n := range s.vectors { // VMOVDQU64, an EVEX encoding
			extended := 0x61 | ^byte(n)>>3&1<<7 | ^byte(n)>>4&1<<4
			field(unsafe.Pointer(&s.vectors[n]), 0x62, extended, 0xfe, 0x48, vector, 0x80|byte(n&7<<3))
		}
		for n := range s.masks { // KMOVQ
			field(unsafe.Pointer(&s.masks[n]), 0xc4, 0xe1, 0xf8, mask, 0x80|byte(n<<3))
		}
	}
	saved := []int{rsp, rbp, r14}

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
	if i.branches() {
		// A jump over MOVB $0, taken.
		next := s.at(unsafe.Pointer(&s.memory[0])) + uint64(len(code)) + 7
		emit(0xc6, 0x05)
		code = binary.LittleEndian.AppendUint32(code, uint32(s.at(unsafe.Pointer(&s.taken))-next))
		emit(0)
	}

	next := s.at(unsafe.Pointer(&s.memory[0])) + uint64(len(code)) + 7
	emit(0x48, 0x89, 0x05) // MOVQ RAX, general[rax], relative to RIP
	code = binary.LittleEndian.AppendUint32(code, uint32(s.at(unsafe.Pointer(&s.general[rax]))-next))
	loadRAX()
	for r := 1; r < len(s.general); r++ {
		move(0x89, r, unsafe.Pointer(&s.general[r]))
	}
	move(0x8b, rsp, unsafe.Pointer(&s.saved[0]))
	emit(0x9c)                                  // PUSHFQ
	field(unsafe.Pointer(&s.flags), 0x8f, 0x80) // POPQ
	vectorsAndMasks(0x7f, 0x91)
	for n, r := range saved {
		move(0x8b, r, unsafe.Pointer(&s.saved[n]))
	}
	emit(0xc4, 0x41, 0x01, 0xef, 0xff) // VPXOR X15, X15, X15: Go expects zeros
	emit(0xc5, 0xf8, 0x77)             // VZEROUPPER
	emit(0xc3)                         // RET
	if len(code) > codeSize {
		panic("the code is too long")
	}
	copy(s.memory, code)
}

// relocate returns the bytes of an instruction for another address.
func (s *silicon) relocate(i *instruction, at uint64) []byte {
	if i.branches() { // 7 bytes forward
		opcode := i.bytes[0] + 0x10 // of the long form
		if i.bytes[0] == 0x0f {
			opcode = i.bytes[1]
		}
		return []byte{0x0f, opcode, 7, 0, 0, 0}
	}
	code := slices.Clone(i.bytes)
	o := i.memoryOperand()
	if o == nil || o.base != none || o.index != none {
		return code
	}
	old := binary.LittleEndian.AppendUint32(nil, uint32(o.number-i.address-uint64(len(code))))
	k := strings.LastIndex(string(code), string(old))
	binary.LittleEndian.PutUint32(code[k:], uint32(s.middle()-at-uint64(len(code))))
	return code
}

// middle is the address of the middle of the window.
func (s *silicon) middle() uint64 { return s.at(unsafe.Pointer(&s.window[windowSize])) }

// edges are operands at which carries, signs and saturation change.
var edges = []uint64{0, 1, 2, 1<<7 - 1, 1 << 7, 1<<8 - 1, 1<<15 - 1, 1<<16 - 1, 1<<31 - 1, 1 << 31, 1<<32 - 1, 1 << 32, 1<<32 + 1,
	1<<63 - 1, 1 << 63, 1<<63 + 1, 1<<64 - 59, 1<<64 - 1<<32, 1<<64 - 2, 1<<64 - 1, 0x8080808080808080, 0x0f0e0d0c0b0a0908}

// randomWord is a random number, an edge, a small number, or two edges.
func randomWord(r *rand.Rand) uint64 {
	switch x := r.Uint64(); x & 7 {
	case 0:
		return edges[x>>8%uint64(len(edges))]
	case 1:
		return x >> 8 % 80
	case 2:
		return edges[x>>8%uint64(len(edges))]<<32 | edges[x>>32%uint64(len(edges))]&(1<<32-1)
	}
	return r.Uint64()
}

// compare executes an instruction a number of times with the CPU and with the model, and
// returns an error at the first difference: in any register, in memory, or in a flag that the
// model defines.
func (s *silicon) compare(i *instruction, with models, trials int, r *rand.Rand) error {
	s.setCode(i)
	memory := make([]byte, len(s.window))
	start := s.at(unsafe.Pointer(&s.window[0]))
	m := &machine[uint64, bytes64]{algebra: with(&numbers{memory: []region{{base: start, bytes: memory}}})}
	moved := *i
	if o := i.memoryOperand(); o != nil && o.base == none && o.index == none {
		moved.operands = slices.Clone(i.operands)
		moved.memoryOperand().number = s.middle()
	}
	for trial := range trials {
		if trial%64 == 0 {
			s.randomize(r)
		}
		s.randomizeOperands(i, r)
		a, b := randomWord(r), randomWord(r)
		m.setFlags(difference, 64, a, b, 0, a-b)
		s.flags = 1<<1 | flagBits(m)
		s.taken = 1
		m.vectors, m.general, m.masks = s.vectors, s.general, s.masks
		copy(memory, s.window[:])
		condition := uint64(1)
		if i.branches() {
			condition = m.condition(i.mnemonic[1:])
		}
		if err := m.try(&moved); err != nil {
			return err
		}
		s.run()
		defined := m.definedFlags()
		if s.vectors != m.vectors || s.general != m.general || s.masks != m.masks || string(memory) != string(s.window[:]) ||
			(s.flags^flagBits(m))&defined != 0 || uint64(s.taken) != condition {
			return fmt.Errorf("%v: the CPU and the model differ", i)
		}
	}
	return nil
}

// randomize sets all registers and memory.
func (s *silicon) randomize(r *rand.Rand) {
	for n := range s.vectors {
		s.randomizeVector(n, r)
	}
	for n := range s.general {
		s.general[n] = randomWord(r)
	}
	for n := range s.masks {
		s.masks[n] = randomWord(r)
	}
	for n := 0; n < len(s.window); n += 8 {
		binary.LittleEndian.PutUint64(s.window[n:], randomWord(r))
	}
}

func (s *silicon) randomizeVector(n int, r *rand.Rand) {
	for k := 0; k < 64; k += 8 {
		binary.LittleEndian.PutUint64(s.vectors[n][k:], randomWord(r))
	}
}

// randomizeOperands sets the registers that an instruction names or implies. Its address is
// within the window.
func (s *silicon) randomizeOperands(i *instruction, r *rand.Rand) {
	for _, o := range i.operands {
		switch o.kind {
		case general:
			s.general[o.number] = randomWord(r)
		case vector:
			s.randomizeVector(int(o.number), r)
		case opmask:
			s.masks[o.number] = randomWord(r)
		}
	}
	if i.mask != 0 {
		s.masks[i.mask] = randomWord(r)
	}
	switch i.mnemonic {
	case "mulx":
		s.general[rdx] = randomWord(r)
	case "push", "pop":
		s.general[rsp] = s.middle()
	}
	o := i.memoryOperand()
	if o == nil {
		return
	}
	if k := windowSize + r.IntN(56); r.IntN(4) == 0 {
		binary.LittleEndian.PutUint64(s.window[k:], randomWord(r))
	}
	at := s.middle() + uint64(r.IntN(64)) - o.number
	switch {
	case o.base == none && o.index == none:
	case o.index == none:
		s.general[o.base] = at
	case o.base == o.index:
		s.general[o.base] = at / (1 + o.scale)
	default:
		s.general[o.index] = uint64(r.IntN(64))
		s.general[o.base] = at - o.scale*s.general[o.index]
	}
}
