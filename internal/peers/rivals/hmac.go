// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package rivals

import (
	"bytes"
	"context"
	"crypto"
	stdhkdf "crypto/hkdf"
	"crypto/hmac"
	stdpbkdf2 "crypto/pbkdf2"
	"crypto/sha256"
	"crypto/sha512"
	"hash"
	"slices"

	"example.com/fastmac"
	"example.com/fastmac/hkdf"
	"example.com/fastmac/internal/peers/serve"
	"example.com/fastmac/pbkdf2"
)

// hmacOps returns the ops of HMAC and PBKDF2: those of fastmac and of the standard library.
func hmacOps() map[string]serve.Op {
	ops := make(map[string]serve.Op)
	for alg, hash := range map[string]struct {
		crypto.Hash
		unkeyed func() hash.Hash
	}{
		"hmac-sha256": {crypto.SHA256, sha256.New},
		"hmac-sha384": {crypto.SHA384, sha512.New384},
		"hmac-sha512": {crypto.SHA512, sha512.New},
	} {
		h, size := hash.Hash, hash.Size()
		key := must(fastmac.NewHMACKey(h, serve.Key[:]))
		ops["fastmac:"+alg+":stream"] = hashStream(key.New())
		ops["fastmac:"+alg+":oneshot"] = hmacOneShot(key)
		tagBatch := func(_ [][]byte, batch []fastmac.Message) { key.TagBatch(batch) }
		ops["fastmac:"+alg+":batch"] = hmacBatches(size, 0, tagBatch)
		ops["fastmac:"+alg+":apart"] = hmacBatches(size, gap, tagBatch)
		ops["fastmac:"+alg+":new"] = keySetup(newHMAC(h), hashTag)
		ops["fastmac:"+alg+":sum"] = hmacSum(h)
		ops["fastmac:"+alg+":sumstream"] = hmacSumStream(newHMAC(h))
		ops["fastmac:"+alg+":sumbatch"] = hmacBatches(size, 0, func(keys [][]byte, batch []fastmac.Message) {
			fastmac.SumHMACBatch(h, keys, batch)
		})

		unkeyed := hash.unkeyed
		ops["crypto/hmac:"+alg+":stream"] = hashStream(newStdHMAC(unkeyed)())
		ops["crypto/hmac:"+alg+":new"] = keySetup(newStdHMAC(unkeyed), hashTag)
		ops["crypto/hmac:"+alg+":sum"] = hmacSumStream(newStdHMAC(unkeyed))
	}
	for alg, h := range map[string]func() hash.Hash{"pbkdf2-sha256": sha256.New, "pbkdf2-sha512": sha512.New} {
		ops["fastmac:"+alg+":derive"] = deriveKey(h, pbkdf2.Key[hash.Hash])
		ops["fastmac:"+alg+":batch"] = deriveKeys(h)
		ops["crypto/pbkdf2:"+alg+":derive"] = deriveKey(h, stdpbkdf2.Key[hash.Hash])
	}
	for alg, h := range map[string]func() hash.Hash{"hkdf-sha256": sha256.New, "hkdf-sha512": sha512.New} {
		ops["fastmac:"+alg+":derive"] = deriveFromSecret(h, hkdf.Key[hash.Hash])
		ops["crypto/hkdf:"+alg+":derive"] = deriveFromSecret(h, stdhkdf.Key[hash.Hash])
	}
	return ops
}

func newHMAC(h crypto.Hash) func() hash.Hash {
	return func() hash.Hash { return must(fastmac.NewHMAC(h, serve.Key[:])) }
}

func newStdHMAC(unkeyed func() hash.Hash) func() hash.Hash {
	return func() hash.Hash { return hmac.New(unkeyed, serve.Key[:]) }
}

func hmacOneShot(k *fastmac.HMACKey) serve.Op {
	return func(msg []byte, n int) []byte {
		tag := make([]byte, 0, 64)
		for range n {
			tag = k.Tag(tag[:0], msg)
		}
		return tag
	}
}

func hmacSum(h crypto.Hash) serve.Op {
	return func(msg []byte, n int) []byte {
		tag := make([]byte, 0, 64)
		for range n {
			tag = fastmac.SumHMAC(h, tag[:0], serve.Key[:], msg)
		}
		return tag
	}
}

