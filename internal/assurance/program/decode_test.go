// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package program

import (
	"encoding/hex"
	"errors"
	"reflect"
	"regexp"
	"testing"

	"example.com/fastmac/internal/assurance/machine"
	"example.com/fastmac/internal/assurance/objdump"
	"example.com/fastmac/internal/assurance/x86"
)

var noSymbols = regexp.MustCompile(`(# |^(?:j\w+|call) +)0x`)

// TestObjdump has a second opinion on all instructions of the kernels.
func TestObjdump(t *testing.T) {
	for _, f := range linkedProgram(t).Functions {
		var code []byte
		for _, i := range f.Code {
			code = append(code, i.Bytes...)
		}
		lines, err := objdump.Bytes(code, f.Code[0].Address)
		if errors.Is(err, objdump.ErrMissing) {
			t.Skip(err)
		}
		if err != nil || len(lines) != len(f.Code) {
			t.Fatalf("%s: %d instructions, want %d, error %v", f.Name, len(lines), len(f.Code), err)
		}
		for n, line := range lines {
			// Without symbols, numbers have a prefix.
			i, err := objdump.Parse(line.Address, line.Bytes, noSymbols.ReplaceAllString(line.Text, "$1"))
			if err != nil {
				t.Errorf("%s: %q: %v", f.Name, line.Text, err)
				continue
			}
			got := *f.Code[n]
			got.Text, got.Classes = i.Text, nil
			if !reflect.DeepEqual(&got, i) {
				t.Errorf("%s: %v is %+v, but objdump's %q is %+v", f.Name, f.Code[n], got, line.Text, *i)
			}
		}
	}
}

// TestDecode has instructions of kinds that kernels have, and what is not among them.
func TestDecode(t *testing.T) {
	for _, test := range []struct{ code, want string }{
		{"4801d8", "add g0:64,g3:64"},
		{"83f8ff", "cmp g0:32,$0xffffffff"}, // of 32 bits
		{"4883e4c0", "and g4:64,$0xffffffffffffffc0"},
		{"48b80807060504030201", "mov g0:64,$0x102030405060708"},
		{"4088f0", "mov g0:8,g6:8"}, // SIL
		{"644c8b3425f8ffffff", "mov g14:64,thread"},
		{"c5f877", "vzeroupper "},
		{"c5f877c3", "vzeroupper "},
		{"cc", "int3 "},
		{"c3", "ret "},
		{"6690", "nop "},
		{"660f1f840000000000", "nop "},
		{"f20f1000", "movsd v0:128,0x0(g0)"},
		{"66480f6ec0", "movq v0:128,g0:64"},
		{"660f3a44c111", "pclmulqdq v0:128,v1:128,$0x11"},
		{"62f17f896f00", "vmovdqu8{k1}{z} v0:128,0x0(g0)"},
		{"62617fc96f20", "vmovdqu8{k1}{z} v28:512,0x0(g0)"},
		{"62f17f497f16", "vmovdqu8{k1} 0x0(g6),v2:512"},
		{"62f1f558d44001", "vpaddq{bcst} v0:512,v1:512,0x8(g0)"}, // 1 is scaled by the size
		{"62f1f548d44001", "vpaddq v0:512,v1:512,0x40(g0)"},
	} {
		code := unhex(t, test.code)
		i, err := x86.Decode(testAddress, code)
		if err != nil {
			t.Errorf("%s: %v", test.code, err)
		} else if got := new(Program).canonical(i); got != test.want {
			t.Errorf("%s: %v is %q, want %q", test.code, i, got, test.want)
		}
	}
	if i, err := x86.Decode(testAddress, unhex(t, "74fe")); err != nil || i.Mnemonic != "je" || i.Target != testAddress {
		t.Errorf("je: %v, error %v", i, err)
	}
	if i, err := x86.Decode(testAddress, unhex(t, "62f1fd486f0500000000")); err != nil || i.Operands[1].Number != testAddress+10 || i.Operands[1].Base != machine.None {
		t.Errorf("vmovdqa64: %v, error %v", i, err) // relative to RIP
	}
}

