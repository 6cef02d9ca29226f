// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestRequires compares the conditions under which the Go source calls assembly with
// the instruction sets that the generator found in it.
func TestRequires(t *testing.T) {
	for _, test := range []struct{ file, functions, source, variable string }{
		{"nh_amd64.s", "AVX512$", "kernels_amd64.go", "useAVX512"},
		{"nh_amd64.s", "AVX2$", "kernels_amd64.go", "useAVX2"},
		{"nh_amd64.s", "VAES$", "kernels_amd64.go", "useVAES"},
		{"internal/aesni/aesni_amd64.s", "", "internal/aesni/aesni_amd64.go", "Supported"},
		{"internal/sha512/sha512_amd64.s", "AVX512$", "internal/sha512/sha512_amd64.go", "hasAVX512"},
		{"internal/sha512/sha512_amd64.s", "AVX2$", "internal/sha512/sha512_amd64.go", "hasAVX2"},
	} {
		source, err := os.ReadFile(filepath.FromSlash(test.source))
		if err != nil {
			t.Fatal(err)
		}
		condition := regexp.MustCompile(test.variable + ` += ((?:[^\n]*&&\s)*[^\n]*)\n`).FindSubmatch(source)
		if condition == nil {
			t.Fatalf("%s: no %s", test.source, test.variable)
		}
		asked := []string{"CMOV", "MMX+", "SSE", "SSE2"} // in every amd64 CPU
		for _, m := range regexp.MustCompile(`cpu\.X86\.Has(\w+)`).FindAllSubmatch(condition[1], -1) {
			asked = append(asked, strings.NewReplacer("SSE41", "SSE4.1", "AVX512VAES", "VAES", "BMI1", "BMI").Replace(string(m[1])))
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

// TestUpperHalves checks that every return of a vector kernel clears the upper halves
// of the registers, which otherwise slow down the code that runs next, and that the
// kernel overwrites its frame, which holds secrets, before it returns.
func TestUpperHalves(t *testing.T) {
	for _, file := range []string{"nh_amd64.s", "internal/sha512/sha512_amd64.s"} {
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
	returns := 0
	for i, line := range lines {
		if strings.TrimSpace(line) == "RET" {
			returns++
			if strings.TrimSpace(lines[i-1]) != "VZEROUPPER" {
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
	end := function[max(0, strings.LastIndex(function, "// The frame held secrets.")):]
	for slot := 0; slot < size; slot += 32 {
		at := fmt.Sprintf(", %d(SP)", slot)
		if slot == 0 {
			at = ", (SP)"
		}
		if !regexp.MustCompile(`VMOVDQU +Y\d+` + regexp.QuoteMeta(at)).MatchString(end) {
			t.Errorf("%s: bytes %d to %d of the frame are not overwritten", name, slot, slot+31)
		}
	}
}
