// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package measure has benchmarks of modules that have none of what they do with HMAC or PBKDF2.
package measure

import (
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
	"github.com/gorilla/securecookie"
	"github.com/gosnmp/gosnmp"
	"github.com/lestrrat-go/jwx/v3/jwa"
	"github.com/lestrrat-go/jwx/v3/jws"
	"github.com/miekg/dns"
	"github.com/minio/minio-go/v7/pkg/signer"
	"github.com/pquerna/otp"
	"github.com/pquerna/otp/hotp"
	"github.com/slack-go/slack"
	"github.com/stripe/stripe-go/v82"
	"github.com/twmb/franz-go/pkg/sasl/scram"
	"github.com/tyler-smith/go-bip32"
	"github.com/tyler-smith/go-bip39"
	"github.com/xdg-go/pbkdf2"
	xdgscram "github.com/xdg-go/scram"
)

var (
	key    = []byte("a key of 32 bytes, as many have.")
	secret = string(key)
	body   = []byte(`{"event": "` + strings.Repeat("x", 1010) + `"}`) // 1 KiB
	salt   = []byte("a salt of 16 bytes"[:16])
)

// tag returns an HMAC-SHA-256.
func tag(msg string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(msg))
	return h.Sum(nil)
}

// loop times f, which must not fail.
func loop(b *testing.B, f func() error) {
	b.ReportAllocs()
	for b.Loop() {
		if err := f(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkJWTVerify(b *testing.B) {
	claims := gojwt.RegisteredClaims{Subject: "user", Issuer: "issuer", ExpiresAt: gojwt.NewNumericDate(time.Now().Add(time.Hour))}
	token, err := gojwt.NewWithClaims(gojwt.SigningMethodHS256, claims).SignedString(key)
	if err != nil {
		b.Fatal(err)
	}
	at := strings.LastIndexByte(token, '.')
	sig, err := base64.RawURLEncoding.DecodeString(token[at+1:])
	if err != nil {
		b.Fatal(err)
	}
	loop(b, func() error { return gojwt.SigningMethodHS256.Verify(token[:at], sig, key) })
}

func BenchmarkJWTParse(b *testing.B) {
	claims := gojwt.RegisteredClaims{Subject: "user", Issuer: "issuer", ExpiresAt: gojwt.NewNumericDate(time.Now().Add(time.Hour))}
	token, err := gojwt.NewWithClaims(gojwt.SigningMethodHS256, claims).SignedString(key)
	if err != nil {
		b.Fatal(err)
	}
	loop(b, func() error {
		_, err := gojwt.Parse(token, func(*gojwt.Token) (any, error) { return key, nil }, gojwt.WithValidMethods([]string{"HS256"}))
		return err
	})
}

func BenchmarkJWSVerify(b *testing.B) {
	signed, err := jws.Sign(body, jws.WithKey(jwa.HS256(), key))
	if err != nil {
		b.Fatal(err)
	}
	loop(b, func() error { _, err := jws.Verify(signed, jws.WithKey(jwa.HS256(), key)); return err })
}

func BenchmarkCookieDecode(b *testing.B) {
	codec := securecookie.New(key, nil)
	cookie, err := codec.Encode("session", map[string]string{"user": "somebody", "role": "reader"})
	if err != nil {
		b.Fatal(err)
	}
	loop(b, func() error { var v map[string]string; return codec.Decode("session", cookie, &v) })
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
		client, err := xdgscram.SHA256.NewClient("user", secret, "")
		if err != nil {
			return err
		}
		_, err = client.GetStoredCredentialsWithError(xdgscram.KeyFactors{Salt: string(salt), Iters: 4096})
		return err
	})
}

func BenchmarkXDGKey(b *testing.B) {
	loop(b, func() error { pbkdf2.Key(key, salt, 4096, 32, sha256.New); return nil })
}

func BenchmarkSeed(b *testing.B) {
	mnemonic, err := bip39.NewMnemonic(key)
	if err != nil {
		b.Fatal(err)
	}
	loop(b, func() error { bip39.NewSeed(mnemonic, "password"); return nil })
}

func BenchmarkMasterKey(b *testing.B) {
	loop(b, func() error { _, err := bip32.NewMasterKey(key); return err })
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
	loop(b, func() error { return dns.TsigVerify(signed, key, "", false) })
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

func BenchmarkMinioSign(b *testing.B) {
	request, err := http.NewRequest(http.MethodGet, "http://bucket.example.org/object", nil)
	if err != nil {
		b.Fatal(err)
	}
	loop(b, func() error { signer.SignV4(*request, "user", secret, "", "us-east-1"); return nil })
}

func BenchmarkKafka(b *testing.B) {
	nonce := []byte("nonce of the client")
	mechanism := scram.Auth{User: "user", Pass: secret, Nonce: nonce}.AsSha256Mechanism()
	challenge := []byte("r=" + base64.RawStdEncoding.EncodeToString(nonce) + "andtheserver,s=" + base64.StdEncoding.EncodeToString(salt) + ",i=4096")
	loop(b, func() error {
		session, _, err := mechanism.Authenticate(b.Context(), "")
		if err != nil {
			return err
		}
		_, _, err = session.Challenge(challenge)
		return err
	})
}

func BenchmarkSNMP(b *testing.B) {
	client := &gosnmp.GoSNMP{
		Version: gosnmp.Version3, SecurityModel: gosnmp.UserSecurityModel, MsgFlags: gosnmp.AuthNoPriv,
		SecurityParameters: &gosnmp.UsmSecurityParameters{
			UserName: "user", AuthoritativeEngineID: "an engine", AuthenticationProtocol: gosnmp.SHA256, AuthenticationPassphrase: secret,
		},
	}
	if err := client.SecurityParameters.InitSecurityKeys(); err != nil {
		b.Fatal(err)
	}
	variables := []gosnmp.SnmpPDU{{Name: ".1.3.6.1.2.1.1.1.0", Type: gosnmp.OctetString, Value: body}}
	loop(b, func() error { _, err := client.SnmpEncodePacket(gosnmp.GetResponse, variables, 0, 0); return err })
}
