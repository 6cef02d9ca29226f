// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package mactest

import (
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

// Must returns v, and panics if there is an error.
func Must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

var packages = regexp.MustCompile("^(fastmac|aesgcm|hwrand|sshmac|packet): ")

// MustPanic checks that call panics with a text of one of this module's packages that has message
// in it.
func MustPanic(t *testing.T, what, message string, call func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if r := recover(); r == nil {
			t.Errorf("%s does not panic", what)
		} else if s := fmt.Sprint(r); !packages.MatchString(s) || !strings.Contains(s, message) {
			t.Errorf("%s panics with %q, want %q in it", what, s, message)
		}
	}()
	call()
}

// Unhex returns the bytes that s has in hexadecimal digits.
func Unhex(s string) []byte { return Must(hex.DecodeString(s)) }

// Random returns n bytes of rng.
func Random(rng *rand.ChaCha8, n int) []byte {
	b := make([]byte, n)
	rng.Read(b)
	return b
}

// TestRandom checks that 64 results of draw are random: each bit has been 0 and 1, no byte has few
// values, and no result comes twice. A random one of at least 8 bytes fails with a probability of
// less than 2^-50.
func TestRandom(t *testing.T, what string, draw func() []byte) {
	t.Helper()
	const draws, enough = 64, 16
	results := make(map[string]bool)
	var values []map[byte]bool // of each byte
	var ones, zeros []byte     // the bits that have been 1, and those that have been 0
	for range draws {
		b := draw()
		if values == nil {
			values, ones, zeros = make([]map[byte]bool, len(b)), make([]byte, len(b)), make([]byte, len(b))
		}
		if len(b) != len(values) {
			t.Fatalf("%s: %d bytes after %d", what, len(b), len(values))
		}
		results[string(b)] = true
		for i, x := range b {
			if values[i] == nil {
				values[i] = make(map[byte]bool)
			}
			values[i][x] = true
			ones[i] |= x
			zeros[i] |= ^x
		}
	}
	if len(results) != draws {
		t.Errorf("%s: %d results of %d are different", what, len(results), draws)
	}
	for i := range values {
		if len(values[i]) < enough || ones[i]&zeros[i] != 0xff {
			t.Errorf("%s: byte %d of %d has %d values, want at least %d; bits that have been 1 %08b, 0 %08b",
				what, i, draws, len(values[i]), enough, ones[i], zeros[i])
		}
	}
}
