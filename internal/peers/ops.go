// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/binary"
	"hash"
	"maps"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/dchest/siphash"
	"github.com/minio/highwayhash"
	"github.com/zeebo/blake3"
	"golang.org/x/crypto/poly1305" //lint:ignore SA1019 measured, not used

	"example.com/fastmac"
)

// goOps are the ops of the peers written in Go, fastmac among them. Their names
// are those of contenders.
func goOps() map[string]op {
	streams := newStreams()
	ops := map[string]op{
		"fastmac:umac64:init":          umacInit,
		"fastmac:umac64:inturn":        streams.umac(false),
		"fastmac:umac64:shuffled":      streams.umac(true),
		"fastmac:umac64:onecore":       umacCores(1),
		"fastmac:umac64:allcores":      umacCores(runtime.GOMAXPROCS(0)),
		"fastmac:hmac-sha512:stream":   hashStream(fastmac.NewHMACSHA512(key[:])),
		"fastmac:hmac-sha512:oneshot":  hmacOneShot,
		"fastmac:hmac-sha512:new":      hashNew(func() hash.Hash { return fastmac.NewHMACSHA512(key[:]) }),
		"fastmac:hmac-sha512:sum":      hmacSum,
		"fastmac:hmac-sha512:batch":    hmacBatch,
		"fastmac:hmac-sha512:sumbatch": hmacSumBatch,
		"crypto/cipher:gmac:stream":    gmac,
		"crypto/cipher:gmac:new":       gmacNew,
		"crypto/cipher:gmac:inturn":    streams.gmac(false),
		"crypto/cipher:gmac:shuffled":  streams.gmac(true),
		"crypto/hmac:hmac-sha256:new":  hashNew(func() hash.Hash { return hmac.New(sha256.New, key[:]) }),
		"crypto/hmac:hmac-sha512:new":  hashNew(func() hash.Hash { return hmac.New(sha512.New, key[:]) }),
		"crypto/hmac:hmac-sha512:sum":  stdHMACSum,
		"x/crypto:poly1305:oneshot":    poly1305Tag,
		"zeebo:blake3:stream":          hashStream(newBLAKE3()),
		"zeebo:blake3:new":             hashNew(newBLAKE3),
		"minio:highwayhash128:oneshot": highwayhash128,
		"minio:highwayhash256:oneshot": highwayhash256,
		"dchest:siphash:oneshot":       siphash64,

		"crypto/hmac:hmac-sha256:stream": hashStream(hmac.New(sha256.New, key[:])),
		"crypto/hmac:hmac-sha512:stream": hashStream(hmac.New(sha512.New, key[:])),
	}
	for name, size := range map[string]int{"umac32": 4, "umac64": 8, "umac96": 12, "umac128": 16} {
		ops["fastmac:"+name+":stream"] = umacStream(size)
		ops["fastmac:"+name+":oneshot"] = umacOneShot(size)
		ops["fastmac:"+name+":new"] = umacNew(size)
	}
	maps.Copy(ops, sshOps())
	return ops
}

// goVersions returns the versions of the modules that goOps measures.
func goVersions() map[string]string {
	versions := make(map[string]string)
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return versions
	}
	for _, m := range info.Deps {
		name := strings.TrimPrefix(m.Path, "github.com/")
		switch name {
		case "zeebo/blake3", "minio/highwayhash", "dchest/siphash", "golang.org/x/crypto":
			versions[name] = m.Version
		}
	}
	return versions
}

// must is for keys, whose sizes are right by construction.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func umacStream(tagSize int) op {
	u := must(fastmac.NewUMACKey(key[:16], tagSize)).New()
	return func(msg []byte, n int) []byte {
		nonce, tag := make([]byte, 8), make([]byte, 0, tagSize)
		for c := firstNonce(n); c <= lastNonce; c++ {
			binary.BigEndian.PutUint64(nonce, c)
			u.Reset()
			u.Write(msg)
			tag = u.AppendTag(tag[:0], nonce)
		}
		return tag
	}
}

func umacOneShot(tagSize int) op {
	k := must(fastmac.NewUMACKey(key[:16], tagSize))
	return func(msg []byte, n int) []byte {
		nonce, tag := make([]byte, 8), make([]byte, 0, tagSize)
		for c := firstNonce(n); c <= lastNonce; c++ {
			binary.BigEndian.PutUint64(nonce, c)
			tag = k.Tag(tag[:0], nonce, msg)
		}
		return tag
	}
}

// umacNew sets up the key n times. The one tag at the end, which shows that it
// is the key, is lost in the time of these.
func umacNew(tagSize int) op {
	return func(msg []byte, n int) []byte {
		var k *fastmac.UMACKey
		for range n {
			k = must(fastmac.NewUMACKey(key[:16], tagSize))
		}
		return k.Tag(nil, binary.BigEndian.AppendUint64(nil, lastNonce), msg)
	}
}

