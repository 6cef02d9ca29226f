// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package memory

import (
	"bytes"
	"crypto"
	stdaes "crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha3"
	"crypto/subtle"
	"encoding"
	"encoding/binary"
	"hash"
	"slices"
	"strings"

	"example.com/fastmac"
	"example.com/fastmac/internal/aes"
	"example.com/fastmac/internal/gcm"
	"example.com/fastmac/internal/mactest"
	"example.com/fastmac/internal/umacref"
)

// A piece is a secret, of a kind, that a process must not have after Destroy.
type piece struct {
	kind  string
	bytes []byte
}

// umacSecrets returns the secrets of a stream and its key.
func umacSecrets(u *fastmac.UMAC) []piece {
	field := func(path string) []byte { return mactest.Field(u, path) }
	pieces := []piece{
		{"L1 key", field("key.uhash.l1")},
		{"L2 key", field("key.uhash.l2")},
		{"L3 key", field("key.uhash.l3.k2")},
		{"L3 key", field("key.uhash.l3.low")},
		{"L3 key", field("key.uhash.l3High")},
		{"pad key", field("key.pad.schedule")},
		{"UHASH state", field("uhash.l1.sums")},
		{"UHASH state", field("uhash.l2.y")},
	}
	// What is not in use is zeros. One word of a pad beside zeros would be found where any word is.
	for _, pads := range bytes.Split(field("pads.blocks"), make([]byte, 8)) {
		pieces = append(pieces, piece{"pads ahead", pads})
	}
	return pieces
}

// hmacSecrets returns the secrets of a key, and of a stream that has msg, from the standard library.
func hmacSecrets(h crypto.Hash, key, msg []byte) []piece {
	pads := hmacPads(h, key)
	value := func(p []byte) []byte { return chainingValue(h, p) }
	whole := len(msg) &^ (h.New().BlockSize() - 1)
	return []piece{
		{"inner chaining value", value(pads[0].bytes)},
		{"outer chaining value", value(pads[1].bytes)},
		{"HMAC state", value(slices.Concat(pads[0].bytes, msg[:whole]))},
	}
}

// sha1Secrets is hmacSecrets for SHA-1, whose states are in memory as words, and as they are marshaled.
func sha1Secrets(key, msg []byte) (pieces []piece) {
	for _, s := range hmacSecrets(crypto.SHA1, key, msg) {
		pieces = append(pieces, piece{"SHA-1 " + s.kind, s.bytes}, piece{"SHA-1 " + s.kind, native(bytes.Clone(s.bytes), 4)})
	}
	return pieces
}

// chainingValue returns the chaining value after blocks, as it is in memory.
func chainingValue(h crypto.Hash, blocks []byte) []byte {
	hash := h.New()
	hash.Write(blocks)
	size := hash.BlockSize() / 2 // which is not cut
	if h == crypto.SHA1 {
		size = h.Size()
	}
	value := mactest.Must(hash.(encoding.BinaryMarshaler).MarshalBinary())[4:][:size]
	return native(value, hash.BlockSize()/16)
}

// native turns big-endian words into those of this machine, and returns them.
func native(words []byte, wordSize int) []byte {
	for word := range slices.Chunk(words, wordSize) {
		if binary.NativeEndian.Uint16([]byte{1, 0}) == 1 {
			slices.Reverse(word)
		}
	}
	return words
}

// gmacSecrets returns the secrets of a stream and its key, and of the state if the stream has
// been written to. The kinds begin with prefix.
func gmacSecrets(prefix string, m *fastmac.GMAC) []piece {
	key := mactest.Field(m, "key.gcm")
	return []piece{
		{prefix + "powers", key[:8*gcm.BlockSize]},
		{prefix + "schedule", key[8*gcm.BlockSize:]},
		{prefix + "GHASH state", mactest.Field(m, "sum")},
	}
}

// What the setup of a key and a computation make and do not keep is computed again here.

// kdfSecrets returns the schedule of a key of UMAC, if that is known here: crypto/aes has
// another.
func kdfSecrets(key []byte) []piece {
	if !aes.InUse() {
		return nil
	}
	s := new(aes.Schedule)
	s.Expand(key)
	return []piece{{"KDF key", mactest.Storage(s)}}
}

