// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package kernel_test

import (
	"crypto"
	"crypto/fips140"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"errors"
	"fmt"
	"go/build/constraint"
	"math"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"example.com/fastmac"
	"example.com/fastmac/aesgcm"
	"example.com/fastmac/hkdf"
	"example.com/fastmac/hmac"
	"example.com/fastmac/hwrand"
	"example.com/fastmac/internal/kernel"
	"example.com/fastmac/internal/kernel/table"
	"example.com/fastmac/internal/mactest"
	fastsha1 "example.com/fastmac/internal/sha1"
	"example.com/fastmac/internal/wipe"
	"example.com/fastmac/pbkdf2"
	"golang.org/x/sys/cpu"
)

var layers = slices.Concat(mactest.UMAC, mactest.HMAC, mactest.GCM)

// TestWithout switches off each feature that a kernel needs: that kernel cannot run then, and
// the features are reported.
func TestWithout(t *testing.T) {
	checked := 0
	for _, l := range layers {
		for i, k := range kernel.Kernels(l) {
			for _, f := range k.Needs {
				kernel.With(kernel.Set{f}, func() {
					if list := kernel.List(l); slices.Contains(list, k.Name) || k.Use != nil && *k.Use {
						t.Errorf("%s without %s: %q, with the flag %v", l, f, list, k.Use != nil && *k.Use)
					}
					if lacks := kernel.Lacks(l); (i == 0) && lacks != f.String() {
						t.Errorf("%s without %s lacks %q", l, f, lacks)
					}
					if missing := kernel.Missing(l); i == len(kernel.Kernels(l))-1 && !slices.Equal(missing, []string{f.String()}) {
						t.Errorf("%s without %s: %q are missing", l, f, missing)
					}
				})
				checked++
			}
		}
	}
	if want := (runtime.GOARCH == "amd64" || runtime.GOARCH == "arm64") && !kernel.Purego; (checked > 0) != want {
		t.Errorf("%d features", checked)
	}
}

// TestWithoutAVX512 checks a CPU that has VAES and VPCLMULQDQ for 256 bits only: it is not
// reported to lack what its best kernel needs.
func TestWithoutAVX512(t *testing.T) {
	if runtime.GOARCH != "amd64" || kernel.Purego {
		t.Skip("needs amd64 and assembly")
	}
	kernel.With(kernel.Set{kernel.AVX512F, kernel.AVX512BW, kernel.AVX512DQ, kernel.AVX512VL}, func() {
		for l, want := range map[kernel.Layer][2]string{
			kernel.NH:     {"avx2", "AVX512F, AVX512BW, AVX512DQ, AVX512VL"},
			kernel.AES:    {"vaes256", "AVX512F, AVX512BW, AVX512VL"},
			kernel.SHA512: {"avx2", "AVX512F, AVX512BW, AVX512VL"},
			kernel.GCM:    {"avx2", "AVX512F, AVX512BW, AVX512VL"},
		} {
			if got := [2]string{kernel.Active(l), kernel.Lacks(l)}; got != want {
				t.Errorf("%s: %q, want %q", l, got, want)
			}
		}
	})
}

// TestSelect checks that on a machine with all features all kernels can run, one after the
// other, with the flags of those that are not better, and that each needs what the next needs.
func TestSelect(t *testing.T) {
	kernel.With(nil, func() {
		for _, l := range layers {
			kernels := kernel.Kernels(l)
			list := kernel.List(l)
			if len(kernels) > 0 && kernel.Lacks(l) != "" || len(kernel.Missing(l)) > 0 {
				t.Errorf("%s lacks %s", l, kernel.Lacks(l))
			}
			for i, name := range list {
				kernel.Select(l, i)
				if before := kernel.Select(l, i); kernel.Active(l) != name || before != i {
					t.Errorf("%s: %s is active, want %s", l, kernel.Active(l), name)
				}
				for j, k := range kernels {
					if k.Name != list[j] || k.Use != nil && *k.Use != (j >= i) {
						t.Errorf("%s with %s: kernel %s, listed as %s, its flag is %v", l, name, k.Name, list[j], *k.Use)
					}
				}
			}
			for i := 1; i < len(kernels) && l != kernel.SHA256; i++ { // see Register
				for _, f := range kernels[i].Needs {
					if !slices.Contains(kernels[i-1].Needs, f) {
						t.Errorf("%s: %s needs %s, which the better kernel does not need", l, kernels[i].Name, f)
					}
				}
			}
		}
	})
}

