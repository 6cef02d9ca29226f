// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// stack returns lines of a log with this stack, the top first.
func stack(header string, frames ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "==42== %s\n", header)
	for i, f := range frames {
		by := "by"
		if i == 0 {
			by = "at"
		}
		fmt.Fprintf(&b, "==42==    %s 0x4CFCBD: %s\n", by, f)
	}
	return b.String() + "==42== \n"
}

const (
	conditional = "Conditional jump or move depends on uninitialised value(s)"
	use         = "Use of uninitialised value of size 8"
)

// controls are the reports that every run must have.
var controls = stack(conditional, "main.leakBranch (/m/main.go:1)") + stack(use, "main.leakIndex (/m/main.go:2)") +
	stack(conditional, "memeqbody (/go/src/internal/bytealg/equal_amd64.s:101)", "UnknownInlinedFun (/go/src/bytes/bytes.go:22)", "main.leakEqual (/m/main.go:3)")

func TestParse(t *testing.T) {
	log := "==42== Thread 2:\n" + stack("Invalid read of size 8", "runtime.park_m (/go/src/runtime/proc.go:4283)") +
		stack(use, "crypto/internal/fips140/hmac.New[go.shape.interface { Sum([]uint8) (int, error) }] (/go/src/hmac.go:169)", "memeqbody (in /tmp/probe)", "???", "main.(*T).f (/my folder/a (1).go:7)")
	want := []report{{address, []frame{
		{"crypto/internal/fips140/hmac.New[go.shape.interface { Sum([]uint8) (int, error) }]", "/go/src/hmac.go", 169},
		{"memeqbody", "", 0}, {"???", "", 0}, {"main.(*T).f", "/my folder/a (1).go", 7},
	}}}
	if got := parse(log); !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestJudge judges logs. Besides the controls, which all have, they have what is tested.
func TestJudge(t *testing.T) {
	const (
		open    = "example.com/fastmac/internal/gcm.(*Key).Open"
		judging = "example.com/fastmac/packet.(*window).judge"
	)
	source := filepath.Join(t.TempDir(), "gcm_amd64.go")
	text := "package gcm\n\tif !Equal(&got, &b.tag) {\n\tif other {\n"
	if err := os.WriteFile(source, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	gcm, tables := variant{kernels: "avx2/aesni/avx2/avx2/aesni"}, variant{kernels: "avx2/stdlib/avx2/avx2/none"}
	right := stack(conditional, open+" ("+source+":2)")
	judged := stack(conditional, judging+" (/m/window.go:4)")
	for _, function := range []string{"client).Answer", "server).Answer", "server).Open", "server).try", "Config).checkSecret"} {
		judged += stack(conditional, "example.com/fastmac/packet.(*"+function+" (/m/packet.go:4)")
	}
	aes := stack(use, "crypto/internal/fips140/aes.encryptBlockGeneric (/go/a.go:1)") + stack(use, "crypto/internal/fips140/aes.expandKeyGeneric (/go/a.go:1)")
	goexit := "runtime.goexit.abi0 (/go/src/runtime/asm_amd64.s:1771)"
	for _, test := range []struct {
		name, log         string
		v                 variant
		findings, runtime int
	}{
		{"expected", right, gcm, 0, 0},
		{"nothing of Open", "", gcm, 1, 0},
		{"another line of Open", right + stack(conditional, open+" ("+source+":3)"), gcm, 1, 0},
		{"an address in judge", right + stack(use, judging+" (/m/window.go:4)"), gcm, 1, 0},
		{"an address in Open", right + stack(use, open+" ("+source+":2)"), gcm, 1, 0},
		{"an unknown line of Open", right + stack(conditional, open), gcm, 1, 0},
		{"tables", aes, tables, 0, 0},
		{"no tables", "", tables, 2, 0},
		{"tables where there are AES instructions", right + aes, gcm, 2, 0},
		{"the runtime", right + stack(use, "runtime.park_m (/go/src/runtime/proc.go:1)", "gogo (/go/src/runtime/asm_amd64.s:1)",
			"internal/runtime/atomic.(*Uint32).Load (/go/src/internal/runtime/atomic/types.go:1)", goexit, "main.remains (/m/main.go:1)"), gcm, 0, 1},
		{"the runtime, called from the program", right + stack(use, "runtime.mallocgc (/go/src/runtime/malloc.go:1)", "crypto/hmac.New (/go/src/crypto/hmac/hmac.go:1)", goexit), gcm, 1, 0},
		{"assembly of another package", right + stack(conditional, "memeqbody (/go/src/internal/bytealg/equal_amd64.s:1)", goexit), gcm, 1, 0},
		{"nothing known", right + stack(conditional, "???"), gcm, 1, 0},
		{"no stack", right + stack(conditional), gcm, 1, 0},
	} {
		j := judge(parse(controls+judged+test.log), test.v)
		if len(j.findings) != test.findings || j.runtime != test.runtime {
			t.Errorf("%s: %d of the runtime, %d findings, want %d and %d: %q", test.name, j.runtime, len(j.findings), test.runtime, test.findings, j.findings)
		}
	}

	// Each of the controls must be there.
	parts := strings.SplitAfter(controls, "==42== \n")
	for i := range parts[:3] {
		log := strings.Join(slices.Delete(slices.Clone(parts), i, i+1), "")
		if j := judge(parse(right+judged+log), gcm); len(j.findings) != 1 || !strings.Contains(j.findings[0], "not reported: the probe") {
			t.Errorf("without control %d: findings %q, want one", i, j.findings)
		}
	}
}

// TestJudgeDivisions changes the divisions in a disassembly, one at a time.
func TestJudgeDivisions(t *testing.T) {
	known, all := "", 0
	function := func(at place, lines ...int) string {
		text := fmt.Sprintf("TEXT %s(SB) /m/%s\n", at.function, at.file)
		for _, n := range lines {
			text += fmt.Sprintf("  %s:%d\t\t0x518411\t\t49f7fa\t\tIDIVQ R10\t\n  %[1]s:%d\t\t0x518414\t\t4889d0\t\tMOVQ DX, AX\t\n", at.file, n)
		}
		return text
	}
	for at, count := range publicDivisions {
		known += function(at, slices.Repeat([]int{112}, count)...)
		all += count
	}
	word := place{"crypto/internal/fips140/aes.expandKeyGeneric", "aes_generic.go"}
	less := strings.Replace(known, function(word, 112), function(word), 1)
	for _, test := range []struct {
		name, text string
		finding    string // a part of the only one
	}{
		{"known", known, ""},
		{"one more", known + function(word, 200), "aes.expandKeyGeneric, aes_generic.go: divisions in lines [112 200], want 1"},
		{"one more, inlined", known + function(place{word.function, "uhash.go"}, 7), "aes.expandKeyGeneric, uhash.go: divisions in lines [7], want 0"},
		{"another function", known + function(place{"example.com/fastmac.(*chunkQueue).take", "parallel.go"}, 9), "example.com/fastmac.(*chunkQueue).take, parallel.go: divisions in lines [9], want 0"},
		{"one less", less, "aes.expandKeyGeneric, aes_generic.go: divisions in lines [], want 1"},
		{"of assembly", known + "TEXT example.com/fastmac.nh(SB) /m/nh_amd64.s\n  nh_amd64.s:227\t\t0x51f812\t\tf6fa\t\tIDIVL DL\t\n", ""},
	} {
		public, findings := judgeDivisions(test.text)
		if test.finding == "" && (len(findings) != 0 || public != all) || test.finding != "" && (len(findings) != 1 || !strings.Contains(findings[0], test.finding)) {
			t.Errorf("%s: %d of %d, findings %q, want %q", test.name, public, all, findings, test.finding)
		}
	}
	if _, findings := judgeDivisions(""); len(findings) != len(publicDivisions) {
		t.Errorf("findings %q in no disassembly", findings)
	}
}
