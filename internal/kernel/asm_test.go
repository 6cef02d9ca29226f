// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package kernel_test

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"example.com/fastmac/internal/golden"
)

// assemblyOf is the files of assembly of each architecture that computes with secrets. Package
// internal/assurance/arm64 tests that those of arm64 have no frames.
var assemblyOf = map[string][]string{
	"amd64": {"nh_amd64.s", "internal/aes/aes_amd64.s", "internal/gcm/gcm_amd64.s", "internal/sha1/sha1_amd64.s", "internal/sha2/sha256_amd64.s", "internal/sha2/sha512_amd64.s", "internal/prefetch/prefetch_amd64.s"},
	"arm64": {"nh_arm64.s", "internal/aes/aes_arm64.s", "internal/gcm/gcm_arm64.s", "internal/sha2/sha2_arm64.s", "internal/prefetch/prefetch_arm64.s", "internal/lifetime/barrier_arm64.s"},
}

// allAssembly is these and what computes with no secret.
func allAssembly(goarch string) []string {
	if goarch == "amd64" {
		return append(slices.Clip(assemblyOf[goarch]), "internal/kernel/cpuid_amd64.s")
	}
	return assemblyOf[goarch]
}

// functions returns the functions of a file of assembly. Each begins with its name.
func functions(t *testing.T, file string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../..", filepath.FromSlash(file)))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(string(text), "\nTEXT ")[1:]
}

// Vectors are how the assembly of an architecture uses vector registers, and on amd64 mask registers.
type vectors struct {
	files    []string
	register *regexp.Regexp // the number of one; of a mask register K and the number
	zero     *regexp.Regexp // an instruction that sets one to zero if its operands are the same
	jump     *regexp.Regexp // the instruction and the label
	always   string         // the jump without a condition
	copies   []string       // the registers with which Go code copies
	short    map[string]int // the kernels that hash short messages, and how many vector registers they leave: the first ones
}

var architectures = []vectors{{
	files:    assemblyOf["amd64"],
	register: regexp.MustCompile(`\b(?:[XYZ](\d+)|(K\d))\b`),
	zero:     regexp.MustCompile(`^\t(?:V?PXORQ?|KXORW) +X?(K?\d+), X?(K?\d+)(?:, X?(K?\d+))?$`),
	jump:     regexp.MustCompile(`^\t(J\w+) +(\w+)$`),
	always:   "JMP",
	copies:   []string{"14"}, // see internal/asm/output
	short: map[string]int{"·nhAddAVX512": 13, "·nhAddAVX2": 10, "·fillAVX512": 1, "·fillAVX2": 2, "·tagOnlyAVX512": 13,
		"·tagOnlyAVX2": 10, "·tagWordsAVX512": 5, "·tagWordsAVX2": 10},
}, {
	files: assemblyOf["arm64"],
	// Of a WORD, in its comment. F is what loads and stores call V.
	register: regexp.MustCompile(`\b[FV](\d+)\b`),
	zero:     regexp.MustCompile(`^\tVEOR\tV(\d+)\.B16, V(\d+)\.B16, V(\d+)\.B16$`),
	jump:     regexp.MustCompile(`^\t(B|B(?:EQ|NE|CS|HS|CC|LO|MI|PL|VS|VC|HI|LS|GE|LT|GT|LE)|CBN?ZW?|TBN?Z)\t(?:.*, )?(\w+)$`),
	always:   "B",
	copies:   []string{"16", "17"}, // cmd/compile, LoweredMove
}}

