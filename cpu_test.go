// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac

import (
	"crypto/fips140"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"

	"example.com/fastmac/internal/kernel"
	"example.com/fastmac/internal/kernel/table"
	"example.com/fastmac/internal/mactest"
	"golang.org/x/sys/cpu"
)

var layers = slices.Concat(mactest.UMAC, mactest.HMAC, mactest.GCM)

// TestHardware logs which kernels run, which .ci/run prints, and fails if they are not those of
// FASTMAC_TEST_KERNELS, see package mactest.
func TestHardware(t *testing.T) {
	mactest.CheckKernels(t, layers)
	hw := kernel.NewReport()
	var names []string
	for _, l := range layers {
		names = append(names, fmt.Sprintf("%s=%s", l, kernel.Active(l)))
	}
	t.Logf("kernels: %s", strings.Join(names, ","))

	if want := runtime.GOOS + "/" + runtime.GOARCH + ": UMAC " + hw.NH; !strings.HasPrefix(Hardware(), want) ||
		strings.Count(Hardware(), " (lacks ") != len(slices.DeleteFunc([]string{hw.NHLacks, hw.AESLacks, hw.SHA256Lacks, hw.SHA512Lacks, hw.GCMLacks}, func(s string) bool { return s == "" })) {
		t.Errorf("Hardware() = %q", Hardware())
	}

	// The best kernels of this architecture, and what is reported if there is none in this build.
	none, aes := "assembly for "+runtime.GOARCH, kernel.Active(kernel.AES)
	best, lacks := kernel.Report{NH: "generic", AES: "stdlib", SHA256: "stdlib", SHA512: "stdlib", GCM: "stdlib"}, kernel.Report{NH: none, AES: none, SHA256: none, SHA512: none, GCM: none}
	if kernels := table.Kernels[runtime.GOARCH]; kernels != nil && kernel.Purego {
		none = "assembly (tag purego)"
		lacks = kernel.Report{NH: none, AES: none, SHA256: none, SHA512: none, GCM: none}
	} else if kernels != nil {
		first := func(l kernel.Layer) string { return kernels[l][0] }
		best = kernel.Report{NH: first(kernel.NH), AES: first(kernel.AES), SHA256: first(kernel.SHA256), SHA512: first(kernel.SHA512), GCM: first(kernel.GCM)}
		lacks = kernel.Report{}
	}
	if (hw.GCM == "none") != (RequireGCM() != nil) {
		t.Errorf("GCM %s, RequireGCM() = %v", hw.GCM, RequireGCM())
	}
	if best.GCM == "stdlib" && hw.GCM == "none" {
		best.GCM = "none"
	}
	if kernel.Active(kernel.GCM) == "stdlib" && kernel.FIPSEnforced() {
		lacks.GCM = "approval (fips140=only)"
	}
	if useFIPS {
		best.SHA256, lacks.SHA256 = "stdlib", "validation (FIPS 140 mode)"
		best.SHA512, lacks.SHA512 = best.SHA256, lacks.SHA256
	}
	known := []string{"generic", "stdlib", "none"}
	for _, names := range table.Kernels[runtime.GOARCH] {
		known = append(known, names...)
	}
	for _, l := range []struct{ name, runs, lacks, best, none string }{
		{"NH", hw.NH, hw.NHLacks, best.NH, lacks.NH},
		{"AES", aes, hw.AESLacks, best.AES, lacks.AES},
		{"SHA-256", hw.SHA256, hw.SHA256Lacks, best.SHA256, lacks.SHA256},
		{"SHA-512", hw.SHA512, hw.SHA512Lacks, best.SHA512, lacks.SHA512},
		{"GCM", hw.GCM, hw.GCMLacks, best.GCM, lacks.GCM},
	} {
		isBest := l.runs == l.best
		if !slices.Contains(known, l.runs) || l.none == "" && isBest != (l.lacks == "") || l.none != "" && (!isBest || l.lacks != l.none) {
			t.Errorf("%s is %s and lacks %q; the best is %s, which lacks %q", l.name, l.runs, l.lacks, l.best, l.none)
		}
	}
}

// missing checks an error of RequireAES or RequireGCM. It must be nil, or name what
// FASTMAC_TEST_MISSING has except for those in except, or, in a build without assembly, the
// build tag. The variable has names with commas between them, or none.
func missing(t *testing.T, err error, except ...string) {
	t.Helper()
	if (err != nil) != errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("%v does not wrap errors.ErrUnsupported", err)
	}
	if kernel.Purego {
		if err == nil || !strings.Contains(err.Error(), "assembly, which the build tag purego leaves out") {
			t.Errorf("%v in a build without assembly", err)
		}
		return
	}
	var names []string
	if err != nil {
		_, list, ok := strings.Cut(err.Error(), " CPU instructions that are missing: ")
		names = strings.Split(list, ", ")
		if !ok || slices.ContainsFunc(names, func(name string) bool { return name == "" || strings.ContainsAny(name, " (") }) {
			t.Errorf("%v: want names of instructions", err)
		}
	}
	if all, ok := os.LookupEnv("FASTMAC_TEST_MISSING"); ok {
		want := slices.DeleteFunc(strings.Split(all, ","), func(name string) bool { return name == "" || slices.Contains(except, name) })
		if !slices.Equal(names, want) {
			t.Errorf("%v, want %q missing", err, want)
		}
	}
}

func TestRequireAES(t *testing.T) { missing(t, RequireAES(), "PCLMULQDQ", "PMULL") }

