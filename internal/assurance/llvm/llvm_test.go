// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package llvm

import (
	"reflect"
	"testing"
)

// TestParse parses lines of both architectures.
func TestParse(t *testing.T) {
	const text = `
fastmac.test:	file format elf64-x86-64

0000000000000100 <example.com/fastmac/x.f.abi0>:
     100:      	vmovdqu	0x10(%rip), %ymm0       # 0x1234 <reverse>
     108:      	je	0x100 <example.com/fastmac/x.f.abi0>
     10c:      	retq

0000000000000200 <example.com/fastmac.g.abi0>:
  200: 	mov	x2, #0x100000000        // =4294967296
  204: 	tbz	w4, #0x8, 0x20c <example.com/fastmac.g.abi0+0xc>
  208: 	b.ne	0x200 <example.com/fastmac.g.abi0>
  20c: 	bl	0x300 <other>
  210: 	br	x3
`
	want := []Function{
		{"example.com/fastmac/x.f", []Instruction{{0x100, "vmovdqu", "0x10(%rip), %ymm0"}, {0x108, "je", "0x100"}, {0x10c, "retq", ""}}},
		{"example.com/fastmac.g", []Instruction{{0x200, "mov", "x2, #0x100000000"}, {0x204, "tbz", "w4, #0x8, 0x20c"},
			{0x208, "b.ne", "0x200"}, {0x20c, "bl", "0x300"}, {0x210, "br", "x3"}}},
	}
	all := Parse(text)
	if !reflect.DeepEqual(all, want) {
		t.Errorf("%v, want %v", all, want)
	}
	for i, want := range map[Instruction]struct {
		to     uint64
		others string
	}{
		{Mnemonic: "je", Operands: "0x100"}:            {0x100, ""},
		{Mnemonic: "b.ne", Operands: "0x200"}:          {0x200, ""},
		{Mnemonic: "tbz", Operands: "w4, #0x8, 0x20c"}: {0x20c, "w4, #0x8, "},
		{Mnemonic: "bl", Operands: "0x300"}:            {0x300, ""},
	} {
		if to, others, ok := i.Target(); to != want.to || others != want.others || !ok {
			t.Errorf("%v goes to %#x with %q, %v", i, to, others, ok)
		}
	}
	for _, i := range []Instruction{{Mnemonic: "br", Operands: "x3"}, {Mnemonic: "bic", Operands: "x1, x2, x3"}, {Mnemonic: "retq"}} {
		if to, _, ok := i.Target(); ok {
			t.Errorf("%v goes to %#x", i, to)
		}
	}
}

// TestMissing checks the error where there is no LLVM.
func TestMissing(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	const want = "no llvm-mca and llvm-objdump of LLVM 16 or newer: install the package llvm-19, or another from llvm-16 on"
	if _, err := Find("llvm-mca", "llvm-objdump"); err == nil || err.Error() != want {
		t.Errorf("error %v, want %q", err, want)
	}
}
