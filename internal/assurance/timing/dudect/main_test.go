// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"bytes"
	"encoding/json"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"example.com/fastmac"
	"example.com/fastmac/internal/kernel"
)

// TestMain makes this program the command if it starts itself as such.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "-child" {
		main()
	}
	os.Exit(m.Run())
}

func testEdges(t *testing.T) []edge {
	t.Helper()
	edges, err := readEdges()
	if err != nil {
		t.Fatal(err)
	}
	return edges
}

// TestSubjects runs each subject on inputs of both classes, which must differ, except where
// there is no difference.
func TestSubjects(t *testing.T) {
	edges := testEdges(t)
	names := make(map[string]bool)
	r := rand.NewChaCha8([32]byte{1})
	for _, s := range allSubjects(edges) {
		if names[s.name] {
			t.Errorf("there are two tests %q", s.name)
		}
		names[s.name] = true
		m := meter{rand: r, now: nanotime}
		if n := len(m.measure(&s, 20)); n != 20 {
			t.Errorf("%s: %d samples, want 20", s.name, n)
		}
		var in [2][]byte
		for class, fill := range s.classes {
			in[class] = make([]byte, s.size)
			fill(in[class], r)
		}
		if same := strings.Contains(s.name, "no difference: fixed"); bytes.Equal(in[0], in[1]) != same {
			t.Errorf("%s: the inputs of the classes are %x and %x", s.name, in[0], in[1])
		}
	}
	t.Logf("%d tests", len(names))
}

// TestWrong checks that tags are wrong in one byte only.
func TestWrong(t *testing.T) {
	tag := pattern(16)
	r := rand.NewChaCha8([32]byte{2})
	for i, at := range map[int]int{0: 0, 5: 5, -1: 15, -16: 0} {
		for range 1000 {
			got := make([]byte, len(tag))
			wrong(tag, i)(got, r)
			if got[at] == tag[at] {
				t.Fatalf("wrong(%d) is right at %d", i, at)
			}
			if got[at] = tag[at]; !bytes.Equal(got, tag) {
				t.Fatalf("wrong(%d) is also wrong elsewhere than at %d", i, at)
			}
		}
	}
}

// TestMarkers checks that the messages of poly64-marker take the branch of the control as
// often as the vectors say, and that a random message does not.
func TestMarkers(t *testing.T) {
	want := []uint64{0xffffffff00000000} // block 2 of message 1
	for _, e := range testEdges(t) {
		if e.group != "poly64-marker" {
			continue
		}
		marked := func(msg []byte) (words []uint64) {
			for w := range slices.Chunk(l1Words(e.key, msg), 8) {
				if m := new(big.Int).SetBytes(w); m.Cmp(markers) >= 0 {
					words = append(words, m.Uint64())
				}
			}
			return words
		}
		got := marked(e.rest)
		switch {
		case e.id == 1 && !slices.Equal(got, want):
			t.Errorf("%s has the marked words %x, want %x", e.name(), got, want)
		case e.id == 8 && len(got) != 3:
			t.Errorf("%s has the marked words %x, want three", e.name(), got)
		}
		if words := marked(pattern(len(e.rest))); words != nil {
			t.Errorf("a random message has the marked words %x", words)
		}
	}
}

// TestCommand runs the command with few samples on all kernels that it can have here. It
// checks what was measured, and nothing about times.
func TestCommand(t *testing.T) {
	args := []string{"-samples", "4000", "-only", "64 bytes, fixed|Verify|poly64-marker #8", "-o", filepath.Join(t.TempDir(), "out")}
	switch _, err := exec.LookPath("go"); {
	case testing.Short() || err != nil:
		args = append(args, "-kernels", "best")
	default:
		t.Setenv("GOOS", "")
		t.Setenv("GOARCH", "")
	}
	var stdout, stderr bytes.Buffer
	status := run(args, &stdout, &stderr)
	out := stdout.String()
	if written, err := os.ReadFile(args[5]); err != nil || string(written) != out {
		t.Errorf("the file differs from the output: %v", err)
	}
	summary := regexp.MustCompile(`(?m)^(\d+) tests, \d+ of them run again \(by chance of t at most [\d.]+\), \d+ known leaks, (\d+) leaks\n(\d+) controls, (\d+) not caught$`).FindStringSubmatch(out)
	if summary == nil {
		t.Fatalf("no summary, exit status %d:\n%s%s", status, out, stderr.String())
	}
	var n [4]int
	for i := range n {
		n[i], _ = strconv.Atoi(summary[i+1])
	}
	if (status == 0) != (n[1] == 0 && n[3] == 0) {
		t.Errorf("exit status %d, %s", status, summary[0])
	}
	// On few samples the status is no matter, and the verdicts are none.
	processes := strings.Count(out, "\nclock: ")
	if n[2] != 4*processes || n[0] < 20*processes || strings.Contains(out, "NaN") {
		t.Errorf("%s in %d processes:\n%s", summary[0], processes, out)
	}
	if strings.Contains(strings.Join(args, " "), "-kernels") {
		return
	}
	fastmac.Hardware() // chooses all kernels
	if k := kernel.NewReport(); !strings.Contains(out, "kernels best: UMAC "+k.NH+", AES "+k.AES) || !strings.Contains(out, "kernels purego: UMAC generic, AES stdlib, SHA-256 stdlib, SHA-512 stdlib, AES-GCM none\n") {
		t.Errorf("the kernels are not those of this machine, %+v:\n%s", k, out)
	}
	t.Logf("%d processes: %s", processes, summary[0])
}

