// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"crypto"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"example.com/fastmac"
)

const secret, old = "It's a Secret to Everybody", "e6b19c573432dcc6b075501d51b51bb8"

// keys sets the secrets of a sender, as its environment does.
func keys(t *testing.T, sender string) []*fastmac.HMACKey {
	prefix, encode := "", func(secret string) string { return secret }
	if sender == "standard" {
		prefix, encode = "whsec_", func(secret string) string { return base64.StdEncoding.EncodeToString([]byte(secret)) }
	}
	t.Setenv(strings.ToUpper(sender)+"_SECRET", prefix+encode(secret))
	t.Setenv(strings.ToUpper(sender)+"_OLD_SECRET", encode(old)) // the prefix may be left out
	return secretsOf(sender)
}

// TestPublished verifies the example that GitHub publishes, and those in the tests of
// github.com/slack-go/slack and of github.com/standard-webhooks/standard-webhooks.
func TestPublished(t *testing.T) {
	header := make(http.Header)
	header.Set("X-Hub-Signature-256", "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17")
	if !gitHub(keys(t, "github"), header, []byte("Hello, World!")) {
		t.Error("GitHub's example is refused")
	}
	now = func() time.Time { return time.Unix(1531431954, 0) }
	t.Cleanup(func() { now = time.Now })
	header = make(http.Header)
	header.Set("X-Slack-Request-Timestamp", "1531431954")
	header.Set("X-Slack-Signature", "v0=adada4ed31709aef585c2580ca3267678c6a8eaeb7e0c1aca3ee57b656886b2c")
	const body = `{"token":"aF5ynEYQH0dFN9imlgcADxDB","team_id":"XXXXXXXXX","api_app_id":"YYYYYYYYY",` +
		`"event":{"type":"app_mention","user":"AAAAAAAAA","text":"<@EEEEEEEEE> hello world",` +
		`"client_msg_id":"477cc591-ch73-a14z-4db8-g0cd76321bec","ts":"1531431954.000073","channel":"TTTTTTTTT",` +
		`"event_ts":"1531431954.000073"},"type":"event_callback","event_id":"TvBP7LRED7","event_time":1531431954,` +
		`"authed_users":["EEEEEEEEE"]}`
	if !slack(keys(t, "slack"), header, []byte(body)) {
		t.Error("the example of slack-go is refused")
	}
	now = func() time.Time { return time.Unix(1614265330, 0) }
	t.Setenv("STANDARD_SECRET", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	header = make(http.Header)
	header.Set("webhook-id", "msg_p5jXN8AQM9LWM0D4loKWxJek")
	header.Set("webhook-timestamp", "1614265330")
	header.Set("webhook-signature", "v1a,AA== v1,AA== v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
	if !standard(secretsOf("standard"), header, []byte(`{"test": 2432232314}`)) {
		t.Error("the example of Standard Webhooks is refused")
	}
}

// TestStandard has secrets and IDs that Standard Webhooks does not allow.
func TestStandard(t *testing.T) {
	for _, secret := range []string{"whsec_", "whsec_?", "whsec_" + base64.StdEncoding.EncodeToString(make([]byte, 23))} {
		if _, err := keyOf("standard", secret); err == nil {
			t.Errorf("the secret %q is accepted", secret)
		}
	}
	now = func() time.Time { return time.Unix(1_700_000_000, 0) }
	t.Cleanup(func() { now = time.Now })
	secrets := keys(t, "standard")
	for id, want := range map[string]bool{"msg": true, "": false, ".": false, "msg.1": false} {
		header := make(http.Header)
		header.Set("webhook-id", id)
		header.Set("webhook-timestamp", "1700000000")
		header.Set("webhook-signature", "v1,"+base64.StdEncoding.EncodeToString(secrets[0].Tag(nil, []byte(id+".1700000000.body"))))
		if got := standard(secrets, header, []byte("body")); got != want {
			t.Errorf("ID %q: %t", id, got)
		}
	}
}

// TestReceive sends right and wrong requests of each sender.
func TestReceive(t *testing.T) {
	const body = `{"id": 1}`
	const seconds = 1_700_000_000
	now = func() time.Time { return time.Unix(seconds, 0) }
	t.Cleanup(func() { now = time.Now })
	sum := func(secret, text string) []byte {
		m := hmac.New(sha256.New, []byte(secret))
		m.Write([]byte(text))
		return m.Sum(nil)
	}
	tag := func(secret, text string) string { return hex.EncodeToString(sum(secret, text)) }
	senders := []struct {
		name   string
		verify verifier
		window int64 // in seconds; 0 if no time is signed
		header func(secret string, at int64) map[string]string
	}{
		{"github", gitHub, 0, func(secret string, _ int64) map[string]string {
			return map[string]string{"X-Hub-Signature-256": "sha256=" + tag(secret, body)}
		}},
		{"stripe", stripe, 300, func(secret string, at int64) map[string]string {
			stamp := strconv.FormatInt(at, 10)
			return map[string]string{"Stripe-Signature": "t=" + stamp + ",v1=" + tag("other", body) + ",v1=" + tag(secret, stamp+"."+body) + ",v0=00"}
		}},
		{"slack", slack, 300, func(secret string, at int64) map[string]string {
			stamp := strconv.FormatInt(at, 10)
			return map[string]string{"X-Slack-Request-Timestamp": stamp, "X-Slack-Signature": "v0=" + tag(secret, "v0:"+stamp+":"+body)}
		}},
		{"paddle", paddle, 5, func(secret string, at int64) map[string]string {
			stamp := strconv.FormatInt(at, 10)
			return map[string]string{"Paddle-Signature": "ts=" + stamp + ";h1=" + tag(secret, stamp+":"+body)}
		}},
		{"shopify", shopify, 0, func(secret string, _ int64) map[string]string {
			return map[string]string{"X-Shopify-Hmac-Sha256": base64.StdEncoding.EncodeToString(sum(secret, body))}
		}},
		{"standard", standard, 300, func(secret string, at int64) map[string]string {
			const id = "msg_2KWPBgLlAfxdpx2AI54pPJ85f4W"
			stamp := strconv.FormatInt(at, 10)
			list := "v1,"
			for _, s := range []string{secret, "other"} {
				list += base64.StdEncoding.EncodeToString(sum(s, id+"."+stamp+"."+body)) + " v1,"
			}
			return map[string]string{"Webhook-Id": id, "Webhook-Timestamp": stamp, "Webhook-Signature": strings.TrimSuffix(list, " v1,")}
		}},
	}
	for i, s := range senders {
		accepted := 0
		var failure error
		h := receive(s.verify, keys(t, s.name), 1000, func(got []byte) error {
			if accepted++; string(got) != body {
				t.Errorf("%s: %q is accepted", s.name, got)
			}
			return failure
		})
		try := func(name string, header map[string]string, body string, want int) {
			t.Helper()
			before, r, w := accepted, httptest.NewRequest("POST", "/", strings.NewReader(body)), httptest.NewRecorder()
			for name, value := range header {
				r.Header.Set(name, value)
			}
			h(w, r)
			if w.Code != want || (accepted > before) != (want == http.StatusOK || want == http.StatusInternalServerError) {
				t.Errorf("%s, %s: status %d, %d accepted, want %d", s.name, name, w.Code, accepted-before, want)
			}
		}
		good := s.header(secret, seconds)
		try("right", good, body, http.StatusOK)
		try("the old secret", s.header(old, seconds), body, http.StatusOK)
		try("another secret", s.header("", seconds), body, http.StatusForbidden)
		try("another body", good, body+" ", http.StatusForbidden)
		try("no body", good, "", http.StatusForbidden)
		try("a long body", good, body+strings.Repeat(" ", 1000), http.StatusRequestEntityTooLarge)
		failure = errors.New("the database is away")
		try("right, and not accepted", good, body, http.StatusInternalServerError)
		failure = nil
		try("no header", nil, body, http.StatusForbidden)
		try("the header of another sender", senders[(i+1)%len(senders)].header(secret, seconds), body, http.StatusForbidden)
		for name, value := range good {
			for _, wrong := range []string{"", value[1:], value[:len(value)-8], value + "0", "=" + value, strings.ToUpper(value[:5]) + value[5:]} {
				header := maps.Clone(good)
				header[name] = wrong
				if wrong == value || (name == "Stripe-Signature" || name == "Webhook-Signature") && strings.HasPrefix(wrong, value[:len(value)-8]) {
					continue // the end of that header is not a tag that counts
				}
				try(name+": "+wrong, header, body, http.StatusForbidden)
			}
		}
		if s.window > 0 {
			for _, away := range []int64{-s.window, s.window} {
				try("at the edge of the window", s.header(secret, seconds+away), body, http.StatusOK)
				try("outside of the window", s.header(secret, seconds+away+away/s.window), body, http.StatusForbidden)
			}
			try("a time of 64 bits", s.header(secret, 1<<63-1), body, http.StatusForbidden)
			try("a time before all", s.header(secret, -1<<63), body, http.StatusForbidden)
		}
		if got := secretsOf("nobody" + s.name); len(got) != 0 {
			t.Errorf("%d secrets of nobody", len(got))
		}
		t.Setenv("EMPTY_SECRET", "")
		if got := secretsOf("empty"); len(got) != 0 {
			t.Errorf("%d secrets that are empty", len(got))
		}
	}
}

// BenchmarkRequest measures a webhook of 1 KiB over loopback, and of that the MAC alone, also with
// crypto/hmac as most programs call it.
func BenchmarkRequest(b *testing.B) {
	key, err := fastmac.NewHMACKey(crypto.SHA256, []byte(secret))
	if err != nil {
		b.Fatal(err)
	}
	secrets, body := []*fastmac.HMACKey{key}, strings.Repeat("webhook ", 128)
	std := func() []byte {
		m := hmac.New(sha256.New, []byte(secret))
		m.Write([]byte(body))
		return m.Sum(nil)
	}
	header := http.Header{"X-Hub-Signature-256": {"sha256=" + hex.EncodeToString(std())}}
	b.Run("request", func(b *testing.B) {
		server := httptest.NewServer(receive(gitHub, secrets, 1<<20, func([]byte) error { return nil }))
		defer server.Close()
		for b.Loop() {
			r, err := http.NewRequest("POST", server.URL, strings.NewReader(body))
			if err != nil {
				b.Fatal(err)
			}
			r.Header = header
			w, err := server.Client().Do(r)
			if err != nil || w.StatusCode != http.StatusOK {
				b.Fatal(w, err)
			}
			w.Body.Close()
		}
	})
	b.Run("fastmac", func(b *testing.B) {
		for b.Loop() {
			if !gitHub(secrets, header, []byte(body)) {
				b.Fatal("refused")
			}
		}
	})
	b.Run("crypto/hmac", func(b *testing.B) {
		for b.Loop() {
			tag, err := hex.DecodeString(strings.TrimPrefix(header.Get("X-Hub-Signature-256"), "sha256="))
			if err != nil || !hmac.Equal(tag, std()) {
				b.Fatal("refused", err)
			}
		}
	})
}
