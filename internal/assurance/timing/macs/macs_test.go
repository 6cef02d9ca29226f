// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package macs

import (
	"bytes"
	"testing"

	"example.com/fastmac"
)

// TestAvailable compares what the ways to a tag of each MAC return.
func TestAvailable(t *testing.T) {
	for _, m := range Available() {
		for _, size := range m.KeySizes {
			key, msg := bytes.Repeat([]byte{1}, size), []byte("message")
			k := m.NewKey(key)
			for _, n := range m.NonceSizes {
				var nonce []byte
				if n > 0 {
					nonce = bytes.Repeat([]byte{2}, n)
				}
				want := k.Tag(nil, nonce, msg)
				batch := []fastmac.Message{{Nonce: nonce, Data: msg, Tag: make([]byte, m.TagSize)}}
				k.TagBatch(batch)
				tags := [][]byte{batch[0].Tag}
				for _, s := range []Stream{k.Stream(), m.NewStream(key)} {
					s.Write(msg)
					tags = append(tags, s.Tag(nil, nonce), s.Sum(bytes.Clone(nonce)), s.Bind(nonce).Sum(nil))
					if !s.Verify(want, nonce) {
						t.Errorf("%s: a stream refuses the right tag", m.Name)
					}
				}
				for i, tag := range tags {
					if len(tag) != m.TagSize || !bytes.Equal(tag, want) {
						t.Errorf("%s, key of %d bytes, nonce of %d: tag %d is %x, want %x", m.Name, size, n, i, tag, want)
					}
				}
				if !k.Verify(want, nonce, msg) || !k.VerifyBatch(batch) {
					t.Errorf("%s: the key refuses the right tag", m.Name)
				}
			}
		}
	}
}
