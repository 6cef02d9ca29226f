// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package kernel_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// assembly is the files of assembly that computes with secrets.
var assembly = []string{"nh_amd64.s", "internal/aes/aes_amd64.s", "internal/gcm/gcm_amd64.s", "internal/sha512/sha512_amd64.s"}

// functions returns the functions of a file of assembly. Each begins with its name.
func functions(t *testing.T, file string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../..", filepath.FromSlash(file)))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(string(text), "\nTEXT ")[1:]
}

// TestVectorsWiped checks that functions set all vector registers that they use to zero
// before they return, except for the kernels that hash short messages.
func TestVectorsWiped(t *testing.T) {
	checked := 0
	for _, file := range assembly {
		for _, function := range functions(t, file) {
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
	if checked != 37 {
		t.Errorf("checked %d functions, want 37", checked)
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
	for _, file := range assembly {
		for _, function := range functions(t, file) {
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