// padSecrets returns the pads of nonces.
func padSecrets(key []byte, nonces [][]byte) (pads []piece) {
	for _, nonce := range nonces {
		pads = append(pads, piece{"batch pads", umacref.PDF(key, nonce, 16)})
	}
	return pads
}

// hmacPads returns the inner and the outer pad of a key, RFC 2104 section 2, and the hash of a long
// one, also as it is in memory before its words are encoded.
func hmacPads(h crypto.Hash, key []byte) []piece {
	hash := h.New()
	var hashed []piece
	if len(key) > hash.BlockSize() {
		hash.Write(key)
		key = hash.Sum(nil)
		hashed = []piece{{"hash of a key", key}, {"hash of a key", native(bytes.Clone(key), hash.BlockSize()/16)}}
	}
	pad := func(mask byte) []byte {
		p := bytes.Repeat([]byte{mask}, hash.BlockSize())
		subtle.XORBytes(p, p, key)
		return p
	}
	return append([]piece{{"inner pad", pad(0x36)}, {"outer pad", pad(0x5c)}}, hashed...)
}

// otherHash is a hash of which crypto/pbkdf2 derives keys. It leaves the password, so that is another one.
func otherHash() hash.Hash { return sha3.New256() }

func otherPassword(key []byte) string {
	password := bytes.Clone(key)
	for i := range password {
		password[i] ^= 0xa5
	}
	return string(password)
}

// pbkdf2Secrets returns what PBKDF2 computes for a block of a key: each U and T, as they are in the key
// and as words, RFC 8018 section 5.2.
func pbkdf2Secrets(h crypto.Hash, password []byte, block byte) (pieces []piece) {
	m := hmac.New(h.New, password)
	t, msg := make([]byte, h.Size()), append([]byte(scanSalt), 0, 0, 0, block)
	for range scanIterations {
		m.Reset()
		m.Write(msg)
		msg = m.Sum(nil)
		subtle.XORBytes(t, t, msg)
		for _, secret := range [][]byte{msg, t} {
			pieces = append(pieces, piece{"PBKDF2", bytes.Clone(secret)},
				piece{"PBKDF2", native(bytes.Clone(secret), m.BlockSize()/16)})
		}
	}
	return pieces
}

// hkdfSecrets returns what HKDF computes: the result of the first step, blocks of keys, RFC 5869 section 2, and
// the chaining values of the HMAC whose key they are under. The last block of a key with a long info begins with
// the block before it.
func hkdfSecrets(h crypto.Hash, secret []byte) (pieces []piece) {
	prk := mactest.Must(hkdf.Extract(h.New, secret, []byte(scanSalt)))
	for _, info := range []string{"", scanInfo, strings.Repeat("i", scanLongInfo)} {
		for _, from := range [][]byte{prk, secret} {
			key := mactest.Must(hkdf.Expand(h.New, from, info, 3*h.Size()))
			for block := range slices.Chunk(key, h.Size()) {
				pieces = append(pieces, piece{"HKDF", block})
			}
			for _, s := range hmacSecrets(h, from, append(key[h.Size():2*h.Size()], info...)) {
				pieces = append(pieces, piece{"HKDF, " + s.kind, s.bytes})
			}
		}
	}
	return append(pieces, piece{"HKDF, pseudorandom key", prk})
}

// gcmSecrets returns what AES-GCM computes. The kinds begin with prefix.
func gcmSecrets(prefix string, key, nonce, plaintext, data []byte) []piece {
	block := mactest.Must(stdaes.NewCipher(key))
	encrypt := func(counter uint32) []byte {
		b := binary.BigEndian.AppendUint32(bytes.Clone(nonce), counter)
		block.Encrypt(b, b)
		return b
	}
	hashKey, hash, mask := make([]byte, aes.BlockSize), make([]byte, aes.BlockSize), encrypt(1)
	block.Encrypt(hashKey, hashKey)
	tag := mactest.Must(cipher.NewGCM(block)).Seal(nil, nonce, plaintext, data)[len(plaintext):]
	subtle.XORBytes(hash, mask, tag)
	return []piece{
		{prefix + "GHASH key", hashKey},
		{prefix + "GHASH", hash},
		{prefix + "tag mask", mask},
		{prefix + "key stream", encrypt(2)},
	}
}
