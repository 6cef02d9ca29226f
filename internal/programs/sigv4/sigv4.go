// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package sigv4 verifies requests that are signed with AWS Signature Version 4, in their headers.
package sigv4

import (
	"crypto"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"example.com/fastmac"
)

// A Server accepts requests for one region and service.
type Server struct {
	Region, Service string
	Secret          func(id string) string // of an access key, or nothing if it is unknown
	Now             func() time.Time
}

// Key derives the key of a day. It is the same all day: it may be kept until its date has passed.
func (s *Server) Key(secret, date string) (*fastmac.HMACKey, error) {
	k := []byte("AWS4" + secret)
	for _, part := range []string{date, s.Region, s.Service, "aws4_request"} {
		k = fastmac.SumHMAC(crypto.SHA256, nil, k, []byte(part))
	}
	return fastmac.NewHMACKey(crypto.SHA256, k)
}

var authorization = regexp.MustCompile(`^AWS4-HMAC-SHA256 Credential=([^/, ]+)/([^, ]+), ?SignedHeaders=([^, ]+), ?Signature=([0-9a-f]{64})$`)

// Verify returns the access key of a request, and the headers that its signature covers. The caller has made the
// canonical request, from what arrived, with exactly these headers, and trusts no others.
func (s *Server) Verify(h http.Header, canonical func(signed []string) []byte) (id string, err error) {
	m := authorization.FindStringSubmatch(h.Get("Authorization"))
	if m == nil {
		return "", errors.New("sigv4: no signature")
	}
	id, scope, signed := m[1], m[2], strings.Split(m[3], ";")
	stamp := h.Get("X-Amz-Date")
	t, err := time.Parse("20060102T150405Z", stamp)
	if err != nil || s.Now().Sub(t).Abs() > 15*time.Minute {
		return "", fmt.Errorf("sigv4: the date is %q", stamp)
	}
	date := stamp[:8]
	if want := strings.Join([]string{date, s.Region, s.Service, "aws4_request"}, "/"); scope != want {
		return "", fmt.Errorf("sigv4: scope %q: want %q", scope, want)
	}
	if !slices.Contains(signed, "host") || !slices.Contains(signed, "x-amz-date") {
		return "", fmt.Errorf("sigv4: signed headers %q: want host and x-amz-date", signed)
	}
	secret := s.Secret(id)
	k, err := s.Key(secret, date)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(canonical(signed))
	text := strings.Join([]string{"AWS4-HMAC-SHA256", stamp, scope, hex.EncodeToString(sum[:])}, "\n")
	tag, _ := hex.DecodeString(m[4])
	if !k.Verify(tag, []byte(text)) || secret == "" {
		return "", errors.New("sigv4: the signature is wrong")
	}
	return id, nil
}
