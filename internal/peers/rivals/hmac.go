// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package rivals

import (
	"bytes"
	"crypto"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/sha512"
	"hash"

	"example.com/fastmac"
	"example.com/fastmac/internal/peers/serve"
)

// hmacOps returns the ops of HMAC: those of fastmac and of crypto/hmac.
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
		ops["fastmac:"+alg+":batch"] = hmacBatches(size, func(_ [][]byte, batch []fastmac.Message) { key.TagBatch(batch) })
		ops["fastmac:"+alg+":new"] = keySetup(newHMAC(h), hashTag)
		ops["fastmac:"+alg+":sum"] = hmacSum(h)
		ops["fastmac:"+alg+":sumstream"] = hmacSumStream(newHMAC(h))
		ops["fastmac:"+alg+":sumbatch"] = hmacBatches(size, func(keys [][]byte, batch []fastmac.Message) {
			fastmac.SumHMACBatch(h, keys, batch)
		})

		unkeyed := hash.unkeyed
		ops["crypto/hmac:"+alg+":stream"] = hashStream(newStdHMAC(unkeyed)())
		ops["crypto/hmac:"+alg+":new"] = keySetup(newStdHMAC(unkeyed), hashTag)
		ops["crypto/hmac:"+alg+":sum"] = hmacSumStream(newStdHMAC(unkeyed))
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

// batch is BatchSize copies of one message, one after the other in memory, a key for
// each, of which the last is the key of all peers, and room for the tags.
type batch struct {
	keys [][]byte
	msgs []fastmac.Message
}

func newBatch(msg []byte, tagSize int) *batch {
	b := new(batch)
	all := bytes.Repeat(msg, BatchSize)
	for i := range BatchSize {
		k := serve.Key
		k[0] ^= byte(BatchSize - 1 - i)
		b.keys = append(b.keys, k[:])
		b.msgs = append(b.msgs, fastmac.Message{Data: all[i*len(msg) : (i+1)*len(msg)], Tag: make([]byte, tagSize)})
	}
	return b
}

// hmacBatches tags messages in batches. If n is not a multiple of BatchSize, the
// first batch is shorter. The batch of each size is made in the first run, which only
// shows that the tag is right, so that the timed runs copy nothing.
func hmacBatches(tagSize int, tag func(keys [][]byte, batch []fastmac.Message)) serve.Op {
	batches := make(map[int]*batch)
	return func(msg []byte, n int) []byte {
		b := batches[len(msg)]
		if b == nil {
			b = newBatch(msg, tagSize)
			batches[len(msg)] = b
		}
		for i := firstTurn(n, BatchSize); n > 0; i = 0 {
			tag(b.keys[i:], b.msgs[i:])
			n -= BatchSize - i
		}
		return b.msgs[BatchSize-1].Tag
	}
}
