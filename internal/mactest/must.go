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

var packages = regexp.MustCompile("^(fastmac|aesgcm|hwrand|sshmac): ")

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
