// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"crypto"
	"errors"
	"fmt"
	"strings"
	"testing"

	"example.com/fastmac"
	"github.com/golang-jwt/jwt/v5"
)

// TestVerify compares what verify says of 100 tokens with what golang-jwt says.
func TestVerify(t *testing.T) {
	secret := []byte(strings.Repeat("0123456789abcdef", 4))
	key, err := fastmac.NewHMACKey(crypto.SHA512, secret)
	if err != nil {
		t.Fatal(err)
	}
	defer key.Destroy()
	sign := func(method jwt.SigningMethod, secret any, claims jwt.MapClaims) string {
		s, err := jwt.NewWithClaims(method, claims).SignedString(secret)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	var tokens []string
	for i := range 90 {
		tokens = append(tokens, sign(jwt.SigningMethodHS512, secret, jwt.MapClaims{"sub": fmt.Sprint("user ", i)}))
	}
	good := tokens[0]
	dot := strings.LastIndexByte(good, '.')
	tokens = append(tokens,
		sign(jwt.SigningMethodHS512, []byte("another key"), jwt.MapClaims{"sub": "mallory"}),
		sign(jwt.SigningMethodHS512, secret, jwt.MapClaims{"exp": 1}),
		sign(jwt.SigningMethodHS512, secret, jwt.MapClaims{"nbf": int64(1) << 40}),
		sign(jwt.SigningMethodHS256, secret, jwt.MapClaims{"sub": "other method"}),
		sign(jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, jwt.MapClaims{"sub": "no method"}),
		tokens[1][:strings.LastIndexByte(tokens[1], '.')]+good[dot:], // the tag of another token
		good[:dot], good[:dot+1], good+"AA", "")

	claims, errs := verify(key, tokens)
	parser := jwt.NewParser(jwt.WithStrictDecoding(), jwt.WithJSONNumber(), jwt.WithValidMethods([]string{"HS512"}))
	for i, s := range tokens {
		_, err := parser.Parse(s, func(*jwt.Token) (any, error) { return secret, nil })
		if (err == nil) != (errs[i] == nil) || (i < 90) != (errs[i] == nil) || (claims[i] == nil) != (errs[i] != nil) {
			t.Errorf("token %d: %v, %v; golang-jwt: %v", i, claims[i], errs[i], err)
		}
	}
	if claims[7]["sub"] != "user 7" {
		t.Errorf("claims %v", claims[7])
	}
	if !errors.Is(errs[91], jwt.ErrTokenExpired) || !errors.Is(errs[90], jwt.ErrTokenSignatureInvalid) {
		t.Errorf("errors %v, %v", errs[90], errs[91])
	}
}
