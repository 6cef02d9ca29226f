// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package jwtmethod has signing methods for github.com/golang-jwt/jwt/v5 whose keys are set up once.
package jwtmethod

import (
	"crypto"
	"errors"

	"example.com/fastmac"
	"github.com/golang-jwt/jwt/v5"
)

// A Method is a jwt.SigningMethod. Its keys are *fastmac.HMACKey, or []byte from packages
// that know nothing of this one.
type Method struct {
	name string
	hash crypto.Hash
}

var (
	HS256 = &Method{"HS256", crypto.SHA256}
	HS384 = &Method{"HS384", crypto.SHA384}
	HS512 = &Method{"HS512", crypto.SHA512}
)

func (m *Method) Alg() string { return m.name }

func (m *Method) Sign(text string, key any) ([]byte, error) {
	k, err := m.key(key)
	if err != nil {
		return nil, err
	}
	return k.Tag(nil, []byte(text)), nil
}

func (m *Method) Verify(text string, tag []byte, key any) error {
	k, err := m.key(key)
	if err != nil {
		return err
	}
	if !k.Verify(tag, []byte(text)) {
		return jwt.ErrSignatureInvalid
	}
	return nil
}

func (m *Method) key(key any) (*fastmac.HMACKey, error) {
	switch k := key.(type) {
	case *fastmac.HMACKey: // set up once
		if k != nil && k.Size() == m.hash.Size() {
			return k, nil
		}
	case []byte:
		return fastmac.NewHMACKey(m.hash, k)
	}
	return nil, errors.New("not a key for " + m.name)
}
