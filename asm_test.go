// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// everyAMD64 lists instruction sets that every amd64 CPU has.
var everyAMD64 = []string{"CMOV", "CPUID", "MMX+", "SSE", "SSE2"}

// TestRequires compares the conditions under which the Go source calls assembly with
// the instruction sets that the generator found in it.
func TestRequires(t *testing.T) {
	for _, test := range []struct{ file, functions, source, variable string }{
		{"nh_amd64.s", "AVX512$", "kernels_amd64.go", "useAVX512"},
		{"nh_amd64.s", "AVX2$", "kernels_amd64.go", "useAVX2"},
		{"nh_amd64.s", "AESNI$", "kernels_amd64.go", "useAES"},
		{"nh_amd64.s", "VAES$", "kernels_amd64.go", "useVAES"},
		{"internal/aesni/aesni_amd64.s", "[0-9sI]$", "internal/aesni/aesni_amd64.go", "Supported"}, // all except VAES
		{"internal/aesni/aesni_amd64.s", "VAES$", "internal/aesni/aesni_amd64.go", "VAES"},
		{"internal/gcm/gcm_amd64.s", "Key$|AESNI$|cpuid7", "internal/gcm/gcm_amd64.go", "hasAESNI"},
		{"internal/gcm/gcm_amd64.s", "AVX2$", "internal/gcm/gcm_amd64.go", "hasAVX2"},
		{"internal/gcm/gcm_amd64.s", "AVX512$", "internal/gcm/gcm_amd64.go", "hasAVX512"},
		{"internal/sha512/sha512_amd64.s", "AVX512$", "internal/sha512/sha512_amd64.go", "hasAVX512"},
		{"internal/sha512/sha512_amd64.s", "AVX2$", "internal/sha512/sha512_amd64.go", "hasAVX2"},
	} {
		asked := slices.Concat(everyAMD64, instructionsAsked(t, test.source, test.variable))
		if i := slices.Index(asked, "BMI1"); i >= 0 {
			asked[i] = "BMI" // the generator's name for it
		}

		text, err := os.ReadFile(filepath.FromSlash(test.file))
		if err != nil {
			t.Fatal(err)
		}
		requires := regexp.MustCompile(`(?m)^// Requires: (.*)\nTEXT ·(\w+)\(SB\)`).FindAllSubmatch(text, -1)
		if functions := bytes.Count(text, []byte("\nTEXT ")); functions != len(requires) || functions == 0 {
			t.Errorf("%s: %d functions, %d with a line Requires", test.file, functions, len(requires))
		}
		checked := 0
		for _, m := range requires {
			if !regexp.MustCompile(test.functions).Match(m[2]) {
				continue
			}
			checked++
			for _, set := range strings.Split(string(m[1]), ", ") {
				if !slices.Contains(asked, set) {
					t.Errorf("%s: %s requires %s, which %s does not ask for", test.file, m[2], set, test.variable)
				}
			}
		}
		if checked == 0 {
			t.Errorf("%s has no functions for %s", test.file, test.variable)
		}
	}
}

// instructionsAsked returns the usual names of the instruction sets for which the condition
// in a variable of a source file asks, directly or through another variable.
func instructionsAsked(t *testing.T, source, variable string) (names []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.FromSlash(source))
	if err != nil {
		t.Fatal(err)
	}
	condition := regexp.MustCompile(`\b` + variable + ` += ((?:[^\n]*&&\s)*[^\n]*)\n`).FindSubmatch(text)
	if condition == nil {
		t.Fatalf("%s: no %s", source, variable)
	}
	for term := range strings.SplitSeq(string(condition[1]), "&&") {
		switch term = strings.TrimSpace(term); {
		case term == "hasAVX2", term == "hasAESNI", term == "Supported":
			names = append(names, instructionsAsked(t, source, term)...)
		case strings.HasPrefix(term, "aesni."):
			names = append(names, instructionsAsked(t, "internal/aesni/aesni_amd64.go", strings.TrimPrefix(term, "aesni."))...)
		case term == "hasVAES256", term == "hasVPCLMULQDQ256":
			names = append(names, strings.TrimSuffix(strings.TrimPrefix(term, "has"), "256"))
		case strings.HasPrefix(term, "cpu.X86.Has"):
			name := strings.TrimPrefix(term, "cpu.X86.Has")
			names = append(names, strings.NewReplacer("SSE41", "SSE4.1", "AVX512VAES", "VAES", "AVX512VPCLMULQDQ", "VPCLMULQDQ").Replace(name))
		default:
			t.Errorf("%s: %s asks for %q, for which this test knows no name", source, variable, term)
		}
	}
	return names
}

