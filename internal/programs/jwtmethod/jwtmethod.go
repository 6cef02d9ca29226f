// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package jwtmethod has signing methods for github.com/golang-jwt/jwt/v5 whose keys are set up once.
package jwtmethod

import (
	"crypto"
	"fmt"
	"strings"

	"example.com/fastmac"
	"github.com/golang-jwt/jwt/v5"
)

// A Method is a jwt.SigningMethod. Its keys are those of NewKey, or []byte from packages that know
// nothing of this one.
type Method struct {
	name string
	hash crypto.Hash
}

var (
	HS256 = &Method{"HS256", crypto.SHA256}
	HS384 = &Method{"HS384", crypto.SHA384}
	HS512 = &Method{"HS512", crypto.SHA512}
)

// A Key is a key of one method. Goroutines can share it.
type Key struct {
	method *Method
	hmac   *fastmac.HMACKey
}

// NewKey returns a key for m. The secret is at least as long as the hash, RFC 7518 section 3.2.
func (m *Method) NewKey(secret []byte) (*Key, error) {
	if len(secret) < m.hash.Size() {
		return nil, fmt.Errorf("%w: %d bytes for %s, want at least %d", jwt.ErrInvalidKey, len(secret), m.name, m.hash.Size())
	}
	k, err := fastmac.NewHMACKey(m.hash, secret)
	if err != nil {
		return nil, err
	}
	return &Key{m, k}, nil
}

// Keyfunc is a jwt.Keyfunc that returns k for tokens that pass Check.
func (k *Key) Keyfunc(token *jwt.Token) (any, error) { return k, Check(token) }

// Check refuses what golang-jwt accepts against RFC 7515: a header that must be understood, section
// 4.1.11, and a line break inside the token, section 2.
func Check(token *jwt.Token) error {
	if _, ok := token.Header["crit"]; ok {
		return fmt.Errorf("%w: its header has crit", jwt.ErrTokenUnverifiable)
	}
	if strings.ContainsAny(token.Raw, "\r\n") {
		return fmt.Errorf("%w: it has a line break", jwt.ErrTokenMalformed)
	}
	return nil
}

func (m *Method) Alg() string { return m.name }

func (m *Method) Sign(text string, key any) ([]byte, error) {
	k, err := m.key(key)
	if err != nil {
		return nil, err
	}
	return k.hmac.Tag(nil, []byte(text)), nil
}

func (m *Method) Verify(text string, tag []byte, key any) error {
	k, err := m.key(key)
	if err != nil {
		return err
	}
	if !k.hmac.Verify(tag, []byte(text)) {
		return jwt.ErrSignatureInvalid
	}
	return nil
}

func (m *Method) key(key any) (*Key, error) {
	switch k := key.(type) {
	case *Key:
		if k != nil && k.method == m {
			return k, nil
		}
	case []byte:
		return m.NewKey(k)
	}
	return nil, fmt.Errorf("%w: %T for %s", jwt.ErrInvalidKeyType, key, m.name)
}
