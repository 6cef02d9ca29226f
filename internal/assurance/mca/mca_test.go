// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"fmt"
	"slices"
	"testing"

	"example.com/fastmac/internal/assurance/llvm"
)

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
	want := loop{"x.f", "vpmuludq\t%ymm2, %ymm1, %ymm3\nvmovdqu\t0x10(%rip), %ymm0\nje\tother\n" +
		"vpmuludq\t(%rax), %xmm1, %xmm3\nje\tother\njne\tother\n", "example.com/fastmac/x.f", 1}
	loops, err := findLoops(llvm.Parse(disassembly), kernel{"/x.(f|g)", "block", "vpmuludq", 3, false, 0})
	if err != nil || len(loops) != 1 || loops[0] != want {
		t.Errorf("loops %+v, error %v, want %+v", loops, err, want)
	}
	want.name, want.units = "x.f, 512 bytes", 0.5
	loops, err = findLoops(llvm.Parse(disassembly), kernel{"/x.f", "KiB", "vpmuludq", 6, false, 0})
	if err != nil || len(loops) != 1 || loops[0] != want {
		t.Errorf("loops %+v, error %v, want %+v", loops, err, want)
	}

	for _, bad := range []struct {
		kernel
		want string
	}{
		{kernel{"/x.none", "KiB", "vpmuludq", 1, false, 0}, "no function /x.none"},
		{kernel{"/y.f", "KiB", "vpmuludq", 1, false, 0}, "no function /y.f"},
		{kernel{"/x.f", "KiB", "pmuludq", 1, false, 0}, "/x.f: 0 loops with pmuludq, want 1 or more, or one for 2 iterations and one for 4"},
		{kernel{"/x.f", "KiB", "vpmuludq", 3, true, 0}, "/x.f: 1 loops with vpmuludq, want 1 or more, or one for 2 iterations and one for 4"},
		{kernel{"/x.other", "block", "vpmuludq", 1, false, 0}, "/x.other: 0 loops with vpmuludq, want 1 or more, or one for 2 iterations and one for 4"},
		{kernel{"/x.f", "block", "vpmuludq", 2, false, 0}, "/x.f: 3 of vpmuludq in a loop, want a multiple of 2"},
	} {
		if _, err := findLoops(llvm.Parse(disassembly), bad.kernel); err == nil || err.Error() != bad.want {
			t.Errorf("%+v: error %v, want %q", bad.kernel, err, bad.want)
		}
	}
}

// TestInner finds the outer loops of a function, one with a loop in it.
func TestInner(t *testing.T) {
	const disassembly = `
0000000000000100 <example.com/fastmac/x.f.abi0>:
     100:      	mov	x5, #0x2                // =2
     104:      	ldr	q0, [x0]
     108:      	aese	v0.16b, v16.16b
     10c:      	tbnz	w5, #0x1, 0x108 <example.com/fastmac/x.f.abi0+0x8>
     110:      	str	q0, [x0], #0x10
     114:      	b.ne	0x104 <example.com/fastmac/x.f.abi0+0x4>
     118:      	aese	v0.16b, v16.16b
     11c:      	cbz	x5, 0x118 <example.com/fastmac/x.f.abi0+0x18>
     120:      	ret
`
	const inner = "aese\tv0.16b, v16.16b\ntbnz\tw5, #0x1, other\n"
	want := []loop{
		{"x.f, 48 bytes", "ldr\tq0, [x0]\n" + inner + inner + inner + "str\tq0, [x0], #0x10\nb.ne\tother\n", "example.com/fastmac/x.f", 3. / 64},
		{"x.f, 16 bytes", "aese\tv0.16b, v16.16b\ncbz\tx5, other\n", "example.com/fastmac/x.f", 1. / 64},
	}
	loops, err := findLoops(llvm.Parse(disassembly), kernel{"/x.f", "KiB", "aesmc aese", 64, false, 3})
	if err != nil || !slices.Equal(loops, want) {
		t.Errorf("loops %+v, error %v, want %+v", loops, err, want)
	}
}

// TestModel models the loops of a kernel of each architecture, which are in the order of their
// iterations.
func TestModel(t *testing.T) {
	tools, err := llvm.Find("llvm-mca", "llvm-objdump")
	if err != nil {
		t.Skip(err)
	}
	for i, test := range []struct {
		kernel
		cpu   string
		least float64 // cycles of two iterations
	}{
		// 32 products of 256 bits for each iteration, of which a CPU begins two in a cycle.
		{kernel{`\.nhPolyAVX2`, "KiB", "vpmuludq", 64, true, 0}, "znver4", 32},
		// 64 of 128 bits, with the sum, and a CPU begins four in a cycle.
		{kernelsARM64[0], "neoverse-v1", 32},
	} {
		a := architectures[i]
		code, err := a.disassemble(tools)
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range a.kernels {
			if _, err := findLoops(code, k); err != nil {
				t.Error(err)
			}
		}
		loops, err := findLoops(code, test.kernel)
		if err != nil || len(loops) != 2 {
			t.Fatalf("%d loops, error %v", len(loops), err)
		}
		before := 0.0
		for n, l := range loops {
			cycles, err := a.model(tools, test.cpu, l)
			if err != nil {
				t.Fatal(err)
			}
			if least := test.least * float64(n+1); l.units != 1 || cycles < least || cycles > 10*least || cycles <= before {
				t.Errorf("%s: %v KiB, %v cycles, want 1 KiB and %v to %v, more than %v", l.name, l.units, cycles, least, 10*least, before)
			}
			before = cycles
		}
	}
}

// TestClasses finds what functions ask for in the table of kernels.
func TestClasses(t *testing.T) {
	for function, want := range map[string]string{
		"example.com/fastmac.nhPolyAVX512":             "[AVX2 AVX512]",
		"example.com/fastmac/internal/gcm.hashAVX2":    "[AVX2 VAES]",
		"crypto/internal/fips140/aes/gcm.gcmAesData":   "[]",
		"example.com/fastmac/internal/gcm.hashUnknown": "",
	} {
		classes, err := architectures[0].classes(function)
		if (err != nil) != (want == "") || err == nil && fmt.Sprint(classes) != want {
			t.Errorf("%s: %q, %v, want %s", function, classes, err, want)
		}
	}
}
