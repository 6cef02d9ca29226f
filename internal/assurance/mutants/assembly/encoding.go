// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build linux && amd64

package main

import "bytes"

// An encoding says where the parts of an instruction are in its bytes.
type encoding struct {
	bytes  []byte
	vex    int // where the bytes after 0xc4, 0xc5 or 0x62 begin, or 0
	rex    int // where the REX prefix is, or -1
	space  int // of opcodes: 0, or 1 to 3 for 0x0f, 0x0f38 and 0x0f3a
	opcode int // index
	modrm  int // index, or -1
	disp   int // index
	dispN  int // bytes
	imm    int // index; the rest of the bytes
}

func (e *encoding) isEVEX() bool { return e.vex > 0 && e.bytes[e.vex-1] == 0x62 }

// register reports whether the operand of ModRM is a register.
func (e *encoding) register() bool { return e.modrm >= 0 && e.bytes[e.modrm]>>6 == 3 }

// relative reports whether the operand of ModRM is relative to RIP.
func (e *encoding) relative() bool { return e.modrm >= 0 && e.bytes[e.modrm]&0xc7 == 5 }

// jump reports whether the instruction is a conditional jump.
func (e *encoding) jump() bool {
	op := e.bytes[e.opcode]
	return e.vex == 0 && (e.space == 0 && op>>4 == 7 || e.space == 1 && op>>4 == 8)
}

// extended reports whether a field of ModRM is a part of the opcode.
func (e *encoding) extended() bool {
	op := e.bytes[e.opcode]
	switch e.space {
	case 0:
		return e.vex == 0 && (op>>2 == 0x80>>2 || op>>1 == 0xc0>>1 || op>>2 == 0xd0>>2 || op>>1 == 0xf6>>1 || op>>1 == 0xfe>>1 || op>>1 == 0xc6>>1)
	case 1:
		return op >= 0x71 && op <= 0x73 || op == 0x18 || op == 0xba
	case 2:
		return op == 0xf3 && e.vex > 0
	}
	return false
}

// parse returns the encoding of an instruction, of which b has all bytes.
func parse(b []byte) *encoding {
	e := &encoding{bytes: b, rex: -1, modrm: -1}
	n := 0
	for bytes.IndexByte([]byte{0x66, 0xf2, 0xf3, 0x64, 0x2e}, b[n]) >= 0 {
		n++
	}
	if b[n]>>4 == 4 {
		e.rex = n
		n++
	}
	switch b[n] {
	case 0xc5:
		e.vex, e.space, e.opcode = n+1, 1, n+2
	case 0xc4:
		e.vex, e.space, e.opcode = n+1, int(b[n+1]&31), n+3
	case 0x62:
		e.vex, e.space, e.opcode = n+1, int(b[n+1]&7), n+4
	case 0x0f:
		e.space, e.opcode = 1, n+1
		switch b[n+1] {
		case 0x38:
			e.space, e.opcode = 2, n+2
		case 0x3a:
			e.space, e.opcode = 3, n+2
		}
	default:
		e.opcode = n
	}
	n = e.opcode + 1
	if e.hasModRM() {
		e.modrm = n
		mod, rm := b[n]>>6, b[n]&7
		n++
		if mod != 3 && rm == 4 {
			if mod == 0 && b[n]&7 == 5 {
				e.dispN = 4
			}
			n++
		}
		switch {
		case mod == 1:
			e.dispN = 1
		case mod == 2 || mod == 0 && rm == 5:
			e.dispN = 4
		}
	}
	e.disp = n
	e.imm = n + e.dispN
	return e
}

// hasModRM reports whether a byte ModRM follows the opcode. It knows the instructions that a
// kernel may have.
func (e *encoding) hasModRM() bool {
	op := e.bytes[e.opcode]
	switch {
	case e.vex > 0:
		return op != 0x77 || e.space != 1 // VZEROUPPER
	case e.space == 0:
		return !(op < 0x40 && op&7 >= 4 || op>>4 == 5 || op>>4 == 7 || op>>4 == 9 || op == 0xa8 || op == 0xa9 ||
			op>>4 == 0xb || op == 0xc3 || op == 0xcc || op == 0xe8 || op == 0xe9 || op == 0xeb || op == 0x68 || op == 0x6a)
	case e.space == 1:
		return op>>4 != 8 && op>>3 != 0xc8>>3 && op != 0xa2 && op != 0x05 && op != 0x0b
	}
	return true
}
