// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package proofs

import (
	"encoding/hex"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/fastmac/internal/assurance/machine"
)

// TestProveMutant proves functions with an instruction replaced, and finds those that compute
// something else or leak.
func TestProveMutant(t *testing.T) {
	p := linkedProgram(t)
	judge := NewJudge(p)
	for _, test := range []struct{ function, text, becomes, verdict string }{
		{"expandKey128", "pxor xmm14, xmm14", "450f55f690", "no model: andnps"},              // and a NOP
		{"expandKey128", "pxor xmm14, xmm14", "31c031c090", "undecided: "},                   // XOR EAX, EAX twice
		{"expandKey128", "pxor xmm14, xmm14", "66450fefdb", "vector register 14 is neither"}, // another one is zero
		{"expandKey128", "pxor xmm14, xmm14", "0f1f440000", "vector register 14 is neither"},
		{"expandKey128", "pslld xmm", "0f1f440000", "is "},               // the result
		{"expandKey128", "mov rax, ", "488b442410", "what is only read"}, // the key, which is read-only
		{"encryptBlocks", "mov rax, ", "0f1f440000", "depends on a secret"},
		{"fillAVX2", "cmovb ", "0f1f4000", "held"},
		{"fillAVX2", "cmp rdx, 0x10", "0f1f4000", "jb "},
		{"nhPolyAVX2", "pop rbp", "59", "is not what it was"}, // pop rcx
	} {
		f := p.Find(test.function)[0]
		n := slices.IndexFunc(f.Code, func(i *machine.Instruction) bool { return strings.HasPrefix(i.Text, test.text) })
		if n < 0 {
			t.Fatalf("%s has no %q", f.Name, test.text)
		}
		i := f.Code[n]
		verdict := judge.Verdict(f.Name, i.Address-f.Code[0].Address, with(unhex(t, test.becomes)), time.Hour)
		if !strings.Contains(verdict, test.verdict) {
			t.Errorf("%s: %v replaced with %s: %s, want %s", f.Name, i, test.becomes, verdict, test.verdict)
		}
	}
}

// TestNoVerdict asks for verdicts on what is no mutant, or has no time.
func TestNoVerdict(t *testing.T) {
	judge := NewJudge(linkedProgram(t))
	for _, test := range []struct {
		function string
		offset   uint64
		bytes    int
		want     string
	}{
		{"noSuchKernel", 0, 1, "no function noSuchKernel"},
		{"cpuid", 1 << 20, 1, "has no such instruction at offset 0x100000"},
		{"cpuid", 0, 20, "has no such instruction at offset 0x0"},
	} {
		if got := judge.Verdict(test.function, test.offset, with(make([]byte, test.bytes)), time.Hour); !strings.HasPrefix(got, Undecided) || !strings.HasSuffix(got, test.want) {
			t.Errorf("%s: verdict %q, want %q", test.function, got, test.want)
		}
	}
	f := judge.program.Find("nhBlocksAVX2")[0]
	if got := judge.Verdict(f.Name, 0, with(f.Code[0].Bytes), 0); got != Undecided+"no verdict in 0s" {
		t.Errorf("verdict %q without time", got)
	}
}

// with returns a function that replaces all bytes.
func with(b []byte) func([]byte) []byte { return func([]byte) []byte { return b } }

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
