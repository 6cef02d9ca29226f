// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package program

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"example.com/fastmac/internal/assurance/machine"
)

// compare checks that a function in the binary has the instructions of the .s file, with the
// same operands and targets. Besides these it may have what the Go assembler adds: the check
// of the stack, the frame, and NOPs that align loops.
func (s source) compare(p *Program, f *machine.Function) error {
	at := s.prologue(p, f)
	index := make([]int, len(s.lines)) // of the code of each line
	for n, line := range s.lines {
		for at < len(f.Code) && f.Code[at].Mnemonic == "nop" {
			at++
		}
		if at >= len(f.Code) {
			return fmt.Errorf("there is no code for %q", line)
		}
		index[n] = at
		if line == "RET" && s.frame > 0 {
			// Adding 128 has a longer code than subtracting -128.
			want := []string{fmt.Sprintf("add g4:64,$%#x", s.frame), "sub g4:64,$0xffffffffffffff80"}
			if at+2 >= len(f.Code) || !slices.Contains(want, p.canonical(f.Code[at])) || p.canonical(f.Code[at+1]) != "pop g5:64" {
				return fmt.Errorf("%v does not free a frame of %d bytes", f.Code[at], s.frame)
			}
			at += 2
		}
		if f.Code[at].Jumps() {
			at++
			continue
		}
		want, err := s.canonical(line)
		if got := p.canonical(f.Code[at]); err != nil || got != want && got != shorter(want) {
			return fmt.Errorf("%v is %q, but the source has %q, which is %q (error %v)", f.Code[at], got, line, want, err)
		}
		at++
	}
	for n, line := range s.lines {
		name, label, _ := strings.Cut(line, " ")
		i := f.Code[index[n]]
		if !i.Jumps() && !strings.HasPrefix(name, "J") {
			continue
		}
		to := s.labels[strings.TrimSpace(label)]
		if i.Mnemonic != jumpNames[name] || to >= len(index) || final(f, f.At[i.Target]) != final(f, index[to]) {
			return fmt.Errorf("%v, but the source has %q", i, line)
		}
	}
	for ; at < len(f.Code); at++ {
		switch i := f.Code[at]; {
		case i.Mnemonic == "nop" || i.Mnemonic == "int3" || i.Mnemonic == "call" && i.Target == p.morestack:
		case i.Mnemonic == "jmp" && i.Target == f.Code[0].Address:
		default:
			return fmt.Errorf("%v is not in the source", i)
		}
	}
	return nil
}

// wideMove is a move of a number of 32 bits to a register of 64, in canonical form.
var wideMove = regexp.MustCompile(`^(mov g\d+):64(,\$0x[0-9a-f]{1,8})$`)

// shorter returns what an assembler may make of an instruction instead, both in canonical form, or "". From
// Go 1.27 on it moves such a number to the register's low half, which makes zeros of the high one.
func shorter(canonical string) string {
	if m := wideMove.FindStringSubmatch(canonical); m != nil {
		return m[1] + ":32" + m[2]
	}
	return ""
}

// final returns the index of what is executed after a jump to instruction n. The assembler
// omits jumps to jumps.
func final(f *machine.Function, n int) int {
	for {
		switch f.Code[n].Mnemonic {
		case "nop":
			n++
		case "jmp":
			n = f.At[f.Code[n].Target]
		default:
			return n
		}
	}
}

// prologue returns the index of the first instruction of the source.
func (s source) prologue(p *Program, f *machine.Function) (at int) {
	for _, prefix := range []string{
		"mov g14:64,thread", "lea g12:64,0xffffffff", "cmp g4:64,0x10(g14)", "cmp g12:64,0x10(g14)", "jbe ",
		"push g5:64", "mov g5:64,g4:64", "sub g4:64,$", "add g4:64,$0xffffffffffffff80",
	} {
		if strings.HasPrefix(p.canonical(f.Code[at]), prefix) && (s.frame > 0 || prefix != "jbe ") {
			at++
		}
	}
	return at
}

var jumpNames = map[string]string{
	"JMP": "jmp", "JA": "ja", "JHI": "ja", "JAE": "jae", "JCC": "jae", "JB": "jb", "JCS": "jb", "JBE": "jbe", "JLS": "jbe",
	"JE": "je", "JEQ": "je", "JZ": "je", "JNE": "jne", "JNZ": "jne", "JG": "jg", "JGE": "jge", "JLE": "jle", "JLT": "jl",
}

// names of instructions that are not those of Intel in small letters, with or without a
// suffix for the size.
var names = map[string]string{
	"CMOVQCC": "cmovae", "CMOVQCS": "cmovb", "CMOVQHI": "cmova", "CMOVLHI": "cmova", "CMOVQLE": "cmovle", "CMOVQLS": "cmovbe", "CMOVQLT": "cmovl", "CMOVQNE": "cmovne",
	// The Go assembler moves 64 bits.
	"MOVD": "movq", "IMUL3Q": "imul", "MOVBLZX": "movzx", "MOVBQZX": "movzx", "PADDL": "paddd", "PSLLL": "pslld", "PSRAL": "psrad",
}

var sized = regexp.MustCompile(`^(ADC|ADD|AND|ANDN|BSWAP|BZHI|CMP|DEC|LEA|MOV|MULX|NEG|OR|RDSEED|RORX|SBB|SHL|SHLX|SHR|SUB|TEST|XOR)([BLQ])$`)

