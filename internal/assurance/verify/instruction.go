// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// An instruction is a line of a disassembly. The operand that is written comes first.
type instruction struct {
	address  uint64
	bytes    []byte
	mnemonic string
	operands []operand
	mask     int    // number of an opmask, or 0
	zeroing  bool   // elements that are not in mask become zeros
	target   uint64 // of a jump
	text     string
}

func (i *instruction) String() string { return fmt.Sprintf("%#x: %s", i.address, i.text) }

func (i *instruction) jumps() bool { return strings.HasPrefix(i.mnemonic, "j") }

// branches reports whether flags decide what follows i.
func (i *instruction) branches() bool { return i.jumps() && i.mnemonic != "jmp" }

type kind int

const (
	general   kind = iota // RAX to R15
	vector                // XMM, YMM or ZMM
	opmask                // k0 to k7
	immediate             // number
	memory                // [base + scale*index + displacement]
)

// An operand of an instruction.
type operand struct {
	kind
	number  uint64 // of a register; of an immediate, extended to 64 bits; of memory: displacement
	size    int    // in bits, of what is read or written
	address        // of memory
}

// An address in memory. With neither base nor index the displacement is an absolute address.
type address struct {
	base, index int // general registers, or none
	scale       uint64
	broadcast   bool // the datum is for all elements of a vector
	thread      bool // in the segment of the thread
}

const none = -1

// Numbers of general registers.
const (
	rax = iota
	rcx
	rdx
	rbx
	rsp
	rbp
	rsi
	rdi
	r8
	r14 = 14
)

var generalNames = func() map[string]operand {
	names := make(map[string]operand)
	for n, row := range [][4]string{
		{"rax", "eax", "ax", "al"}, {"rcx", "ecx", "cx", "cl"}, {"rdx", "edx", "dx", "dl"}, {"rbx", "ebx", "bx", "bl"},
		{"rsp", "esp", "sp", "spl"}, {"rbp", "ebp", "bp", "bpl"}, {"rsi", "esi", "si", "sil"}, {"rdi", "edi", "di", "dil"},
	} {
		for i, name := range row {
			names[name] = operand{kind: general, number: uint64(n), size: 64 >> i}
		}
	}
	for n := 8; n < 16; n++ {
		for i, suffix := range []string{"", "d", "w", "b"} {
			names[fmt.Sprint("r", n, suffix)] = operand{kind: general, number: uint64(n), size: 64 >> i}
		}
	}
	return names
}()

var sizes = map[string]int{
	"BYTE": 8, "WORD": 16, "DWORD": 32, "QWORD": 64, "XMMWORD": 128, "YMMWORD": 256, "ZMMWORD": 512,
}

var (
	masked = regexp.MustCompile(`^(\w+)\{k(\d)\}(\{z\})?$`)
	inMem  = regexp.MustCompile(`^(?:(\w+) (PTR|BCST) )?(?:(fs):)?(?:\[(.*)\]|(0x\w+))$`)
	term   = regexp.MustCompile(`([+-]?)(?:(rip)|([a-z]\w*?)(?:\*(\d))?|(0x[0-9a-f]+))(?:$|([+-]))`)
	halves = regexp.MustCompile(`^(v?pclmul)([lh])q([lh])qdq$`)
)

// parse returns an instruction from its line in a disassembly by GNU objdump in Intel's syntax.
func parse(at uint64, machineCode []byte, text string) (*instruction, error) {
	text, comment, _ := strings.Cut(text, "#")
	text = strings.TrimSpace(text)
	i := &instruction{address: at, bytes: machineCode, text: strings.Join(strings.Fields(text), " ")}
	var operands string
	i.mnemonic, operands, _ = strings.Cut(i.text, " ")
	switch {
	case i.jumps() || i.mnemonic == "call":
		hex, _, _ := strings.Cut(operands, " ")
		target, err := strconv.ParseUint(hex, 16, 64)
		i.target = target
		return i, err
	case strings.HasPrefix(i.mnemonic, "nop") || i.mnemonic == "xchg" && operands == "ax,ax" || i.mnemonic == "data16":
		i.mnemonic = "nop"
		return i, nil
	case operands == "":
		return i, nil
	}
	for n, s := range strings.Split(operands, ",") {
		if m := masked.FindStringSubmatch(s); m != nil && n == 0 {
			s, i.mask, i.zeroing = m[1], int(m[2][0]-'0'), m[3] != ""
		}
		o, err := parseOperand(s, at+uint64(len(machineCode)))
		if err != nil {
			return nil, err
		}
		i.operands = append(i.operands, o)
	}
	if m := halves.FindStringSubmatch(i.mnemonic); m != nil {
		// The first letter is for the first source.
		i.mnemonic = m[1] + "qdq"
		number := map[string]uint64{"l": 0, "h": 1}
		i.operands = append(i.operands, operand{kind: immediate, number: number[m[2]] | number[m[3]]<<4})
	}
	return i, i.complete(comment)
}

