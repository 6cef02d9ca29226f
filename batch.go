// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac

import (
	"encoding/binary"
	"fmt"

	"example.com/fastmac/internal/wipe"
)

// A Message is one message of a batch, for [TagBatch] and [VerifyBatch] and for the methods with
// these names.
type Message struct {
	Nonce []byte // as for Tag; empty for HMAC
	Data  []byte // the message
	Tag   []byte // Size() bytes, which TagBatch overwrites and VerifyBatch compares
	OK    bool   // set by VerifyBatch: whether Tag is right
}

// refuse sets OK of all messages to false. A message that VerifyBatch does not reach, because
// it panics, stays refused.
func refuse(batch []Message) {
	for i := range batch {
		batch[i].OK = false
	}
}

// badTag is the text of a panic of the function f: there is no room for the tag of message i, or
// too much.
func badTag(f string, i, have, want int) string {
	return fmt.Sprintf("fastmac: %s: message %d: Tag of %d bytes: want %d", f, i, have, want)
}

// badNonce is the same for its nonce.
func badNonce(f string, i int, mac string, have int, want string) string {
	return fmt.Sprintf("fastmac: %s: message %d: %s nonce of %d bytes: want %s", f, i, mac, have, want)
}

// TagBatch writes the tag of batch[i].Data under batch[i].Nonce to batch[i].Tag, for each i. It is
// for programs that have many short messages at once, for example for sendmmsg, and can be faster
// than a call of [UMACKey.Tag] for each. The nonces need no order.
//
// Never use a nonce for two messages under one key, in this batch or ever. If a Tag is not Size()
// bytes or a Nonce not 1 to 16 bytes long, TagBatch panics before it writes anything.
//
// batch[i].Tag may overlap batch[i].Nonce and batch[i].Data, and no slice of another message.
// Messages may overlap each other. TagBatch does not allocate, except that without AES instructions
// it may allocate after a garbage collection.
func (k *UMACKey) TagBatch(batch []Message) {
	id, size := k.pad.life.Expect(), k.size()
	for i := range batch {
		m := &batch[i]
		if len(m.Tag) != int(size) {
			panic(badTag("TagBatch", i, len(m.Tag), int(size)))
		}
		if !isNonce(m.Nonce) {
			panic(badNonce("TagBatch", i, "UMAC", len(m.Nonce), "1 to 16"))
		}
	}
	wipe.ReserveStack()
	whole := batch
	var tags umacTags
	kernels := true
	for len(batch) > 0 {
		n := min(len(batch), umacLanes)
		kernels = tagEach(&tags, k, batch[:n]) && kernels
		for i := range batch[:n] {
			copyTag(batch[i].Tag, &tags[i])
		}
		batch = batch[n:]
	}
	tags = umacTags{} // wipe secrets
	if !kernels {
		wipe.Stack()
	}
	if !k.pad.life.Is(id) {
		panic(clearTags(whole, deadUMACKey))
	}
}

// clearTags overwrites the tags of a batch whose key was destroyed meanwhile. It returns the text of a
// panic.
func clearTags(batch []Message, dead string) string {
	for i := range batch {
		clear(batch[i].Tag)
	}
	return dead
}

// refuseTags sets OK of the messages of such a batch to false. It returns the text of a panic.
func refuseTags(batch []Message, dead string) string {
	refuse(batch)
	return dead
}

// VerifyBatch sets batch[i].OK to whether batch[i].Tag is the tag of batch[i].Data under
// batch[i].Nonce, and reports whether all are OK. For an empty batch it returns true. A message is
// not OK if its tag or nonce has a wrong length.
//
// VerifyBatch is nearly as fast as [UMACKey.TagBatch]. It changes nothing except OK, which is false
// until the tag has been verified. The comparisons are constant time. All slices may overlap.
func (k *UMACKey) VerifyBatch(batch []Message) bool {
	refuse(batch)
	id, size := k.pad.life.Expect(), k.size()
	whole := batch
	wipe.ReserveStack()
	var tags umacTags
	kernels, all := true, true
	for len(batch) > 0 {
		n := 0
		for n < min(len(batch), umacLanes) && isNonce(batch[n].Nonce) {
			n++
		}
		if n == 0 {
			all = false
			batch = batch[1:]
			continue
		}
		kernels = tagEach(&tags, k, batch[:n]) && kernels
		for i := range batch[:n] {
			right := size.equal(batch[i].Tag, &tags[i])
			batch[i].OK, all = right, all && right
		}
		batch = batch[n:]
	}
	tags = umacTags{} // wipe secrets
	if !kernels {
		wipe.Stack()
	}
	if !k.pad.life.Is(id) {
		panic(refuseTags(whole, deadUMACKey))
	}
	return all
}

// tagEach sets the first tags to those of the messages, 1 to umacLanes of any length, under their
// nonces. It may write the others. If it returns true, only kernels have computed: other functions
// leave pads in their stack frames.
func tagEach(tags *umacTags, k *UMACKey, batch []Message) (kernels bool) {
	kernels = true
	padded := padsFirst(len(batch))
	if padded {
		kernels = padEach(tags, &k.pad, batch)
	}
	short := shortBytes()
	for out := tags[:]; len(batch) > 0; {
		n := shortRun(batch, short)
		if n > 0 {
			tagShort(out, k, batch[:n])
		} else {
			n, kernels = 1, false
			tag, m := &out[0], &batch[0]
			x := padIn(tag)
			if !padded {
				x = k.pad.pad(m.Nonce)
			}
			if len(m.Data) > l1Block {
				k.uhash.tagLong(tag, m.Data, x)
			} else {
				tagOnly(tag, &k.uhash, &noGroups, m.Data, uint64(len(m.Data)), x)
			}
		}
		out, batch = out[n:], batch[n:]
	}
	return kernels
}

// padEachGeneric is padEach, one by one.
func padEachGeneric(tags *umacTags, k *aesKey, batch []Message) (kernel bool) {
	for i := range batch {
		k.pad(batch[i].Nonce).put(&tags[i])
	}
	return false
}

// umacLanes is the number of messages whose tags are computed at a time.
const umacLanes = 8

// umacTags are the tags of messages, and on amd64 their pads before. The last three are never used: a
// kernel reads and writes four at a time.
type umacTags [umacLanes + 3][maxUMACTagSize]byte

// shortRun returns how many messages at the beginning of a batch have at most so many bytes.
func shortRun(batch []Message, bytes int) (n int) {
	for n < len(batch) && len(batch[n].Data) <= bytes {
		n++
	}
	return n
}

// padIn returns the pad that is in the place of a tag.
func padIn(tag *[maxUMACTagSize]byte) pad {
	return pad{binary.LittleEndian.Uint64(tag[:]), binary.LittleEndian.Uint64(tag[8:])}
}

// put puts x in the place of a tag.
func (x pad) put(tag *[maxUMACTagSize]byte) {
	binary.LittleEndian.PutUint64(tag[:], x.first)
	binary.LittleEndian.PutUint64(tag[8:], x.second)
}
