// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package scram

import (
	"crypto"
	"encoding/base64"
	"strings"
	"testing"

	"example.com/fastmac"
)

// TestServerSignature computes the signature of the server in the example of RFC 7677, section 3.
func TestServerSignature(t *testing.T) {
	const (
		first  = "n=user,r=rOprNGfwEbeRWgbNEkqO"
		nonce  = "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"
		salt   = "W22ZaJ0SNY7soEsUEjb6gQ=="
		server = nonce + ",s=" + salt + ",i=4096"
		want   = "6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="
	)
	decoded, err := base64.StdEncoding.DecodeString(salt)
	if err != nil {
		t.Fatal(err)
	}
	key, err := SaltedPassword("pencil", decoded, 4096)
	if err != nil {
		t.Fatal(err)
	}
	key = fastmac.SumHMAC(crypto.SHA256, nil, key, []byte("Server Key"))
	got := fastmac.SumHMAC(crypto.SHA256, nil, key, []byte(strings.Join([]string{first, server, "c=biws", nonce}, ",")))
	if text := base64.StdEncoding.EncodeToString(got); text != want {
		t.Errorf("%s, want %s", text, want)
	}
}

func TestLimits(t *testing.T) {
	for _, iterations := range []int{-1, 0, 1, 4095, 600_001} {
		if key, err := SaltedPassword("pencil", nil, iterations); key != nil || err == nil {
			t.Errorf("%d iterations: key %x, error %v", iterations, key, err)
		}
	}
	if _, err := SaltedPassword("pencil", nil, 600_000); err != nil {
		t.Error(err)
	}
}
