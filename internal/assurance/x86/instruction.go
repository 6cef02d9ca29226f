// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package x86

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// An Instruction is a line of a disassembly. The operand that is written comes first.
type Instruction struct {
	Address  uint64
	Bytes    []byte
	Mnemonic string
	Operands []Operand
	Mask     int    // number of an opmask, or 0
	Zeroing  bool   // elements that are not in mask become zeros
	Target   uint64 // of a jump
	Text     string
}

func (i *Instruction) String() string { return fmt.Sprintf("%#x: %s", i.Address, i.Text) }

func (i *Instruction) Jumps() bool { return strings.HasPrefix(i.Mnemonic, "j") }

// Branches reports whether flags decide what follows i.
func (i *Instruction) Branches() bool { return i.Jumps() && i.Mnemonic != "jmp" }

// Condition returns the suffix of the condition of flags on which the result of i depends, or "".
func (i *Instruction) Condition() string {
	switch {
	case i.Branches():
		return i.Mnemonic[1:]
	case strings.HasPrefix(i.Mnemonic, "cmov"):
		return i.Mnemonic[4:]
	case i.Mnemonic == "adc" || i.Mnemonic == "sbb":
		return "b"
	}
	return ""
}

type Kind int

const (
	General   Kind = iota // RAX to R15
	Vector                // XMM, YMM or ZMM
	Opmask                // k0 to k7
	Immediate             // number
	Memory                // [base + scale*index + displacement]
)

// An Operand of an instruction.
type Operand struct {
	Kind
	Number  uint64 // of a register; of an immediate, extended to 64 bits; of memory: displacement
	Size    int    // in bits, of what is read or written
	address        // of memory
}

// An address in memory. With neither base nor index the displacement is an absolute address.
type address struct {
	Base, Index int // general registers, or none
	Scale       uint64
	Broadcast   bool // the datum is for all elements of a vector
	thread      bool // in the segment of the thread
}

const None = -1

// Numbers of general registers.
const (
	RAX = iota
	RCX
	RDX
	RBX
	RSP
	RBP
	RSI
	RDI
	R8
	R14 = 14
)

var generalNames = func() map[string]Operand {
	names := make(map[string]Operand)
	for n, row := range [][4]string{
		{"rax", "eax", "ax", "al"}, {"rcx", "ecx", "cx", "cl"}, {"rdx", "edx", "dx", "dl"}, {"rbx", "ebx", "bx", "bl"},
		{"rsp", "esp", "sp", "spl"}, {"rbp", "ebp", "bp", "bpl"}, {"rsi", "esi", "si", "sil"}, {"rdi", "edi", "di", "dil"},
	} {
		for i, name := range row {
			names[name] = Operand{Kind: General, Number: uint64(n), Size: 64 >> i}
		}
	}
	for n := 8; n < 16; n++ {
		for i, suffix := range []string{"", "d", "w", "b"} {
			names[fmt.Sprint("r", n, suffix)] = Operand{Kind: General, Number: uint64(n), Size: 64 >> i}
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

// Parse returns an instruction from its line in a disassembly by GNU objdump in Intel's syntax.
func Parse(at uint64, machineCode []byte, text string) (*Instruction, error) {
	text, comment, _ := strings.Cut(text, "#")
	text = strings.TrimSpace(text)
	i := &Instruction{Address: at, Bytes: machineCode, Text: strings.Join(strings.Fields(text), " ")}
	var operands string
	i.Mnemonic, operands, _ = strings.Cut(i.Text, " ")
	switch {
	case i.Jumps() || i.Mnemonic == "call":
		hex, _, _ := strings.Cut(operands, " ")
		target, err := strconv.ParseUint(hex, 16, 64)
		i.Target = target
		return i, err
	case strings.HasPrefix(i.Mnemonic, "nop") || i.Mnemonic == "xchg" && operands == "ax,ax" || i.Mnemonic == "data16":
		i.Mnemonic = "nop"
		return i, nil
	case operands == "":
		return i, nil
	}
	for n, s := range strings.Split(operands, ",") {
		if m := masked.FindStringSubmatch(s); m != nil && n == 0 {
			s, i.Mask, i.Zeroing = m[1], int(m[2][0]-'0'), m[3] != ""
		}
		o, err := parseOperand(s, at+uint64(len(machineCode)))
		if err != nil {
			return nil, err
		}
		i.Operands = append(i.Operands, o)
	}
	if m := halves.FindStringSubmatch(i.Mnemonic); m != nil {
		// The first letter is for the first source.
		i.Mnemonic = m[1] + "qdq"
		number := map[string]uint64{"l": 0, "h": 1}
		i.Operands = append(i.Operands, Operand{Kind: Immediate, Number: number[m[2]] | number[m[3]]<<4})
	}
	return i, i.complete(comment)
}

// complete sets sizes that the disassembler does not print, and checks relative addresses
// with its comment.
func (i *Instruction) complete(comment string) error {
	for n := range i.Operands {
		switch o := &i.Operands[n]; {
		case o.Kind != Memory:
		case o.Size == 0 && i.Mnemonic != "lea":
			return fmt.Errorf("operand without a size")
		case o.Base == None && o.Index == None && !o.thread:
			hex, _, _ := strings.Cut(strings.TrimSpace(comment), " ")
			if at, err := strconv.ParseUint(hex, 16, 64); err != nil || at != o.Number {
				return fmt.Errorf("relative address %#x, but the comment is %q", o.Number, comment)
			}
		}
	}
	return nil
}

// parseOperand returns an operand of the instruction before address next.
func parseOperand(s string, next uint64) (Operand, error) {
	if r, ok := generalNames[s]; ok {
		return r, nil
	}
	if n, err := strconv.ParseUint(s, 0, 64); err == nil {
		return Operand{Kind: Immediate, Number: n}, nil
	}
	number, err := strconv.Atoi(strings.TrimLeft(s, "xyzmk"))
	if bits, found := map[string]int{"xmm": 128, "ymm": 256, "zmm": 512}[s[:min(3, len(s))]]; found && err == nil {
		return Operand{Kind: Vector, Number: uint64(number), Size: bits}, nil
	}
	if s[0] == 'k' && err == nil {
		return Operand{Kind: Opmask, Number: uint64(number), Size: 64}, nil
	}
	m := inMem.FindStringSubmatch(s)
	if m == nil {
		return Operand{}, fmt.Errorf("operand %q", s)
	}
	o := Operand{Kind: Memory, Size: sizes[m[1]], address: address{Base: None, Index: None, Scale: 1, Broadcast: m[2] == "BCST", thread: m[3] != ""}}
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
func (o *Operand) addTerm(sign string, rip bool, register, scale, number string, next uint64) error {
	switch {
	case rip:
		o.Number += next
	case register != "":
		r, ok := generalNames[register]
		switch {
		case !ok || r.Size != 64 || sign == "-":
			return fmt.Errorf("register %q", register)
		case scale == "" && o.Base == None:
			o.Base = int(r.Number)
		case o.Index == None:
			o.Index = int(r.Number)
			o.Scale, _ = strconv.ParseUint("0"+scale, 10, 64)
			o.Scale = max(o.Scale, 1)
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
		o.Number += n
	}
	return nil
}

// MemoryOperand returns the memory operand of i, or nil. LEA has one too.
func (i *Instruction) MemoryOperand() *Operand {
	n := slices.IndexFunc(i.Operands, func(o Operand) bool { return o.Kind == Memory })
	if n < 0 {
		return nil
	}
	return &i.Operands[n]
}
