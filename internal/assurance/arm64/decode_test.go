// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package arm64_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"example.com/fastmac/internal/assurance/arm64"
	"example.com/fastmac/internal/assurance/llvm"
	"example.com/fastmac/internal/assurance/machine"
)

// TestObjdump has a second opinion on all instructions of the kernels.
func TestObjdump(t *testing.T) {
	total := 0
	for _, f := range machineCode(t) {
		for _, i := range f.code {
			got, err := arm64.Decode(i.Address, binary.LittleEndian.AppendUint32(nil, i.opcode))
			if err != nil {
				t.Errorf("%s: %#x: %v: %v", f.name, i.opcode, i, err)
			} else if got, want := same(got.Text), same(i.String()); got != want {
				t.Errorf("%s: %#x is %q, but objdump has %q", f.name, i.opcode, got, want)
			}
			total++
		}
	}
	t.Logf("%d instructions", total)
}

// TestEncodings has a second opinion on random operands of each encoding.
func TestEncodings(t *testing.T) {
	tools, err := llvm.Find("llvm-mc")
	if err != nil {
		t.Skip(err)
	}
	r := rand.New(rand.NewPCG(3, 4))
	var texts []string
	var code strings.Builder
	for k := range arm64.Encodings {
		for range 100 {
			b := binary.LittleEndian.AppendUint32(nil, arm64.RandomInstruction(k, r))
			i, err := arm64.Decode(0, b)
			if err != nil || i.Jumps() || i.Mnemonic == "adrp" { // llvm-mc has distances
				continue
			}
			texts = append(texts, i.Text)
			fmt.Fprintf(&code, "%#x %#x %#x %#x\n", b[0], b[1], b[2], b[3])
		}
	}
	out, err := tools.Run(code.String(), "llvm-mc", "--disassemble", "--triple=aarch64", "--mattr=+aes,+sha3,+rand", "--print-imm-hex")
	if err != nil {
		t.Fatal(err)
	}
	lines := disassembled.FindAllStringSubmatch(out, -1)
	if len(lines) != len(texts) {
		t.Fatalf("%d lines, want %d", len(lines), len(texts))
	}
	for k, text := range texts {
		want := strings.TrimSpace(lines[k][1] + " " + lines[k][2])
		// Names for what no kernel does: a sum that is not written, and a move that OR could be.
		text = strings.Replace(text, "adds xzr,", "cmn", 1)
		if strings.HasPrefix(want, "mov") {
			text = orr.ReplaceAllString(text, "mov $1")
		}
		if got, want := same(text), same(want); got != want {
			t.Errorf("%q, but llvm-mc has %q", got, want)
		}
	}
	t.Logf("%d instructions", len(texts))
}

var (
	disassembled = regexp.MustCompile(`(?m)^\t([a-z]\w*)(?:[ \t]+(.*?))?(?:[ \t]*//.*)?$`)
	orr          = regexp.MustCompile(`^orr (x\d+, )xzr, `)
)

var (
	shiftedNumber = regexp.MustCompile(`#(\w+), lsl #(?:12|0xc)\b`)
	anyNumber     = regexp.MustCompile(`#-?\w+`)
	rndrrs        = regexp.MustCompile(`^mrs (x\w+), RNDRRS$`)
)

// same returns an instruction in a form in which texts of LLVM and of Decode can be compared.
func same(text string) string {
	text = strings.NewReplacer("{ ", "", " }", "", ", hs", ", cs", ", lo", ", cc", "prfm pldl1keep,", "prfm", "b.hs", "b.cs", "b.lo", "b.cc").Replace(text)
	text = rndrrs.ReplaceAllString(text, "rndrrs $1")
	text = shiftedNumber.ReplaceAllString(text, "#${1}000")
	return anyNumber.ReplaceAllStringFunc(text, func(number string) string {
		n, err := strconv.ParseInt(number[1:], 0, 64)
		if err != nil {
			u, err := strconv.ParseUint(number[1:], 0, 64)
			if err != nil {
				return number
			}
			n = int64(u)
		}
		return fmt.Sprint("#", n)
	})
}

