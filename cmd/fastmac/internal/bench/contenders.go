// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package bench

import (
	"bytes"
	"crypto"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	_ "crypto/sha256" // for crypto.Hash
	_ "crypto/sha512"
	"encoding/binary"
	"fmt"
	"strings"

	"example.com/fastmac"
	"golang.org/x/crypto/poly1305" //lint:ignore SA1019 measured, not used
)

// A contender is one way to compute a MAC.
type contender struct {
	impl, mac, call string
	batch           int // messages in a call
	maxSize         int // of a message; 0 is any

	// op tags msg n times, a multiple of batch, each with the nonce after the last, and
	// returns the last tag.
	op func(msg []byte, n int) []byte
}

// The names of calls: a stream is reset, written to and summed; one-shot is a single call
// for each message.
const (
	stream  = "stream"
	oneShot = "one-shot"
	batched = "batch of 64"

	batchSize = 64
)

func (c *contender) String() string { return c.impl + " " + c.mac + ", " + c.call }

// measures reports whether the contender is measured at a size.
func (c *contender) measures(size int) bool { return c.maxSize == 0 || size <= c.maxSize }

// A counter is a nonce of 12 bytes, of which UMAC uses the last 8.
type counter [12]byte

func (c *counter) next() []byte {
	binary.BigEndian.PutUint64(c[4:], binary.BigEndian.Uint64(c[4:])+1)
	return c[:]
}

// contenders returns what can be measured on this machine, and why others are left out.
func contenders() (all []*contender, leftOut []string, err error) {
	key := bytes.Repeat([]byte{0x42}, 64)
	tag := make([]byte, 0, 64)
	add := func(impl, mac, call string, op func(msg []byte, n int) []byte) *contender {
		c := &contender{impl: impl, mac: mac, call: call, batch: 1, op: op}
		all = append(all, c)
		return c
	}

	for _, size := range []int{fastmac.UMAC64Size, fastmac.UMAC128Size} {
		k, err := fastmac.NewUMACKey(key[:16], size)
		if err != nil {
			return nil, nil, err
		}
		u, name := k.New(), fmt.Sprint("UMAC-", 8*size)
		var streamed, called counter
		add("fastmac", name, stream, func(msg []byte, n int) (last []byte) {
			for range n {
				u.Reset()
				u.Write(msg)
				last = u.Tag(tag, streamed.next()[4:])
			}
			return last
		})
		add("fastmac", name, oneShot, func(msg []byte, n int) (last []byte) {
			for range n {
				last = k.Tag(tag, called.next()[4:], msg)
			}
			return last
		})
	}

	if err := fastmac.RequireGCM(); err != nil {
		leftOut = append(leftOut, "fastmac GMAC: "+strings.TrimPrefix(err.Error(), "fastmac: "))
	} else {
		k, err := fastmac.NewGMACKey(key[:16])
		if err != nil {
			return nil, nil, err
		}
		var nonce counter
		add("fastmac", "GMAC", oneShot, func(msg []byte, n int) (last []byte) {
			for range n {
				last = k.Tag(tag, nonce.next(), msg)
			}
			return last
		})
	}
	block, err := aes.NewCipher(key[:16])
	if err != nil {
		return nil, nil, err
	}
	if gcm, err := cipher.NewGCM(block); err != nil { // GODEBUG=fips140=only
		leftOut = append(leftOut, "crypto/cipher GMAC: "+err.Error())
	} else {
		var nonce counter
		add("crypto/cipher", "GMAC", oneShot, func(msg []byte, n int) (last []byte) {
			for range n {
				last = gcm.Seal(tag, nonce.next(), nil, msg)
			}
			return last
		})
	}
	add("x/crypto", "Poly1305", oneShot, func(msg []byte, n int) []byte {
		var sum [poly1305.TagSize]byte
		for range n {
			poly1305.Sum(&sum, msg, (*[32]byte)(key))
		}
		return sum[:]
	})

	for _, h := range []crypto.Hash{crypto.SHA256, crypto.SHA512} {
		k, err := fastmac.NewHMACKey(h, key)
		if err != nil {
			return nil, nil, err
		}
		m, name := k.New(), "HMAC-"+h.String()
		add("fastmac", name, stream, func(msg []byte, n int) (last []byte) {
			for range n {
				m.Reset()
				m.Write(msg)
				last = m.Sum(tag)
			}
			return last
		})
		add("fastmac", name, oneShot, func(msg []byte, n int) (last []byte) {
			for range n {
				last = k.Tag(tag, msg)
			}
			return last
		})
		batch := make([]fastmac.Message, batchSize)
		for i := range batch {
			batch[i].Tag = make([]byte, k.Size())
		}
		c := add("fastmac", name, batched, func(msg []byte, n int) []byte {
			// The messages before the last are what follows msg in memory.
			all := msg[:batchSize*len(msg)]
			for i := range batch {
				batch[batchSize-1-i].Data = all[i*len(msg) : (i+1)*len(msg)]
			}
			for ; n > 0; n -= batchSize {
				k.TagBatch(batch)
			}
			return batch[batchSize-1].Tag
		})
		c.batch, c.maxSize = batchSize, maxMessage/batchSize
		std := hmac.New(h.New, key)
		add("crypto/hmac", name, stream, func(msg []byte, n int) (last []byte) {
			for range n {
				std.Reset()
				std.Write(msg)
				last = std.Sum(tag)
			}
			return last
		})
	}
	return all, leftOut, nil
}

// check returns an error unless all contenders for one MAC return the same tags.
func check(all []*contender, msg []byte) error {
	for _, size := range sizes {
		tags := make(map[string][]byte)
		for _, c := range all {
			if !c.measures(size) {
				continue
			}
			tag := bytes.Clone(c.op(msg[:size], c.batch))
			if want := tags[c.mac]; want != nil && !bytes.Equal(tag, want) {
				return fmt.Errorf("%v is wrong: the tag of %d bytes is %x, want %x", c, size, tag, want)
			}
			tags[c.mac] = tag
		}
	}
	return nil
}
