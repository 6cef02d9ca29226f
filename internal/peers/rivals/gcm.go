// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package rivals

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"slices"

	"example.com/fastmac"
	"example.com/fastmac/aesgcm"
	"example.com/fastmac/internal/peers/serve"
)

// gcmOps returns the ops of GMAC and AES-GCM: those of crypto/cipher, and those of
// fastmac for which [Contender.Missing] returns nil.
func gcmOps(streams *streams) map[string]serve.Op {
	aead := newGCM(serve.Key[:32])
	ops := map[string]serve.Op{
		string(GMAC):                  gmac(newGCM(serve.Key[:16])),
		"crypto/cipher:gmac:new":      keySetup(func() cipher.AEAD { return newGCM(serve.Key[:16]) }, gmacTag),
		"crypto/cipher:gmac:inturn":   streams.gmac(false),
		"crypto/cipher:gmac:shuffled": streams.gmac(true),
		string(Seal):                  seal(aead),
		string(Open):                  open(aead),
	}
	if fastmac.RequireGCM() != nil {
		return ops
	}
	key, inPlace := newGMACKey(), new(fastmac.GMACKey)
	ops["fastmac:gmac:oneshot"] = gmacOneShot(key)
	ops["fastmac:gmac:new"] = keySetup(newGMACKey, fastmacGMACTag)
	ops["fastmac:gmac:init"] = keySetup(func() *fastmac.GMACKey {
		return must(inPlace, inPlace.Init(serve.Key[:16]))
	}, fastmacGMACTag)
	ops["fastmac:gmac:stream"] = gmacStream(key.New())
	ours := must(aesgcm.NewKey(serve.Key[:32]))
	ops["fastmac:aes256-gcm:seal"] = seal(ours)
	ops["fastmac:aes256-gcm:open"] = open(ours)
	return ops
}

// Missing returns an error if this program has no op for the contender because the
// machine lacks something.
func (c Contender) Missing() error {
	impl, alg, _ := c.Parts()
	if impl != "fastmac" || alg != "gmac" && alg != "aes256-gcm" {
		return nil
	}
	return fastmac.RequireGCM()
}

func newGMACKey() *fastmac.GMACKey { return must(fastmac.NewGMACKey(serve.Key[:16])) }

func gmacOneShot(k *fastmac.GMACKey) serve.Op {
	return func(msg []byte, n int) []byte {
		nonce, tag := make([]byte, 12), make([]byte, 0, 16)
		for c := serve.FirstNonce(n); c <= serve.LastNonce; c++ {
			binary.BigEndian.PutUint64(nonce[4:], c)
			tag = k.Tag(tag[:0], nonce, msg)
		}
		return tag
	}
}

func fastmacGMACTag(k *fastmac.GMACKey, msg []byte) []byte { return gmacOneShot(k)(msg, 1) }

func gmacStream(m *fastmac.GMAC) serve.Op {
	return func(msg []byte, n int) []byte {
		nonce, tag := make([]byte, 12), make([]byte, 0, 16)
		for c := serve.FirstNonce(n); c <= serve.LastNonce; c++ {
			binary.BigEndian.PutUint64(nonce[4:], c)
			m.Reset()
			m.Write(msg)
			tag = m.Tag(tag[:0], nonce)
		}
		return tag
	}
}

func newGCM(key []byte) cipher.AEAD {
	return must(cipher.NewGCM(must(aes.NewCipher(key))))
}

// gmac is GCM with nothing to encrypt.
func gmac(g cipher.AEAD) serve.Op {
	return func(msg []byte, n int) []byte {
		nonce, tag := make([]byte, 12), make([]byte, 0, 16)
		for c := serve.FirstNonce(n); c <= serve.LastNonce; c++ {
			binary.BigEndian.PutUint64(nonce[4:], c)
			tag = g.Seal(tag[:0], nonce, nil, msg)
		}
		return tag
	}
}

func gmacTag(g cipher.AEAD, msg []byte) []byte { return gmac(g)(msg, 1) }

// data is authenticated with each message, but not encrypted. It is as long as in TLS.
var data = []byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}

// seal encrypts a buffer in place again and again. The last time it has the message.
// All peers do it in place because some cannot encrypt to another buffer.
func seal(g cipher.AEAD) serve.Op {
	return func(msg []byte, n int) []byte {
		nonce, buffer := make([]byte, 12), make([]byte, len(msg)+16)
		for c := serve.FirstNonce(n); c <= serve.LastNonce; c++ {
			if c == serve.LastNonce {
				copy(buffer, msg)
			}
			binary.BigEndian.PutUint64(nonce[4:], c)
			g.Seal(buffer[:0], nonce, buffer[:len(msg)], data)
		}
		return buffer[len(msg):]
	}
}

// open decrypts a message again and again, to another buffer, because the message must
// remain. The tag that it returns is of the plaintext, encrypted again, so that it is
// wrong if the plaintext is. If something failed it returns none.
func open(g cipher.AEAD) serve.Op {
	return func(msg []byte, n int) []byte {
		nonce := binary.BigEndian.AppendUint64(make([]byte, 4, 12), serve.LastNonce)
		sealed, buffer := g.Seal(nil, nonce, msg, data), make([]byte, len(msg), len(msg)+16)
		for range n {
			if _, err := g.Open(buffer[:0], nonce, sealed, data); err != nil {
				return nil
			}
		}
		tag := g.Seal(buffer[:0], nonce, buffer, data)[len(msg):]
		wrong := slices.Clone(sealed)
		wrong[len(msg)] ^= 1
		if _, err := g.Open(nil, nonce, wrong, data); err == nil {
			return nil // a wrong tag was accepted
		}
		return tag
	}
}