// TestVectorsWiped checks that functions set all vector and mask registers that they use to zero
// before they return, except for the first vector registers in the kernels of amd64 that hash short
// messages.
func TestVectorsWiped(t *testing.T) {
	for _, a := range architectures {
		short := 0
		for _, file := range a.files {
			for _, function := range functions(t, file) {
				name, _, _ := strings.Cut(function, "(")
				if chooses(function) {
					continue
				}
				left := a.left(strings.Split(function, "\n"))
				if first, ok := a.short[name]; ok {
					short++
					left = slices.DeleteFunc(left, func(register string) bool {
						n, err := strconv.Atoi(register)
						return err == nil && n < first || slices.Contains(a.copies, register)
					})
				}
				for _, register := range left {
					t.Errorf("%s: %s does not set register %s to zero before RET", file, name, register)
				}
			}
		}
		if short != len(a.short) {
			t.Errorf("%s: %d functions of %v", a.files[0], short, a.short)
		}
	}
}

// TestStateWiped checks that the kernels which have a state of SHA-2 in general registers set them to zero before
// they return: the runtime saves registers on the stack in some calls.
func TestStateWiped(t *testing.T) {
	zero := regexp.MustCompile(`\n\tXORL +(\w+), (\w+)`)
	kernels := 0
	state := regexp.MustCompile(`^·(block|iterate)(256AVX2|512\w+)$`)
	for _, function := range slices.Concat(functions(t, "internal/sha2/sha256_amd64.s"), functions(t, "internal/sha2/sha512_amd64.s")) {
		name, _, _ := strings.Cut(function, "(")
		if !state.MatchString(name) {
			continue
		}
		kernels++
		for before := range strings.SplitSeq(strings.TrimSpace(function[:strings.LastIndex(function, "\n\tRET")+5]), "\n\tRET") {
			if before == "" {
				continue
			}
			end := before[max(0, strings.LastIndex(before, ":")):]
			wiped := make(map[string]bool)
			for _, m := range zero.FindAllStringSubmatch(end, -1) {
				wiped[m[1]] = m[1] == m[2]
			}
			if len(wiped) < 8 {
				t.Errorf("%s sets %d general registers to zero before it returns, want 8", name, len(wiped))
			}
		}
	}
	if kernels != 8 {
		t.Errorf("%d kernels", kernels)
	}
}

// TestFunctions compares with functions.txt how many functions the tests find in each file.
func TestFunctions(t *testing.T) {
	var counts strings.Builder
	for _, file := range slices.Concat(assemblyOf["amd64"], assemblyOf["arm64"]) {
		fmt.Fprintln(&counts, file, len(functions(t, file)))
	}
	if err := golden.Check("functions.txt", counts.String()); err != nil {
		t.Error(err)
	}
}

// Parts of a function that chooses a kernel: a comparison of the length of a parameter, and a kernel
// with the flag that is tested and the label of what follows.
var (
	longer      = regexp.MustCompile(`^\tCMPQ +\w+_len\+\d+\(FP\), \$\+\d+\n\tJHI +(\w+)\n`)
	alternative = regexp.MustCompile(`^\tCMPB +·use(\w+)\+0\(SB\), \$0x00\n\tJEQ +(\w+)\n\tJMP +·(\w+)\+0\(SB\)\n\n(\w+):\n`)
)

// ownFlag has the kernels with another flag than those of their instruction set.
var ownFlag = map[string]string{"nhNextAVX512": "LongAVX512", "nhPolyAVX512": "LongAVX512", "tagTwoAVX512": "LongAVX512"}

// chooses reports whether all that a function does is to jump to the kernel of its name that is in
// use, the best first, or to the portable one. Up to some length it may pass over the best.
// Internal/assurance checks its machine code.
func chooses(function string) bool {
	head, code, _ := strings.Cut(function, "\n")
	name, frame, _ := strings.Cut(head, "(SB), ")
	code, _, _ = strings.Cut(code, "\n//") // of the next function
	code = strings.TrimRight(code, "\n") + "\n"
	path := func(want ...string) bool {
		for _, end := range want {
			m, kernel := alternative.FindStringSubmatch(code), strings.TrimPrefix(name, "·")+end
			if m == nil || m[1] != cmp.Or(ownFlag[kernel], end) || m[3] != kernel || m[4] != m[2] {
				return false
			}
			code = code[len(m[0]):]
		}
		rest, ok := strings.CutPrefix(code, "\tJMP "+name+"Generic+0(SB)\n")
		code = rest
		return ok
	}
	if m := longer.FindStringSubmatch(code); m != nil {
		code = code[len(m[0]):]
		if !path("AVX2") || !strings.HasPrefix(code, "\n"+m[1]+":\n") {
			return false
		}
		code = code[len("\n"+m[1]+":\n"):]
	}
	return strings.HasPrefix(frame, "$0-") && path("AVX512", "AVX2") && code == ""
}

