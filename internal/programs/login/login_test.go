// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package login

import (
	"strings"
	"testing"
)

// stored is what Python's hashlib.pbkdf2_hmac makes of "pässword".
const stored = "pbkdf2_sha256$1000$seasalt$EqCL4TJDvY77OVYjQped2t9qDQ3xEdvvzv1yQvLuPH0="

func TestVerify(t *testing.T) {
	if ok, old, err := Verify("pässword", stored); !ok || !old || err != nil {
		t.Errorf("of Python: %v, old %v, error %v", ok, old, err)
	}
	for _, wrong := range []string{"", "password", "pässword ", "PÄSSWORD"} {
		if ok, old, err := Verify(wrong, stored); ok || old || err != nil {
			t.Errorf("%q: %v, old %v, error %v", wrong, ok, old, err)
		}
	}
	for _, wrong := range []string{
		strings.Replace(stored, "E", "e", 1), strings.TrimSuffix(stored, "="), stored + "\n",
		strings.Replace(stored, "seasalt", "", 1), strings.Replace(stored, "1000", "1001", 1), strings.Replace(stored, "1000", "01000", 1),
	} {
		if ok, _, err := Verify("pässword", wrong); ok || err != nil {
			t.Errorf("%q: %v, error %v", wrong, ok, err)
		}
	}
	for _, malformed := range []string{
		"", "$", "pässword", stored + "$", strings.Replace(stored, "sha256", "sha1", 1), "argon2" + stored,
		strings.Replace(stored, "1000", "0", 1), strings.Replace(stored, "1000", "-1", 1), strings.Replace(stored, "1000", "", 1),
		strings.Replace(stored, "1000", "1e3", 1), strings.Replace(stored, "1000", "10000001", 1), strings.Replace(stored, "1000", "99999999999999999999", 1),
	} {
		if ok, old, err := Verify("pässword", malformed); ok || old || err == nil {
			t.Errorf("%q: %v, old %v, error %v", malformed, ok, old, err)
		}
	}
}

func TestHash(t *testing.T) {
	first, err := Hash("pässword")
	if err != nil {
		t.Fatal(err)
	}
	second, err := Hash("pässword")
	if err != nil || first == second {
		t.Errorf("the second one is %q like the first, error %v", second, err)
	}
	if ok, old, err := Verify("pässword", first); !ok || old || err != nil {
		t.Errorf("%q: %v, old %v, error %v", first, ok, old, err)
	}
	if !strings.HasPrefix(first, "pbkdf2_sha256$600000$") {
		t.Errorf("%q", first)
	}
}
