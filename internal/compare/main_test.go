// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"io"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"example.com/fastmac/internal/compare/operations"
	"example.com/fastmac/internal/mactest"
)

// TestCandidates has all operations, whose candidates compute the same.
func TestCandidates(t *testing.T) {
	for layer, name := range operations.Layers {
		kernels, active := operations.Kernels(layer)
		if len(kernels) == 0 {
			t.Logf("no kernel of %s", name)
			continue
		}
		for i, op := range operations.All(layer) {
			for _, size := range []int{1, 64, 1500, 5000} {
				if op.Size != 0 {
					size = op.Size
				}
				all, err := new(options).candidates(layer, i, size)
				if err != nil {
					t.Error(err)
				}
				want := slices.Clone(kernels)
				want[active] += "*"
				if op.Std != nil {
					want = append([]string{op.StdName}, want...)
				}
				if got := names(all); !slices.Equal(got, want) {
					t.Errorf("%s: %q, want %q", op.Name, got, want)
				}
			}
		}
	}
}

func names(all []*candidate) (names []string) {
	for _, c := range all {
		names = append(names, c.name)
	}
	return names
}

// withSecond adds a tree, which has the operations of this one with changes.
func withSecond(t *testing.T, change func(*operations.Operation)) {
	t.Helper()
	t.Cleanup(func() { trees = trees[:1] })
	second := trees[0]
	second.name = "a revision"
	second.all = func(layer int) []operations.Operation {
		all := operations.All(layer)
		for i := range all {
			change(&all[i])
		}
		return all
	}
	trees = append(trees, second)
}

// TestWrong has a second tree whose results are others.
func TestWrong(t *testing.T) {
	withSecond(t, func(o *operations.Operation) {
		own := o.Own
		o.Own = func(size int) func(int) []byte {
			do := own(size)
			return func(n int) []byte {
				result := do(n)
				result[0] ^= 1
				return result
			}
		}
	})
	if _, err := new(options).candidates(0, 0, 64); err == nil || !regexp.MustCompile(`^UMAC-64, one call, 64 bytes: old \w+\*? has [0-9a-f]{16}, want [0-9a-f]{16}$`).MatchString(err.Error()) {
		t.Error(err)
	}
}

// TestRun has a second tree, which is the same. Slices are too few for a profile.
func TestRun(t *testing.T) {
	mactest.NeedGo(t)
	withSecond(t, func(*operations.Operation) {})
	o, err := parse([]string{"-time", "1ns", "-op", "SHA-512, reused", "-sizes", "64,100", "-kernel", "stdlib", "sha512"}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	before, active := operations.Kernels(3)
	var out strings.Builder
	if err := run(t.Context(), o, &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		` go1\..*commit `, "\nold: a revision\n", "\nHMAC-SHA-512, reused key\n *bytes +candidate +ns +÷ crypto/hmac +± +÷ old +ran\n",
		`\n +64 +crypto/hmac +\d`, `\n +64 +stdlib\*? +\d+\.\d +\d+\.\d\d +\d+% +\d+\.\d\d`, `\n +100 +old stdlib\*? +\d+\.\d +\d+\.\d\d +\d+% +`,
	} {
		if !regexp.MustCompile(want).MatchString(out.String()) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
	if lines := strings.Count(out.String(), "\n"); lines != 2+3+2*3 {
		t.Errorf("%d lines:\n%s", lines, &out)
	}
	if after, index := operations.Kernels(3); index != active {
		t.Errorf("%s is in use afterwards, before it was %s", after[index], before[active])
	}
}

func TestParse(t *testing.T) {
	for _, args := range [][]string{{"-sizes", "64,"}, {"-sizes", "0"}, {"-op", "("}, {"-kernel", "("}, {"sha1"}, {"umac", "umac"}, {"-none"}} {
		if o, err := parse(args, io.Discard); err == nil {
			t.Errorf("%q: %+v", args, o)
		}
	}
	for _, test := range []struct {
		args   []string
		layers []int
	}{{nil, []int{0, 1, 2, 3, 4}}, {[]string{"gcm", "aes"}, []int{1, 4}}} {
		if o, err := parse(test.args, io.Discard); err != nil || !slices.Equal(o.layers, test.layers) {
			t.Errorf("%q: %+v, %v", test.args, o, err)
		}
	}
}

func TestLeaves(t *testing.T) {
	const traces = `File: compare
Type: cpu
-----------+-------------------------------------------------------
      candidate:  1
        30ms   example.com/fastmac/internal/sha2.block256SHA
               example.com/fastmac/internal/sha2.compress[go.shape.uint32]
-----------+-------------------------------------------------------
      candidate:  1
     1.02s   example.com/fastmac/internal/sha2.(*State[go.shape.uint32]).Compress
-----------+-------------------------------------------------------
      candidate:  1
     1.50s   runtime.memmove
-----------+-------------------------------------------------------
      candidate:  0
        10ms   example.com/fastmac/old.tagTwoAVX2
-----------+-------------------------------------------------------
      candidate:  0
        20ms   example.com/fastmac/internal/aes.encryptWords
-----------+-------------------------------------------------------
        90ms   runtime.futex
-----------+-------------------------------------------------------
`
	want := []string{"aes.encryptWords, old.tagTwoAVX2", "sha2.(*State[go.shape.uint32]).Compress", ""}
	if got := leaves(traces, 3); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestOld builds the program with this tree as the old one, and with a folder that is no module.
func TestOld(t *testing.T) {
	mactest.NeedGo(t)
	if !mactest.Long() {
		t.Skip("it builds two trees: set FASTMAC_TEST_LONG=1")
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	temp := t.TempDir()
	program := filepath.Join(temp, "compare.exe")
	if err := buildOld(t.Context(), root, root, "itself", filepath.Join(temp, "module"), program); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), program, "-time", "10ms", "-op", "64, one call", "-sizes", "64", "umac").CombinedOutput()
	if err != nil || !regexp.MustCompile(`(?s)\nold: itself\n.*\n +64 +generic.*\n +64 +old generic\*? `).Match(out) {
		t.Errorf("%v\n%s", err, out)
	}
	if err := buildOld(t.Context(), root, temp, "nothing", filepath.Join(temp, "other"), program); err == nil || !strings.Contains(err.Error(), "go.mod") {
		t.Error(err)
	}
}