// TestInstructions compares the instruction sets that Hardware and RequireHardware
// report with those that the conditions of the best assembly ask for.
func TestInstructions(t *testing.T) {
	for _, test := range []struct {
		reported         []instruction
		source, variable string
	}{
		{nhInstructions(), "kernels_amd64.go", "useAVX512"},
		{aesInstructions(), "internal/aesni/aesni_amd64.go", "Supported"},
		{append(aesInstructions(), vaesInstructions()...), "kernels_amd64.go", "useVAES"},
		{sha512Instructions(), "internal/sha512/sha512_amd64.go", "hasAVX512"},
		{gcmInstructions(), "internal/gcm/gcm_amd64.go", "hasAVX512"},
	} {
		if runtime.GOARCH != "amd64" && test.source == "internal/gcm/gcm_amd64.go" {
			continue // gcm.Instructions is for the architecture of the build
		}
		asked := make(map[string]bool)
		for _, name := range instructionsAsked(t, test.source, test.variable) {
			asked[name] = !slices.Contains(everyAMD64, name)
		}
		for _, i := range test.reported {
			if !asked[i.name] {
				t.Errorf("%s: %s does not ask for %s, or %[3]s is reported twice", test.source, test.variable, i.name)
			}
			asked[i.name] = false
		}
		for name, unreported := range asked {
			if unreported {
				t.Errorf("%s: %s asks for %s, which is not reported", test.source, test.variable, name)
			}
		}
	}
}

// TestVectorsWiped checks that functions set all vector registers that they use to zero
// before they return, except for the kernels that hash short messages.
func TestVectorsWiped(t *testing.T) {
	checked := 0
	for _, file := range []string{"nh_amd64.s", "internal/aesni/aesni_amd64.s", "internal/gcm/gcm_amd64.s", "internal/sha512/sha512_amd64.s"} {
		text, err := os.ReadFile(filepath.FromSlash(file))
		if err != nil {
			t.Fatal(err)
		}
		for _, function := range strings.Split(string(text), "\nTEXT ")[1:] {
			name, _, _ := strings.Cut(function, "(")
			switch name {
			case "·nhAddAVX512", "·nhAddAVX2", "·fillAVX512", "·fillAVX2", "·tagOnlyAVX512", "·tagOnlyAVX2",
				"·tagWordsAVX512", "·tagWordsAVX2":
				continue
			}
			checked++
			testVectorsWiped(t, file+": "+name, strings.Split(function, "\n"))
		}
	}
	if checked != 35 {
		t.Errorf("checked %d functions, want 35", checked)
	}
}

var (
	vectorRegister = regexp.MustCompile(`\b[XYZ](\d+)\b`)
	wipedRegister  = regexp.MustCompile(`^\tV?PXORQ? +X(\d+), X(\d+)(?:, X(\d+))?$`)
	jump           = regexp.MustCompile(`^\tJ(\w+) +(\w+)$`)
)

// testVectorsWiped follows the lines of a function, and jumps with what has been used before
// them. In the second round it knows those that go back.
func testVectorsWiped(t *testing.T, name string, lines []string) {
	at := make(map[string]map[string]bool) // label: registers used before jumps to it
	for round := range 2 {
		used, zero := map[string]bool{"14": true}, make(map[string]bool) // X14: see internal/asm/output
		for _, line := range lines {
			label, isLabel := strings.CutSuffix(line, ":")
			m, to := wipedRegister.FindStringSubmatch(line), jump.FindStringSubmatch(line)
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
				maps.Copy(at[to[2]], used)
			case line == "\tRET":
				for register := range used {
					if !zero[register] && round > 0 {
						t.Errorf("%s does not set vector register %s to zero before RET", name, register)
					}
				}
			case strings.TrimSpace(line) != "VZEROUPPER":
				for _, m := range vectorRegister.FindAllStringSubmatch(line, -1) {
					used[m[1]] = true
					delete(zero, m[1])
				}
			}
			if line == "\tRET" || to != nil && to[1] == "MP" { // what follows is jumped to
				used, zero = map[string]bool{"14": true}, make(map[string]bool)
			}
		}
	}
}

// TestUpperHalves checks that every return of a vector kernel clears the upper halves
// of the registers, which otherwise slow down the code that runs next, and that the
// kernel overwrites its frame, which holds secrets, with zeros before it returns.
func TestUpperHalves(t *testing.T) {
	for _, file := range []string{"nh_amd64.s", "internal/aesni/aesni_amd64.s", "internal/gcm/gcm_amd64.s", "internal/sha512/sha512_amd64.s"} {
		text, err := os.ReadFile(filepath.FromSlash(file))
		if err != nil {
			t.Fatal(err)
		}
		for _, function := range strings.Split(string(text), "\nTEXT ")[1:] {
			testUpperHalves(t, function)
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