// TestRefused has what no model is for, and what a CPU may execute as anything.
func TestRefused(t *testing.T) {
	for want, refused := range map[string]map[uint32]string{
		"no instruction that a kernel needs": {
			0x00000001: "udf #1",
			0xd61f0060: "br x3",
			0xd63f0060: "blr x3",
			0x94000001: "bl",
			0xd65f0060: "ret x3",
			0xd65f0bff: "retaa",
			0xd4000001: "svc #0",
			0xd4200000: "brk #0",
			0xd5033fdf: "isb",
			0xd51b4200: "msr nzcv, x0",
			0xd53b4200: "mrs x0, nzcv",
			0xf9800062: "prfm pldl2keep, [x3]",
			0x4c407060: "ld1 { v0.16b }, [x3]",
			0x58000040: "ldr x0, of what follows the code",
			0xf8616860: "ldr x0, [x3, x1]",
			0xc85f7c60: "ldxr x0, [x3]",
			0xf8400862: "ldtr x2, [x3]",
			0x54000010: "bc.eq",
			0x35000044: "cbnz w4",
			0x9ac10c62: "sdiv x2, x3, x1",
			0x1ac10862: "udiv w2, w3, w1",
			0xda010062: "sbc x2, x3, x1",
			0xba010062: "adcs x2, x3, x1",
			0x9b010462: "madd x2, x3, x1, x1",
			0x8bc10862: "add with ror, which there is not",
			0x8b810862: "add x2, x3, x1, asr #2",
			0x8b210062: "add x2, x3, w1, uxtb",
			0x9a811462: "csinc x2, x3, x1, ne",
			0x4a210062: "eon w2, w3, w1",
			0x4e218462: "add v2.16b, v3.16b, v1.16b",
			0x0ea18462: "add v2.2s, v3.2s, v1.2s",
			0x4ea11c62: "orr v2.16b, v3.16b, v1.16b",
			0x4e214862: "aese with a size",
			0x4e285862: "aesd v2.16b, v3.16b",
			0x4e287862: "aesimc v2.16b, v3.16b",
			0x0e21e062: "pmull v2.8h, v3.8b, v1.8b",
			0x6f1c0462: "ushr of 16 bits",
			0x4f020462: "movi",
			0x2e214862: "rev32, or uqxtn",
			0x6e014462: "idle bits of ext",
			0x0e014062: "tbl of 64 bits, or none",
			0x2e013862: "shll of 8 bits, or none",
		},
		"no condition that a kernel needs": {
			0x5400000e: "b.al",
			0x5400000f: "b.nv",
			0x9a816062: "csel x2, x3, x1, vs",
			0x9a81e062: "csel x2, x3, x1, al",
		},
		"the stack pointer": {
			0x910043ff: "add sp, sp, #16",
			0x910043e0: "add x0, sp, #16",
			0xd10043ff: "sub sp, sp, #16",
			0xf10043ff: "cmp sp, #16",
			0xb10043e0: "adds x0, sp, #16",
			0x92401c1f: "and sp, x0, #0xff",
			0xb2401fff: "mov sp, #0xff",
		},
		"a reserved immediate": {
			0x9200f862: "and of no bits",
		},
		"a reserved immediate, or one with idle bits": {
			0x9240fc62: "and of all bits",
			0x9207f062: "and of 2 bits in turn, rotated by 7",
		},
		"bits of a word": {
			0xd3441c62: "ubfx x2, x3, #4, #4",
			0xd37c0c62: "ubfiz x2, x3, #4, #4",
			0x53007c62: "lsr w2, w3, #0",
		},
		"a shift that is none": {
			0x8b410062: "add x2, x3, x1, lsr #0",
		},
		"two registers that are one": {
			0xad400020: "ldp q0, q0, [x1]",
			0xacc10020: "ldp q0, q0, [x1], #32",
		},
		"a base with an update that is moved too": {
			0xb8404421: "ldr w1, [x1], #4",
			0xf8008421: "str x1, [x1], #8",
			0x385ffc21: "ldrb w1, [x1, #-1]!",
		},
	} {
		for code, what := range refused {
			i, err := arm64.Decode(0x400000, binary.LittleEndian.AppendUint32(nil, code))
			if err == nil || err.Error() != want {
				t.Errorf("%#08x: %s is %v, error %v, want %s", code, what, i, err, want)
			}
		}
	}
	if _, err := arm64.Decode(0x400000, make([]byte, 3)); err == nil {
		t.Error("three bytes are an instruction")
	}
}