// TestRequireGCM checks that no key can be made without the instructions.
func TestRequireGCM(t *testing.T) {
	err := RequireGCM()
	if err == errEnforced {
		t.Skip("TestFIPS140 checks it: ", err)
	}
	missing(t, err)
	if k, keyErr := NewGMACKey(make([]byte, 16)); (k == nil) != (err != nil) || fmt.Sprint(keyErr) != fmt.Sprint(err) {
		t.Errorf("NewGMACKey: %v, %v; RequireGCM() = %v", k, keyErr, err)
	}
}

// A featuresOff is CPU features that are switched off, and the kernels that must run then, "" for
// those that run otherwise, and what RequireAES and RequireGCM report.
type featuresOff struct{ off, nh, aes, sha256, sha512, gcm, missing string }

var amd64Off = []featuresOff{
	{"erms", "", "", "", "", "", ""},
	{"avx512f", "avx2", "vaes256", "sha", "avx2", "avx2", ""},
	{"avx512bw", "avx2", "vaes256", "sha", "avx2", "avx2", ""},
	{"avx512dq", "avx2", "", "", "", "", ""},
	{"avx512vl", "avx2", "vaes256", "sha", "avx2", "avx2", ""},
	{"avx512vaes", "", "aesni", "", "", "aesni", ""},
	{"avx512vpclmulqdq", "", "", "", "", "aesni", ""},
	{"avx2", "generic", "aesni", "stdlib", "stdlib", "aesni", ""},
	{"avx", "generic", "aesni", "stdlib", "stdlib", "aesni", ""},
	{"bmi1", "", "", "sha", "stdlib", "", ""},
	{"bmi2", "generic", "", "sha", "stdlib", "avx2", ""},
	{"sha", "", "", "avx512lanes", "", "", ""},
	{"avx512f,sha", "avx2", "vaes256", "avx2", "avx2", "avx2", ""},
	{"avx512f,sha,bmi1", "avx2", "vaes256", "stdlib", "stdlib", "avx2", ""},
	{"pclmulqdq", "", "", "", "", "none", "PCLMULQDQ"},
	{"aes", "", "stdlib", "", "", "none", "AES"},
	{"ssse3", "", "stdlib", "", "", "none", "SSSE3"},
	{"sse41", "", "stdlib", "", "", "none", "SSE4.1"},
	{"avx512f,aes", "avx2", "stdlib", "sha", "avx2", "none", "AES"},
	{"aes,pclmulqdq", "", "stdlib", "", "", "none", "AES,PCLMULQDQ"},
	{"sse41,ssse3", "", "stdlib", "", "", "none", "SSSE3,SSE4.1"},
	{"avx2,aes", "generic", "stdlib", "stdlib", "stdlib", "none", "AES"},
}

var arm64Off = []featuresOff{
	{"sve", "", "", "", "", "", ""},
	{"pmull", "", "", "", "", "none", "PMULL"},
	{"aes", "", "stdlib", "", "", "none", "AES"},
	{"aes,pmull", "", "stdlib", "", "", "none", "AES,PMULL"},
	{"sha2", "", "", "stdlib", "", "", ""},
	{"sha512", "", "", "", "stdlib", "", ""},
}

// TestFeaturesOff runs tests in processes whose CPU features are switched off: the kernels must
// be those of the row, or the next that this machine has.
func TestFeaturesOff(t *testing.T) {
	rows := map[string][]featuresOff{"amd64": amd64Off, "arm64": arm64Off}[runtime.GOARCH]
	if len(rows) == 0 || kernel.Purego || RequireGCM() != nil || fips140.Enabled() {
		t.Skip("needs amd64 or arm64, and this package's AES and GCM in use")
	}
	all := make(map[kernel.Layer][]string)
	for _, l := range layers {
		all[l] = append(slices.Clone(table.Kernels[runtime.GOARCH][l]), "generic", "stdlib", "none")
	}
	for _, test := range rows {
		if strings.HasPrefix(test.off, "avx512") && !cpu.X86.HasAVX512 {
			continue // GODEBUG cannot switch off what the CPU does not have
		}
		var want []string
		for l, name := range map[kernel.Layer]string{kernel.NH: test.nh, kernel.AES: test.aes, kernel.SHA256: test.sha256, kernel.SHA512: test.sha512, kernel.GCM: test.gcm} {
			have := append(slices.Clone(kernel.List(l)), "none")
			if l == kernel.SHA256 && name == "sha" && !slices.Contains(have, name) {
				name = test.sha512 // avx512lanes is off too, and avx2 needs what that of SHA-512 needs
			}
			if name == "" {
				name = kernel.Active(l)
			}
			for _, next := range all[l][slices.Index(all[l], name):] {
				if l == kernel.SHA256 && next == "avx2" && (strings.Contains(test.off, "avx2") || strings.Contains(test.off, "bmi")) {
					continue // the kernel of the row does not need what is off, and this one, which is next here, does
				}
				if slices.Contains(have, next) {
					want = append(want, fmt.Sprintf("%s=%s", l, next))
					break
				}
			}
		}
		cmd := exec.Command(os.Args[0], "-test.short", "-test.run=^TestHardware$|^TestRequire|^TestUMACSign$|^TestUMACInit$|^TestHMACVerify$|^TestGMACContract$|^TestGMACUnsupported$|^ExampleNewGMAC$")
		cmd.Env = append(os.Environ(), "GODEBUG="+strings.Trim(os.Getenv("GODEBUG")+",cpu."+strings.ReplaceAll(test.off, ",", "=off,cpu.")+"=off", ","),
			"FASTMAC_TEST_KERNELS="+strings.Join(want, ","), "FASTMAC_TEST_MISSING="+test.missing)
		out, err := cmd.CombinedOutput()
		if e := (*fs.PathError)(nil); errors.As(err, &e) {
			t.Skipf("cannot start itself, as in an emulator: %v", err)
		}
		if err != nil {
			t.Errorf("without %s: %v\n%s", test.off, err, out)
		}
	}
}