// TestAnswers checks that each implementation computes the known answers of its layer, also the
// portable one, and that none is refused.
func TestAnswers(t *testing.T) {
	fastsha1.Choose()
	want := map[kernel.Layer]int{kernel.NH: 1, kernel.AES: 3, kernel.SHA256: 4, kernel.SHA512: 3, kernel.GCM: min(1, len(kernel.Kernels(kernel.GCM)))}
	for _, l := range layers {
		if wrong := kernel.Wrong(l); len(wrong) > 0 {
			t.Errorf("%s: %q are not used", l, wrong)
		}
		for i, name := range kernel.List(l) {
			before := kernel.Select(l, i)
			if right, answers := kernel.Right(l); !right || answers != want[l] {
				t.Errorf("%s: %s is right: %v, with %d answers", l, name, right, answers)
			}
			kernel.Select(l, before)
		}
	}
}

// TestWrong makes the kernels of each layer wrong, the best ones first: an answer is wrong, panics, or is a
// fault. They are not used, the next one is, and reports name them.
func TestWrong(t *testing.T) {
	fail := map[string]func() bool{
		"wrong": func() bool { return false },
		"panic": func() bool { panic("an answer") },
	}
	if runtime.GOOS == "linux" {
		m := mactest.Guarded(t, 1)
		fail["fault"] = func() bool { return *(*byte)(unsafe.Add(unsafe.Pointer(&m[0]), len(m))) == 0 }
	}
	for _, l := range layers {
		if !kernel.InUse(l) {
			continue
		}
		list := kernel.List(l)
		list = list[slices.Index(list, kernel.Active(l)):]
		fallback := len(list)
		if l != kernel.GCM {
			fallback--
		}
		for how, fail := range fail {
			for n := range fallback + 1 {
				asked := 0
				kernel.WithAnswer(l, func() bool { asked++; return asked > n || fail() }, func() {
					active, want := kernel.Active(l), "none"
					if n < len(list) {
						want = list[n]
					}
					wrong := kernel.Wrong(l)
					if debug.SetPanicOnFault(false) {
						t.Error("faults of this goroutine are panics")
					}
					if active != want || !slices.Equal(wrong, list[:n]) || asked > min(n+1, fallback) {
						t.Errorf("%s, %d of %q are %s: %s is in use, %q are not, after %d answers", l, n, list, how, active, wrong, asked)
					}
					for _, k := range kernel.Kernels(l) {
						if k.Use != nil && slices.Contains(wrong, k.Name) && *k.Use {
							t.Errorf("%s, %d of %q are %s: the flag of %s", l, n, list, how, k.Name)
						}
					}
					var named []string
					for _, name := range wrong {
						named = append(named, l.String()+" "+name)
					}
					text, says := fastmac.Hardware(), "; not used, because they compute wrongly: "+strings.Join(named, ", ")
					if r := kernel.NewReport(); r.Wrong != strings.Join(named, ", ") || strings.HasSuffix(text, says) != (n > 0) {
						t.Errorf("%s, %d of %q are %s: %q, %q", l, n, list, how, r.Wrong, text)
					}
					for of, err := range map[kernel.Layer]error{kernel.AES: fastmac.RequireAES(), kernel.GCM: fastmac.RequireGCM()} {
						if of == l && n > 0 && n == fallback && (err == nil || !errors.Is(err, errors.ErrUnsupported) || !strings.Contains(err.Error(), "compute wrongly")) {
							t.Errorf("%s, all of %q are %s: error %v", l, list, how, err)
						}
						if of == l && n < fallback && err != nil {
							t.Errorf("%s, %d of %q are %s: error %v", l, n, list, how, err)
						}
					}
				})
			}
		}
	}
}