// TestDecode has operands of each kind.
func TestDecode(t *testing.T) {
	for code, want := range map[uint32]string{
		0x8b4904c6: "[{general 6:64} {general 6:64} {general 9:64 lsr #1}]",
		0xaa1f03ef: "[{general 15:64} {general 32:64}]",
		0x9280000f: "[{general 15:64} {immediate 0xffffffffffffffff}]",
		0xd2f8400b: "[{general 11:64} {immediate 0xc200000000000000}]",
		0x92400c88: "[{general 8:64} {general 4:64} {immediate 0xf}]",
		0xb2480294: "[{general 20:64} {general 20:64} {immediate 0x100000000000000}]",
		0xd37ff8a5: "[{general 5:64} {general 5:64} {immediate 0x1}]",
		0xf94007e0: "[{general 0:64} {memory:64 31+0x8}]",
		0x385ffe11: "[{general 17:32} {memory:8 16+0xffffffffffffffff before}]",
		0xacc1781d: "[{vector 29:128.128} {vector 30:128.128} {memory:256 0+0x20 after}]",
		0x4e181cac: "[{vector 12:128.64[1]} {general 5:64}]",
		0x0e1c3c23: "[{general 3:32} {vector 1:128.32[3]}]",
		0x2eadc180: "[{vector 0:128.64} {vector 12:64.32} {vector 13:64.32}]",
		0x4e0023ff: "[{vector 31:128.8} {vector 31:128.8} {vector 0:128.8} {vector 0:128.8}]",
		0x0ef3e26e: "[{vector 14:128.128} {vector 19:64.64} {vector 19:64.64}]",
		0x6f5c0446: "[{vector 6:128.64} {vector 2:128.64} {immediate 0x24}]",
		0x2ea13886: "[{vector 6:128.64} {vector 4:64.32} {immediate 0x20}]",
		0xb6f815ba: "[{general 26:64} {immediate 0x3f}] to 0x4002b4",
		0x17ffffff: "[] to 0x3ffffc",
		0x54000062: "[] to 0x40000c if cs",
		0x9a8a21ca: "[{general 10:64} {general 14:64} {general 10:64}] if cs",
		0xb000000f: "[{general 15:64} {immediate 0x401000}]",
		0xf0fffffe: "[{general 30:64} {immediate 0x3ff000}]",
	} {
		i, err := arm64.Decode(0x400000, binary.LittleEndian.AppendUint32(nil, code))
		if err != nil {
			t.Errorf("%#08x: %v", code, err)
		} else if got := describe(i); got != want {
			t.Errorf("%v is %s, want %s", i, got, want)
		}
	}
}

// describe returns what follows the mnemonic.
func describe(i *machine.Instruction) string {
	var all []string
	for _, o := range i.Operands {
		text := ""
		switch o.Kind {
		case machine.General:
			text = fmt.Sprintf("general %d:%d", o.Number, o.Size)
			if o.Shift.By > 0 {
				text += fmt.Sprintf(" %s #%d", o.Shift.Kind, o.Shift.By)
			}
		case machine.Vector:
			text = fmt.Sprintf("vector %d:%d.%d", o.Number, o.Size, o.Element)
			if o.Lane != machine.None {
				text += fmt.Sprintf("[%d]", o.Lane)
			}
		case machine.Immediate:
			text = fmt.Sprintf("immediate %#x", o.Number)
		case machine.Memory:
			text = fmt.Sprintf("memory:%d %d+%#x%s", o.Size, o.Base, o.Number, []string{"", " before", " after"}[o.Update])
		}
		all = append(all, "{"+text+"}")
	}
	text := fmt.Sprint(all)
	if i.Target != 0 {
		text += fmt.Sprintf(" to %#x", i.Target)
	}
	if i.Condition != "" {
		text += " if " + i.Condition
	}
	return text
}

// function returns one of these instructions.
func function(t *testing.T, words ...uint32) *machine.Function {
	t.Helper()
	f := &machine.Function{Name: "f"}
	for k, w := range words {
		i, err := arm64.Decode(uint64(0x400000+4*k), binary.LittleEndian.AppendUint32(nil, w))
		if err != nil {
			t.Fatal(err)
		}
		f.Code = append(f.Code, i)
	}
	return f
}

// TestComplete has ADRP with what follows it.
func TestComplete(t *testing.T) {
	const (
		adrp  = 0xb0000002 // X2, the next page
		add   = 0x91010042 // X2, X2, #64
		other = 0x91010043 // X3, X2, #64
		sum   = 0x8b030042 // X2, X2, X3
		ret   = 0xd65f03c0
		skip  = 0xb4000041 // CBZ X1, the instruction after the next one
	)
	f := function(t, skip, ret, adrp, add, ret)
	if err := arm64.Complete(f); err != nil {
		t.Fatal(err)
	}
	if i := f.Code[2]; i.Flow != machine.Fill {
		t.Errorf("%v is to fill space", i)
	}
	if i := f.Code[3]; i.Mnemonic != "adr" || describe(i) != "[{general 2:64} {immediate 0x401040}]" {
		t.Errorf("%v is %s %s", i, i.Mnemonic, describe(i))
	}
	for want, words := range map[string][]uint32{
		"is the last instruction": {ret, adrp},
		"is not followed by ADD":  {adrp, other, ret},
		"of a number":             {adrp, sum, ret},
		"jumps behind an ADRP":    {skip, adrp, add, ret},
	} {
		if err := arm64.Complete(function(t, words...)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%#x: error %v, want %q", words, err, want)
		}
	}
}
