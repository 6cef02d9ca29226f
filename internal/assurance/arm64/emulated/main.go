// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build arm64 && (darwin || linux || windows)

// Command emulated executes single instructions of arm64 on the CPU on which it runs: an emulated one,
// or a real one. On standard input it gets a list of instructions with what follows them, and
// then states, each with the index of an instruction, and it writes what becomes of them.
package main

import (
	"bufio"
	"encoding/binary"
	"io"
	"log"
	"os"
	"unsafe"

	"example.com/fastmac/internal/assurance/arm64"
	"example.com/fastmac/internal/assurance/native"
)

// state is at one address, which the code has.
var state arm64.CPUState

// Instructions that load, execute and store. X27 has the address of the state: kernels do not use it,
// and Go only within an instruction of its assembler. X18 is not touched, as it is the operating
// system's on macOS and Windows, nor X28, which is Go's. X29 and X30 have other uses here.
const (
	moveToX27   = 0xd280001b // MOVZ; MOVK is this or keepOthers
	keepOthers  = 0x20000000
	load        = 0xf9400360 // LDR X0, [X27]
	store       = 0xf9000360 // STR X0, [X27]
	loadVector  = 0x3dc00360 // LDR Q0, [X27]
	storeVector = 0x3d800360 // STR Q0, [X27]
	fromSP      = 0x910003e0 // MOV X0, SP
	toSP        = 0x9100001f // MOV SP, X0
	fromFlags   = 0xd53b4200 // MRS X0, NZCV
	toFlags     = 0xd51b4200 // MSR NZCV, X0
	zeroX29     = 0xd280001d // MOV X29, #0
	callX30     = 0xd63f03c0 // BLR X30
	ret         = 0xd65f03c0
)

// frame returns the code that calls an instruction.
func frame() (code []uint32) {
	emit := func(words ...uint32) { code = append(code, words...) }
	at := func(part unsafe.Pointer) uint32 { return uint32(uintptr(part) - uintptr(unsafe.Pointer(&state))) }
	word := func(opcode uint32, register int, part *uint64) {
		emit(opcode | at(unsafe.Pointer(part))/8<<10 | uint32(register))
	}
	all := func(general, vector uint32) {
		for n := range state.Vectors {
			emit(vector | at(unsafe.Pointer(&state.Vectors[n]))/16<<10 | uint32(n))
		}
		for n := range arm64.X27 {
			if n != arm64.X18 {
				word(general, n, &state.General[n])
			}
		}
	}

	for k := range 4 {
		part := uint32(uint64(uintptr(unsafe.Pointer(&state)))>>(16*k)) & 0xffff
		emit(moveToX27 | uint32(k)<<21 | part<<5 | map[bool]uint32{true: keepOthers}[k > 0])
	}
	emit(fromSP)
	word(store, 0, &state.Saved[0])
	word(store, arm64.X29, &state.Saved[1])
	word(store, arm64.LR, &state.Saved[2])
	word(load, 0, &state.Flags)
	emit(toFlags)
	word(load, 0, &state.General[arm64.SP])
	emit(toSP, zeroX29)
	word(load, arm64.LR, &state.Code)
	all(load, loadVector)
	emit(callX30)
	all(store, storeVector)
	word(store, arm64.X29, &state.Taken)
	emit(fromFlags)
	word(store, 0, &state.Flags)
	emit(fromSP)
	word(store, 0, &state.General[arm64.SP])
	word(load, 0, &state.Saved[0])
	emit(toSP)
	word(load, arm64.X29, &state.Saved[1])
	word(load, arm64.LR, &state.Saved[2])
	emit(ret)
	return code
}

func main() {
	log.SetFlags(0)
	in, out := bufio.NewReaderSize(os.Stdin, 1<<16), bufio.NewWriterSize(os.Stdout, 1<<16)
	if err := serve(in, out); err != nil {
		log.Fatalf("emulated: %v", err)
	}
}

func serve(in *bufio.Reader, out *bufio.Writer) error {
	var count uint32
	if err := binary.Read(in, binary.LittleEndian, &count); err != nil {
		return err
	}
	code := frame()
	first := (len(code) + 3) / 4 * 4
	code = append(code, make([]uint32, first-len(code)+int(count)*len(arm64.Slot{}))...)
	if err := binary.Read(in, binary.LittleEndian, code[first:]); err != nil {
		return err
	}
	memory, err := native.Executable(code)
	if err != nil {
		return err
	}
	run := native.Func[func()](memory)
	if err := binary.Write(out, binary.LittleEndian, uint64(uintptr(unsafe.Pointer(&state.Window)))); err != nil {
		return err
	}
	for {
		if in.Buffered() == 0 {
			if err := out.Flush(); err != nil {
				return err
			}
		}
		if _, err := io.ReadFull(in, state.Bytes()); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		state.Code = uint64(uintptr(unsafe.Pointer(&memory[4*first]))) + state.Code*uint64(unsafe.Sizeof(arm64.Slot{}))
		run()
		if _, err := out.Write(state.Bytes()); err != nil {
			return err
		}
	}
}
