// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package mactest

import (
	"bytes"
	"crypto"
	"slices"
	"testing"
)

// UMACTagSizes are the sizes of tags of UMAC, in bytes.
var UMACTagSizes = []int{4, 8, 12, 16}

// A message is fastmac.Message, which this package cannot import.
type message interface {
	~struct {
		Nonce, Data, Tag []byte
		OK               bool
	}
}

// Batch returns messages with these tags, nonces and data. There may be no nonces.
func Batch[M message](tags, nonces, data [][]byte) []M {
	batch := make([]M, len(data))
	for i := range batch {
		m := struct {
			Nonce, Data, Tag []byte
			OK               bool
		}{nil, data[i], tags[i], false}
		if nonces != nil {
			m.Nonce = nonces[i]
		}
		batch[i] = M(m)
	}
	return batch
}

// TagBatch calls f, a TagBatch.
func TagBatch[M message](f func([]M), tags, nonces, data [][]byte) { f(Batch[M](tags, nonces, data)) }

// SumBatch calls f, SumHMACBatch.
func SumBatch[M message](f func(crypto.Hash, [][]byte, []M), h crypto.Hash, tags, keys, data [][]byte) {
	f(h, keys, Batch[M](tags, nil, data))
}

// VerifyBatch calls f, a VerifyBatch, with messages whose OK is ok, and sets ok to what f makes of
// them.
func VerifyBatch[M message](f func([]M) bool, ok []bool, tags, nonces, data [][]byte) bool {
	batch := Batch[M](tags, nonces, data)
	type fields = struct {
		Nonce, Data, Tag []byte
		OK               bool
	}
	for i := range batch {
		m := fields(batch[i])
		m.OK = ok[i]
		batch[i] = M(m)
	}
	all := f(batch)
	for i := range batch {
		ok[i] = fields(batch[i]).OK
	}
	return all
}

// Tags returns n tags of size bytes, all zeros.
func Tags(n, size int) (tags [][]byte) {
	for range n {
		tags = append(tags, make([]byte, size))
	}
	return tags
}

// UMACBatch is the arguments of TagBatch and VerifyBatch.
type UMACBatch struct{ Tags, Nonces, Msgs [][]byte }

// NewUMACBatch returns n tags of size bytes, nonces from nonce and messages from msg.
func NewUMACBatch(n, size int, nonce, msg func(i int) []byte) (b UMACBatch) {
	for i := range n {
		b.Tags = append(b.Tags, make([]byte, size))
		b.Nonces = append(b.Nonces, nonce(i))
		b.Msgs = append(b.Msgs, msg(i))
	}
	return b
}

// CheckBatch compares TagBatch of a UMACKey with Tag, and calls VerifyBatch with the tags.
func CheckBatch[M message](t *testing.T, b UMACBatch, k interface {
	Tag(dst, nonce, msg []byte) []byte
	TagBatch(batch []M)
	VerifyBatch(batch []M) bool
}) {
	t.Helper()
	TagBatch(k.TagBatch, b.Tags, b.Nonces, b.Msgs)
	for i, tag := range b.Tags {
		if want := k.Tag(nil, b.Nonces[i], b.Msgs[i]); !bytes.Equal(tag, want) {
			t.Fatalf("message %d of %d, %d bytes, nonce %x: tag %x, want %x", i, len(b.Msgs), len(b.Msgs[i]), b.Nonces[i], tag, want)
		}
	}
	ok := make([]bool, len(b.Msgs))
	if !VerifyBatch(k.VerifyBatch, ok, b.Tags, b.Nonces, b.Msgs) || slices.Contains(ok, false) {
		t.Fatalf("%d messages: the right tags are refused: %v", len(b.Msgs), ok)
	}
}
