// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac

import (
	"encoding/binary"
	"fmt"

	"example.com/fastmac/internal/wipe"
)

// TagBatch sets tags[i] to the tag of msgs[i] under nonces[i]. It is for programs that have
// many short messages at once, as with sendmmsg, and takes less time than a call of
// [UMACKey.Tag] for each. The nonces need not be in order. It does not allocate, except
// that without AES instructions it may do so after a garbage collection.
//
// If tags, nonces and msgs have different lengths, if a tag is not Size() bytes or a nonce
// not 1 to 16 bytes long, TagBatch panics before it writes anything. tags[i] may overlap
// nonces[i] and msgs[i], but no other tag, nonce or message. Messages may overlap each
// other. No nonce may be in the batch twice, and none may ever have been used with this key
// before.
func (k *UMACKey) TagBatch(tags, nonces, msgs [][]byte) {
	k.mustLive()
	if len(tags) != len(msgs) || len(nonces) != len(msgs) {
		panic(fmt.Sprintf("fastmac: TagBatch with %d tags, %d nonces and %d messages", len(tags), len(nonces), len(msgs)))
	}
	for i, tag := range tags {
		if len(tag) != int(k.pad.tagSize) {
			panic(fmt.Sprintf("fastmac: TagBatch with room for a tag of %d bytes: want %d", len(tag), k.pad.tagSize))
		}
		if !isNonce(nonces[i]) {
			mustNonce(nonces[i]) // a call for each would take a tenth of the time
		}
	}
	wipe.ReserveStack()
	var batch umacTags
	kernels := true
	for at := 0; at < len(msgs); at += umacLanes {
		end := min(at+umacLanes, len(msgs))
		kernels = batch.compute(k, nonces[at:end], msgs[at:end]) && kernels
		for i, tag := range tags[at:end] {
			copyTag(tag, &batch[i])
		}
	}
	batch = umacTags{} // wipe secrets
	if !kernels {
		wipe.Stack()
	}
}

// VerifyBatch sets ok[i] to whether tags[i] is the tag of msgs[i] under nonces[i], and
// reports whether all are; with no messages it is true. A tag or a nonce of a wrong length
// is not right. VerifyBatch works as [UMACKey.TagBatch] does, and is nearly as fast. If the
// slices have different lengths it panics before it writes anything. The comparisons are
// constant time. Tags are not changed, and may overlap messages and nonces.
func (k *UMACKey) VerifyBatch(ok []bool, tags, nonces, msgs [][]byte) bool {
	k.mustLive()
	if len(ok) != len(msgs) || len(tags) != len(msgs) || len(nonces) != len(msgs) {
		panic(fmt.Sprintf("fastmac: VerifyBatch with %d results, %d tags, %d nonces and %d messages", len(ok), len(tags), len(nonces), len(msgs)))
	}
	wipe.ReserveStack()
	var batch umacTags
	kernels, all := true, true
	for at := 0; at < len(msgs); {
		end := at
		for end < min(at+umacLanes, len(msgs)) && isNonce(nonces[end]) {
			end++
		}
		if end == at {
			ok[at], all = false, false
			at++
			continue
		}
		kernels = batch.compute(k, nonces[at:end], msgs[at:end]) && kernels
		for i, tag := range tags[at:end] {
			right := k.pad.tagSize.equal(tag, &batch[i])
			ok[at+i], all = right, all && right
		}
		at = end
	}
	batch = umacTags{} // wipe secrets
	if !kernels {
		wipe.Stack()
	}
	return all
}

// umacLanes is the number of messages whose tags are computed at a time.
const umacLanes = 8

// umacTags are the pads of messages, and then their tags. The last three are never used: the
// kernel reads and writes four at a time.
type umacTags [umacLanes + 3][maxUMACTagSize]byte

// compute sets the first tags to those of the messages, 1 to umacLanes. It reports whether
// only kernels have computed: other functions leave pads in their stack frames.
func (t *umacTags) compute(k *UMACKey, nonces, msgs [][]byte) (kernels bool) {
	padEach(t, &k.pad, nonces)
	kernels = hasBatchKernels()
	for i := 0; i < len(msgs); {
		end := i // of a run of short messages
		for end < len(msgs) && len(msgs[end]) <= l1Block {
			end++
		}
		if end > i {
			tagEach(t[i:], &k.uhash, msgs[i:end])
			i = end
			continue
		}
		k.uhash.tagLong(&t[i], msgs[i], padIn(&t[i]))
		kernels = false
		i++
	}
	return kernels
}

// padIn returns the pad that is in the place of a tag.
func padIn(tag *[maxUMACTagSize]byte) pad {
	return pad{binary.LittleEndian.Uint64(tag[:]), binary.LittleEndian.Uint64(tag[8:])}
}

// padEachGeneric computes the pads one by one. With AES-NI eight side by side are not faster,
// since the CPU overlaps them with hashing.
func padEachGeneric(t *umacTags, k *padKey, nonces [][]byte) {
	for i, nonce := range nonces {
		x := k.pad(nonce)
		binary.LittleEndian.PutUint64(t[i][:], x.first)
		binary.LittleEndian.PutUint64(t[i][8:], x.second)
	}
}

// tagEachGeneric computes the tags one by one, with the kernels for one message.
func tagEachGeneric(tags [][maxUMACTagSize]byte, k *uhashKey, msgs [][]byte) {
	for i, msg := range msgs {
		k.tagShort(&tags[i], msg, padIn(&tags[i]))
	}
}
