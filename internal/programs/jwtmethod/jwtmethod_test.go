// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package jwtmethod

import (
	"bytes"
	"errors"
	"testing"

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
		secret := bytes.Repeat([]byte{0xff, 7}, 32)[:64:64]
		key, err := test.ours.NewKey(secret)
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
		for _, k := range []any{key, secret, jwt.VerificationKeySet{Keys: []jwt.VerificationKey{append(secret[1:], 0), key}}} {
			if err := parse(want, k, test.ours.Alg()); err != nil {
				t.Errorf("%s, key %T: %v", test.ours.Alg(), k, err)
			}
		}
		other := HS256
		if test.ours == HS256 {
			other = HS512
		}
		otherKey, err := other.NewKey(secret)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := test.ours.NewKey(secret[:test.theirs.Hash.Size()-1]); !errors.Is(err, jwt.ErrInvalidKey) {
			t.Errorf("%s: a key that is too short: error %v", test.ours.Alg(), err)
		}
		if _, err := test.ours.Sign("", ""); !errors.Is(err, jwt.ErrInvalidKeyType) {
			t.Errorf("%s: a key of text: error %v", test.ours.Alg(), err)
		}
		for name, k := range map[string]any{
			"another secret": append(secret[1:], 0), "a key of another method": otherKey, "a nil key": (*Key)(nil),
			"no key": nil, "no bytes": []byte(nil), "a short key": secret[:31], "text": string(secret), "a public key": new(int),
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

// TestKeyfunc has a token that is right, and tokens that golang-jwt accepts against RFC 7515.
func TestKeyfunc(t *testing.T) {
	key, err := HS256.NewKey(make([]byte, 32))
	if err != nil {
		t.Fatal(err)
	}
	jwt.RegisterSigningMethod("HS256", func() jwt.SigningMethod { return HS256 })
	t.Cleanup(func() {
		jwt.RegisterSigningMethod("HS256", func() jwt.SigningMethod { return jwt.SigningMethodHS256 })
	})
	token := jwt.NewWithClaims(HS256, jwt.MapClaims{"sub": "alice"})
	good, err := token.SignedString(key)
	if err != nil {
		t.Fatal(err)
	}
	token.Header["crit"], token.Header["x"] = []string{"x"}, 1
	critical, err := token.SignedString(key)
	if err != nil {
		t.Fatal(err)
	}
	parser := jwt.NewParser(jwt.WithValidMethods([]string{"HS256"}), jwt.WithStrictDecoding())
	for _, test := range []struct {
		token string
		want  error
	}{
		{good, nil},
		{critical, jwt.ErrTokenUnverifiable},
		{good[:len(good)-2] + "\r" + good[len(good)-2:], jwt.ErrTokenMalformed},
		{good + "\n", jwt.ErrTokenMalformed},
	} {
		if _, err := parser.Parse(test.token, func(*jwt.Token) (any, error) { return key, nil }); err != nil {
			t.Errorf("%q: golang-jwt: %v", test.token, err)
		}
		if _, err := parser.Parse(test.token, key.Keyfunc); !errors.Is(err, test.want) {
			t.Errorf("%q: error %v, want %v", test.token, err, test.want)
		}
	}
}

// BenchmarkTokens signs tokens with HS512, and parses and verifies them, by golang-jwt's method and by
// this one.
func BenchmarkTokens(b *testing.B) {
	secret := make([]byte, 64)
	key, err := HS512.NewKey(secret)
	if err != nil {
		b.Fatal(err)
	}
	for _, bench := range []struct {
		name   string
		method jwt.SigningMethod
		key    any
	}{{"golang-jwt", jwt.SigningMethodHS512, secret}, {"jwtmethod", HS512, key}} {
		jwt.RegisterSigningMethod("HS512", func() jwt.SigningMethod { return bench.method })
		claims := jwt.RegisteredClaims{Subject: "alice", Issuer: "example.com", Audience: jwt.ClaimStrings{"shop"}}
		sign := func(b *testing.B) string {
			token, err := jwt.NewWithClaims(bench.method, claims).SignedString(bench.key)
			if err != nil {
				b.Fatal(err)
			}
			return token
		}
		b.Run(bench.name+"/sign", func(b *testing.B) {
			for b.Loop() {
				sign(b)
			}
		})
		b.Run(bench.name+"/parse", func(b *testing.B) {
			token := sign(b)
			for b.Loop() {
				var got jwt.RegisteredClaims
				if _, err := jwt.ParseWithClaims(token, &got, func(*jwt.Token) (any, error) { return bench.key, nil }); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	jwt.RegisterSigningMethod("HS512", func() jwt.SigningMethod { return jwt.SigningMethodHS512 })
}
