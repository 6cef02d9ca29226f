// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package proofs

import (
	"encoding/hex"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"example.com/fastmac/internal/assurance/program"
	"example.com/fastmac/internal/assurance/secrets"
	"example.com/fastmac/internal/assurance/x86"
)

// TestProveMutant proves functions with an instruction replaced, and finds those that compute
// something else or leak.
func TestProveMutant(t *testing.T) {
	p := linkedProgram(t)
	declared, err := program.Declarations()
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ function, text, becomes, verdict string }{
		{"expandKey128", "pxor xmm14,xmm14", "450f57f690", "undecided: 2 instructions"}, // XORPS and a NOP
		{"expandKey128", "pxor xmm14,xmm14", "66450fefdb", "held"},                      // another register that nothing uses
		{"expandKey128", "pxor xmm14,xmm14", "0f1f440000", "held"},
		{"expandKey128", "pslld xmm", "0f1f440000", "is "},      // the result
		{"expandKey128", "mov rax,", "488b442410", "access to"}, // the key, which is read-only
		{"encryptBlocks", "mov rax,", "0f1f440000", "depends on a secret"},
		{"fillAVX2", "cmovb ", "0f1f4000", "held"},
		{"fillAVX2", "cmp rdx,0x10", "0f1f4000", "jb "},
		{"stretchAESNI", "pop rbp", "59", "is not what it was"}, // pop rcx
		{"cpuid7", "mov DWORD", "0f1f4000", "undecided: no proof executes it"},
	} {
		f := p.Find(test.function)[0]
		n := slices.IndexFunc(f.Code, func(i *x86.Instruction) bool { return strings.HasPrefix(i.Text, test.text) })
		if n < 0 {
			t.Fatalf("%s has no %q", f.Name, test.text)
		}
		i := f.Code[n]
		m := mutant{Function: f.Name, Offset: i.Address - f.Code[0].Address, Old: hex.EncodeToString(i.Bytes), New: test.becomes}
		sizes, err := sizesOf(p, f)
		if err != nil {
			t.Fatal(err)
		}
		verdict := verdict(p, f, m, sizes, secrets.NewSignature(declared[f.Pkg+"."+f.Name]))
		if !strings.Contains(verdict, test.verdict) {
			t.Errorf("%s: %v replaced with %s: %s, want %s", f.Name, i, test.becomes, verdict, test.verdict)
		}
	}
}

// TestVerdicts reads mutants until reading fails.
func TestVerdicts(t *testing.T) {
	p := linkedProgram(t)
	const line = `{"Function":"cpuid7","Offset":1048576}` + "\n"
	failed := errors.New("reading failed")
	var out strings.Builder
	err := verdicts(p, &out, io.MultiReader(strings.NewReader(line+line), iotest.ErrReader(failed)), time.Hour)
	if n := strings.Count(out.String(), "has no instruction at offset 0x100000"); n != 2 || err != failed {
		t.Errorf("%d verdicts and error %v, want 2 and %v: %s", n, err, failed, &out)
	}
}