// TestAddAnswer adds answers to layers whose implementation has been chosen. It stays if it computes them; if not, the
// next one is used that computes all of them, also those before.
func TestAddAnswer(t *testing.T) {
	for _, l := range layers {
		if !kernel.InUse(l) {
			continue
		}
		list := kernel.List(l)
		list = append(list[slices.Index(list, kernel.Active(l)):len(list):len(list)], "none")
		kernels := len(list) - 1
		if l != kernel.GCM {
			kernels-- // the portable one is not asked
		}
		check := func(when string, wrong []string) {
			t.Helper()
			if want := list[len(wrong)]; kernel.Active(l) != want || !slices.Equal(kernel.Wrong(l), wrong) {
				t.Errorf("%s, %s: %s is in use, %q are wrong: want %s, %q", l, when, kernel.Active(l), kernel.Wrong(l), want, wrong)
			}
		}
		wrongWith := func(name string) func() bool { return func() bool { return kernel.ActiveNow(l) != name } }
		kernel.WithAnswer(l, wrongWith(list[min(1, kernels)]), func() {
			check("chosen", nil)
			kernel.AddAnswer(l, func() bool { return true })
			check("with another answer that is right", nil)
			kernel.AddAnswer(l, wrongWith(list[0]))
			check("with one that is wrong", list[:min(2, kernels)])
		})
	}
}

// TestFirstUse checks that whatever needs a layer first chooses its implementation.
func TestFirstUse(t *testing.T) {
	key, batch := make([]byte, 32), []fastmac.Message{{Tag: make([]byte, 32)}, {Tag: make([]byte, 32)}}
	for name, use := range map[string]struct {
		layer kernel.Layer
		first func() error
	}{
		"NewUMACKey, AES":   {kernel.AES, func() error { _, err := fastmac.NewUMACKey(key, 8); return err }},
		"NewUMACKey":        {kernel.NH, func() error { _, err := fastmac.NewUMACKey(key, 8); return err }},
		"NewUMAC":           {kernel.NH, func() error { _, err := fastmac.NewUMAC(key, 8); return err }},
		"NewHMACKey":        {kernel.SHA256, func() error { _, err := fastmac.NewHMACKey(crypto.SHA224, key); return err }},
		"NewHMAC":           {kernel.SHA512, func() error { _, err := fastmac.NewHMAC(crypto.SHA384, key); return err }},
		"SumHMAC":           {kernel.SHA256, func() error { fastmac.SumHMAC(crypto.SHA256, nil, key, key); return nil }},
		"SumHMAC, long key": {kernel.SHA512, func() error { fastmac.SumHMAC(crypto.SHA512, nil, make([]byte, 200), key); return nil }},
		"SumHMACBatch":      {kernel.SHA256, func() error { fastmac.SumHMACBatch(crypto.SHA256, [][]byte{key, key}, batch); return nil }},
		"hmac.New":          {kernel.SHA256, func() error { hmac.New(sha256.New, key); return nil }},
		"pbkdf2.Key":        {kernel.SHA512, func() error { _, err := pbkdf2.Key(sha512.New, "password", key, 3, 32); return err }},
		"pbkdf2.Key, SHA-1": {kernel.SHA256, func() error { _, err := pbkdf2.Key(sha1.New, "password", key, 3, 32); return err }},
		"pbkdf2.KeyBatch": {kernel.SHA256, func() error {
			return pbkdf2.KeyBatch(t.Context(), sha256.New, []pbkdf2.Derivation{{Key: make([]byte, 32), Iter: 3}})
		}},
		"hkdf.Extract":  {kernel.SHA256, func() error { _, err := hkdf.Extract(sha256.New, key, nil); return err }},
		"hkdf.Expand":   {kernel.SHA512, func() error { _, err := hkdf.Expand(sha512.New, key, "info", 32); return err }},
		"hkdf.Key":      {kernel.SHA256, func() error { _, err := hkdf.Key(sha256.New, key, nil, "info", 32); return err }},
		"NewGMACKey":    {kernel.GCM, func() error { _, err := fastmac.NewGMACKey(key); return err }},
		"aesgcm.NewKey": {kernel.GCM, func() error { _, err := aesgcm.NewKey(key); return err }},
		"hwrand.New":    {kernel.AES, func() error { _, err := hwrand.New(); return err }},
	} {
		kernel.WithAnswer(use.layer, func() bool { return true }, func() {
			err := use.first()
			chosen := kernel.Chosen(use.layer) || fips140.Enabled() || err != nil
			if !chosen || err != nil && !errors.Is(err, errors.ErrUnsupported) {
				t.Errorf("%s: %s has been chosen: %v, error %v", name, use.layer, kernel.Chosen(use.layer), err)
			}
		})
	}
}