const testAddress = 0x400000

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestRefused has, by the error, what a CPU may execute as something else, and what no model is
// for.
func TestRefused(t *testing.T) {
	for want, refused := range map[string]map[string]string{
		"no instruction": {
			"":                                   "nothing",
			"66":                                 "only a prefix",
			"4801":                               "ends early",
			"c5f9ef":                             "VEX ends early",
			"62f1fd486f05000000":                 "EVEX ends early",
			"c4e17877":                           "VZEROUPPER of four bytes",
			"c5fc77":                             "VZEROALL",
			"f30f1efa":                           "ENDBR64",
			"488b4420":                           "ends early in an address",
			"66c5f1efc1":                         "66 before VEX",
			"f3c5f1efc1":                         "REP before VEX",
			"f0c5f1ef00":                         "LOCK before VEX",
			"67c5f1ef00":                         "address of 32 bits and VEX",
			"6662f1f548d4c1":                     "66 before EVEX",
			"66666666666666666666666666664801d8": "more than 15 bytes",
		},
		"unrecognized instruction": {
			"06":           "no instruction",
			"484801d8":     "REX twice",
			"486601d8":     "REX before 66",
			"486690":       "REX before the prefix of a NOP",
			"c4e1f1efc1":   "VEX.W that is ignored",
			"48c5f1efc1":   "REX before VEX",
			"62f1f568d4c1": "EVEX, a length that does not exist",
		},
		"a prefix, or a bit of one, means nothing": {
			"f04801d8":             "LOCK of a register",
			"f0480118":             "LOCK",
			"f24801d8":             "REPNE",
			"f3c3":                 "REP RET",
			"f3a4":                 "REP MOVSB",
			"f3f20f1000":           "two prefixes of which one counts",
			"66f20f1000":           "66 with another mandatory prefix",
			"6666480f6ec0":         "66 twice",
			"26488b00":             "ES",
			"2e488b00":             "CS",
			"6464488b0425f8ffffff": "FS twice",
			"644801d8":             "FS without memory",
			"674801d8":             "address size without memory",
			"664801d8":             "66 and REX.W",
			"4001d8":               "REX without a bit",
			"4201d8":               "REX.X without an index",
			"4850":                 "REX.W of PUSH",
			"66e900000000":         "66 of a near jump",
			"66e800000000":         "66 of a near call",
			"660f8400000000":       "66 of a branch",
			"2e7400":               "a hint for a branch",
			"f2e900000000":         "BND",
			"48e900000000":         "REX.W of a jump",
			"c4a171efc1":           "VEX.X without an index",
			"c5f16fc1":             "VEX.vvvv without an operand",
			"c4e27118c1":           "VEX.vvvv of a broadcast",
			"c5f190c1":             "a mask register that does not exist",
			"62f5f548d4c1":         "EVEX, another map",
			"62f9f548d4c1":         "EVEX, a reserved bit",
			"62f1f148d4c1":         "EVEX, the bit that is 1",
			"62f1f558d4c1":         "EVEX, rounding of an integer",
			"62f1f55858c1":         "EVEX, rounding",
			"62f3754a44c111":       "EVEX, a mask of what has none",
			"62f37558440011":       "EVEX, a broadcast of what has none",
			"62f1fd406fc1":         "EVEX.V' without an operand",
		},
		"operand without a size": {
			"a5": "MOVSD, the one of strings",
		},
		"unusual segment": {
			"65488b00":           "GS",
			"64488b00":           "FS with a register",
			"64488b042528000000": "FS, another offset",
			"648b0425f8ffffff":   "FS, half of the word",
		},
		"absolute address, or registers in the segment of the thread": {
			"64488b05f8ffffff":       "FS, relative to RIP",
			"488b0425f8ffffff":       "an absolute address",
			"6448a1f8ffffff01000000": "an address of 64 bits in the segment of the thread",
			"48a1f8ffffffffffffff":   "an address of 64 bits",
		},
		"address of other registers": {
			"67488b00":         "address of 32 bits",
			"67418b07":         "address of 32 bits, R15D",
			"67488b0500000000": "address of 32 bits, relative to EIP",
		},
		"no vector, but 16 bits or EVEX": {
			"66b80100":     "operand of 16 bits",
			"6650":         "PUSH of 16 bits",
			"62f17d0890c1": "EVEX, KMOVB",
		},
		"unusual prefix of a NOP": {
			"4090":     "REX and a NOP",
			"2e0f1f00": "NOP with CS",
		},
		"scale without an index": {
			"488b446008": "a scale without an index",
		},
		"register AH": {
			"88e0":   "AH",
			"80c401": "AH and a number",
		},
		"register M0": {
			"0fefc1": "MMX",
		},
		"register ES": {
			"8ec0": "a segment register",
		},
		"unusual jump": {
			"ffe0": "JMP RAX",
			"ffd0": "CALL RAX",
			"e2fe": "LOOP",
		},
		"unusual return, or far jump": {
			"ff28":   "a far jump",
			"ff18":   "a far call",
			"cb":     "a far return",
			"c20800": "RET of 8 bytes",
		},
		"unknown AVX Opcode": {
			"c471efc1": "no map",
		},
		"zeroing without a mask, or a mask of no vector": {
			"62f1f5c8d4c1": "EVEX, zeroing without a mask",
			"62f1fe4a7f00": "EVEX, a mask of a store of words",
			"62f17fca7f00": "EVEX, zeroing of a store",
		},
		"rounding in an instruction": {
			"62f1f51858c1": "EVEX, rounding to nearest",
		},
		"bits of the immediate that mean nothing": {
			"660f3a44c133": "PCLMULQDQ, bits that mean nothing",
		},
	} {
		for code, what := range refused {
			if i, err := x86.Decode(testAddress, unhex(t, code)); err == nil || err.Error() != want {
				t.Errorf("%s: %s is %v, error %v, want %s", what, code, i, err, want)
			}
		}
	}
}
