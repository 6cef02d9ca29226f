// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package mactest

import (
	"bytes"
	"slices"
	"testing"
)

// UMACTagSizes are the sizes of tags of UMAC, in bytes.
var UMACTagSizes = []int{4, 8, 12, 16}

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

// Check compares TagBatch of a UMACKey with Tag, and calls VerifyBatch with the tags.
func (b UMACBatch) Check(t *testing.T, k interface {
	Tag(dst, nonce, msg []byte) []byte
	TagBatch(tags, nonces, msgs [][]byte)
	VerifyBatch(ok []bool, tags, nonces, msgs [][]byte) bool
}) {
	t.Helper()
	k.TagBatch(b.Tags, b.Nonces, b.Msgs)
	for i, tag := range b.Tags {
		if want := k.Tag(nil, b.Nonces[i], b.Msgs[i]); !bytes.Equal(tag, want) {
			t.Fatalf("message %d of %d, %d bytes, nonce %x: tag %x, want %x", i, len(b.Msgs), len(b.Msgs[i]), b.Nonces[i], tag, want)
		}
	}
	ok := make([]bool, len(b.Msgs))
	if !k.VerifyBatch(ok, b.Tags, b.Nonces, b.Msgs) || slices.Contains(ok, false) {
		t.Fatalf("%d messages: the right tags are refused: %v", len(b.Msgs), ok)
	}
}
