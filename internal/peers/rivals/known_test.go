// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package rivals

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/binary"
	"fmt"
	"hash"
	"testing"

	"example.com/fastmac/internal/peers/serve"
	"example.com/fastmac/internal/umacref"
)

func TestKnown(t *testing.T) {
	known := knownTags()
	for _, g := range Groups {
		for _, c := range g.Contenders {
			_, alg, _ := c.Parts()
			for _, size := range g.Sizes {
				if known[alg][fmt.Sprint(size)] == "" {
					t.Errorf("%s: no known tag for %d bytes", c, size)
				}
			}
		}
	}

	nonce := binary.BigEndian.AppendUint64(nil, serve.LastNonce)
	for _, size := range []int{16, 28, 32, 64, 256, 1024, 1500, 4096, 16384, mib, 4 * mib, 64 * mib} {
		msg := serve.Message(size)
		for _, tagSize := range []int{4, 8, 12, 16} {
			got, ok := known[fmt.Sprint("umac", 8*tagSize)][fmt.Sprint(size)]
			want := fmt.Sprintf("%x", umacref.UMAC(serve.Key[:16], msg, nonce, tagSize))
			if ok && got != want {
				t.Errorf("UMAC-%d of %d bytes: %s, RFC 4418 says %s", 8*tagSize, size, got, want)
			}
		}
		if size > mib {
			continue
		}
		h := hmac.New(sha256.New, serve.Key[:])
		h.Write(msg)
		got, ok := known["hmac-sha256"][fmt.Sprint(size)]
		if want := fmt.Sprintf("%x", h.Sum(nil)); ok && got != want {
			t.Errorf("HMAC-SHA-256 of %d bytes: %s, crypto/hmac says %s", size, got, want)
		}
		h = hmac.New(sha512.New, serve.Key[:])
		h.Write(msg)
		got, ok = known["hmac-sha512"][fmt.Sprint(size)]
		if want := fmt.Sprintf("%x", h.Sum(nil)); ok && got != want {
			t.Errorf("HMAC-SHA-512 of %d bytes: %s, crypto/hmac says %s", size, got, want)
		}
	}

	number := binary.BigEndian.AppendUint32(nil, serve.SSHSequence)
	msg := serve.Message(sshSize)
	sshHMAC := func(sha func() hash.Hash, keySize int) []byte {
		h := hmac.New(sha, serve.Key[:keySize])
		h.Write(number)
		h.Write(msg)
		return h.Sum(nil)
	}
	sshNonce := append(make([]byte, 4), number...)
	for alg, want := range map[string][]byte{
		"umac-64-etm":       umacref.UMAC(serve.Key[:16], msg, sshNonce, 8),
		"umac-128-etm":      umacref.UMAC(serve.Key[:16], msg, sshNonce, 16),
		"hmac-sha2-256-etm": sshHMAC(sha256.New, 32),
		"hmac-sha2-512-etm": sshHMAC(sha512.New, 64),
		"aes128-gcm":        sshHMAC(sha256.New, 32),
		"chacha20-poly1305": sshHMAC(sha256.New, 32),
		"null-64-etm":       sshHMAC(sha256.New, 32),
	} {
		if got := known[alg][fmt.Sprint(sshSize)]; got != fmt.Sprintf("%x", want) {
			t.Errorf("%s in SSH: %s, want %x", alg, got, want)
		}
	}
}

func TestCheckTag(t *testing.T) {
	const right = "27efb77a"
	for _, test := range []struct {
		size      int
		tag, want string
	}{
		{16, right, ""},
		{16, "27efb77b", "wrong tag for 16 bytes: 27efb77b, want " + right},
		{16, "27", "wrong tag for 16 bytes: 27, want " + right},
		{16, "", "no tag for 16 bytes"},
		{17, right, "no known tag for 17 bytes"},
		{17, "", "no known tag for 17 bytes"},
	} {
		got := ""
		if err := Contender("fastmac:umac32:stream").CheckTag(test.size, test.tag); err != nil {
			got = err.Error()
		}
		if got != test.want {
			t.Errorf("%d bytes, tag %q: error %q, want %q", test.size, test.tag, got, test.want)
		}
	}
}
