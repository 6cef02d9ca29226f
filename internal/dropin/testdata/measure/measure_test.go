// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package measure has benchmarks of modules that have none of their own for HMAC or PBKDF2.
package measure

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	gojwt "github.com/golang-jwt/jwt/v5"
	"github.com/google/go-github/v68/github"
	"github.com/miekg/dns"
	"github.com/pquerna/otp"
	"github.com/pquerna/otp/hotp"
	"github.com/slack-go/slack"
	"github.com/stripe/stripe-go/v82"
	"github.com/tyler-smith/go-bip39"
	"github.com/xdg-go/scram"
)

var (
	key    = []byte("a key of 32 bytes, as many have.")
	secret = string(key)
	body   = []byte(`{"event": "` + strings.Repeat("x", 1010) + `"}`) // 1 KiB
)

// tag returns an HMAC-SHA-256.
func tag(msg string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(msg))
	return h.Sum(nil)
}

// loop times f, which must not fail.
func loop(b *testing.B, f func() error) {
	for b.Loop() {
		if err := f(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkJWT(b *testing.B) {
	claims := gojwt.RegisteredClaims{Subject: "user", Issuer: "issuer", ExpiresAt: gojwt.NewNumericDate(time.Now().Add(time.Hour))}
	token, err := gojwt.NewWithClaims(gojwt.SigningMethodHS256, claims).SignedString(key)
	if err != nil {
		b.Fatal(err)
	}
	at := strings.LastIndexByte(token, '.')
	tag, err := base64.RawURLEncoding.DecodeString(token[at+1:])
	if err != nil {
		b.Fatal(err)
	}
	b.Run("Verify", func(b *testing.B) {
		loop(b, func() error { return gojwt.SigningMethodHS256.Verify(token[:at], tag, key) })
	})
	b.Run("Parse", func(b *testing.B) {
		get := func(*gojwt.Token) (any, error) { return key, nil }
		loop(b, func() error { _, err := gojwt.Parse(token, get, gojwt.WithValidMethods([]string{"HS256"})); return err })
	})
}

func BenchmarkHOTP(b *testing.B) {
	for name, algorithm := range map[string]otp.Algorithm{"SHA1": otp.AlgorithmSHA1, "SHA256": otp.AlgorithmSHA256} {
		b.Run(name, func(b *testing.B) {
			loop(b, func() error {
				_, err := hotp.GenerateCodeCustom("GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ", 5, hotp.ValidateOpts{Digits: otp.DigitsSix, Algorithm: algorithm})
				return err
			})
		})
	}
}

func BenchmarkSCRAM(b *testing.B) {
	loop(b, func() error {
		client, err := scram.SHA256.NewClient("user", secret, "")
		if err != nil {
			return err
		}
		_, err = client.GetStoredCredentialsWithError(scram.KeyFactors{Salt: "sixteen bytes...", Iters: 4096})
		return err
	})
}

func BenchmarkSeed(b *testing.B) {
	mnemonic, err := bip39.NewMnemonic(key)
	if err != nil {
		b.Fatal(err)
	}
	loop(b, func() error { bip39.NewSeed(mnemonic, "password"); return nil })
}

func BenchmarkTSIG(b *testing.B) {
	key := base64.StdEncoding.EncodeToString(key)
	query := new(dns.Msg)
	query.SetUpdate("example.org.")
	query.SetTsig("key.", dns.HmacSHA256, 300, time.Now().Unix())
	signed, _, err := dns.TsigGenerate(query, key, "", false)
	if err != nil {
		b.Fatal(err)
	}
	loop(b, func() error { return dns.TsigVerify(bytes.Clone(signed), key, "", false) })
}

func BenchmarkGitHub(b *testing.B) {
	signature := "sha256=" + hex.EncodeToString(tag(string(body)))
	loop(b, func() error { return github.ValidateSignature(signature, body, key) })
}

func BenchmarkStripe(b *testing.B) {
	now := time.Now()
	header := "t=" + strconv.FormatInt(now.Unix(), 10) + ",v1=" + hex.EncodeToString(stripe.ComputeSignature(now, body, secret))
	loop(b, func() error { return stripe.ValidatePayload(body, header, secret, stripe.WithIgnoreTolerance()) })
}

func BenchmarkSlack(b *testing.B) {
	now := strconv.FormatInt(time.Now().Unix(), 10)
	header := http.Header{}
	header.Set("X-Slack-Request-Timestamp", now)
	header.Set("X-Slack-Signature", "v0="+hex.EncodeToString(tag("v0:"+now+":"+string(body))))
	loop(b, func() error {
		verifier, err := slack.NewSecretsVerifier(header, secret)
		if err != nil {
			return err
		}
		verifier.Write(body)
		return verifier.Ensure()
	})
}
