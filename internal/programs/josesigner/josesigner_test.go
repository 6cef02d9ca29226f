// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package josesigner

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

var sizes = map[jose.SignatureAlgorithm]int{jose.HS256: 32, jose.HS384: 48, jose.HS512: 64}

// sign returns a token, by a key of this package or by go-jose with a []byte.
func sign(tb testing.TB, alg jose.SignatureAlgorithm, key any) string {
	tb.Helper()
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: alg, Key: key}, nil)
	if err != nil {
		tb.Fatal(err)
	}
	token, err := jwt.Signed(signer).Claims(jwt.Claims{Subject: "alice", Expiry: jwt.NewNumericDate(time.Unix(1<<40, 0))}).Serialize()
	if err != nil {
		tb.Fatal(err)
	}
	return token
}

// critical returns a token with a header that must be understood.
func critical(t *testing.T, alg jose.SignatureAlgorithm, key any) string {
	t.Helper()
	options := new(jose.SignerOptions).WithCritical("x").WithHeader("x", 1)
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: alg, Key: key}, options)
	if err != nil {
		t.Fatal(err)
	}
	token, err := jwt.Signed(signer).Claims(jwt.Claims{Subject: "alice"}).Serialize()
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// verify is what a server does.
func verify(token string, alg jose.SignatureAlgorithm, key any) error {
	parsed, err := jwt.ParseSigned(token, []jose.SignatureAlgorithm{alg})
	if err != nil {
		return err
	}
	var claims jwt.Claims
	if err := parsed.Claims(key, &claims); err != nil {
		return err
	}
	if claims.Subject != "alice" {
		return errors.New("another subject")
	}
	return claims.Validate(jwt.Expected{Time: time.Unix(1<<39, 0)})
}

// TestKey signs and verifies with each algorithm, by a Key and by go-jose, both ways, and with what is wrong.
func TestKey(t *testing.T) {
	for alg, size := range sizes {
		secret := bytes.Repeat([]byte{0xff, 7}, size/2)
		key, err := NewKey(alg, secret)
		if err != nil {
			t.Fatal(err)
		}
		token := sign(t, alg, key)
		if want := sign(t, alg, secret); token != want {
			t.Errorf("%s: %s, want %s", alg, token, want)
		}
		if err := verify(token, alg, key); err != nil {
			t.Errorf("%s: %v", alg, err)
		}
		if err := verify(token, alg, secret); err != nil {
			t.Errorf("%s, by go-jose: %v", alg, err)
		}

		other := append(bytes.Clone(secret[1:]), 0)
		if otherKey, err := NewKey(alg, other); err != nil {
			t.Error(err)
		} else if err := verify(token, alg, otherKey); err == nil {
			t.Errorf("%s: another secret is accepted", alg)
		}
		for name, wrong := range map[string]string{
			"cut":            token[:len(token)-4],
			"longer":         token + "AAAA",
			"empty":          token[:strings.LastIndexByte(token, '.')+1],
			"critical":       critical(t, alg, key),
			"another secret": sign(t, alg, other),
		} {
			if err := verify(wrong, alg, key); err == nil {
				t.Errorf("%s: %s is accepted: %s", alg, name, wrong)
			}
		}
		// So docs/tokens.md says to look for line breaks.
		if err := verify(token[:len(token)-2]+"\r\n"+token[len(token)-2:], alg, key); err != nil {
			t.Errorf("%s: go-jose refuses line breaks: %v", alg, err)
		}
		for otherAlg, otherSize := range sizes {
			if otherAlg == alg {
				continue
			}
			// The same secret, in a token whose header has another algorithm.
			long := append(bytes.Clone(secret), make([]byte, 64)...)[:max(size, otherSize)]
			key, err := NewKey(alg, long)
			if err != nil {
				t.Fatal(err)
			}
			if err := verify(sign(t, otherAlg, long), otherAlg, key); err == nil {
				t.Errorf("a key for %s accepts %s", alg, otherAlg)
			}
			tag, err := key.SignPayload([]byte("payload"), alg)
			if err != nil {
				t.Fatal(err)
			}
			if err := key.VerifyPayload([]byte("payload"), tag, otherAlg); !errors.Is(err, jose.ErrCryptoFailure) {
				t.Errorf("a key for %s accepts its own tag as one of %s: %v", alg, otherAlg, err)
			}
			if _, err := key.SignPayload([]byte("payload"), otherAlg); !errors.Is(err, jose.ErrUnsupportedAlgorithm) {
				t.Errorf("a key for %s signs with %s: %v", alg, otherAlg, err)
			}
			if _, err := jose.NewSigner(jose.SigningKey{Algorithm: otherAlg, Key: key}, nil); !errors.Is(err, jose.ErrUnsupportedAlgorithm) {
				t.Errorf("go-jose takes a key for %s as one for %s: %v", alg, otherAlg, err)
			}
		}
		if _, err := NewKey(alg, secret[1:]); !errors.Is(err, jose.ErrInvalidKeySize) {
			t.Errorf("%s: a key that is too short: %v", alg, err)
		}
	}
	if _, err := NewKey(jose.RS256, make([]byte, 64)); !errors.Is(err, jose.ErrUnsupportedAlgorithm) {
		t.Errorf("RS256: %v", err)
	}
}

// BenchmarkTokens signs tokens with HS256, and parses and verifies them, with a key of go-jose and with
// one of this package.
func BenchmarkTokens(b *testing.B) {
	secret := make([]byte, 32)
	key, err := NewKey(jose.HS256, secret)
	if err != nil {
		b.Fatal(err)
	}
	for _, bench := range []struct {
		name string
		key  any
	}{{"go-jose", secret}, {"josesigner", key}} {
		b.Run(bench.name+"/sign", func(b *testing.B) {
			for b.Loop() {
				sign(b, jose.HS256, bench.key)
			}
		})
		b.Run(bench.name+"/parse", func(b *testing.B) {
			token := sign(b, jose.HS256, bench.key)
			for b.Loop() {
				if err := verify(token, jose.HS256, bench.key); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
