// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package hkdf has the functions of golang.org/x/crypto/hkdf, which return keys as readers, for programs
// that change their import lines. Others use [fastmac/hkdf].
//
// [fastmac/hkdf]: https://pkg.go.dev/example.com/fastmac/hkdf
package hkdf

import (
	"errors"
	"hash"
	"io"
	"math"

	"example.com/fastmac/hkdf"
	"example.com/fastmac/hmac"
)

// Extract returns a pseudorandom key, as [hkdf.Extract] does. It panics where that returns an error.
func Extract(h func() hash.Hash, secret, salt []byte) []byte {
	prk, err := hkdf.Extract(h, secret, salt)
	if err != nil {
		panic(err)
	}
	return prk
}

// New returns a reader of the key that [hkdf.Key] returns. Salt and info may be nil. The reader retains info.
func New(h func() hash.Hash, secret, salt, info []byte) io.Reader {
	prk := Extract(h, secret, salt)
	r := Expand(h, prk, info)
	clear(prk)
	return r
}

// Expand returns a reader of the key that [hkdf.Expand] returns. The reader retains info. It returns an error
// if more is read than 255 times the size of the hash, in one call of Read or in all, and then returns no bytes.
// It is not safe for concurrent use.
func Expand(h func() hash.Hash, pseudorandomKey, info []byte) io.Reader {
	return &reader{hmac: hmac.New(h, pseudorandomKey), info: info}
}

// A reader makes a key by blocks of the size of the hash, RFC 5869 section 2.3.
type reader struct {
	hmac   hash.Hash
	info   []byte
	number int    // of the last block, at first 0
	block  []byte // the last one
	rest   []byte // of it
}

func (r *reader) Read(p []byte) (int, error) {
	if len(p) > len(r.rest)+(math.MaxUint8-r.number)*r.hmac.Size() {
		return 0, errors.New("hkdf: entropy limit reached")
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	for n < len(p) {
		r.number++
		if r.number > 1 {
			r.hmac.Reset()
		}
		r.hmac.Write(r.block)
		r.hmac.Write(r.info)
		r.hmac.Write([]byte{byte(r.number)})
		r.block = r.hmac.Sum(r.block[:0])
		copied := copy(p[n:], r.block)
		n, r.rest = n+copied, r.block[copied:]
	}
	return n, nil
}