// firstUse make the first key of each algorithm, for BenchmarkFirstUse.
var firstUse = map[string]func() error{
	"UMAC":         func() error { _, err := fastmac.NewUMACKey(make([]byte, 16), 8); return err },
	"HMAC-SHA-256": func() error { _, err := fastmac.NewHMACKey(crypto.SHA256, make([]byte, 16)); return err },
	"HMAC-SHA-512": func() error { _, err := fastmac.NewHMACKey(crypto.SHA512, make([]byte, 16)); return err },
	"GMAC":         func() error { _, err := fastmac.NewGMACKey(make([]byte, 16)); return err },
}

// chooseVariable has the algorithm in a process that BenchmarkFirstUse starts.
const chooseVariable = "FASTMAC_TEST_CHOOSE"

func init() {
	first := firstUse[os.Getenv(chooseVariable)]
	if first == nil {
		fastmac.Hardware() // so that all answers are there in all tests
		hwrand.New()       // its answer, or an error
		return
	}
	wipe.Stack() // which makes it large enough, as it is in most programs
	begin := time.Now()
	if err := first(); err != nil {
		panic(err)
	}
	fmt.Println(time.Since(begin).Nanoseconds())
	os.Exit(0)
}

// BenchmarkFirstUse reports the least time for the first key of a process, with the known answers. Each iteration is a new process.
func BenchmarkFirstUse(b *testing.B) {
	for name := range firstUse {
		b.Run(name, func(b *testing.B) {
			least := math.Inf(1)
			for b.Loop() {
				cmd := exec.Command(os.Args[0])
				cmd.Env = append(os.Environ(), chooseVariable+"="+name)
				out, err := cmd.Output()
				if err != nil {
					b.Fatal(err)
				}
				took, err := strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
				if err != nil {
					b.Fatal(err)
				}
				least = min(least, took)
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(least, "ns/first")
		})
	}
}

// TestChoose checks that goroutines that come at the same time wait for the answer.
func TestChoose(t *testing.T) {
	for _, l := range layers {
		active := kernel.Active(l)
		var asked, answered atomic.Int32
		var all sync.WaitGroup
		wait := func() {
			kernel.Choose(l, nil)
			if answered.Load() != asked.Load() {
				t.Errorf("%s: Choose returned before the answer", l)
			}
		}
		answer := func() bool {
			asked.Add(1)
			all.Go(wait)
			for range 1000 {
				runtime.Gosched()
			}
			answered.Add(1)
			return true
		}
		kernel.WithAnswer(l, answer, func() {
			for range 8 {
				all.Go(func() {
					wait()
					if name := kernel.Active(l); name != active {
						t.Errorf("%s: %s is in use, want %s", l, name, active)
					}
				})
			}
			all.Wait()
			if want := map[bool]int32{true: 1}[kernel.InUse(l)]; asked.Load() != want {
				t.Errorf("%s: %d answers, want %d", l, asked.Load(), want)
			}
		})
	}
}

// TestOnlyTests checks which kernel is in use if the best one is for tests.
func TestOnlyTests(t *testing.T) {
	kernel.With(nil, func() { // restores the layer
		var first, second bool
		for _, onlyTests := range []bool{false, true} {
			kernel.Register(kernel.NH, "portable", nil,
				kernel.Kernel{Name: "first", Use: &first, OnlyTests: onlyTests}, kernel.Kernel{Name: "second", Use: &second})
			if active := kernel.Active(kernel.NH); first == onlyTests || !second || (active == "first") == onlyTests || len(kernel.List(kernel.NH)) != 3 {
				t.Errorf("only for tests %v: %s is in use, the flags are %v and %v", onlyTests, active, first, second)
			}
		}
	})
	info, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return // not Linux
	}
	amd := regexp.MustCompile(`(?m)^vendor_id\s*: AuthenticAMD$`).Match(info)
	for l, gains := range map[kernel.Layer]bool{kernel.SHA512: cpu.X86.HasAVXVNNI, kernel.NH: !amd || cpu.X86.HasAVXVNNI} {
		if kernels := kernel.Kernels(l); len(kernels) > 0 && kernels[0].Name == "avx512" && kernels[0].OnlyTests == gains {
			t.Errorf("%s: %s is only for tests: %v", l, kernels[0].Name, kernels[0].OnlyTests)
		}
		if kernels := kernel.List(l); slices.Contains(kernels, "avx512") && (kernel.Active(l) == "avx512") != gains {
			t.Errorf("%s: %s is in use, of %q", l, kernel.Active(l), kernels)
		}
	}
}

