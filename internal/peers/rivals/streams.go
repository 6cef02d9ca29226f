// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package rivals

import (
	"bytes"
	"crypto/cipher"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"sync"

	"example.com/fastmac"
	"example.com/fastmac/internal/peers/serve"
)

// StreamCount is how many keyed streams take turns, as connections to a busy server
// do: too many for the caches.
const StreamCount = 100_000

// streams makes them when they are first needed.
type streams struct {
	umacs func() []*fastmac.UMAC
	gmacs func() []cipher.AEAD
}

func newStreams() *streams {
	return &streams{
		umacs: sync.OnceValue(func() []*fastmac.UMAC {
			return keyed(func(key []byte) *fastmac.UMAC { return must(fastmac.NewUMAC(key, fastmac.UMAC64Size)) })
		}),
		gmacs: sync.OnceValue(func() []cipher.AEAD { return keyed(newGCM) }),
	}
}

// keyed makes StreamCount streams with a key each. The last key is the key of all
// peers, so that the last tag of a run is known.
func keyed[T any](newStream func(key []byte) T) []T {
	all := make([]T, StreamCount)
	for i := range all {
		k := bytes.Clone(serve.Key[:16])
		binary.LittleEndian.PutUint32(k, binary.LittleEndian.Uint32(k)^uint32(len(all)-1-i))
		all[i] = newStream(k)
	}
	return all
}

// inOrder returns the streams in the order in which they were made, which suits
// allocator and prefetcher best, or shuffled, as packets of many connections arrive.
// The last one stays the last.
func inOrder[T any](all []T, shuffled bool) []T {
	if !shuffled {
		return all
	}
	all = slices.Clone(all)
	r := rand.New(rand.NewPCG(4418, 0))
	r.Shuffle(len(all)-1, func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

// firstTurn returns which of count streams has the first of n turns, so that the last
// one has the last turn.
func firstTurn(n, count int) int { return (count - n%count) % count }

// nonceInTurn returns the nonce for message number c, which is a nonce of a run with
// one stream, when count streams take turns: each has its own nonces in order, and
// the last stream ends with LastNonce.
func nonceInTurn(c uint64, count int) uint64 {
	return serve.LastNonce - (serve.LastNonce-c)/uint64(count)
}

func (s *streams) umac(shuffled bool) serve.Op {
	ordered := sync.OnceValue(func() []*fastmac.UMAC { return inOrder(s.umacs(), shuffled) })
	return func(msg []byte, n int) []byte {
		all := ordered()
		nonce, tag := make([]byte, 8), make([]byte, 0, 8)
		i := firstTurn(n, len(all))
		for c := serve.FirstNonce(n); c <= serve.LastNonce; c++ {
			binary.BigEndian.PutUint64(nonce, nonceInTurn(c, len(all)))
			u := all[i]
			u.Reset()
			u.Write(msg)
			tag = u.Tag(tag[:0], nonce)
			if i++; i == len(all) {
				i = 0
			}
		}
		return tag
	}
}

func (s *streams) gmac(shuffled bool) serve.Op {
	ordered := sync.OnceValue(func() []cipher.AEAD { return inOrder(s.gmacs(), shuffled) })
	return func(msg []byte, n int) []byte {
		all := ordered()
		nonce, tag := make([]byte, 12), make([]byte, 0, 16)
		i := firstTurn(n, len(all))
		for c := serve.FirstNonce(n); c <= serve.LastNonce; c++ {
			binary.BigEndian.PutUint64(nonce[4:], nonceInTurn(c, len(all)))
			tag = all[i].Seal(tag[:0], nonce, nil, msg)
			if i++; i == len(all) {
				i = 0
			}
		}
		return tag
	}
}
