// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac

import (
	"crypto/fips140"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"

	"example.com/fastmac/internal/gcm"
	"example.com/fastmac/internal/sha512"
)

// TestHardware fails if the kernels in use are not those of FASTMAC_TEST_KERNELS, the
// fields of Features, as in avx2/aesni/avx2. So a run for one kernel cannot pass on
// another. FASTMAC_TEST_LACKS does the same for the three fields of what is missing, and
// FASTMAC_TEST_GCM for the kernel of AES-GCM. .ci/run prints what it logs.
func TestHardware(t *testing.T) {
	hw := Hardware()
	t.Logf("kernels: NH %s, AES %s, SHA-512 %s, GCM %s", hw.NH, hw.AES, hw.SHA512, hw.GCM)
	if want := os.Getenv("FASTMAC_TEST_KERNELS"); want != "" && hw.NH+"/"+hw.AES+"/"+hw.SHA512 != want {
		t.Errorf("Hardware() = %+v, want %s", hw, want)
	}
	known := map[string]bool{"avx512": true, "avx2": true, "generic": true, "aesni": true, "stdlib": true}
	if !known[hw.NH] || !known[hw.AES] || !known[hw.SHA512] {
		t.Errorf("Hardware() = %+v", hw)
	}

	lacks := hw.NHLacks + "/" + hw.AESLacks + "/" + hw.SHA512Lacks
	if want := os.Getenv("FASTMAC_TEST_LACKS"); want != "" && lacks != want {
		t.Errorf("Hardware() = %+v, want it to lack %s", hw, want)
	}
	if want := os.Getenv("FASTMAC_TEST_GCM"); want != "" && hw.GCM != want {
		t.Errorf("Hardware() = %+v, want %s for GCM", hw, want)
	}
	gcmName := gcm.Active()
	if !gcm.Streams && fips140.Enforced() {
		gcmName = "none"
	}
	if hw.GCM != gcmName || (hw.GCMLacks == "") != (hw.GCM == "avx512") || (hw.GCM == "none") != (RequireGCM() != nil) {
		t.Errorf("Hardware() = %+v, missing %v", hw, gcm.Missing())
	}
	if (hw.NHLacks == "") != (hw.NH == "avx512") || (hw.AESLacks == "") != useVAES || (hw.SHA512Lacks == "") != (hw.SHA512 == "avx512") {
		t.Errorf("Hardware() = %+v", hw)
	}
	none := ""
	switch {
	case runtime.GOARCH != "amd64":
		none = "assembly for " + runtime.GOARCH
	case purego:
		none = "assembly (tag purego)"
	}
	if none != "" {
		want := Features{
			NH: "generic", NHLacks: none,
			AES: "stdlib", AESLacks: none,
			SHA512: "stdlib", SHA512Lacks: none,
			GCM: gcmName, GCMLacks: none,
		}
		if useFIPS {
			want.SHA512Lacks = "validation (FIPS 140 mode)"
		}
		if hw != want {
			t.Errorf("Hardware() = %+v, want %+v", hw, want)
		}
	}
}

// TestRequireHardware fails if the missing instructions are not those of
// FASTMAC_TEST_MISSING, if that is set: names with commas between them, or no name.
func TestRequireHardware(t *testing.T) {
	err := RequireHardware()
	func() {
		defer func() {
			if p := recover(); fmt.Sprint(p) != fmt.Sprint(err) {
				t.Errorf("MustHardware() panics with %v, RequireHardware() = %v", p, err)
			}
		}()
		MustHardware()
	}()

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
	var missing []string
	if e != nil {
		missing = e.Missing
	}
	if slices.ContainsFunc(missing, func(name string) bool { return strings.ContainsAny(name, " (") }) {
		t.Errorf("Missing = %q: want names of instructions", missing)
	}
	if want, ok := os.LookupEnv("FASTMAC_TEST_MISSING"); ok && strings.Join(missing, ",") != want {
		t.Errorf("RequireHardware() = %v, want %q missing", err, want)
	}
}

// TestRequireGCM fails if the missing instructions are not those of
// FASTMAC_TEST_GCM_MISSING, if that is set: names with commas between them, or no name. No
// key may be made then.
func TestRequireGCM(t *testing.T) {
	err := RequireGCM()
	if purego {
		if err != ErrPurego {
			t.Errorf("RequireGCM() = %v in a build without assembly", err)
		}
		return
	}
	if err == errEnforced {
		t.Skip("TestFIPS140 checks it: ", err)
	}
	var missing []string
	if err != nil {
		e, ok := err.(*UnsupportedCPUError)
		if !ok || len(e.Missing) == 0 || !strings.Contains(err.Error(), e.Missing[0]) {
			t.Fatalf("RequireGCM() = %#v: %v", err, err)
		}
		missing = e.Missing
	}
	if want, ok := os.LookupEnv("FASTMAC_TEST_GCM_MISSING"); ok && strings.Join(missing, ",") != want {
		t.Errorf("RequireGCM() = %v, want %q missing", err, want)
	}
	if k, keyErr := NewGMACKey(make([]byte, 16)); (k == nil) != (err != nil) || fmt.Sprint(keyErr) != fmt.Sprint(err) {
		t.Errorf("NewGMACKey: %v, %v; RequireGCM() = %v", k, keyErr, err)
	}
}

