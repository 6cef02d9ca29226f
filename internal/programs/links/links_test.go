// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package links

import (
	"crypto"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"example.com/fastmac"
)

var now = time.Unix(1_700_000_000, 0)

func key(t *testing.T, secret string) *fastmac.HMACKey {
	k, err := fastmac.NewHMACKey(crypto.SHA256, []byte(secret))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// TestHandlers has a link to one of two handlers whose paths are the same when they are decoded.
func TestHandlers(t *testing.T) {
	k := key(t, "0123456789abcdef0123456789abcdef")
	var served string
	handle := func(name string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if Verify(k, r.URL, now) {
				served = name
			}
		}
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/files/{name}", handle("file"))
	mux.HandleFunc("/files/{folder}/{name}", handle("file in a folder"))
	serve := func(target string) string {
		served = ""
		mux.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", target, nil))
		return served
	}
	for path, want := range map[string]string{"/files/a/b": "file in a folder", "/files/a%2Fb": "file"} {
		link := Sign(k, path, url.Values{"user": {"42"}}, now.Add(time.Second))
		if got := serve(link); got != want {
			t.Errorf("%s: served by %q, want %q", link, got, want)
		}
		other := map[string]string{"/files/a/b": "/files/a%2Fb", "/files/a%2Fb": "/files/a/b"}[path]
		if got := serve(strings.Replace(link, path, other, 1)); got != "" {
			t.Errorf("the tag of %s opens %s", path, other)
		}
	}
}

func TestVerify(t *testing.T) {
	k := key(t, "0123456789abcdef0123456789abcdef")
	link := Sign(k, "/report.pdf", url.Values{"user": {"42"}}, now.Add(time.Second))
	verify := func(k *fastmac.HMACKey, link string, now time.Time) bool {
		u, err := url.ParseRequestURI(link)
		return err == nil && Verify(k, u, now)
	}
	parameters := url.Values{"user": {"42"}}
	Sign(k, "/report.pdf", parameters, now)
	if len(parameters) != 1 {
		t.Errorf("Sign has changed its parameters: %v", parameters)
	}
	for _, link := range []string{link, Sign(k, "/report.pdf", nil, now.Add(time.Second))} {
		if !verify(k, link, now) {
			t.Errorf("%s is refused", link)
		}
	}
	if verify(k, link, now.Add(time.Second)) || verify(key(t, "another"), link, now) {
		t.Error("accepted after its time, or with another key")
	}
	for _, wrong := range []string{
		strings.Replace(link, "user=42", "user=43", 1), strings.Replace(link, "until=1", "until=2", 1), strings.Replace(link, "?", "?admin=1&", 1),
		strings.Replace(link, "&tag=", "&user=43&tag=", 1), link + "&user=43", link + "=", link[:len(link)-1], strings.Split(link, "&tag=")[0], "/report.pdf",
	} {
		if verify(k, wrong, now) {
			t.Errorf("%s is accepted", wrong)
		}
	}
	if got, want := message("ab", "c"), message("a", "bc"); string(got) == string(want) {
		t.Errorf("two messages are %q", got)
	}
}