// TestStd checks that crypto/aes and crypto/cipher are not taken for constant time where they have
// no assembly.
func TestStd(t *testing.T) {
	switch runtime.GOARCH {
	case "arm64", "s390x", "ppc64", "ppc64le":
		return
	}
	if aes, gcm := kernel.StdAES().Missing(), kernel.StdGCM().Missing(); !slices.Equal(aes, []string{"AES"}) || !slices.Equal(gcm, aes) {
		t.Errorf("%q and %q are missing, want AES", aes, gcm)
	}
}

// TestNone checks a layer without an implementation.
func TestNone(t *testing.T) {
	kernel.With(nil, func() {
		kernel.Register(kernel.NH, "", nil)
		if list, active := kernel.List(kernel.NH), kernel.Active(kernel.NH); list != nil || active != "none" {
			t.Errorf("%q, %s is active", list, active)
		}
	})
}

// TestUnused checks that a question about a layer that nothing has used has no wrong answer, and that the first
// use registers it.
func TestUnused(t *testing.T) {
	for name, ask := range map[string]func(){
		"List": func() { kernel.List(kernel.NH) }, "InUse": func() { kernel.InUse(kernel.NH) }, "Wrong": func() { kernel.Wrong(kernel.NH) },
		"Missing": func() { kernel.Missing(kernel.NH) }, "NewReport": func() { kernel.NewReport() },
	} {
		kernel.Unused(kernel.NH, func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s does not panic", name)
				}
			}()
			ask()
		})
	}
	list := kernel.List(kernel.NH)
	kernel.Unused(kernel.NH, func() {
		if fastmac.Hardware(); !slices.Equal(kernel.List(kernel.NH), list) {
			t.Errorf("after the first use: %q, want %q", kernel.List(kernel.NH), list)
		}
	})
}

// TestEachKernel checks that EachKernel calls its function with each implementation of each
// layer, the best ones first and the last ones last, and restores what was in use.
func TestEachKernel(t *testing.T) {
	t.Setenv("FASTMAC_TEST_IN_USE", "1")
	calls := 0
	mactest.EachKernel(t, mactest.HMAC, func(names string) {
		if calls++; names != kernel.Active(kernel.SHA256)+"/"+kernel.Active(kernel.SHA512) {
			t.Errorf("in use: %s", names)
		}
	})
	if calls != 1 {
		t.Errorf("%d calls with what is in use, want 1", calls)
	}
	t.Setenv("FASTMAC_TEST_IN_USE", "")
	for _, of := range [][]kernel.Layer{mactest.UMAC, mactest.HMAC, mactest.AES} {
		before := make(map[kernel.Layer]string)
		seen := make(map[kernel.Layer][]string)
		for _, l := range of {
			before[l] = kernel.Active(l)
		}
		mactest.EachKernel(t, of, func(names string) {
			for i, l := range of {
				if name := strings.Split(names, "/")[i]; name != kernel.Active(l) {
					t.Errorf("%s: %s is active", names, kernel.Active(l))
				}
				if !slices.Contains(seen[l], kernel.Active(l)) {
					seen[l] = append(seen[l], kernel.Active(l))
				}
			}
		})
		for _, l := range of {
			if !slices.Equal(seen[l], kernel.List(l)) || kernel.Active(l) != before[l] {
				t.Errorf("%s: %q, want %q, then %s", l, seen[l], kernel.List(l), kernel.Active(l))
			}
		}
	}
}