// TestChooses plants faults in functions that choose.
func TestChooses(t *testing.T) {
	const all = `·f(SB), $0-72
	CMPB ·useAVX512+0(SB), $0x00
	JEQ  next1
	JMP  ·fAVX512+0(SB)

next1:
	CMPB ·useAVX2+0(SB), $0x00
	JEQ  next2
	JMP  ·fAVX2+0(SB)

next2:
	JMP ·fGeneric+0(SB)

// func g()
`
	const begin = "·f(SB), $0-72\n"
	long := begin + `	CMPQ rest_len+32(FP), $+256
	JHI  long3
	CMPB ·useAVX2+0(SB), $0x00
	JEQ  next4
	JMP  ·fAVX2+0(SB)

next4:
	JMP ·fGeneric+0(SB)

long3:
` + strings.TrimPrefix(all, begin)
	named := func(name string) string {
		return strings.NewReplacer("·f(", "·"+name+"(", "·fA", "·"+name+"A", "·fG", "·"+name+"G").Replace(all)
	}
	poly := strings.Replace(named("nhPoly"), "useAVX512", "useLongAVX512", 1)
	for _, test := range []struct {
		right  string
		faults [][2]string
	}{
		{all, [][2]string{
			{"", ""},
			{"CMPB ·useAVX512+0", "CMPB ·useAVX2+0"},
			{"CMPB ·useAVX2+0", "CMPB ·useVAES+0"},
			{"useAVX2+0(SB), $0x00", "useAVX2+0(SB), $0x01"},
			{"useAVX2+0(SB)", "useAVX2+1(SB)"},
			{"JEQ  next1", "JNE  next1"},
			{"JEQ  next1", "JEQ  next2"},
			{"JMP  ·fAVX512+0", "JMP  ·gAVX512+0"},
			{"JMP  ·fAVX512+0", "JMP  ·fAVX2+0"},
			{"JMP  ·fAVX2+0", "JMP  ·fAVX2+4"},
			{"fGeneric", "gGeneric"},
			{"JMP ·fGeneric+0(SB)", "RET"},
			{"\nnext2:", "\nnext2:\n\tVZEROUPPER"},
			{"\tJEQ  next2", "\tMOVQ tag+0(FP), AX\n\tJEQ  next2"},
			{"\tCMPB ·useAVX2+0(SB), $0x00\n\tJEQ  next2\n\tJMP  ·fAVX2+0(SB)\n\nnext2:\n", ""},
			{"$0-72", "$8-72"},
			{"·f(SB)", "·nhNext(SB)"},
		}},
		{poly, [][2]string{
			{"", ""},
			{"useLongAVX512", "useAVX512"},
			{"useAVX2", "useLongAVX512"},
		}},
		{long, [][2]string{
			{"", ""},
			{"JHI  long3", "JLS  long3"},
			{"JHI  long3", "JHI  next1"},
			{"rest_len+32(FP)", "length+48(FP)"},
			{"JMP  ·fAVX2+0", "JMP  ·fAVX512+0"},
			{"JMP ·fGeneric+0(SB)\n\nlong3", "RET\n\nlong3"},
			{"long3:", "long3:\n\tVZEROUPPER"},
		}},
	} {
		for _, fault := range test.faults {
			function := strings.Replace(test.right, fault[0], fault[1], 1)
			if chooses(function) != (fault[0] == "") || fault[0] != "" && function == test.right {
				t.Errorf("%q in place of %q: %v", fault[1], fault[0], chooses(function))
			}
		}
	}
}