// complete sets sizes that the disassembler does not print, and checks relative addresses
// with its comment.
func (i *instruction) complete(comment string) error {
	for n := range i.operands {
		switch o := &i.operands[n]; {
		case o.kind != memory:
		case o.size == 0 && i.mnemonic != "lea":
			return fmt.Errorf("operand without a size")
		case o.base == none && o.index == none && !o.thread:
			hex, _, _ := strings.Cut(strings.TrimSpace(comment), " ")
			if at, err := strconv.ParseUint(hex, 16, 64); err != nil || at != o.number {
				return fmt.Errorf("relative address %#x, but the comment is %q", o.number, comment)
			}
		}
	}
	return nil
}

// parseOperand returns an operand of the instruction before address next.
func parseOperand(s string, next uint64) (operand, error) {
	if r, ok := generalNames[s]; ok {
		return r, nil
	}
	if n, err := strconv.ParseUint(s, 0, 64); err == nil {
		return operand{kind: immediate, number: n}, nil
	}
	number, err := strconv.Atoi(strings.TrimLeft(s, "xyzmk"))
	if bits, found := map[string]int{"xmm": 128, "ymm": 256, "zmm": 512}[s[:min(3, len(s))]]; found && err == nil {
		return operand{kind: vector, number: uint64(number), size: bits}, nil
	}
	if s[0] == 'k' && err == nil {
		return operand{kind: opmask, number: uint64(number), size: 64}, nil
	}
	m := inMem.FindStringSubmatch(s)
	if m == nil {
		return operand{}, fmt.Errorf("operand %q", s)
	}
	o := operand{kind: memory, size: sizes[m[1]], address: address{base: none, index: none, scale: 1, broadcast: m[2] == "BCST", thread: m[3] != ""}}
	rest := m[4]
	if m[5] != "" {
		rest = m[5]
	}
	sign := ""
	for rest != "" {
		t := term.FindStringSubmatchIndex(rest)
		if t == nil || t[0] != 0 {
			return o, fmt.Errorf("address %q", s)
		}
		part := func(n int) string {
			if t[2*n] < 0 {
				return ""
			}
			return rest[t[2*n]:t[2*n+1]]
		}
		if err := o.addTerm(sign+part(1), part(2) != "", part(3), part(4), part(5), next); err != nil {
			return o, fmt.Errorf("address %q: %w", s, err)
		}
		sign = part(6)
		rest = rest[t[1]:]
	}
	return o, nil
}

// addTerm adds a term of an address: RIP, a register with a scale or without, or a number.
func (o *operand) addTerm(sign string, rip bool, register, scale, number string, next uint64) error {
	switch {
	case rip:
		o.number += next
	case register != "":
		r, ok := generalNames[register]
		switch {
		case !ok || r.size != 64 || sign == "-":
			return fmt.Errorf("register %q", register)
		case scale == "" && o.base == none:
			o.base = int(r.number)
		case o.index == none:
			o.index = int(r.number)
			o.scale, _ = strconv.ParseUint("0"+scale, 10, 64)
			o.scale = max(o.scale, 1)
		default:
			return fmt.Errorf("three registers")
		}
	default:
		n, err := strconv.ParseUint(number, 0, 64)
		if err != nil {
			return err
		}
		if sign == "-" {
			n = -n
		}
		o.number += n
	}
	return nil
}

// memoryOperand returns the memory operand of i, or nil. LEA has one too.
func (i *instruction) memoryOperand() *operand {
	n := slices.IndexFunc(i.operands, func(o operand) bool { return o.kind == memory })
	if n < 0 {
		return nil
	}
	return &i.operands[n]
}
