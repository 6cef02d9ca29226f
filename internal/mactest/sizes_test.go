// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package mactest

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"slices"
	"testing"
)

// failing is a test whose failures are counted.
type failing struct {
	testing.TB
	name     string
	failures int
}

func (f *failing) Name() string          { return f.name }
func (f *failing) Errorf(string, ...any) { f.failures++ }

// TestSizes checks that Sizes finds a function that is wrong for one size, and tests that would not: that do not
// compare all lanes, have equal messages in them, or compare a result with itself.
func TestSizes(t *testing.T) {
	const lanes = 4
	// The function: hashes of prefixes of messages.
	hashes := func(messages [][]byte, n int) (out []byte) {
		for _, m := range messages {
			h := sha256.Sum256(m[:n])
			out = append(out, h[:]...)
		}
		return out
	}
	different, equal := make([][]byte, lanes), make([][]byte, lanes)
	for l := range lanes {
		equal[l] = make([]byte, 100)
		different[l] = bytes.Repeat([]byte{byte(l)}, 100)
	}
	run := func(n int, f *Fault, messages [][]byte) (got, want []byte) {
		want = hashes(messages, n)
		p := slices.Clone(messages)
		In(f, n, p)
		return hashes(p, n), want
	}
	for _, test := range []struct {
		name     string
		most     int
		failures bool
		run      func(n int, f *Fault) (got, want []byte)
	}{
		{"right", 40, false, func(n int, f *Fault) (got, want []byte) { return run(n, f, different) }},
		{"wrong for one size", 40, true, func(n int, f *Fault) (got, want []byte) {
			if got, want = run(n, f, different); n == 17 {
				got[n]++
			}
			return got, want
		}},
		{"wrong for one size beyond", 40, true, func(n int, f *Fault) (got, want []byte) {
			if got, want = run(n, f, different); n == 60 {
				got[n]++
			}
			return got, want
		}},
		{"only one lane is compared", 40, true, func(n int, f *Fault) (got, want []byte) {
			got, want = run(n, f, different)
			return got[:32], want[:32]
		}},
		{"equal messages", 40, true, func(n int, f *Fault) (got, want []byte) { return run(n, f, equal) }},
		{"compares itself", 40, true, func(n int, f *Fault) (got, want []byte) {
			got, _ = run(n, nil, different)
			return got, got
		}},
	} {
		failures := 0
		for i := range 20 { // with other faults
			f := &failing{TB: t, name: fmt.Sprint(i)}
			Sizes(f, test.most, []int{60}, test.run)
			failures += f.failures
		}
		if (failures > 0) != test.failures {
			t.Errorf("%s: %d failures", test.name, failures)
		}
	}
}
