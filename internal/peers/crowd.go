// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"bytes"
	"crypto/cipher"
	"encoding/binary"
	"math/rand/v2"
	"sync"

	"example.com/fastmac"
)

// streamCount is how many keyed streams take turns: a busy server's connections,
// too many for the caches.
const streamCount = 100_000

// streams makes them when they are first needed.
type streams struct {
	umacs func() []*fastmac.UMAC
	gmacs func() []cipher.AEAD
}

func newStreams() *streams {
	return &streams{
		umacs: sync.OnceValue(func() []*fastmac.UMAC {
			return crowd(func(key []byte) *fastmac.UMAC { return must(fastmac.NewUMAC64(key)) })
		}),
		gmacs: sync.OnceValue(func() []cipher.AEAD { return crowd(newGMAC) }),
	}
}

// crowd makes a stream for each of streamCount keys. The last key is key, so that
// the last tag of a run is one that is known.
func crowd[T any](stream func(key []byte) T) []T {
	all := make([]T, streamCount)
	for i := range all {
		k := bytes.Clone(key[:16])
		binary.LittleEndian.PutUint32(k, binary.LittleEndian.Uint32(k)^uint32(len(all)-1-i))
		all[i] = stream(k)
	}
	return all
}

// inOrder returns the streams in the order in which they were made, or shuffled:
// the first is what an allocator and a prefetcher like best, the second what
// packets of many connections look like. The last one stays the last.
func inOrder[T any](all []T, shuffled bool) []T {
	if !shuffled {
		return all
	}
	all = append([]T(nil), all...)
	r := rand.New(rand.NewPCG(4418, 0))
	r.Shuffle(len(all)-1, func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

// start returns where n messages in turn have to start to end at the last of
// count streams.
func start(n, count int) int { return (count - n%count) % count }

// turn is the nonce of the stream that gets message number c of a run: each of
// count streams gets its next one, and the last of them ends at lastNonce.
func turn(c uint64, count int) uint64 { return lastNonce - (lastNonce-c)/uint64(count) }

func (s *streams) umac(shuffled bool) op {
	all := sync.OnceValue(func() []*fastmac.UMAC { return inOrder(s.umacs(), shuffled) })
	return func(msg []byte, n int) []byte {
		all := all()
		nonce, tag := make([]byte, 8), make([]byte, 0, 8)
		i := start(n, len(all))
		for c := firstNonce(n); c <= lastNonce; c++ {
			binary.BigEndian.PutUint64(nonce, turn(c, len(all)))
			u := all[i]
			u.Reset()
			u.Write(msg)
			tag = u.AppendTag(tag[:0], nonce)
			if i++; i == len(all) {
				i = 0
			}
		}
		return tag
	}
}

func (s *streams) gmac(shuffled bool) op {
	all := sync.OnceValue(func() []cipher.AEAD { return inOrder(s.gmacs(), shuffled) })
	return func(msg []byte, n int) []byte {
		all := all()
		nonce, tag := make([]byte, 12), make([]byte, 0, 16)
		i := start(n, len(all))
		for c := firstNonce(n); c <= lastNonce; c++ {
			binary.BigEndian.PutUint64(nonce[4:], turn(c, len(all)))
			tag = all[i].Seal(tag[:0], nonce, nil, msg)
			if i++; i == len(all) {
				i = 0
			}
		}
		return tag
	}
}

// umacCores shares n messages out among goroutines, a stream each on one key.
func umacCores(cores int) op {
	k := must(fastmac.NewUMACKey(key[:16], 8))
	return func(msg []byte, n int) []byte {
		tags := make([][]byte, cores)
		var wg sync.WaitGroup
		for i := range tags {
			share := n / cores
			if i < n%cores {
				share++
			}
			wg.Go(func() {
				u := k.New()
				nonce, tag := make([]byte, 8), make([]byte, 0, 8)
				for c := firstNonce(share); c <= lastNonce; c++ {
					binary.BigEndian.PutUint64(nonce, c)
					u.Reset()
					u.Write(msg)
					tag = u.AppendTag(tag[:0], nonce)
				}
				tags[i] = tag
			})
		}
		wg.Wait()
		for _, tag := range tags[:min(n, cores)] {
			if !bytes.Equal(tag, tags[0]) {
				return tag
			}
		}
		return tags[0]
	}
}