func umacInit(msg []byte, n int) []byte {
	var k fastmac.UMACKey
	for range n {
		if err := k.Init(key[:16], 8); err != nil {
			panic(err)
		}
	}
	return k.Tag(nil, binary.BigEndian.AppendUint64(nil, lastNonce), msg)
}

func hmacOneShot(msg []byte, n int) []byte {
	k := fastmac.NewHMACSHA512Key(key[:])
	tag := make([]byte, 0, 64)
	for range n {
		tag = k.Tag(tag[:0], msg)
	}
	return tag
}

func hmacSum(msg []byte, n int) []byte {
	var tag [64]byte
	for range n {
		tag = fastmac.SumHMACSHA512(key[:], msg)
	}
	return tag[:]
}

func stdHMACSum(msg []byte, n int) []byte {
	tag := make([]byte, 0, 64)
	for range n {
		h := hmac.New(sha512.New, key[:])
		h.Write(msg)
		tag = h.Sum(tag[:0])
	}
	return tag
}

// batchSize is the number of messages in a batch.
const batchSize = 64

// newBatch returns copies of msg, which lie one behind the other, a key for each,
// of which the last is key, and room for the tags.
func newBatch(msg []byte) (tags [][64]byte, keys, msgs [][]byte) {
	all := bytes.Repeat(msg, batchSize)
	for i := range batchSize {
		k := key
		k[0] ^= byte(batchSize - 1 - i)
		keys = append(keys, k[:])
		msgs = append(msgs, all[i*len(msg):(i+1)*len(msg)])
	}
	return make([][64]byte, batchSize), keys, msgs
}

// hmacBatch tags n messages in batches, the first of which is shorter if it has to
// be.
func hmacBatch(msg []byte, n int) []byte {
	k := fastmac.NewHMACSHA512Key(key[:])
	tags, _, msgs := newBatch(msg)
	for i := start(n, batchSize); n > 0; i = 0 {
		k.TagBatch(tags[i:], msgs[i:])
		n -= batchSize - i
	}
	return tags[batchSize-1][:]
}

func hmacSumBatch(msg []byte, n int) []byte {
	tags, keys, msgs := newBatch(msg)
	for i := start(n, batchSize); n > 0; i = 0 {
		fastmac.SumHMACSHA512Batch(tags[i:], keys[i:], msgs[i:])
		n -= batchSize - i
	}
	return tags[batchSize-1][:]
}

func hashStream(h hash.Hash) op {
	return func(msg []byte, n int) []byte {
		tag := make([]byte, 0, h.Size())
		for range n {
			h.Reset()
			h.Write(msg)
			tag = h.Sum(tag[:0])
		}
		return tag
	}
}

func hashNew(set func() hash.Hash) op {
	return func(msg []byte, n int) []byte {
		var h hash.Hash
		for range n {
			h = set()
		}
		h.Write(msg)
		return h.Sum(nil)
	}
}

func newGMAC(key []byte) cipher.AEAD {
	return must(cipher.NewGCM(must(aes.NewCipher(key))))
}

// gmac is GCM with nothing to encrypt.
func gmac(msg []byte, n int) []byte {
	g := newGMAC(key[:16])
	nonce, tag := make([]byte, 12), make([]byte, 0, 16)
	for c := firstNonce(n); c <= lastNonce; c++ {
		binary.BigEndian.PutUint64(nonce[4:], c)
		tag = g.Seal(tag[:0], nonce, nil, msg)
	}
	return tag
}

func gmacNew(msg []byte, n int) []byte {
	var g cipher.AEAD
	for range n {
		g = newGMAC(key[:16])
	}
	return g.Seal(nil, binary.BigEndian.AppendUint64(make([]byte, 4), lastNonce), nil, msg)
}

func poly1305Tag(msg []byte, n int) []byte {
	var tag [16]byte
	k := (*[32]byte)(key[:])
	for range n {
		poly1305.Sum(&tag, msg, k)
	}
	return tag[:]
}

func newBLAKE3() hash.Hash { return must(blake3.NewKeyed(key[:32])) }

func highwayhash128(msg []byte, n int) []byte {
	var tag [highwayhash.Size128]byte
	for range n {
		tag = highwayhash.Sum128(msg, key[:32])
	}
	return tag[:]
}

func highwayhash256(msg []byte, n int) []byte {
	var tag [highwayhash.Size]byte
	for range n {
		tag = highwayhash.Sum(msg, key[:32])
	}
	return tag[:]
}

func siphash64(msg []byte, n int) []byte {
	k0, k1 := binary.LittleEndian.Uint64(key[:]), binary.LittleEndian.Uint64(key[8:])
	var tag uint64
	for range n {
		tag = siphash.Hash(k0, k1, msg)
	}
	return binary.LittleEndian.AppendUint64(nil, tag)
}
