// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sigv4

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
	"testing"
	"time"

	"example.com/fastmac"
)

// The example of https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html, GET Object.
const (
	scope   = "20130524/us-east-1/s3/aws4_request"
	headers = "host;range;x-amz-content-sha256;x-amz-date"
	empty   = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	request = "GET\n/test.txt\n\nhost:examplebucket.s3.amazonaws.com\nrange:bytes=0-9\nx-amz-content-sha256:" + empty +
		"\nx-amz-date:20130524T000000Z\n\n" + headers + "\n" + empty
	header = "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/" + scope + ",SignedHeaders=" + headers +
		",Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"
)

func TestVerify(t *testing.T) {
	at := time.Date(2013, 5, 24, 0, 0, 0, 0, time.UTC)
	s := &Server{"us-east-1", "s3", func(id string) string {
		return map[string]string{"AKIAIOSFODNN7EXAMPLE": "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"}[id]
	}, func() time.Time { return at }}
	verify := func(header, date, request string) error {
		h := make(http.Header)
		h.Set("Authorization", header)
		h.Set("X-Amz-Date", date)
		id, err := s.Verify(h, func(signed []string) []byte { return []byte(request) })
		if err == nil && id != "AKIAIOSFODNN7EXAMPLE" {
			t.Errorf("access key %q", id)
		}
		return err
	}
	const date = "20130524T000000Z"
	if err := verify(header, date, request); err != nil {
		t.Fatal(err)
	}
	for _, wrong := range [][3]string{
		{header, date, strings.Replace(request, "test", "Test", 1)}, {header, "20130524T000001Z", request}, {header, "", request},
		{strings.Replace(header, "=f0", "=f1", 1), date, request}, {header + "0", date, request}, {"", date, request},
		{strings.Replace(header, "AKIA", "BKIA", 1), date, request},
	} {
		if verify(wrong[0], wrong[1], wrong[2]) == nil {
			t.Errorf("%q is accepted", wrong)
		}
	}
	for _, minutes := range []time.Duration{-16, 16} {
		at = at.Add(minutes * time.Minute)
		if verify(header, date, request) == nil {
			t.Errorf("accepted %d minutes later", minutes)
		}
		at = at.Add(-minutes * time.Minute)
	}

	// These are signed with the right secret, for the scope and the headers that they name.
	sign := func(server *Server, date, scope, headers string) (header, text string) {
		text = "GET\n/\n\n" + headers
		k, err := server.Key(server.Secret("AKIAIOSFODNN7EXAMPLE"), date)
		if err != nil {
			t.Fatal(err)
		}
		return signature(k, scope, headers, text), text
	}
	other := func(region, service string) *Server { return &Server{region, service, s.Secret, s.Now} }
	for name, of := range map[string]struct {
		server               *Server
		date, scope, headers string
		ok                   bool
	}{
		"all right":                     {s, "20130524", scope, "host;x-amz-date", true},
		"another region":                {other("eu-west-1", "s3"), "20130524", "20130524/eu-west-1/s3/aws4_request", "host;x-amz-date", false},
		"another service":               {other("us-east-1", "iam"), "20130524", "20130524/us-east-1/iam/aws4_request", "host;x-amz-date", false},
		"another day":                   {s, "20130523", "20130523/us-east-1/s3/aws4_request", "host;x-amz-date", false},
		"a scope that is not the key's": {s, "20130524", "20130524/eu-west-1/s3/aws4_request", "host;x-amz-date", false},
		"no host":                       {s, "20130524", scope, "x-amz-date", false},
		"no date":                       {s, "20130524", scope, "host", false},
	} {
		header, text := sign(of.server, of.date, of.scope, of.headers)
		if err := verify(header, date, text); (err == nil) != of.ok {
			t.Errorf("%s: error %v", name, err)
		}
	}

	// Anybody can make the key of an empty secret.
	k, err := s.Key("", "20130524")
	if err != nil {
		t.Fatal(err)
	}
	if verify(strings.Replace(signature(k, scope, headers, request), "AKIA", "BKIA", 1), date, request) == nil {
		t.Error("an unknown access key is accepted")
	}
}

// signature returns the header Authorization for a canonical request.
func signature(k *fastmac.HMACKey, scope, headers, canonical string) string {
	sum := sha256.Sum256([]byte(canonical))
	text := "AWS4-HMAC-SHA256\n20130524T000000Z\n" + scope + "\n" + hex.EncodeToString(sum[:])
	return "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/" + scope + ", SignedHeaders=" + headers +
		", Signature=" + hex.EncodeToString(k.Tag(nil, []byte(text)))
}
