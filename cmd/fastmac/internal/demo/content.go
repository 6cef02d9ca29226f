// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package demo

import (
	"bytes"
	"crypto/rand"
	"fmt"
	mathrand "math/rand/v2"
	"sync"
)

// chunkSize is what x/crypto/ssh and OpenSSH put into one packet.
const chunkSize = 32 << 10

// period is a prime: two packets have the same content only if they are a multiple of 32
// GiB apart.
const period = 1<<20 - 3

// block is pseudo-random and repeats after period, so that any chunk of the endless
// repetition is a slice of it. It fits into the cache, so that making and comparing the
// content takes next to no time beside a MAC.
var block = sync.OnceValue(func() []byte {
	var seed [32]byte
	rand.Read(seed[:])
	b := make([]byte, period, period+chunkSize)
	mathrand.NewChaCha8(seed).Read(b)
	return append(b, b[:chunkSize]...)
})

// A content is an endless stream of bytes: block from this position on, again and again.
type content int64

// newContents returns the contents of the two directions of a row, which differ from
// each other and from those of other rows.
func newContents() (up, down content) {
	up = content(mathrand.Int64N(period))
	return up, (up + period/2) % period
}

// at returns n bytes of the content, of which n is at most chunkSize. They must not be
// changed.
func (c content) at(position int64, n int) []byte {
	start := (int64(c) + position) % period
	return block()[start : start+int64(n) : start+int64(n)]
}

// check returns an error unless got is what the content has at a position.
func (c content) check(position int64, got []byte) error {
	want := c.at(position, len(got))
	if bytes.Equal(got, want) {
		return nil
	}
	first := 0
	for got[first] == want[first] {
		first++
	}
	return fmt.Errorf("received other content than was sent, first at byte %d", position+int64(first))
}
