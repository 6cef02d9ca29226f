// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Command webhook receives webhooks at /github, /stripe, /slack, /paddle, /shopify and, from those who follow
// Standard Webhooks, /standard. It refuses those whose signature is wrong. The secrets are in the
// environment, as GITHUB_SECRET and GITHUB_OLD_SECRET; a sender without a secret is not served.
package main

import (
	"crypto"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"example.com/fastmac"
	"example.com/fastmac/hmac"
)

// A verifier reports whether a request is signed with one of the secrets.
type verifier func(secrets []*fastmac.HMACKey, h http.Header, body []byte) bool

func gitHub(secrets []*fastmac.HMACKey, h http.Header, body []byte) bool {
	tag, ok := strings.CutPrefix(h.Get("X-Hub-Signature-256"), "sha256=")
	return ok && signed(secrets, hex.DecodeString, []string{tag}, "", body)
}

func stripe(secrets []*fastmac.HMACKey, h http.Header, body []byte) bool {
	stamp, tags := split(h.Get("Stripe-Signature"), ",", "t", "v1")
	return fresh(stamp, 5*time.Minute) && signed(secrets, hex.DecodeString, tags, stamp+".", body)
}

func slack(secrets []*fastmac.HMACKey, h http.Header, body []byte) bool {
	stamp := h.Get("X-Slack-Request-Timestamp")
	tag, ok := strings.CutPrefix(h.Get("X-Slack-Signature"), "v0=")
	return ok && fresh(stamp, 5*time.Minute) && signed(secrets, hex.DecodeString, []string{tag}, "v0:"+stamp+":", body)
}

func paddle(secrets []*fastmac.HMACKey, h http.Header, body []byte) bool {
	stamp, tags := split(h.Get("Paddle-Signature"), ";", "ts", "h1")
	return fresh(stamp, 5*time.Second) && signed(secrets, hex.DecodeString, tags, stamp+":", body)
}

func shopify(secrets []*fastmac.HMACKey, h http.Header, body []byte) bool {
	return signed(secrets, base64.StdEncoding.DecodeString, h.Values("X-Shopify-Hmac-Sha256"), "", body)
}

func standard(secrets []*fastmac.HMACKey, h http.Header, body []byte) bool {
	id, stamp := h.Get("Webhook-Id"), h.Get("Webhook-Timestamp")
	var tags []string
	for field := range strings.FieldsSeq(h.Get("Webhook-Signature")) {
		if tag, ok := strings.CutPrefix(field, "v1,"); ok {
			tags = append(tags, tag)
		}
	}
	return id != "" && !strings.Contains(id, ".") && fresh(stamp, 5*time.Minute) &&
		signed(secrets, base64.StdEncoding.DecodeString, tags, id+"."+stamp+".", body)
}

// split returns the time and the tags of a list such as t=1,v1=ab,v1=cd.
func split(list, separator, stampName, tagName string) (stamp string, tags []string) {
	for field := range strings.SplitSeq(list, separator) {
		switch name, value, _ := strings.Cut(field, "="); name {
		case stampName:
			stamp = value
		case tagName:
			tags = append(tags, value)
		}
	}
	return stamp, tags
}

var now = time.Now // tests change it

// fresh reports whether a Unix time is at most window away from now.
func fresh(stamp string, window time.Duration) bool {
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	return err == nil && now().Sub(time.Unix(seconds, 0)).Abs() <= window
}

// signed reports whether one of tags, decoded, is that of prefix and body under one of the secrets.
func signed(secrets []*fastmac.HMACKey, decode func(string) ([]byte, error), tags []string, prefix string, body []byte) bool {
	for _, secret := range secrets {
		m := secret.New()
		m.WriteString(prefix)
		m.Write(body)
		want := m.Sum(nil)
		for _, tag := range tags {
			if got, err := decode(tag); err == nil && hmac.Equal(got, want) {
				return true
			}
		}
	}
	return false
}

// receive returns a handler that calls accept with each body that is signed, at most limit bytes.
func receive(verify verifier, secrets []*fastmac.HMACKey, limit int64, accept func(body []byte) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
		var long *http.MaxBytesError
		switch {
		case errors.As(err, &long):
			http.Error(w, "too long", http.StatusRequestEntityTooLarge)
		case err != nil:
			http.Error(w, "not all of it", http.StatusBadRequest)
		case !verify(secrets, r.Header, body):
			http.Error(w, "forbidden", http.StatusForbidden)
		case accept(body) != nil:
			http.Error(w, "try again", http.StatusInternalServerError)
		}
	}
}

// secretsOf returns the keys of a sender, and no key for an empty secret: anybody has that.
func secretsOf(sender string) (keys []*fastmac.HMACKey) {
	name := strings.ToUpper(sender)
	for _, name := range []string{name + "_SECRET", name + "_OLD_SECRET"} {
		if secret := os.Getenv(name); secret != "" {
			k, err := keyOf(sender, secret)
			if err != nil {
				log.Fatalf("%s: %v", name, err)
			}
			keys = append(keys, k)
		}
	}
	return keys
}

// keyOf returns the key that a secret stands for. Only Standard Webhooks has it in base64; a secret of Stripe
// begins with whsec_ too, and is used as it is.
func keyOf(sender, secret string) (*fastmac.HMACKey, error) {
	key := []byte(secret)
	if sender == "standard" {
		var err error
		if key, err = base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_")); err != nil {
			return nil, err
		}
		if len(key) < 24 {
			return nil, fmt.Errorf("a secret of %d bytes, want at least 24", len(key))
		}
	}
	return fastmac.NewHMACKey(crypto.SHA256, key)
}

func main() {
	senders := map[string]struct {
		verify verifier
		limit  int64 // of a body, in bytes
	}{
		"github":   {gitHub, 25_000_000}, // as GitHub says
		"stripe":   {stripe, 1 << 20},
		"slack":    {slack, 1 << 20},
		"paddle":   {paddle, 1 << 20},
		"shopify":  {shopify, 1 << 20},
		"standard": {standard, 1 << 20},
	}
	for name, s := range senders {
		if secrets := secretsOf(name); len(secrets) > 0 {
			http.HandleFunc("POST /"+name, receive(s.verify, secrets, s.limit, func(body []byte) error {
				log.Printf("%s: %d bytes", name, len(body)) // parse the body here, not before
				return nil
			}))
		}
	}
	server := &http.Server{Addr: "localhost:8080", ReadTimeout: time.Minute}
	log.Fatal(server.ListenAndServe())
}
