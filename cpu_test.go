// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// TestHardware fails if the kernels in use are not those of FASTMAC_TEST_KERNELS, the
// fields of Features, as in avx2/aesni/avx2. So a run for one kernel cannot pass on
// another.
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
	if purego {
		if err != ErrPurego {
			t.Errorf("RequireHardware() = %v in a build without assembly", err)
		}
		return
	}
	if err != nil && (!errors.As(err, &e) || len(e.Missing) == 0 || !strings.Contains(err.Error(), e.Missing[0])) {
		t.Errorf("RequireHardware() = %#v: %v", err, err)
	}
	if e != nil && slices.ContainsFunc(e.Missing, func(name string) bool { return strings.ContainsAny(name, " (") }) {
		t.Errorf("Missing = %q: want names of instructions", e.Missing)
	}
	if want := os.Getenv("FASTMAC_TEST_MISSING"); want != "" && (e == nil || strings.Join(e.Missing, ",") != want) {
		t.Errorf("RequireHardware() = %v, want %q missing", err, want)
	}
}

// TestKernelsOff runs some tests in processes with CPU features switched off.
func TestKernelsOff(t *testing.T) {
	if runtime.GOARCH != "amd64" || !strings.HasPrefix(nhName(), "avx") || !useAES {
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

// TestEachKernel checks that eachKernel calls its function once for each kernel in use,
// portable code last, and restores the flags.
func TestEachKernel(t *testing.T) {
	first := nhName() + "/" + aesName()
	seen := make(map[string]bool)
	last := ""
	eachKernel(func(kernel string) {
		if seen[kernel] || kernel != nhName()+"/"+aesName() {
			t.Errorf("%s, in use are %s/%s, after %v", kernel, nhName(), aesName(), seen)
		}
		seen[kernel], last = true, kernel
	})
	if !seen[first] || last != "generic/stdlib" || nhName()+"/"+aesName() != first {
		t.Errorf("%v, %s last; before %s, then %s/%s", seen, last, first, nhName(), aesName())
	}
}
