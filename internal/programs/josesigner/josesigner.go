// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package josesigner has keys for signatures of github.com/go-jose/go-jose/v4 that are set up once.
package josesigner

import (
	"crypto"
	"fmt"

	"example.com/fastmac"
	"github.com/go-jose/go-jose/v4"
)

// A Key signs and verifies with one algorithm. It is a jose.OpaqueSigner and a jose.OpaqueVerifier.
// Goroutines can share it.
type Key struct {
	alg  jose.SignatureAlgorithm
	hmac *fastmac.HMACKey
}

// NewKey returns a key for HS256, HS384 or HS512. The secret is at least as long as the hash, RFC 7518
// section 3.2.
func NewKey(alg jose.SignatureAlgorithm, secret []byte) (*Key, error) {
	hash, ok := map[jose.SignatureAlgorithm]crypto.Hash{
		jose.HS256: crypto.SHA256, jose.HS384: crypto.SHA384, jose.HS512: crypto.SHA512,
	}[alg]
	if !ok {
		return nil, fmt.Errorf("%w: %q", jose.ErrUnsupportedAlgorithm, alg)
	}
	if len(secret) < hash.Size() {
		return nil, fmt.Errorf("%w: %d bytes for %s, want at least %d", jose.ErrInvalidKeySize, len(secret), alg, hash.Size())
	}
	k, err := fastmac.NewHMACKey(hash, secret)
	if err != nil {
		return nil, err
	}
	return &Key{alg, k}, nil
}

// Public returns nil: the key is secret.
func (k *Key) Public() *jose.JSONWebKey { return nil }

func (k *Key) Algs() []jose.SignatureAlgorithm { return []jose.SignatureAlgorithm{k.alg} }

func (k *Key) SignPayload(payload []byte, alg jose.SignatureAlgorithm) ([]byte, error) {
	if alg != k.alg {
		return nil, jose.ErrUnsupportedAlgorithm
	}
	return k.hmac.Tag(nil, payload), nil
}

func (k *Key) VerifyPayload(payload, signature []byte, alg jose.SignatureAlgorithm) error {
	if alg != k.alg || !k.hmac.Verify(signature, payload) {
		return jose.ErrCryptoFailure
	}
	return nil
}
