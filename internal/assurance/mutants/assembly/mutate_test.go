// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build linux && amd64

package main

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/fastmac"
	"example.com/fastmac/internal/assurance/arm64"
	"example.com/fastmac/internal/assurance/machine"
	"example.com/fastmac/internal/assurance/program"
	"example.com/fastmac/internal/assurance/proofs"
	"example.com/fastmac/internal/assurance/x86"
	"example.com/fastmac/internal/kernel"
)

// small returns the suite of package aes alone.
func small(t *testing.T) *suite {
	if fastmac.Hardware(); kernel.Active(kernel.AES) != "vaes" {
		t.Skip("needs a CPU with VAES")
	}
	t.Setenv("FASTMAC_TEST_KERNELS", "AES=vaes")
	p, err := load(x86.Architecture, t.TempDir(), []string{"internal/aes"})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// find returns the first instruction of a function whose text begins like this.
func (p *suite) find(t *testing.T, function, text string) *instruction {
	n := slices.IndexFunc(p.instructions, func(i *instruction) bool { return i.function.Name == function && strings.HasPrefix(i.Text, text) })
	if n < 0 {
		t.Fatalf("%s has no %q", function, text)
	}
	return p.instructions[n]
}

// TestAnswersOnly finds the mutants of a function that the known answers do not notice: each load of an argument
// from where Go code has just put it, and what wipes registers.
func TestAnswersOnly(t *testing.T) {
	s := &session{answers: true, match: regexp.MustCompile("^encryptWords$"), every: 1, workers: 1, most: time.Hour, logFile: filepath.Join(t.TempDir(), "log")}
	var report bytes.Buffer
	if err := s.run(&report, x86.Architecture); err != nil {
		t.Fatal(err)
	}
	noticed, other := len(s.with(failed, crashed, timeOut)), s.with(wrong, unreached)
	if all := len(s.mutants); noticed < all*3/4 || noticed+len(s.with(survived)) != all || len(other) > 0 {
		t.Errorf("of %d mutants %d are noticed, %d survive: %s", all, noticed, len(s.with(survived)), &report)
	}
}

// TestTry tries mutants that a test must kill, and some that none can kill.
func TestTry(t *testing.T) {
	p := small(t)
	if err := p.cover("", anyTest, t.Logf); err != nil {
		t.Fatal(err)
	}
	r, err := newRunner(p, 0)
	if err != nil {
		t.Fatal(err)
	}
	hidden := p.find(t, "rdseed", "rdseed ") // as if no test executed it
	for _, test := range p.binaries[0].tests {
		if test.Reaches != nil {
			test.Reaches[hidden.number] = false
		}
	}
	for _, test := range []struct {
		m    *mutant
		want string
	}{
		{dropped(p.find(t, "encryptWords", "aesenc ")), failed},
		{dropped(p.find(t, "expandKey256", "pslld ")), failed},
		{dropped(p.find(t, "encryptBlocksVAES256", "vaesenclast ")), failed},
		{dropped(p.find(t, "encryptWords", "ret")), crashed},
		{dropped(p.find(t, "expandKey128", "pxor xmm14, xmm14")), survived},
		{dropped(p.find(t, "encryptBlocksVAES256", "vzeroupper")), survived},
		{dropped(hidden), unreached},
	} {
		o, err := r.try(test.m, allTests)
		if err != nil {
			t.Fatal(err)
		}
		if o.How != test.want {
			t.Errorf("%v: %s by %q, want %s", test.m, o.How, o.Test, test.want)
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
// decoder then finds what the mutant says, and the same before and after it.
func TestPatch(t *testing.T) {
	p := small(t)
	mutants := p.mutants(regexp.MustCompile("."), 1, 2, 7)
	b := p.binaries[0]
	original, err := os.ReadFile(b.path)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 30 {
		m := mutants[rng.IntN(len(mutants))]
		at := b.at[m.function.Name].Offset + m.offset()
		want := slices.Concat(original[:at], m.after, original[at+int64(len(m.after)):])
		if err := overwrite(b.path, at, m.patch(m.Bytes)); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(b.path); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%v: other bytes than these differ, or error %v", m, err)
		}
		patched := b.at[m.function.Name]
		patched.Code = want[patched.Offset:][:len(patched.Code)]
		f, err := patched.Decode(x86.Architecture)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range f.Code {
			n, ok := m.function.At[i.Address]
			switch {
			case i.Address < m.Address || i.Address >= m.Address+uint64(len(m.after)):
				if !ok || m.function.Code[n].Text != i.Text {
					t.Errorf("%v: the decoder finds %v", m, i)
				}
			case i.Mnemonic != "nop" && i.Text != m.becomes:
				t.Errorf("%v: the decoder finds %v", m, i)
			}
		}
		if err := overwrite(b.path, at, m.Bytes); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d mutants in all", len(mutants))
}

// TestMutants checks that the same seed makes the same mutants, whichever functions match, that there
// are all kinds, and that as many instructions are dropped as are asked for.
func TestMutants(t *testing.T) {
	p := small(t)
	mutants := p.mutants(regexp.MustCompile("."), 2, 3, 1)
	kinds := make(map[string]int)
	var want []string
	for _, m := range mutants {
		kinds[m.kind]++
		if m.function.Name == "encryptBlocksVAES256" {
			want = append(want, m.key())
		}
	}
	t.Log(kinds)
	for _, kind := range []string{drop, "register", "swap", "immediate", "offset", "width", "length", "operation", "condition"} {
		if kinds[kind] == 0 {
			t.Errorf("no mutant is an alteration of kind %s", kind)
		}
	}
	for every, of := range map[int]int{1: len(p.instructions), 2: len(p.instructions) / 2} {
		drops := 0
		for _, m := range p.mutants(regexp.MustCompile("."), every, 0, 1) {
			if m.kind == drop {
				drops++
			}
		}
		if least, most := of*9/10, of*11/10; drops < least || drops > most {
			t.Errorf("%d of %d instructions are dropped, want one of %d", drops, len(p.instructions), every)
		}
	}
	var got []string
	for _, m := range p.mutants(regexp.MustCompile("^encryptBlocksVAES256$"), 2, 3, 1) {
		got = append(got, m.key())
	}
	if !slices.Equal(got, want) {
		t.Errorf("%d mutants of encryptBlocksVAES256, and %d others if all functions match", len(got), len(want))
	}
}

// TestSource removes a line that a test of the source looks for, and one that none does.
func TestSource(t *testing.T) {
	small(t)
	p, err := load(x86.Architecture, t.TempDir(), packages)
	if err != nil {
		t.Fatal(err)
	}
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	s := &session{suite: p, log: null, outcomes: make(map[*mutant]outcome), end: time.Now().Add(time.Hour)}
	mutants := []*mutant{
		dropped(p.find(t, "encryptBlocksVAES256", "vpxor xmm14, xmm14, xmm14")),
		dropped(p.find(t, "encryptBlocksVAES256", "vzeroupper")),
		dropped(p.find(t, "encryptBlocksVAES256", "vaesenc ")),
		dropped(p.find(t, "block512AVX2", "vpxor xmm14, xmm14, xmm14")),
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

// TestResume reads a log, and one with a line that is none.
func TestResume(t *testing.T) {
	x := &machine.Instruction{Bytes: []byte{0xc3}}
	i := &instruction{Instruction: x, function: &function{Function: &machine.Function{Name: "f", Code: []*machine.Instruction{x}}}}
	line := `{"Key":"` + dropped(i).key() + `","How":"fail","Test":"TestF"}` + "\n"
	for _, test := range []struct {
		log  string
		want outcome
		ok   bool
	}{
		{"", outcome{}, true},
		{line, outcome{failed, "TestF"}, true},
		{strings.Replace(line, "fail", survived, 1) + line, outcome{failed, "TestF"}, true},
		{strings.Replace(line, `"fail","Test":"`, `"undecided","Test":"no verdict in 2m0s`, 1), outcome{How: survived}, true},
		{line + line[:10], outcome{failed, "TestF"}, false},
	} {
		name := filepath.Join(t.TempDir(), "log")
		if err := os.WriteFile(name, []byte(test.log), 0o600); err != nil {
			t.Fatal(err)
		}
		m := dropped(i)
		s := &session{logFile: name, mutants: []*mutant{m}}
		if err := s.resume(); (err == nil) != test.ok || s.outcomes[m] != test.want {
			t.Errorf("%q: outcome %v, error %v, want %v", test.log, s.outcomes[m], err, test.want)
		}
		s.log.Close()
	}
}

// TestVerdicts checks which column of the report a verdict is in.
func TestVerdicts(t *testing.T) {
	for said, want := range map[string]string{
		proofs.Held: proved,
		"block512AVX2: a load at 0x40: rax depends on a secret": refused,
		proofs.Undecided + "no verdict in 40s":                  "open",
	} {
		o := verdict(said)
		if got := o.column(); got != want {
			t.Errorf("%q: %s, want %s", said, got, want)
		}
		o.How += tested
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

// TestAlteration checks what is an alteration, and of which kind.
func TestAlteration(t *testing.T) {
	for _, test := range []struct{ before, after, want string }{
		{"4801d8", "4801d8", ""},                      // add rax, rbx
		{"4801d8", "4801c8", "register"},              // add rax, rcx
		{"4801d8", "4801c3", "swap"},                  // add rbx, rax
		{"4901d8", "4101d8", "width"},                 // add r8d, ebx
		{"4801d8", "4811d8", "operation"},             // adc rax, rbx
		{"480118", "480119", "register"},              // add [rcx], rbx
		{"48014008", "48014018", "offset"},            // add [rax+0x18], rax
		{"480104c8", "48010488", "scale"},             // add [rax+rcx*4], rax
		{"4883c001", "4883c003", "immediate"},         // add rax, 3
		{"48c1e004", "48c1e044", ""},                  // shl rax, 0x44
		{"7410", "7510", "condition"},                 // jne
		{"7410", "7411", ""},                          // je, to another place
		{"480f42c1", "480f43c1", "condition"},         // cmovae
		{"c5e9fed9", "c5e9fad9", "operation"},         // vpaddd, vpsubd
		{"c5e9fed9", "c5edfed9", "length"},            // ymm
		{"c5e9fe18", "c5edfe18", ""},                  // ymm of memory
		{"c5edfe18", "c5e9fe18", "length"},            // xmm of memory
		{"c5e9fed9", "c5f1feda", ""},                  // vpaddd commutes
		{"c5e9fad9", "c5f1fada", "swap"},              // vpsubd
		{"62f1ed48efd9", "62f16d48efd9", ""},          // vpxorq, vpxord
		{"62f1ed49efd9", "62f16d49efd9", "width"},     // of a mask
		{"62f1ed48efd9", "62f1ed49efd9", "mask"},      // {k1}
		{"62f1ed49efd9", "62f1edc9efd9", "zeroing"},   // {z}
		{"62f1ed48d418", "62f1ed58d418", "broadcast"}, // vpaddq zmm3, zmm2, [rax]{1to8}
		{"62f3fd483bd801", "62f37d483bd801", ""},      // vextracti64x4, vextracti32x8
		{"62f3fd483bd801", "62f3fd483bd803", ""},      // the immediate has one bit
		{"62f2ed4836d9", "62f26d4836d9", "width"},     // vpermq, vpermd
		{"48b8ba00000000000000", "48b8ba01000000000000", "immediate"},
	} {
		var code [2]*machine.Instruction
		for n, s := range []string{test.before, test.after} {
			b, err := hex.DecodeString(s)
			if err != nil {
				t.Fatal(err)
			}
			if code[n], err = x86.Decode(0x1000, b); err != nil {
				t.Fatalf("%s: %v", s, err)
			}
		}
		if got := alteration(code[0], code[1]); got != test.want {
			t.Errorf("%v to %v: %q, want %q", code[0], code[1], got, test.want)
		}
	}
}

// TestAlterationARM64 checks the same for arm64.
func TestAlterationARM64(t *testing.T) {
	for _, test := range []struct {
		before, after uint32
		want          string
	}{
		{0x8b020023, 0x8b010043, ""},          // add x3, x2, x1
		{0xcb020023, 0xcb010043, "swap"},      // sub x3, x2, x1
		{0x8b020023, 0x8b020021, "register"},  // add x1, x1, x2
		{0xaa024023, 0xaa014043, "register"},  // orr x3, x2, x1, lsl #16
		{0x8b020023, 0xcb020023, "operation"}, // sub
		{0xf9400420, 0xf9400820, "offset"},    // ldr x0, [x1, #16]
		{0x5400002b, 0x54000021, "condition"}, // b.ne
		{0x5400002b, 0x5400004b, ""},          // b.lt, to another place
	} {
		var code [2]*machine.Instruction
		for n, word := range []uint32{test.before, test.after} {
			var err error
			if code[n], err = program.Decode(arm64.Architecture, 0x1000, []byte{byte(word), byte(word >> 8), byte(word >> 16), byte(word >> 24)}); err != nil {
				t.Fatalf("%#x: %v", word, err)
			}
		}
		if got := alteration(code[0], code[1]); got != test.want {
			t.Errorf("%v to %v: %q, want %q", code[0], code[1], got, test.want)
		}
	}
}

// TestEmulated tries mutants for arm64 in qemu: one that a test must kill, and one that none can kill.
func TestEmulated(t *testing.T) {
	if _, err := exec.LookPath("qemu-aarch64"); err != nil {
		t.Skip("no qemu-aarch64: apt-get install qemu-user")
	}
	t.Setenv("FASTMAC_TEST_KERNELS", kernels(arm64.Architecture))
	p, err := load(arm64.Architecture, t.TempDir(), []string{"internal/aes"})
	if err != nil {
		t.Fatal(err)
	}
	r, err := newRunner(p, 0)
	if err != nil {
		t.Fatal(err)
	}
	s := &session{suite: p, runners: make(chan *runner, 1)}
	s.runners <- r
	for text, want := range map[string]string{"aese ": failed, "eor v16.16b, v16.16b, v16.16b": survived} {
		m := dropped(p.find(t, "encryptBlocks", text))
		if o, err := s.emulated(m); err != nil || o.How != want {
			t.Errorf("%v: %s by %q, error %v, want %s", m, o.How, o.Test, err, want)
		}
	}
}

// TestGroups checks that the tests that have killed mutants come first, then the fastest, and that no
// more run than fit.
func TestGroups(t *testing.T) {
	b := new(binary)
	for _, ms := range []time.Duration{300, 1, 40, 2, 90} {
		b.tests = append(b.tests, &test{binary: b, Name: fmt.Sprint(int64(ms)), CPU: ms * time.Millisecond, Reaches: []bool{true}, Idle: ms == 2})
	}
	b.tests[0].Reaches = []bool{true, true}
	b.tests[2].Reaches = []bool{false, true}
	m := dropped(&instruction{Instruction: new(machine.Instruction), function: &function{Function: &machine.Function{Name: "f"}}})
	for _, test := range []struct {
		most  time.Duration
		kills map[string]int
		want  string
	}{
		{0, nil, "[]"},
		{10, nil, "[[1 2]]"},
		{91, nil, "[[1 90]]"},
		{200, nil, "[[1 90 2]]"},
		{1000, nil, "[[1 90 300 2]]"},
		{1000, map[string]int{"f  90": 1, "f  300": 4, "g  1": 9}, "[[300] [90] [1 2]]"},
		{100, map[string]int{"f  90": 1, "f  300": 4}, "[[90] [1 2]]"},
	} {
		r := &runner{suite: &suite{binaries: []*binary{b}}, kills: test.kills}
		alone, others, executing := r.groups(m, test.most*time.Millisecond)
		var got [][]string
		for _, g := range append(alone, others...) {
			got = append(got, g.names)
		}
		if fmt.Sprint(got) != test.want || executing != 4 {
			t.Errorf("at most %d ms, %v have killed: %v of %d, want %s of 4", test.most, test.kills, got, executing, test.want)
		}
	}
}
