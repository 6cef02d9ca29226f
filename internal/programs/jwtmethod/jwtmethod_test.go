// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package jwtmethod

import (
	"bytes"
	"crypto"
	"testing"

	"example.com/fastmac"
	"github.com/golang-jwt/jwt/v5"
)

// TestMethods signs and verifies with each method and with that of golang-jwt, both ways, and with
// keys that are not the method's.
func TestMethods(t *testing.T) {
	claims := jwt.MapClaims{"sub": "alice"}
	for _, test := range []struct {
		ours   *Method
		theirs *jwt.SigningMethodHMAC
	}{
		{HS256, jwt.SigningMethodHS256},
		{HS384, jwt.SigningMethodHS384},
		{HS512, jwt.SigningMethodHS512},
	} {
		secret := bytes.Repeat([]byte{0xff, 7}, 32)
		key, err := fastmac.NewHMACKey(test.theirs.Hash, secret)
		if err != nil {
			t.Fatal(err)
		}
		var want string
		for i, sign := range []struct {
			method jwt.SigningMethod
			key    any
		}{{test.theirs, secret}, {test.ours, key}, {test.ours, secret}} {
			token, err := jwt.NewWithClaims(sign.method, claims).SignedString(sign.key)
			if i == 0 {
				want = token
			}
			if err != nil || token != want {
				t.Errorf("%s, way %d: %q, error %v; want %q", test.ours.Alg(), i, token, err, want)
			}
		}

		// As a program does it, before its first token.
		jwt.RegisterSigningMethod(test.ours.Alg(), func() jwt.SigningMethod { return test.ours })
		t.Cleanup(func() {
			jwt.RegisterSigningMethod(test.theirs.Alg(), func() jwt.SigningMethod { return test.theirs })
		})
		parse := func(token string, key any, methods ...string) error {
			_, err := jwt.Parse(token, func(*jwt.Token) (any, error) { return key, nil }, jwt.WithValidMethods(methods))
			return err
		}
		for _, k := range []any{key, secret, jwt.VerificationKeySet{Keys: []jwt.VerificationKey{secret[1:], key}}} {
			if err := parse(want, k, test.ours.Alg()); err != nil {
				t.Errorf("%s, key %T: %v", test.ours.Alg(), k, err)
			}
		}
		other := crypto.SHA256
		if test.ours == HS256 {
			other = crypto.SHA512
		}
		otherKey, err := fastmac.NewHMACKey(other, secret)
		if err != nil {
			t.Fatal(err)
		}
		for name, k := range map[string]any{
			"another secret": secret[1:], "a key for another hash": otherKey, "a nil key": (*fastmac.HMACKey)(nil),
			"no key": nil, "text": string(secret), "a public key": new(int),
		} {
			if err := parse(want, k, test.ours.Alg()); err == nil {
				t.Errorf("%s: %s is accepted", test.ours.Alg(), name)
			}
			if _, isBytes := k.([]byte); !isBytes {
				if _, err := jwt.NewWithClaims(test.ours, claims).SignedString(k); err == nil {
					t.Errorf("%s: signs with %s", test.ours.Alg(), name)
				}
			}
		}
		if err := parse(want, key, "HS1024"); err == nil {
			t.Errorf("%s is accepted where only another method is", test.ours.Alg())
		}
		for _, wrong := range []string{want[:len(want)-4], want + "AAAA", want[:len(want)-2] + "__"} {
			if err := parse(wrong, key, test.ours.Alg()); err == nil {
				t.Errorf("%s: the wrong signature %q is accepted", test.ours.Alg(), wrong)
			}
		}
	}
}

// BenchmarkParse parses and verifies a token with HS512, by golang-jwt's method and by this one.
func BenchmarkParse(b *testing.B) {
	secret := make([]byte, 64)
	key, err := fastmac.NewHMACKey(crypto.SHA512, secret)
	if err != nil {
		b.Fatal(err)
	}
	for _, bench := range []struct {
		name   string
		method jwt.SigningMethod
		key    any
	}{{"golang-jwt", jwt.SigningMethodHS512, secret}, {"jwtmethod", HS512, key}} {
		b.Run(bench.name, func(b *testing.B) {
			jwt.RegisterSigningMethod("HS512", func() jwt.SigningMethod { return bench.method })
			defer jwt.RegisterSigningMethod("HS512", func() jwt.SigningMethod { return jwt.SigningMethodHS512 })
			claims := jwt.RegisteredClaims{Subject: "alice", Issuer: "example.com", Audience: jwt.ClaimStrings{"shop"}}
			token, err := jwt.NewWithClaims(bench.method, claims).SignedString(bench.key)
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				var got jwt.RegisteredClaims
				if _, err := jwt.ParseWithClaims(token, &got, func(*jwt.Token) (any, error) { return bench.key, nil }); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