// hmacSumStream makes a stream for each message.
func hmacSumStream(newStream func() hash.Hash) serve.Op {
	return func(msg []byte, n int) []byte {
		tag := make([]byte, 0, 64)
		for range n {
			h := newStream()
			h.Write(msg)
			tag = h.Sum(tag[:0])
		}
		return tag
	}
}

// BatchSize is the number of messages in a batch.
const BatchSize = 64

// gap is how many bytes are between messages that are apart. Without it, long messages begin at distances
// that are multiples of a page: then they compete for the same lines of the cache.
const gap = 64

// batch is BatchSize copies of one message, one after the other in memory, a key for
// each, of which the last is the key of all peers, and room for the tags.
type batch struct {
	keys [][]byte
	msgs []fastmac.Message
}

func newBatch(msg []byte, tagSize, gap int) *batch {
	b := new(batch)
	distance := len(msg) + gap
	all := bytes.Repeat(append(slices.Clone(msg), make([]byte, gap)...), BatchSize)
	for i := range BatchSize {
		k := serve.Key
		k[0] ^= byte(BatchSize - 1 - i)
		b.keys = append(b.keys, k[:])
		b.msgs = append(b.msgs, fastmac.Message{Data: all[i*distance:][:len(msg)], Tag: make([]byte, tagSize)})
	}
	return b
}

// hmacBatches tags messages in batches. If n is not a multiple of BatchSize, the
// first batch is shorter. The batch of each size is made in the first run, which only
// shows that the tag is right, so that the timed runs copy nothing.
func hmacBatches(tagSize, gap int, tag func(keys [][]byte, batch []fastmac.Message)) serve.Op {
	batches := make(map[int]*batch)
	return func(msg []byte, n int) []byte {
		b := batches[len(msg)]
		if b == nil {
			b = newBatch(msg, tagSize, gap)
			batches[len(msg)] = b
		}
		for i := firstTurn(n, BatchSize); n > 0; i = 0 {
			tag(b.keys[i:], b.msgs[i:])
			n -= BatchSize - i
		}
		return b.msgs[BatchSize-1].Tag
	}
}

// pbkdf2Iterations is the number of iterations of PBKDF2, in C and Rust too.
const pbkdf2Iterations = 1000

// deriveKey derives a key from a password, with the message as salt.
func deriveKey(h func() hash.Hash, derive func(func() hash.Hash, string, []byte, int, int) ([]byte, error)) serve.Op {
	return func(salt []byte, n int) (key []byte) {
		for range n {
			key = must(derive(h, string(serve.Key[:]), salt, pbkdf2Iterations, h().Size()))
		}
		return key
	}
}

// hkdfSaltSize is the number of bytes of the key that are the salt. The others are the secret.
const hkdfSaltSize = 32

// deriveFromSecret derives a key from a secret and a salt, with the message as info.
func deriveFromSecret(h func() hash.Hash, derive func(func() hash.Hash, []byte, []byte, string, int) ([]byte, error)) serve.Op {
	return func(info []byte, n int) (key []byte) {
		for range n {
			key = must(derive(h, serve.Key[hkdfSaltSize:], serve.Key[:hkdfSaltSize], string(info), h().Size()))
		}
		return key
	}
}

// deriveKeys derives keys from BatchSize passwords at once. If n is not a multiple of BatchSize, the
// first batch is smaller.
func deriveKeys(h func() hash.Hash) serve.Op {
	return func(salt []byte, n int) []byte {
		batch := make([]pbkdf2.Derivation, BatchSize)
		for i, key := range newBatch(nil, h().Size(), 0).keys {
			batch[i] = pbkdf2.Derivation{Password: string(key), Salt: salt, Iter: pbkdf2Iterations, Key: make([]byte, h().Size())}
		}
		for i := firstTurn(n, BatchSize); n > 0; i = 0 {
			must(0, pbkdf2.KeyBatch(context.Background(), h, batch[i:]))
			n -= BatchSize - i
		}
		return batch[BatchSize-1].Key
	}
}