// canonical returns a line of a .s file in the form of program.canonical.
func (s source) canonical(line string) (string, error) {
	mnemonic, list, _ := strings.Cut(line, " ")
	mnemonic, suffix, _ := strings.Cut(mnemonic, ".")
	size := 64
	name := strings.ToLower(mnemonic)
	if m := sized.FindStringSubmatch(mnemonic); m != nil {
		name = strings.ToLower(m[1])
		size = map[string]int{"B": 8, "L": 32, "Q": 64}[m[2]]
	} else if n, ok := names[mnemonic]; ok {
		name = n
	}
	if slices.Contains([]string{"KMOVB", "KMOVW", "KMOVD", "VMOVD", "VPBROADCASTD", "MOVBLZX", "CMOVLHI"}, mnemonic) {
		size = 32
	}
	var operands []string
	mask := ""
	for _, o := range strings.Split(list, ",") {
		o = strings.TrimSpace(o)
		if o == "" {
			continue
		}
		if len(o) == 2 && o[0] == 'K' && !strings.HasPrefix(mnemonic, "K") {
			mask = "{k" + o[1:] + "}"
			continue
		}
		c, err := s.operand(o, size)
		if err != nil {
			return "", err
		}
		operands = append(operands, c)
	}
	if name != "cmp" { // in Go's syntax the operand that is written is the last one
		slices.Reverse(operands)
	}
	if len(operands) == 2 && strings.HasSuffix(name, "pclmulqdq") {
		return "", fmt.Errorf("two operands")
	}
	switch suffix {
	case "Z":
		mask += "{z}"
	case "BCST":
		mask += "{bcst}"
	}
	if mnemonic == "MOVQ" && slices.ContainsFunc(operands, func(o string) bool { return o[0] == 'v' }) {
		name = "movq"
	}
	return name + mask + " " + strings.Join(operands, ","), nil
}

var goMemory = regexp.MustCompile(`^([+-]?\d*)(?:\(([A-Z0-9]+)\))(?:\(([A-Z0-9]+)\*(\d)\))?$`)
var goSymbol = regexp.MustCompile(`^·?(\w+)(?:<>)?\+(\d+)\(SB\)$`)
var goArgument = regexp.MustCompile(`^\w+\+(\d+)\(FP\)$`)

// operand returns an operand of a .s file, with that size if it is a general register, in the
// form of program.operand.
func (s source) operand(o string, size int) (string, error) {
	if o[0] == '$' {
		n, err := strconv.ParseInt(strings.TrimPrefix(o, "$"), 0, 64)
		if err != nil {
			u, err := strconv.ParseUint(o[1:], 0, 64)
			return fmt.Sprintf("$%#x", u), err
		}
		return fmt.Sprintf("$%#x", uint64(n)), nil
	}
	if m := goSymbol.FindStringSubmatch(o); m != nil {
		return fmt.Sprintf("%s+%s", m[1], m[2]), nil
	}
	if m := goArgument.FindStringSubmatch(o); m != nil {
		n, err := strconv.Atoi(m[1])
		n += s.frame + machine.ArgumentBase
		if s.frame > 0 {
			n += 8 // the saved RBP
		}
		return fmt.Sprintf("%#x(g4)", n), err
	}
	if m := goMemory.FindStringSubmatch(o); m != nil {
		n, _ := strconv.ParseInt("0"+strings.TrimLeft(m[1], "+-"), 10, 64)
		if strings.HasPrefix(m[1], "-") {
			n = -n
		}
		base, err := goRegister(m[2])
		text := fmt.Sprintf("%#x(g%d)", uint64(n), base)
		if err == nil && m[3] != "" {
			var index int
			index, err = goRegister(m[3])
			text += fmt.Sprintf("(g%d*%s)", index, m[4])
		}
		return text, err
	}
	if n, err := strconv.Atoi(o[1:]); err == nil && strings.ContainsRune("XYZ", rune(o[0])) {
		return fmt.Sprintf("v%d:%d", n, map[byte]int{'X': 128, 'Y': 256, 'Z': 512}[o[0]]), nil
	}
	if o[0] == 'K' {
		return "k" + o[1:], nil
	}
	if o == "CL" || o == "DL" {
		o, size = o[:1]+"X", 8
	}
	n, err := goRegister(o)
	return fmt.Sprintf("g%d:%d", n, size), err
}

func goRegister(name string) (int, error) {
	if n := slices.Index([]string{"AX", "CX", "DX", "BX", "SP", "BP", "SI", "DI"}, name); n >= 0 {
		return n, nil
	}
	return strconv.Atoi(strings.TrimPrefix(name, "R"))
}

// canonical returns an instruction in a form in which sources can be compared with it.
func (p *Program) canonical(i *machine.Instruction) string {
	mask := ""
	if i.Mask != 0 {
		mask = fmt.Sprintf("{k%d}", i.Mask)
	}
	if i.Zeroing {
		mask += "{z}"
	}
	var operands []string
	for _, o := range i.Operands {
		if o.Broadcast {
			mask += "{bcst}"
		}
		operands = append(operands, p.operand(o))
	}
	return i.Mnemonic + mask + " " + strings.Join(operands, ",")
}

func (p *Program) operand(o machine.Operand) string {
	switch o.Kind {
	case machine.General:
		return fmt.Sprintf("g%d:%d", o.Number, o.Size)
	case machine.Vector:
		return fmt.Sprintf("v%d:%d", o.Number, o.Size)
	case machine.Opmask:
		return fmt.Sprintf("k%d", o.Number)
	case machine.Immediate:
		return fmt.Sprintf("$%#x", o.Number)
	}
	if o.Thread {
		return "thread"
	}
	if o.Base == machine.None && o.Index == machine.None {
		s := p.symbol(o.Number)
		return fmt.Sprintf("%s+%d", s.Name[strings.LastIndexByte(s.Name, '.')+1:], o.Number-s.Value)
	}
	text := fmt.Sprintf("%#x(g%d)", o.Number, o.Base)
	if o.Index != machine.None {
		text += fmt.Sprintf("(g%d*%d)", o.Index, o.Scale)
	}
	return text
}