// TestCPUInfo compares names and features with what Linux reports.
func TestCPUInfo(t *testing.T) {
	info, err := os.ReadFile("/proc/cpuinfo")
	if err != nil || runtime.GOARCH != "amd64" || kernel.Purego || strings.Contains(os.Getenv("GODEBUG"), "cpu.") {
		t.Skip("needs Linux on amd64, assembly, and no feature switched off")
	}
	flags := regexp.MustCompile(`(?m)^flags\s*:(.*)$`).FindSubmatch(info)
	if flags == nil {
		t.Skip("no flags in /proc/cpuinfo")
	}
	linux := strings.Fields(string(flags[1]))
	for name, has := range kernel.Features() {
		flag := strings.ReplaceAll(strings.ToLower(name), ".", "_")
		if flag == "sha" {
			flag = "sha_ni"
		}
		if flag == "rdseed" && has {
			continue // Linux hides it on CPUs whose 16-bit and 32-bit forms fail (AMD-SB-7055); this module uses the other one
		}
		if slices.Contains(linux, flag) != has {
			t.Errorf("%s is %v, which /proc/cpuinfo does not agree with", name, has)
		}
	}
}

// TestTable compares the kernels of package table with those that are registered and those that report.go names, and
// checks that each row has a function, and each function a row.
func TestTable(t *testing.T) {
	found := make(map[*table.Row]bool)
	for goarch := range assemblyOf {
		for _, file := range allAssembly(goarch) {
			for _, function := range functions(t, file) {
				if !chooses(function) {
					found[rowOf(t, goarch, file, function).Row] = true
				}
			}
		}
	}
	for i := range table.Rows {
		if r := &table.Rows[i]; !found[r] {
			t.Errorf("no function of %s has the name %s of internal/kernel/table", r.Folder, r.Names)
		}
	}
	report, err := os.ReadFile("report.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, layers := range table.Kernels {
		for l, names := range layers {
			for _, name := range names {
				if !strings.Contains(string(report), `"`+name+`"`) {
					t.Errorf("%s: report.go does not name %s", l, name)
				}
			}
		}
	}
	if layers := table.Kernels[runtime.GOARCH]; layers != nil && !kernel.Purego {
		for l := range kernel.Layer(kernel.Layers) {
			var names []string
			for _, k := range kernel.Kernels(l) {
				names = append(names, k.Name)
			}
			if !slices.Equal(names, layers[l]) {
				t.Errorf("%s: %q are registered, internal/kernel/table has %q", l, names, layers[l])
			}
		}
	}
}

