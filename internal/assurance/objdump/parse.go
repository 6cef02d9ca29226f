// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package objdump

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"example.com/fastmac/internal/assurance/machine"
	"example.com/fastmac/internal/assurance/x86"
)

var generalNames = func() map[string]machine.Operand {
	names := make(map[string]machine.Operand)
	for n, row := range [][4]string{
		{"rax", "eax", "ax", "al"}, {"rcx", "ecx", "cx", "cl"}, {"rdx", "edx", "dx", "dl"}, {"rbx", "ebx", "bx", "bl"},
		{"rsp", "esp", "sp", "spl"}, {"rbp", "ebp", "bp", "bpl"}, {"rsi", "esi", "si", "sil"}, {"rdi", "edi", "di", "dil"},
	} {
		for i, name := range row {
			names[name] = machine.Operand{Kind: machine.General, Number: uint64(n), Size: 64 >> i}
		}
	}
	for n := 8; n < 16; n++ {
		for i, suffix := range []string{"", "d", "w", "b"} {
			names[fmt.Sprint("r", n, suffix)] = machine.Operand{Kind: machine.General, Number: uint64(n), Size: 64 >> i}
		}
	}
	return names
}()

var memorySizes = map[string]int{
	"BYTE": 8, "WORD": 16, "DWORD": 32, "QWORD": 64, "XMMWORD": 128, "YMMWORD": 256, "ZMMWORD": 512,
}

var (
	maskedOperand = regexp.MustCompile(`^(.+)\{k(\d)\}(\{z\})?$`)
	memoryText    = regexp.MustCompile(`^(?:(\w+) (PTR|BCST) )?(?:(fs):)?(?:\[(.*)\]|(0x\w+))$`)
	addressTerm   = regexp.MustCompile(`([+-]?)(?:(rip)|([a-z]\w*?)(?:\*(\d))?|(0x[0-9a-f]+))(?:$|([+-]))`)
	clmulHalves   = regexp.MustCompile(`^(v?pclmul)([lh])q([lh])qdq$`)
)

// Parse returns an instruction from its line in a disassembly by GNU objdump in Intel's syntax.
func Parse(at uint64, machineCode []byte, text string) (*machine.Instruction, error) {
	text, comment, _ := strings.Cut(text, "#")
	text = strings.TrimSpace(text)
	i := &machine.Instruction{Address: at, Bytes: machineCode, Text: strings.Join(strings.Fields(text), " ")}
	var operands string
	i.Mnemonic, operands, _ = strings.Cut(i.Text, " ")
	if strings.HasPrefix(i.Mnemonic, "nop") || i.Mnemonic == "xchg" && operands == "ax,ax" || i.Mnemonic == "data16" {
		i.Mnemonic = "nop"
	}
	x86.SetFlow(i)
	switch {
	case i.Jumps() || i.Flow == machine.Call:
		hex, _, _ := strings.Cut(operands, " ")
		target, err := strconv.ParseUint(hex, 16, 64)
		i.Target = target
		return i, err
	case i.Flow == machine.Fill || operands == "":
		return i, nil
	}
	for n, s := range strings.Split(operands, ",") {
		if m := maskedOperand.FindStringSubmatch(s); m != nil && n == 0 {
			s, i.Mask, i.Zeroing = m[1], int(m[2][0]-'0'), m[3] != ""
		}
		o, err := parseOperand(s, at+uint64(len(machineCode)))
		if err != nil {
			return nil, err
		}
		i.Operands = append(i.Operands, o)
	}
	if m := clmulHalves.FindStringSubmatch(i.Mnemonic); m != nil {
		// The first letter is for the first source.
		i.Mnemonic = m[1] + "qdq"
		number := map[string]uint64{"l": 0, "h": 1}
		i.Operands = append(i.Operands, machine.Operand{Kind: machine.Immediate, Number: number[m[2]] | number[m[3]]<<4})
	}
	return i, complete(i, comment)
}

// complete sets sizes that the disassembler does not print, and checks relative addresses
// with its comment.
func complete(i *machine.Instruction, comment string) error {
	for n := range i.Operands {
		switch o := &i.Operands[n]; {
		case o.Kind != machine.Memory:
		case o.Size == 0 && i.Mnemonic != "lea":
			return fmt.Errorf("operand without a size")
		case o.Base == machine.None && o.Index == machine.None && !o.Thread:
			hex, _, _ := strings.Cut(strings.TrimSpace(comment), " ")
			if at, err := strconv.ParseUint(hex, 16, 64); err != nil || at != o.Number {
				return fmt.Errorf("relative address %#x, but the comment is %q", o.Number, comment)
			}
		}
	}
	return nil
}

// parseOperand returns an operand of the instruction before address next.
func parseOperand(s string, next uint64) (machine.Operand, error) {
	if r, ok := generalNames[s]; ok {
		return r, nil
	}
	if n, err := strconv.ParseUint(s, 0, 64); err == nil {
		return machine.Operand{Kind: machine.Immediate, Number: n}, nil
	}
	number, err := strconv.Atoi(strings.TrimLeft(s, "xyzmk"))
	if bits, found := map[string]int{"xmm": 128, "ymm": 256, "zmm": 512}[s[:min(3, len(s))]]; found && err == nil {
		return machine.Operand{Kind: machine.Vector, Number: uint64(number), Size: bits}, nil
	}
	if s[0] == 'k' && err == nil {
		return machine.Operand{Kind: machine.Opmask, Number: uint64(number), Size: 64}, nil
	}
	m := memoryText.FindStringSubmatch(s)
	if m == nil {
		return machine.Operand{}, fmt.Errorf("operand %q", s)
	}
	o := machine.Operand{Kind: machine.Memory, Size: memorySizes[m[1]], Address: machine.Address{Base: machine.None, Index: machine.None, Scale: 1, Broadcast: m[2] == "BCST", Thread: m[3] != ""}}
	rest := m[4]
	if m[5] != "" {
		rest = m[5]
	}
	sign := ""
	for rest != "" {
		t := addressTerm.FindStringSubmatchIndex(rest)
		if t == nil || t[0] != 0 {
			return o, fmt.Errorf("address %q", s)
		}
		part := func(n int) string {
			if t[2*n] < 0 {
				return ""
			}
			return rest[t[2*n]:t[2*n+1]]
		}
		if err := addTerm(&o, sign+part(1), part(2) != "", part(3), part(4), part(5), next); err != nil {
			return o, fmt.Errorf("address %q: %w", s, err)
		}
		sign = part(6)
		rest = rest[t[1]:]
	}
	return o, nil
}

// addTerm adds a term of an address: RIP, a register with a scale or without, or a number.
func addTerm(o *machine.Operand, sign string, rip bool, register, scale, number string, next uint64) error {
	switch {
	case rip:
		o.Number += next
	case register != "":
		r, ok := generalNames[register]
		switch {
		case !ok || r.Size != 64 || sign == "-":
			return fmt.Errorf("register %q", register)
		case scale == "" && o.Base == machine.None:
			o.Base = int(r.Number)
		case o.Index == machine.None:
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
