// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sums

import (
	"bytes"
	"context"
	"crypto"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/fastmac"
	"example.com/fastmac/cmd/fastmac/internal/list"
	"example.com/fastmac/internal/mactest"
	"example.com/fastmac/internal/umacref"
)

// TestVectors verifies the tags of testdata as the command does, from files with the key, the
// message and the tag. The tags of UMAC are those under a nonce of 16 bytes: the vector's xor
// two pads of umacref. Of the messages that POLY-128 hashes only those of 32 MiB are there.
func TestVectors(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, content []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	counts := make(map[string]int)
	check := func(vector, name string, key, nonce []byte, message string, tag []byte, valid bool) {
		t.Helper()
		o := Options{KeyFile: write("key", []byte(name+" "+hex.EncodeToString(key)+"\n")), Jobs: 2, Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard}
		report, err := Verify(context.Background(), o, write("sums", fmt.Appendf(nil, "%s:%x:%x  %s\n", name, nonce, tag, message)), true)
		if err != nil || report.Right+report.Wrong != 1 || valid != (report.Right == 1) {
			t.Errorf("%s: %s: %+v, %v; the tag is right: %v", vector, name, report, err, valid)
		}
		counts[name]++
	}
	nonce := []byte("a nonce of Sign.")
	for _, v := range mactest.UMACVectors(t) {
		if v.Size > 1<<20 && v.Size != 1<<25 {
			continue
		}
		message := write("message", v.Msg())
		for size, want := range v.Tags {
			tag := bytes.Clone(want)
			subtle.XORBytes(tag, tag, umacref.PDF(v.Key, v.Nonce, size))
			subtle.XORBytes(tag, tag, umacref.PDF(v.Key, nonce, size))
			check(v.Name, list.Names()[size/4-1], v.Key, nonce, message, tag, true)
		}
	}
	for name, h := range map[string]crypto.Hash{"hmac-sha256": crypto.SHA256, "hmac-sha512": crypto.SHA512} {
		for _, v := range mactest.HMACVectors(t, h) {
			if len(v.Key) >= 32 && 2*len(v.Key) < maxKeyFile-100 && len(v.Tag) == h.Size() {
				check(v.Name, name, v.Key, nil, write("message", v.Msg), v.Tag, v.Valid)
			}
		}
	}
	if fastmac.RequireGCM() == nil {
		for _, v := range mactest.GCMVectors(t) {
			if len(v.Ciphertext) == 0 && len(v.Nonce) == fastmac.GMACNonceSize {
				check(v.Name, "gmac", v.Key, v.Nonce, write("message", v.Data), v.Tag, v.Valid)
			}
		}
	}
	t.Logf("tags verified: %v", counts)
	want := map[string]int{"umac32": 437, "umac64": 437, "umac96": 437, "umac128": 437, "hmac-sha256": 94, "hmac-sha512": 176}
	if fastmac.RequireGCM() == nil {
		want["gmac"] = 361
	}
	if !maps.Equal(counts, want) {
		t.Errorf("want %v", want)
	}
}