// rowOf returns the row of a function of a file of assembly.
func rowOf(t *testing.T, goarch, file, function string) table.Function {
	t.Helper()
	name, _, _ := strings.Cut(strings.TrimPrefix(function, "·"), "(")
	f, err := table.Find(goarch, path.Dir(file), name)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestRequires compares what kernels need with the instruction sets that the generator found in
// their assembly.
func TestRequires(t *testing.T) {
	if runtime.GOARCH != "amd64" || kernel.Purego {
		t.Skip("needs amd64 and assembly")
	}
	every := []string{"CMOV", "CPUID", "MMX+", "SSE", "SSE2"} // what every amd64 CPU has
	for _, file := range allAssembly("amd64") {
		text, err := os.ReadFile(filepath.Join("../..", filepath.FromSlash(file)))
		if err != nil {
			t.Fatal(err)
		}
		requires := regexp.MustCompile(`(?m)^// Requires: (.*)\nTEXT ·(\w+)\(SB\)`).FindAllSubmatch(text, -1)
		computing := slices.DeleteFunc(functions(t, file), chooses)
		if len(computing) != len(requires) || len(computing) == 0 {
			t.Errorf("%s: %d functions, %d with a line Requires", file, len(computing), len(requires))
		}
		for _, m := range requires {
			function := string(m[2])
			row := rowOf(t, "amd64", file, function)
			needs := make(map[string]kernel.Set)
			for _, k := range kernel.Kernels(row.Layer) {
				if slices.Contains(row.Kernels, k.Name) {
					needs[k.Name] = k.Needs
				}
			}
			if len(row.Kernels) == 0 {
				needs["every CPU"] = nil
			}
			if function == "rdseed" { // called if the CPU has it
				needs["every CPU"] = kernel.Set{kernel.RDSEED}
			}
			for name, needs := range needs {
				asked := slices.Clone(every)
				for _, f := range needs {
					asked = append(asked, strings.Replace(f.String(), "BMI1", "BMI", 1)) // the generator's name for it
				}
				for set := range strings.SplitSeq(string(m[1]), ", ") {
					if !slices.Contains(asked, set) {
						t.Errorf("%s: %s requires %s, which %s does not ask for", file, function, set, name)
					}
				}
			}
		}
	}
}

// TestRequiresARM64 checks that AES, PMULL, SHA2, SHA512 and RNDRRS instructions, which some CPUs lack, are
// only in the functions for which package table has their class. All CPUs of the architecture have the other instructions:
// TestConstantTime of internal/assurance/arm64 lists them.
func TestRequiresARM64(t *testing.T) {
	for _, file := range assemblyOf["arm64"] {
		for _, function := range functions(t, file) {
			row := rowOf(t, "arm64", file, function)
			for class, instruction := range map[string]string{"AES": `\tAES\w+`, "PMULL": `\tVPMULL2?`, "SHA2": `\tSHA256\w+`, "SHA512": `\tSHA512\w+`, "RNG": `\tMRS`} {
				if m := regexp.MustCompile(instruction).FindString(function); m != "" && !slices.Contains(row.Classes, class) {
					t.Errorf("%s: %s has %s, which its kernel does not ask for", file, row.Contract, m[1:])
				}
			}
		}
	}
	if runtime.GOARCH != "arm64" || kernel.Purego {
		return
	}
	want := map[kernel.Layer]kernel.Set{
		kernel.NH: nil, kernel.AES: {kernel.ARM64AES}, kernel.SHA256: {kernel.ARM64SHA2}, kernel.SHA512: {kernel.ARM64SHA512}, kernel.GCM: {kernel.ARM64AES, kernel.ARM64PMULL},
	}
	for l, want := range want {
		if kernels := kernel.Kernels(l); len(kernels) != 1 || !slices.Equal(kernels[0].Needs, want) {
			t.Errorf("%s: kernels %v, want one that needs %v", l, kernels, want)
		}
	}
}

// TestStdDetectsARM64 compares with the source of the standard library. Releases after Go 1.26
// may find the instructions on more systems.
func TestStdDetectsARM64(t *testing.T) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Skip("needs the go command: ", err)
	}
	source, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(root)), "src", "internal", "cpu", "cpu_arm64_other.go"))
	if err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile("(?m)^//go:build .*").Find(source)
	other, err := constraint.Parse(string(line))
	if err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	also := map[string]string{"android": "linux", "ios": "darwin", "illumos": "solaris"} // what a GOOS includes
	for _, goos := range []string{"android", "darwin", "freebsd", "illumos", "ios", "linux", "netbsd", "openbsd", "plan9", "windows"} {
		uses := !other.Eval(func(tag string) bool { return tag == "arm64" || tag == goos || tag == also[goos] })
		if kernel.StdDetectsARM64(goos) && !uses {
			t.Errorf("%s: true, but the build constraint of the file that finds nothing is %s", goos, line)
		}
	}
}
