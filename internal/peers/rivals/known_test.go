// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package rivals

import (
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/binary"
	"fmt"
	"hash"
	"strconv"
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

	umac := func(nonce uint64, size int) func(msg []byte) []byte {
		return func(msg []byte) []byte {
			return umacref.UMAC(serve.Key[:16], msg, binary.BigEndian.AppendUint64(nil, nonce), size)
		}
	}
	gcm := func(keySize int, tag func(g cipher.AEAD, nonce, msg []byte) []byte) func(msg []byte) []byte {
		return func(msg []byte) []byte {
			nonce := binary.BigEndian.AppendUint64(make([]byte, 4, 12), serve.LastNonce)
			return tag(newGCM(serve.Key[:keySize]), nonce, msg)
		}
	}
	// SSH puts the sequence number before the message.
	keyedHash := func(unkeyed func() hash.Hash, keySize int, before []byte) func(msg []byte) []byte {
		return func(msg []byte) []byte {
			h := hmac.New(unkeyed, serve.Key[:keySize])
			h.Write(before)
			h.Write(msg)
			return h.Sum(nil)
		}
	}
	derivedKey := func(h func() hash.Hash) func(salt []byte) []byte {
		return func(salt []byte) []byte {
			return must(pbkdf2.Key(h, string(serve.Key[:]), salt, pbkdf2Iterations, h().Size()))
		}
	}
	expandedKey := func(h func() hash.Hash) func(info []byte) []byte {
		return func(info []byte) []byte {
			return must(hkdf.Key(h, serve.Key[hkdfSaltSize:], serve.Key[:hkdfSaltSize], string(info), h().Size()))
		}
	}
	sequence := binary.BigEndian.AppendUint32(nil, serve.SSHSequence)
	ssh256 := keyedHash(sha256.New, 32, sequence)
	for alg, oracle := range map[string]func(msg []byte) []byte{
		"umac32":  umac(serve.LastNonce, 4),
		"umac64":  umac(serve.LastNonce, 8),
		"umac96":  umac(serve.LastNonce, 12),
		"umac128": umac(serve.LastNonce, 16),
		"gmac": gcm(16, func(g cipher.AEAD, nonce, msg []byte) []byte {
			return g.Seal(nil, nonce, nil, msg)
		}),
		"aes256-gcm": gcm(32, func(g cipher.AEAD, nonce, msg []byte) []byte {
			return g.Seal(nil, nonce, msg, []byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})[len(msg):]
		}),
		"hmac-sha256":       keyedHash(sha256.New, 64, nil),
		"hmac-sha384":       keyedHash(sha512.New384, 64, nil),
		"hmac-sha512":       keyedHash(sha512.New, 64, nil),
		"pbkdf2-sha256":     derivedKey(sha256.New),
		"pbkdf2-sha512":     derivedKey(sha512.New),
		"hkdf-sha256":       expandedKey(sha256.New),
		"hkdf-sha512":       expandedKey(sha512.New),
		"umac-64-etm":       umac(serve.SSHSequence, 8),
		"umac-128-etm":      umac(serve.SSHSequence, 16),
		"hmac-sha2-256-etm": ssh256,
		"hmac-sha2-512-etm": keyedHash(sha512.New, 64, sequence),
		"aes128-gcm":        ssh256,
		"chacha20-poly1305": ssh256,
		"null-64-etm":       ssh256,
	} {
		if len(known[alg]) == 0 {
			t.Errorf("no known tags of %s", alg)
		}
		for size, got := range known[alg] {
			n, err := strconv.Atoi(size)
			if err != nil {
				t.Fatal(err)
			}
			if want := fmt.Sprintf("%x", oracle(serve.Message(n))); got != want {
				t.Errorf("%s of %d bytes: known tag %s, want %s", alg, n, got, want)
			}
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
