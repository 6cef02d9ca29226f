// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestHardware fails if the kernels are not those that the environment names, so
// that a run for a certain kernel cannot pass without it: FASTMAC_TEST_KERNELS is
// the fields of Features, as in avx2/aesni/avx2.
func TestHardware(t *testing.T) {
	hw := Hardware()
	if want := os.Getenv("FASTMAC_TEST_KERNELS"); want != "" && hw.NH+"/"+hw.AES+"/"+hw.SHA512 != want {
		t.Errorf("Hardware() = %+v, want %s", hw, want)
	}
	known := map[string]bool{"avx512": true, "avx2": true, "generic": true, "aesni": true, "stdlib": true}
	if !known[hw.NH] || !known[hw.AES] || !known[hw.SHA512] {
		t.Errorf("Hardware() = %+v", hw)
	}
	if purego && hw != (Features{NH: "generic", AES: "stdlib", SHA512: "stdlib"}) {
		t.Errorf("Hardware() = %+v in a build without assembly", hw)
	}
}

func TestRequireHardware(t *testing.T) {
	err := RequireHardware()
	var e *UnsupportedCPUError
	if err != nil && (!errors.As(err, &e) || len(e.Missing) == 0 || !strings.Contains(err.Error(), e.Missing[0])) {
		t.Errorf("RequireHardware() = %#v: %v", err, err)
	}
	if purego && err == nil {
		t.Error("RequireHardware() is nil in a build without assembly")
	}
	if want := os.Getenv("FASTMAC_TEST_MISSING"); want != "" && (e == nil || strings.Join(e.Missing, ",") != want) {
		t.Errorf("RequireHardware() = %v, want %q missing", err, want)
	}
}

// TestKernelsOff switches CPU features off for a process of its own.
func TestKernelsOff(t *testing.T) {
	if runtime.GOARCH != "amd64" || !strings.HasPrefix(nhName(), "avx") || !useAESNI {
		t.Skip("needs amd64 with AVX2 and AES instructions in use")
	}
	nh, sha := nhName(), sha512Name() // AVX-512 where the machine has it
	for godebug, want := range map[string]Features{
		"cpu.avx512f=off":             {"avx2", "aesni", "avx2"},
		"cpu.avx512bw=off":            {"avx2", "aesni", "avx2"},
		"cpu.avx512vl=off":            {"avx2", "aesni", sha},
		"cpu.avx512dq=off":            {"avx2", "aesni", sha},
		"cpu.avx2=off":                {"generic", "aesni", "stdlib"},
		"cpu.avx=off":                 {"generic", "aesni", "stdlib"},
		"cpu.bmi2=off":                {"generic", "aesni", "stdlib"},
		"cpu.bmi1=off":                {nh, "aesni", "stdlib"},
		"cpu.sse41=off":               {nh, "stdlib", sha},
		"cpu.aes=off":                 {nh, "stdlib", sha},
		"cpu.avx512f=off,cpu.aes=off": {"avx2", "stdlib", "avx2"},
		"cpu.avx2=off,cpu.aes=off":    {"generic", "stdlib", "stdlib"},
		"cpu.avx512vaes=off":          {nh, "aesni", sha},
		"cpu.erms=off":                {nh, "aesni", sha},
	} {
		if useFIPS {
			want.SHA512 = "stdlib"
		}
		cmd := exec.Command(os.Args[0], "-test.run=^TestHardware$|^TestUMACSign$|^TestUMACInit$|^TestHMACSHA512Verify$")
		cmd.Env = append(os.Environ(), "GODEBUG="+strings.Trim(os.Getenv("GODEBUG")+","+godebug, ","),
			"FASTMAC_TEST_KERNELS="+want.NH+"/"+want.AES+"/"+want.SHA512)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("GODEBUG=%s: %v\n%s", godebug, err, out)
		}
	}
}

// TestRequires compares the conditions in the Go source under which assembly runs
// with the instruction sets that its generator found in it.
func TestRequires(t *testing.T) {
	for _, test := range []struct{ file, functions, source, variable string }{
		{"nh_amd64.s", "AVX512$", "nh_amd64.go", "useAVX512"},
		{"nh_amd64.s", "AVX2$", "nh_amd64.go", "useAVX2"},
		{"nh_amd64.s", "VAES$", "nh_amd64.go", "useVAES"},
		{"internal/aesni/aesni_amd64.s", "", "internal/aesni/aesni_amd64.go", "Supported"},
		{"internal/sha512/sha512_amd64.s", "AVX512$", "internal/sha512/sha512_amd64.go", "UseAVX512"},
		{"internal/sha512/sha512_amd64.s", "AVX2$", "internal/sha512/sha512_amd64.go", "UseAVX2"},
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

// TestUpperHalves looks for ways out of the vector kernels that leave the upper
// halves of registers in use, which slows down whatever runs next, and for slots of
// their frames, which hold secrets, that are not overwritten at the end.
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

// TestRequireHardwareOff runs TestRequireHardware in a process whose CPU features
// are switched off.
func TestRequireHardwareOff(t *testing.T) {
	if runtime.GOARCH != "amd64" || RequireHardware() != nil {
		t.Skip("needs amd64 with AES instructions in use")
	}
	for godebug, missing := range map[string]string{
		"cpu.aes=off":                 "AES",
		"cpu.sse41=off,cpu.aes=off":   "AES,SSE4.1",
		"cpu.sse41=off,cpu.ssse3=off": "SSE4.1",
	} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestRequireHardware$|^TestUMACSign$")
		cmd.Env = append(os.Environ(), "GODEBUG="+godebug, "FASTMAC_TEST_MISSING="+missing)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("GODEBUG=%s: %v\n%s", godebug, err, out)
		}
	}
}