// TestRequireGCMOff runs TestRequireGCM and TestHardware, and tests that must be skipped or
// pass, in processes whose CPU features are switched off.
func TestRequireGCMOff(t *testing.T) {
	if runtime.GOARCH != "amd64" || RequireGCM() != nil || !GMACWipes {
		t.Skip("needs amd64 with this package's GCM in use")
	}
	for _, test := range []struct{ godebug, missing, best string }{
		{"cpu.aes=off", "AES", "none"},
		{"cpu.pclmulqdq=off", "PCLMULQDQ", "none"},
		{"cpu.ssse3=off", "SSSE3", "none"},
		{"cpu.sse41=off", "SSE4.1", "none"},
		{"cpu.aes=off,cpu.pclmulqdq=off", "AES,PCLMULQDQ", "none"},
		{"cpu.avx512f=off", "", "avx2"},
		{"cpu.avx512bw=off", "", "avx2"},
		{"cpu.avx512dq=off", "", "avx512"}, // which does not need it
		{"cpu.avx512vl=off", "", "avx2"},
		{"cpu.avx512vaes=off", "", "avx2"},
		{"cpu.avx512vpclmulqdq=off", "", "avx2"},
		{"cpu.avx2=off", "", "aesni"},
		{"cpu.avx=off", "", "aesni"},
	} {
		// A machine without the best kernel uses the next.
		kernel := test.best
		if names := []string{"avx512", "avx2", "aesni"}; slices.Contains(names, kernel) {
			for _, name := range names[slices.Index(names, kernel):] {
				if slices.Contains(gcm.Kernels(), name) {
					kernel = name
					break
				}
			}
		}
		cmd := exec.Command(os.Args[0], "-test.short", "-test.run=^TestHardware$|^TestRequireGCM$|^TestGMACVectors$|^TestGMACStreamVectors$|^TestGMACUnsupported$|^ExampleNewGMAC$")
		cmd.Env = append(os.Environ(), "GODEBUG="+strings.Trim(os.Getenv("GODEBUG")+","+test.godebug, ","),
			"FASTMAC_TEST_KERNELS=", "FASTMAC_TEST_GCM_MISSING="+test.missing, "FASTMAC_TEST_GCM="+kernel)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("GODEBUG=%s: %v\n%s", test.godebug, err, out)
		}
	}
}

// TestKernelsOff runs some tests in processes with CPU features switched off.
func TestKernelsOff(t *testing.T) {
	if runtime.GOARCH != "amd64" || !strings.HasPrefix(nhName(), "avx") || !useAES {
		t.Skip("needs amd64 with AVX2 and AES instructions in use")
	}
	hw := Hardware()
	nh, sha := hw.NH, sha512.Active().String() // AVX-512 where the machine has it
	for _, test := range []struct{ godebug, kernels, nhLacks, aesLacks, shaLacks string }{
		{"cpu.avx512f=off", "avx2/aesni/avx2", "AVX512F", "AVX512F", "AVX512F"},
		{"cpu.avx512bw=off", "avx2/aesni/avx2", "AVX512BW", "AVX512BW", "AVX512BW"},
		{"cpu.avx512vl=off", "avx2/aesni/avx2", "AVX512VL", "AVX512VL", "AVX512VL"},
		{"cpu.avx512dq=off", "avx2/aesni/" + sha, "AVX512DQ", "", ""},
		{"cpu.avx2=off", "generic/aesni/stdlib", "AVX2", "", "AVX2"},
		{"cpu.avx=off", "generic/aesni/stdlib", "AVX", "AVX", "AVX"},
		{"cpu.bmi2=off", "generic/aesni/stdlib", "BMI2", "", "BMI2"},
		{"cpu.bmi1=off", nh + "/aesni/stdlib", "", "", "BMI1"},
		{"cpu.ssse3=off", nh + "/stdlib/" + sha, "", "SSSE3", ""},
		{"cpu.sse41=off", nh + "/stdlib/" + sha, "", "SSE4.1", ""},
		{"cpu.aes=off", nh + "/stdlib/" + sha, "", "AES", ""},
		{"cpu.avx512f=off,cpu.aes=off", "avx2/stdlib/avx2", "AVX512F", "AES, AVX512F", "AVX512F"},
		{"cpu.avx2=off,cpu.aes=off", "generic/stdlib/stdlib", "AVX2", "AES", "AVX2"},
		{"cpu.avx512vaes=off", nh + "/aesni/" + sha, "", "VAES", ""},
		{"cpu.erms=off", nh + "/aesni/" + sha, "", "", ""},
	} {
		if useFIPS {
			test.kernels, test.shaLacks = test.kernels[:strings.LastIndex(test.kernels, "/")]+"/stdlib", hw.SHA512Lacks
		}
		lacks := both(hw.NHLacks, test.nhLacks, nhInstructions()) + "/" +
			both(hw.AESLacks, test.aesLacks, append(aesInstructions(), vaesInstructions()...)) + "/" +
			both(hw.SHA512Lacks, test.shaLacks, sha512Instructions())
		cmd := exec.Command(os.Args[0], "-test.run=^TestHardware$|^TestUMACSign$|^TestUMACInit$|^TestHMACSHA512Verify$")
		cmd.Env = append(os.Environ(), "GODEBUG="+strings.Trim(os.Getenv("GODEBUG")+","+test.godebug, ","),
			"FASTMAC_TEST_KERNELS="+test.kernels, "FASTMAC_TEST_LACKS="+lacks)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("GODEBUG=%s: %v\n%s", test.godebug, err, out)
		}
	}
}

// both returns the names that are in machine, which are those that this machine lacks
// anyway, or in off. The names are in the order of set.
func both(machine, off string, set []instruction) string {
	lacking := strings.Split(machine+", "+off, ", ")
	var names []string
	for _, i := range set {
		if slices.Contains(lacking, i.name) {
			names = append(names, i.name)
		}
	}
	if len(names) == 0 {
		return off // FIPS 140 mode, or nothing
	}
	return strings.Join(names, ", ")
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
		"cpu.sse41=off,cpu.ssse3=off": "SSSE3,SSE4.1",
		"cpu.avx=off":                 "", // AES needs no AVX
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
