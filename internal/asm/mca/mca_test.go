// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import "testing"

// disassembly is of one function: a jump to its start, a loop with a rare case in a loop
// that it can leave, and a loop without marks.
const disassembly = `
fastmac.test:	file format elf64-x86-64

0000000000000100 <example.com/fastmac/x.f.abi0>:
     100:      	jbe	0x150 <example.com/fastmac/x.f.abi0+0x50>
     104:      	vpmuludq	%zmm2, %zmm1, %zmm3
     108:      	vpmuludq	%ymm2, %ymm1, %ymm3
     10c:      	vmovdqu	0x10(%rip), %ymm0       # 0x1234 <reverse>
     110:      	je	0x118 <example.com/fastmac/x.f.abi0+0x18>
     114:      	vpmuludq	%ymm2, %ymm1, %ymm3
     118:      	vpmuludq	(%rax), %xmm1, %xmm3
     11c:      	je	0x130 <example.com/fastmac/x.f.abi0+0x30>
     120:      	jne	0x108 <example.com/fastmac/x.f.abi0+0x8>
     124:      	jae	0x104 <example.com/fastmac/x.f.abi0+0x4>
     130:      	movq	(%rax), %rbx
     134:      	jne	0x130 <example.com/fastmac/x.f.abi0+0x30>
     138:      	retq
     150:      	callq	0x200 <runtime.morestack>
     154:      	jmp	0x100 <example.com/fastmac/x.f.abi0>

0000000000000200 <example.com/fastmac/x.other.abi0>:
     204:      	vpmuludq	%ymm2, %ymm1, %ymm3
     208:      	jmp	0x204 <example.com/fastmac/x.other.abi0>
`

func TestFindLoops(t *testing.T) {
	want := loop{"x.f", "vpmuludq\t%ymm2, %ymm1, %ymm3\nvmovdqu\t0x10(%rip), %ymm0\nje other\n" +
		"vpmuludq\t(%rax), %xmm1, %xmm3\nje other\njne other\n", 1}
	loops, err := findLoops(disassembly, kernel{"/x.(f|g)", "block", "vpmuludq", 3, false})
	if err != nil || len(loops) != 1 || loops[0] != want {
		t.Errorf("loops %+v, error %v, want %+v", loops, err, want)
	}
	want.name, want.units = "x.f, 512 bytes", 0.5
	loops, err = findLoops(disassembly, kernel{"/x.f", "KiB", "vpmuludq", 6, false})
	if err != nil || len(loops) != 1 || loops[0] != want {
		t.Errorf("loops %+v, error %v, want %+v", loops, err, want)
	}

	for _, bad := range []struct {
		kernel
		want string
	}{
		{kernel{"/x.none", "KiB", "vpmuludq", 1, false}, "no function /x.none"},
		{kernel{"/y.f", "KiB", "vpmuludq", 1, false}, "no function /y.f"},
		{kernel{"/x.f", "KiB", "pmuludq", 1, false}, "/x.f: 0 loops with pmuludq, want 1 or more, or one for 2 iterations and one for 4"},
		{kernel{"/x.f", "KiB", "vpmuludq", 3, true}, "/x.f: 1 loops with vpmuludq, want 1 or more, or one for 2 iterations and one for 4"},
		{kernel{"/x.other", "block", "vpmuludq", 1, false}, "/x.other: 0 loops with vpmuludq, want 1 or more, or one for 2 iterations and one for 4"},
		{kernel{"/x.f", "block", "vpmuludq", 2, false}, "/x.f: 3 of vpmuludq in a loop, want a multiple of 2"},
	} {
		if _, err := findLoops(disassembly, bad.kernel); err == nil || err.Error() != bad.want {
			t.Errorf("%+v: error %v, want %q", bad.kernel, err, bad.want)
		}
	}
}

// TestModel models the loops of one kernel, which are in the order of their iterations.
func TestModel(t *testing.T) {
	tools, err := findTools()
	if err != nil {
		t.Skip(err)
	}
	code, err := tools.disassemble()
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range kernels {
		if _, err := findLoops(code, k); err != nil {
			t.Error(err)
		}
	}
	loops, err := findLoops(code, kernel{`\.nhPolyAVX2`, "KiB", "vpmuludq", 64, true})
	if err != nil || len(loops) != 2 {
		t.Fatalf("%d loops, error %v", len(loops), err)
	}
	before := 0.0
	for n, l := range loops {
		cycles, err := tools.model("znver4", l)
		if err != nil {
			t.Fatal(err)
		}
		// 32 products of 256 bits for each of two iterations, or four, take 16 cycles.
		if least := 32 * float64(n+1); l.units != 1 || cycles < least || cycles > 10*least || cycles <= before {
			t.Errorf("%s: %v KiB, %v cycles, want 1 KiB and %v to %v, more than %v", l.name, l.units, cycles, least, 10*least, before)
		}
		before = cycles
	}
}