// TestOptions checks that wrong arguments are refused.
func TestOptions(t *testing.T) {
	for _, args := range [][]string{{"-samples", "100"}, {"-kernels", "sse9"}, {"-only", "("}, {"extra"}, {"-child", "-nothing"}} {
		var stdout, stderr bytes.Buffer
		if status := run(args, &stdout, &stderr); status == 0 || stderr.Len() == 0 {
			t.Errorf("%v: exit status %d, %q", args, status, stderr.String())
		}
	}
}

// TestSummary checks that the command fails on a leak, on a control that is not caught, and
// if nothing was run.
func TestSummary(t *testing.T) {
	withT := func(r result, ts ...float64) result {
		r.Runs = make([]analysis, len(ts))
		for i, x := range ts {
			r.Runs[i].T[crops] = x
		}
		return r
	}
	control, test := result{Control: true}, result{}
	pass, caught := withT(test, 4.4), withT(control, -math.MaxFloat64)
	if r := withT(result{Unclaimed: "reason"}, 5); r.verdict() != "known" {
		t.Errorf("no claim and |t| = 5: %s", r.verdict())
	}
	var line bytes.Buffer
	byByte := withT(result{Test: "name", Unclaimed: "reason"}, 0)
	byByte.Runs[0].Byte, byByte.Runs[0].Z = 9, 7
	p := printer{w: &line}
	if p.result(&byByte); !strings.HasSuffix(line.String(), "    7.00  known, reason: name (byte 9)\n") {
		t.Errorf("z = 7: %q", line.String())
	}
	for _, test := range []struct {
		name    string
		results []result
		want    string // of the error
	}{
		{"all pass", []result{caught, pass, withT(result{Unclaimed: "reason"}, 20)}, ""},
		{"not confirmed", []result{caught, pass, withT(test, 5), withT(test, 5, -5)}, ""},
		{"beyond doubt", []result{caught, pass, withT(test, 5), withT(test, 5, -11)}, "fastmac: 1 leaks, and 0 of 1 controls not caught"},
		{"a leak", []result{caught, pass, withT(test, 5), withT(test, 5, 10)}, "fastmac: 1 leaks, and 0 of 1 controls not caught"},
		{"a missed control", []result{caught, withT(control, 9), pass}, "fastmac: 0 leaks, and 1 of 2 controls not caught"},
		{"no test", []result{caught}, "fastmac: no test was run"},
	} {
		var out bytes.Buffer
		p := printer{w: &out}
		for _, r := range test.results {
			p.result(&r)
		}
		err := p.summary(time.Second)
		if err == nil && test.want != "" || err != nil && err.Error() != test.want {
			t.Errorf("%s: %v, want %q\n%s", test.name, err, test.want, out.String())
		}
	}
}

// TestAgain checks that a process for a second run measures one test and no controls.
func TestAgain(t *testing.T) {
	const name = "UMAC-64 64 bytes, fixed or random"
	var stdout, stderr, text bytes.Buffer
	if status := run([]string{"-child", "-samples", "4000", "-again", name}, &stdout, &stderr); status != 0 {
		t.Fatalf("exit status %d: %s", status, stderr.String())
	}
	r := result{Test: name, Runs: make([]analysis, 1)}
	p := printer{w: &text}
	if err := p.readAgain(&r, json.NewDecoder(&stdout)); err != nil {
		t.Fatal(err)
	}
	if p.repeated != 1 || len(r.Runs) != 2 || r.Runs[1].Samples != 4000 || strings.Count(text.String(), "\n") != 1 || !strings.HasSuffix(text.String(), name+"\n") {
		t.Errorf("%d runs:\n%s", len(r.Runs), text.String())
	}
}
