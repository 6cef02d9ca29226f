// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build linux && amd64

package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/fastmac/internal/assurance/objdump"
	"example.com/fastmac/internal/kernel"
)

// small returns the program of the tests of package aes alone.
func small(t *testing.T) *program {
	if kernel.Active(kernel.AES) != "vaes" {
		t.Skip("needs a CPU with VAES")
	}
	p, err := load(t.TempDir(), []string{"internal/aes"})
	if errors.Is(err, objdump.ErrMissing) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// find returns the first instruction of a function whose text begins like this.
func (p *program) find(t *testing.T, function, text string) *instruction {
	n := slices.IndexFunc(p.instructions, func(i *instruction) bool { return i.name == function && strings.HasPrefix(i.text, text) })
	if n < 0 {
		t.Fatalf("%s has no %q", function, text)
	}
	return p.instructions[n]
}

func dropped(i *instruction) *mutant {
	return &mutant{instruction: i, kind: drop, bytes: nops(len(i.bytes)), text: "nop"}
}

// TestTry tries mutants that a test must kill, and some that none can kill.
func TestTry(t *testing.T) {
	p := small(t)
	if err := p.cover("", t.Logf); err != nil {
		t.Fatal(err)
	}
	r, err := newRunner(p, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		m    *mutant
		want string
	}{
		{dropped(p.find(t, "encryptWords", "aesenc ")), failed},
		{dropped(p.find(t, "expandKey256", "pslld ")), failed},
		{dropped(p.find(t, "stretchVAES", "vaesenclast ")), failed},
		{dropped(p.find(t, "encryptWords", "ret")), crashed},
		{dropped(p.find(t, "expandKey128", "pxor xmm14,xmm14")), survived},
		{dropped(p.find(t, "stretchVAES", "vzeroupper")), survived},
		{dropped(p.find(t, "stretchAESNI", "call ")), unreached},
	} {
		o, err := r.try(p, test.m, allTests)
		if err != nil {
			t.Fatal(err)
		}
		if o.how != test.want {
			t.Errorf("%v: %s by %q, want %s", test.m, o.how, o.test, test.want)
		}
	}

	// The original is there again.
	before, err := os.ReadFile(p.binaries[0].path)
	if err != nil {
		t.Fatal(err)
	}
	after, err := os.ReadFile(r.copies[p.binaries[0]])
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(before, after) {
		t.Error("the copy of the binary differs after the last mutant")
	}
}

// TestPatch checks that a mutant replaces its bytes in the binary and no others, and that the
// disassembler then finds what the mutant says, and the same before and after it.
func TestPatch(t *testing.T) {
	p := small(t)
	all, err := p.mutants(func(*instruction) bool { return true }, 1, 7)
	if err != nil {
		t.Fatal(err)
	}
	b := p.binaries[0]
	original, err := os.ReadFile(b.path)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 30 {
		m := all[rng.IntN(len(all))]
		at := b.at[m.function.name].offset + int64(m.offset)
		want := slices.Concat(original[:at], m.bytes, original[at+int64(len(m.bytes)):])
		old, err := exchange(b.path, at, len(m.bytes), func(old []byte) []byte { return m.patch(old) })
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(old, m.instruction.bytes) {
			t.Errorf("%v: replaces % x, not % x", m, old, m.instruction.bytes)
		}
		if got, err := os.ReadFile(b.path); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%v: other bytes than these differ, or error %v", m, err)
		}
		patched, err := p.again(m.function)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range patched.code {
			if i.offset < m.offset || i.offset >= m.offset+len(m.bytes) {
				if before := m.code[slices.IndexFunc(m.code, func(j *instruction) bool { return j.offset == i.offset })]; i.text != before.text {
					t.Errorf("%v: %s became %s", m, before.text, i.text)
				}
			} else if text := i.text; m.kind == drop && i.works() || m.kind != drop && m.kind != "condition" && !strings.Contains(text, "rip") && text != m.text {
				t.Errorf("%v: the disassembler finds %s", m, text)
			}
		}
		if _, err := exchange(b.path, at, len(old), func([]byte) []byte { return old }); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d mutants in all", len(all))
}

// again disassembles a function from its binary.
func (p *program) again(f *function) (*function, error) {
	g := &function{name: f.name, home: f.home}
	return g, g.disassemble(nil)
}

// TestSource removes a line that a test of the source looks for, and one that none does.
func TestSource(t *testing.T) {
	small(t)
	p, err := load(t.TempDir(), packages)
	if err != nil {
		t.Fatal(err)
	}
	s := &session{program: p, outcomes: make(map[*mutant]outcome), end: time.Now().Add(time.Hour)}
	mutants := []*mutant{
		dropped(p.find(t, "stretchVAES", "vpxor xmm14,xmm14,xmm14")),
		dropped(p.find(t, "stretchVAES", "vzeroupper")),
		dropped(p.find(t, "stretchVAES", "vaesenc ")),
		dropped(p.find(t, "blockAVX2", "vpxor xmm14,xmm14,xmm14")),
	}
	if err := s.trySource(mutants); err != nil {
		t.Fatal(err)
	}
	for n, want := range []outcome{{inSource, "TestVectorsWiped"}, {inSource, "TestUpperHalves"}, {}, {inSource, "TestVectorsWiped"}} {
		if got := s.outcomes[mutants[n]]; got != want {
			t.Errorf("%v: %v, want %v", mutants[n], got, want)
		}
	}
}

// TestResume reads a log, and one with a line that is too long.
func TestResume(t *testing.T) {
	i := &instruction{function: &function{name: "f"}, bytes: []byte{0xc3}}
	line := `{"Key":"` + dropped(i).key() + `","How":"fail","Test":"TestF"}` + "\n"
	for _, test := range []struct {
		log  string
		want error
	}{
		{line, nil},
		{line + strings.Repeat(" ", bufio.MaxScanTokenSize) + line, bufio.ErrTooLong},
	} {
		name := filepath.Join(t.TempDir(), "log")
		if err := os.WriteFile(name, []byte(test.log), 0o600); err != nil {
			t.Fatal(err)
		}
		m := dropped(i)
		s := &session{options: options{log: name}, mutants: []*mutant{m}, outcomes: make(map[*mutant]outcome)}
		if err := s.resume(); !errors.Is(err, test.want) {
			t.Errorf("error %v, want %v", err, test.want)
		}
		s.log.Close()
		if got, want := s.outcomes[m], (outcome{failed, "TestF"}); test.want == nil && got != want {
			t.Errorf("outcome %v, want %v", got, want)
		}
	}
}

// TestVerdicts checks which column of the report a verdict of command verify is in.
func TestVerdicts(t *testing.T) {
	for said, want := range map[string]string{
		"held": proved,
		"blockAVX2: a load at 0x40: rax depends on a secret": refused,
		"undecided: no verdict in 40s":                       "open",
	} {
		o := verdict(said)
		if got := o.column(); got != want {
			t.Errorf("%q: %s, want %s", said, got, want)
		}
		o.how += tested
		if got := o.column(); got != want {
			t.Errorf("%q and no test fails: %s, want %s", said, got, want)
		}
	}
}

// TestCounted checks a line of the report.
func TestCounted(t *testing.T) {
	if got, want := counted([]string{"ret", "nop", "ret"}), "ret (2 times); nop"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestValid checks which alterations are mutants.
func TestValid(t *testing.T) {
	for _, test := range []struct {
		before, after string
		want          bool
	}{
		{"add rax,rbx", "add rax,rcx", true},
		{"add rax,rbx", "add rax,rbx", false},
		{"add rax,rbx", "", false}, // not one instruction
		{"add rax,rbx", "(bad)", false},
		{"vpxorq zmm3,zmm3,zmm0", "vpxorq zmm3,zmm3,zmm0,{rn-bad}", false},
		{"vpxorq zmm3,zmm3,zmm0", "vpxord zmm3,zmm3,zmm0", false},
		{"vpxorq zmm3,zmm3,zmm0{k1}", "vpxord zmm3,zmm3,zmm0{k1}", true},
		{"vextracti64x4 ymm0,zmm3,0x1", "vextracti32x8 ymm0,zmm3,0x1", false},
		{"vinserti128 ymm4,ymm6,xmm6,0x1", "vinsertf128 ymm4,ymm6,xmm6,0x1", false},
		{"vpermd zmm1,zmm2,zmm3", "vpermq zmm1,zmm2,zmm3", true},
		{"movabs rax,0xba", "movabs rax,0xbad", true},
		{"movups xmm8,XMMWORD PTR [rax]", "rex.WR movups xmm8,XMMWORD PTR [rax]", false},
		{"dec rcx", "rex.W push rcx", true},
	} {
		m := &mutant{instruction: &instruction{text: test.before}, text: test.after}
		if got := m.valid(); got != test.want {
			t.Errorf("%q to %q: %t, want %t", test.before, test.after, got, test.want)
		}
	}
}

// TestGroups checks that groups have the fastest tests, and no more than fit.
func TestGroups(t *testing.T) {
	b := new(binary)
	var tests []*test
	for _, ms := range []time.Duration{300, 1, 40, 2, 90} {
		tests = append(tests, &test{binary: b, name: fmt.Sprint(int64(ms)), cpu: ms * time.Millisecond})
	}
	for most, want := range map[time.Duration]string{0: "[]", 10: "[[1 2]]", 200: "[[1 2] [40] [90]]", 1000: "[[1 2] [40] [90] [300]]"} {
		var got [][]string
		for _, g := range groups(slices.Clone(tests), most*time.Millisecond) {
			got = append(got, g.names)
		}
		if fmt.Sprint(got) != want {
			t.Errorf("at most %d ms: %v, want %s", most, got, want)
		}
	}
}