// left returns the registers that a function has used and not set to zero at a return. It
// follows the lines, and jumps with what has been used before them, until a round finds no more
// that go back.
func (a vectors) left(lines []string) []string {
	found := make(map[string]bool)
	at := make(map[string]map[string]bool) // label: registers used before jumps to it
	for news := true; news; {
		news = false
		var used, zero map[string]bool
		begin := func() {
			used, zero = make(map[string]bool), make(map[string]bool)
			for _, register := range a.copies {
				used[register] = true
			}
		}
		begin()
		for _, line := range lines {
			label, isLabel := strings.CutSuffix(line, ":")
			m, to := a.zero.FindStringSubmatch(line), a.jump.FindStringSubmatch(line)
			switch {
			case isLabel:
				maps.Copy(used, at[label])
				clear(zero)
			case m != nil && m[1] == m[2] && (m[3] == "" || m[3] == m[1]):
				zero[m[1]] = true
			case to != nil:
				if at[to[2]] == nil {
					at[to[2]] = make(map[string]bool)
				}
				before := len(at[to[2]])
				maps.Copy(at[to[2]], used)
				news = news || len(at[to[2]]) > before
			case line == "\tRET":
				for register := range used {
					if !zero[register] {
						found[register] = true
					}
				}
			case strings.TrimSpace(line) != "VZEROUPPER":
				for _, m := range a.register.FindAllStringSubmatch(line, -1) {
					register := strings.Join(m[1:], "")
					used[register] = true
					delete(zero, register)
				}
			}
			if line == "\tRET" || to != nil && to[1] == a.always { // what follows is jumped to
				begin()
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// TestLeft checks that left sees mask registers of amd64, registers in all kinds of lines of arm64,
// and all jumps.
func TestLeft(t *testing.T) {
	const wiped = "\tVEOR\tV16.B16, V16.B16, V16.B16\n\tVEOR\tV17.B16, V17.B16, V17.B16\n"
	const wipedX14, wipedK1 = "\tVPXOR   X14, X14, X14\n", "\tKXORW   K1, K1, K1\n"
	for _, test := range []struct{ code, want string }{
		{"\tKMOVQ   BX, K1\n\tVMOVDQU8.Z (DX), K1, Z2\n\tVPXOR   X2, X2, X2\n" + wipedX14 + wipedK1 + "\tVZEROUPPER\n\tRET", ""},
		{"\tKMOVQ   BX, K7\n" + wipedX14 + wipedK1 + "\tRET", "K7"},
		{"\tKMOVQ   BX, K1\n" + wipedX14 + "\tKXORW   K1, K1, K2\n\tRET", "K1 K2"},
		{"\tKMOVQ   BX, K1\n" + wipedX14 + wipedK1 + "\tKSHIFTRB $0x04, K2, K1\n\tRET", "K1 K2"},
		{"\tKMOVQ   BX, K1\n\tJLS     end\n" + wipedK1 + "\nend:\n" + wipedX14 + "\tRET", "K1"},
		{wiped + "\tRET", ""},
		{"\tRET", "16 17"},
		{wiped + "\tFLDPQ\t0(R3), (F8, F9)\n\tRET", "8 9"},
		{"\tAESE\tV16.B16, V0.B16\n" + wiped + "\tRET", "0"},
		{wiped + "\tVEOR\tV1.B16, V2.B16, V2.B16\n\tRET", "1 2"},
		{wiped + "\tVEOR\tV1.B16, V1.B16, V1.B16\n\tFMOVD\tR1, F1\n\tRET", "1"},
		{"\tWORD\t$0x2eadc180 // UMULL V0.2D, V12.2S, V13.2S\n" + wiped + "\tRET", "0 12 13"},
		{"\tVMOV\tV3.D[1], R0\n\tB\tend\n\nother:\n\tVMOV\tR0, V4.D[0]\n" + wiped + "\tRET\n\nend:\n" + wiped + "\tRET", "3 4"},
		{"\tVMOV\tV3.D[1], R0\n\tCBNZ\tR1, end\n\tVEOR\tV3.B16, V3.B16, V3.B16\n" + wiped + "\tRET\n\nend:\n" + wiped + "\tRET", "3"},
		{"\tB\tfirst\n\nthird:\n" + wiped + "\tRET\n\nsecond:\n\tB\tthird\n\nfirst:\n\tFMOVQ\t0(R1), F7\n\tB\tsecond", "7"},
		{wiped + "\tTBZ\t$4, R1, end\n\tRET\n\nback:\n\tFMOVQ\t0(R1), F5\n\tBLT\tend\n\nend:\n" + wiped + "\tBNE\tback\n\tRET", "5"},
	} {
		a := architectures[1]
		if strings.Contains(test.code, wipedX14) {
			a = architectures[0]
		}
		if left := strings.Join(a.left(strings.Split(test.code, "\n")), " "); left != test.want {
			t.Errorf("%q leaves %q, want %q", test.code, left, test.want)
		}
	}
}

// TestUpperHalves checks that every return of a vector kernel clears the upper halves
// of the registers, which otherwise slow down the code that runs next, and that the
// kernel overwrites its frame, which holds secrets, with zeros before it returns.
func TestUpperHalves(t *testing.T) {
	for _, file := range assemblyOf["amd64"] {
		for _, function := range functions(t, file) {
			if !chooses(function) {
				testUpperHalves(t, function)
			}
		}
	}
}

func testUpperHalves(t *testing.T, function string) {
	name := function[:strings.IndexByte(function, ',')]
	lines := strings.Split(function, "\n")
	store, width := `VMOVDQU +Y`, 32
	sse := !strings.Contains(function, "\tV")
	if sse {
		store, width = `MOVUPS +X`, 16
	}
	returns := 0
	for i, line := range lines {
		if strings.TrimSpace(line) == "RET" {
			returns++
			if !sse && strings.TrimSpace(lines[i-1]) != "VZEROUPPER" {
				t.Errorf("%s: RET after %q", name, lines[i-1])
			}
		}
	}
	if returns == 0 {
		t.Errorf("%s: no RET", name)
	}
	frame := regexp.MustCompile(`\$(\d+)-`).FindStringSubmatch(lines[0])
	if frame == nil {
		t.Fatalf("%s: no frame size in %q", name, lines[0])
	}
	size, err := strconv.Atoi(frame[1])
	if err != nil {
		t.Fatal(err)
	}
	if size > 0 && returns != 1 {
		t.Errorf("%s: %d returns, want one, after its frame is overwritten", name, returns)
	}
	at := strings.LastIndex(function, "// The frame held secrets.")
	if size > 0 && at < 0 {
		t.Errorf("%s: a frame, and no comment where it is overwritten", name)
	}
	if size == 0 {
		return
	}
	end, _, _ := strings.Cut(function[max(0, at):], "\tRET")
	first := regexp.MustCompile(store + `\d+`).FindStringIndex(end)
	if first == nil {
		t.Fatalf("%s: the frame is not overwritten", name)
	}
	store = end[first[0]:first[1]] // of this register, which must be zeros
	register := store[strings.LastIndexByte(store, ' ')+1:]
	if !regexp.MustCompile(`\tV?PXOR +` + register + `(, ` + register + `)+\n`).MatchString(end[:first[0]]) {
		t.Errorf("%s: %s is not zeros where the frame is overwritten with it", name, register)
	}
	for slot := 0; slot < size; slot += width {
		operand := fmt.Sprintf(", %d(SP)", slot)
		if slot == 0 {
			operand = ", (SP)"
		}
		if !strings.Contains(end, store+operand) {
			t.Errorf("%s: bytes %d to %d of the frame are not overwritten", name, slot, slot+width-1)
		}
	}
}
