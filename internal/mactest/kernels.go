// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package mactest

import (
	"os"
	"path"
	"strings"
	"testing"

	"example.com/fastmac/internal/kernel"
)

// The layers of each algorithm.
var (
	UMAC = []kernel.Layer{kernel.NH, kernel.AES}
	AES  = []kernel.Layer{kernel.AES}
	HMAC = []kernel.Layer{kernel.SHA256, kernel.SHA512}
	GCM  = []kernel.Layer{kernel.GCM}
)

// EachKernel calls f with each implementation of the layers: first with the best of each layer,
// then with the next best of each, and last with the portable ones. In long runs, the call before
// the last has the portable one of the first layer and kernels of the others. names is as in
// "avx2/aesni". Afterwards the same implementations are in use as before. If FASTMAC_TEST_IN_USE is set,
// it calls f once, with what is in use: for a run beside others that have all.
//
// Kernels are known once their package has been used: packages with tests that call EachKernel call
// fastmac.Hardware before, which uses all.
//
// It skips the test if AES-GCM has no implementation on this machine. It fails the test if others
// are in use than CheckKernels wants. It also fails if a kernel is not used because it
// computes wrongly, which no test would notice, except in a layer that FASTMAC_TEST_KERNELS names.
func EachKernel(t testing.TB, layers []kernel.Layer, f func(names string)) {
	t.Helper()
	CheckKernels(t, layers)
	for _, l := range layers {
		defer func() { // also for answers that f has added
			if wrong := kernel.Wrong(l); len(wrong) > 0 && !strings.Contains(os.Getenv("FASTMAC_TEST_KERNELS"), l.String()+"=") {
				t.Errorf("%s: %q compute wrongly", l, wrong)
			}
		}()
		if len(kernel.List(l)) == 0 {
			if l != kernel.GCM {
				t.Fatalf("no implementation of %s", l)
			}
			t.Skip("AES-GCM cannot be used on this machine")
		}
		defer kernel.Select(l, kernel.Select(l, 0)) // restores what was in use
	}
	if os.Getenv("FASTMAC_TEST_IN_USE") != "" {
		var active []string
		for _, l := range layers {
			active = append(active, kernel.Active(l))
		}
		f(strings.Join(active, "/"))
		return
	}
	rounds, previous := 0, ""
	for _, l := range layers {
		rounds = max(rounds, len(kernel.List(l))-1)
	}
	call := func(index func(l kernel.Layer, last int) int) {
		var active []string
		for _, l := range layers {
			kernel.Select(l, index(l, len(kernel.List(l))-1))
			active = append(active, kernel.Active(l))
		}
		if names := strings.Join(active, "/"); names != previous {
			previous = names
			f(names)
		}
	}
	for i := range rounds {
		// A layer with fewer kernels than another keeps the last of them.
		call(func(_ kernel.Layer, last int) int { return min(i, max(0, last-1)) })
	}
	if Long() {
		call(func(l kernel.Layer, last int) int {
			if l == layers[0] {
				return last
			}
			return max(0, last-1)
		})
	}
	call(func(_ kernel.Layer, last int) int { return last })
}

// ForAllKernels runs f as a subtest for each call that EachKernel makes.
func ForAllKernels(t *testing.T, layers []kernel.Layer, f func(t *testing.T)) {
	t.Helper()
	EachKernel(t, layers, func(names string) { t.Run(names, f) })
}

// CheckKernels fails the test unless the implementations in use of the layers are those of
// FASTMAC_TEST_KERNELS, as in "NH=avx2,AES=aesni,SHA-512=avx512*,GCM=none". So a run for some
// kernels cannot pass on others. Layers without a name there may have any.
func CheckKernels(t testing.TB, layers []kernel.Layer) {
	t.Helper()
	for row := range strings.SplitSeq(os.Getenv("FASTMAC_TEST_KERNELS"), ",") {
		layer, want, _ := strings.Cut(row, "=")
		known := row == ""
		for l := range kernel.Layer(kernel.Layers) {
			known = known || layer == l.String()
		}
		if _, err := path.Match(want, ""); !known || err != nil {
			t.Fatalf("FASTMAC_TEST_KERNELS has %q: want a layer and a kernel, as in NH=avx2", row)
		}
		for _, l := range layers {
			if layer != l.String() {
				continue
			}
			if ok, _ := path.Match(want, kernel.Active(l)); !ok {
				t.Fatalf("%s is %s, and FASTMAC_TEST_KERNELS wants %s", l, kernel.Active(l), want)
			}
		}
	}
}
