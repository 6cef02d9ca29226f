// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// TestHardware fails if the kernels are not those that the environment names, so
// that a run for a certain kernel cannot pass without it: FASTMAC_TEST_KERNELS is
// NH's and AES's, as in avx2/aesni.
func TestHardware(t *testing.T) {
	hw := Hardware()
	if want := os.Getenv("FASTMAC_TEST_KERNELS"); want != "" && hw.NH+"/"+hw.AES != want {
		t.Errorf("Hardware() = %+v, want %s", hw, want)
	}
	known := map[string]bool{"avx512": true, "avx2": true, "generic": true, "aesni": true, "stdlib": true}
	if !known[hw.NH] || !known[hw.AES] || hw.SHA512 != "stdlib" {
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
	best := nhName() // AVX-512 where the machine has it
	for godebug, kernels := range map[string]string{
		"cpu.avx512f=off":             "avx2/aesni",
		"cpu.avx512bw=off":            "avx2/aesni",
		"cpu.avx2=off":                "generic/aesni",
		"cpu.bmi2=off":                "generic/aesni",
		"cpu.aes=off":                 best + "/stdlib",
		"cpu.avx512f=off,cpu.aes=off": "avx2/stdlib",
		"cpu.avx2=off,cpu.aes=off":    "generic/stdlib",
		"cpu.avx512dq=off":            "avx2/aesni",
		"cpu.avx512vl=off":            "avx2/aesni",
		"cpu.erms=off":                best + "/aesni",
	} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestHardware$|^TestUMACSign$|^TestUMACInit$")
		cmd.Env = append(os.Environ(), "GODEBUG="+strings.Trim(os.Getenv("GODEBUG")+","+godebug, ","), "FASTMAC_TEST_KERNELS="+kernels)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("GODEBUG=%s: %v\n%s", godebug, err, out)
		}
	}
}

// TestRequires compares the conditions under which assembly runs with the
// instruction sets that its generator found in it.
func TestRequires(t *testing.T) {
	for file, kernels := range map[string]map[string]string{
		"nh_amd64.s": {
			// CMOV is in every amd64 CPU.
			"AVX512$": "AVX, AVX2, AVX512BW, AVX512DQ, AVX512F, AVX512VL, BMI2, CMOV", // useAVX512
			"AVX2$":   "AVX, AVX2, BMI2, CMOV",                                        // useAVX2
		},
		// Supported; SSE and SSE2 are in every amd64 CPU.
		"internal/aesni/aesni_amd64.s": {"": "AES, SSE, SSE2, SSE4.1"},
	} {
		text, err := os.ReadFile(filepath.FromSlash(file))
		if err != nil {
			t.Fatal(err)
		}
		requires := regexp.MustCompile(`(?m)^// Requires: (.*)\nTEXT ·(\w+)\(SB\)`).FindAllStringSubmatch(string(text), -1)
		if functions := strings.Count(string(text), "\nTEXT "); functions != len(requires) || functions == 0 {
			t.Errorf("%s: %d functions, %d with a line Requires", file, functions, len(requires))
		}
		for _, m := range requires {
			allowed := ""
			for pattern, sets := range kernels {
				if regexp.MustCompile(pattern).MatchString(m[2]) {
					allowed = sets
				}
			}
			for _, set := range strings.Split(m[1], ", ") {
				if !slices.Contains(strings.Split(allowed, ", "), set) {
					t.Errorf("%s: %s requires %s, which its condition does not ask for", file, m[2], set)
				}
			}
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
