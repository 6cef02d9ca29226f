// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac

import (
	"fmt"

	"example.com/fastmac/internal/sha512"
	"example.com/fastmac/internal/wipe"
)

// TagBatch sets the bytes of batch[i].Tag to the tag of batch[i].Data. On amd64 with AVX2 it
// hashes several messages side by side, of the same or of different lengths. It is fastest with
// multiples of eight messages (AVX-512), or of four (AVX2), of about the same length. On arm64
// with SHA512 instructions it hashes messages 0 and 1 side by side, then 2 and 3, and so on: as
// many blocks as the shorter one has. It does not allocate, except in FIPS 140 mode.
//
// If a Tag is not 64 bytes long, or there is a Nonce, TagBatch panics before it writes anything.
// batch[i].Tag may overlap batch[i].Data, and no slice of another message. Messages may overlap
// each other.
func (k *HMACSHA512Key) TagBatch(batch []Message) {
	k.mustLive()
	mustHMACBatch("TagBatch", batch)
	if lanes, minLanes := batchLanes(len(batch)); lanes > 0 {
		b := hmacBatch{batch: batch, key: k}
		b.run(lanes, minLanes)
		return
	}
	for hasPair(batch) {
		sumPair(k, k, (*[HMACSHA512Size]byte)(batch[0].Tag), (*[HMACSHA512Size]byte)(batch[1].Tag), batch)
		batch = batch[2:]
	}
	for i := range batch {
		k.sum((*[HMACSHA512Size]byte)(batch[i].Tag), batch[i].Data)
	}
}

// VerifyBatch sets batch[i].OK to whether batch[i].Tag is the tag of batch[i].Data, and reports
// whether all are; of an empty batch it reports true. A Tag of a wrong length is not right, and
// neither is a message with a Nonce. VerifyBatch works as [HMACSHA512Key.TagBatch] does, and is
// nearly as fast. It changes nothing except OK, which is false until the tag has been found
// right. The comparisons are constant time. All slices may overlap.
func (k *HMACSHA512Key) VerifyBatch(batch []Message) bool {
	refuse(batch)
	k.mustLive()
	if lanes, minLanes := batchLanes(len(batch)); lanes > 0 {
		b := hmacBatch{batch: batch, verify: true, key: k}
		b.run(lanes, minLanes)
	} else {
		rest := batch
		for hasPair(rest) {
			var want [2][HMACSHA512Size]byte
			sumPair(k, k, &want[0], &want[1], rest)
			for i := range want {
				m := &rest[i]
				m.OK = len(m.Nonce) == 0 && equalTag(m.Tag, &want[i])
			}
			rest = rest[2:]
		}
		for i := range rest {
			m := &rest[i]
			m.OK = len(m.Nonce) == 0 && k.Verify(m.Tag, m.Data)
		}
	}
	all := true
	for i := range batch {
		right := batch[i].OK // loaded first: no branch depends on whether all are right so far
		all = all && right
	}
	return all
}

// SumHMACSHA512Batch sets the bytes of batch[i].Tag to the HMAC-SHA-512 of batch[i].Data under
// keys[i]. It works as [HMACSHA512Key.TagBatch] does, and expands the keys side by side too. It
// also panics before it writes anything if keys and batch have different lengths. batch[i].Tag
// may overlap keys[i] and batch[i].Data, and no slice of another message or key. Keys are as for
// [NewHMACSHA512Key]. To verify, compare the tags with [crypto/hmac.Equal].
func SumHMACSHA512Batch(keys [][]byte, batch []Message) {
	if len(keys) != len(batch) {
		panic(fmt.Sprintf("fastmac: SumHMACSHA512Batch with %d keys and %d messages", len(keys), len(batch)))
	}
	mustHMACBatch("SumHMACSHA512Batch", batch)
	if lanes, minLanes := batchLanes(len(batch)); lanes > 0 {
		b := hmacBatch{batch: batch, keys: keys}
		b.run(lanes, minLanes)
		return
	}
	for _, key := range keys {
		mustApprove(key)
	}
	for hasPair(batch) {
		sumPairKeys(keys, batch)
		keys, batch = keys[2:], batch[2:]
	}
	for i := range batch {
		m := &batch[i]
		*(*[HMACSHA512Size]byte)(m.Tag) = SumHMACSHA512(keys[i], m.Data)
	}
}

// mustHMACBatch panics if a Tag of the batch has a wrong length, or if there is a Nonce.
func mustHMACBatch(f string, batch []Message) {
	for i := range batch {
		m := &batch[i]
		if len(m.Tag) != HMACSHA512Size {
			panic(badTag(f, i, len(m.Tag), HMACSHA512Size))
		}
		if len(m.Nonce) != 0 {
			panic(badNonce(f, i, "HMAC-SHA-512", len(m.Nonce), "none"))
		}
	}
}

// batchLanes returns how many lanes a batch of n messages uses, 0 if it is faster
// without, and how many of them must be in use.
func batchLanes(n int) (lanes, minLanes int) {
	lanes, minLanes = sha512.LaneCount()
	if useFIPS || n < minLanes {
		return 0, 0
	}
	return lanes, minLanes
}

// hasPair reports whether the first two messages are hashed side by side, by sumPair.
func hasPair(batch []Message) bool { return len(batch) >= 2 && sha512.HasPairs() && !useFIPS }

// sumPair sets tag to the tag of the first message, and other to that of the second one, under
// otherKey.
func sumPair(key, otherKey *HMACSHA512Key, tag, other *[HMACSHA512Size]byte, batch []Message) {
	sha512.SumPair(&[2]sha512.Message{
		{Out: tag, State: &key.inner, Outer: &key.outer, N: sha512.BlockSize, P: batch[0].Data},
		{Out: other, State: &otherKey.inner, Outer: &otherKey.outer, N: sha512.BlockSize, P: batch[1].Data},
	})
}

// sumPairKeys sets the tags of the first two messages, each under its key.
func sumPairKeys(keys [][]byte, batch []Message) {
	wipe.ReserveStack()
	var k, other HMACSHA512Key
	k.Init(keys[0])
	other.Init(keys[1])
	sumPair(&k, &other, (*[HMACSHA512Size]byte)(batch[0].Tag), (*[HMACSHA512Size]byte)(batch[1].Tag), batch)
	k.Destroy()
	other.Destroy()
}

// hmacBatch is a batch under way. Each lane has one message at a time, and starts the
// next one as soon as it is done.
type hmacBatch struct {
	batch  []Message
	verify bool // whether to compare the tags
	next   int  // the first message that no lane has started

	key  *HMACSHA512Key // of all messages, or
	keys [][]byte       // one for each

	state sha512.Lanes
	lanes [sha512.MaxLanes]hmacLane
	value [8]uint64 // chaining value of the current lane: in a variable nothing would wipe it
}

// hmacLane is a message under way. A stage is a run of blocks; when it has been
// hashed, the next stage begins. The first two are only for a batch with many keys.
//
//	stage     blocks                                   then
//	OuterPad  the outer pad, whose value is outer      InnerPad
//	InnerPad  the inner pad                            Message
//	Message   the whole blocks of the message, if any  End
//	End       the rest of it, with padding             Outer, or Length if that has no room
//	Length    the end of the padding                   Outer
//	Outer     after outer, the inner hash and padding  the first stage of the next message
//	Idle      none, for no message is left
type hmacLane struct {
	stage   hmacStage
	message int           // its number
	offset  int           // of the rest of the run in the message, in stageMessage
	block   sha512.Buffer // the run, in other stages
	long    bool          // the padding needs one more block after stageEnd

	outer [8]uint64 // chaining value after the outer pad
}

type hmacStage uint8

const (
	stageIdle hmacStage = iota
	stageOuterPad
	stageInnerPad
	stageMessage
	stageEnd
	stageLength
	stageOuter
)

// run hashes lanes side by side while at least minLanes have work, and then the
// remaining messages one by one.
func (b *hmacBatch) run(lanes, minLanes int) {
	wipe.ReserveStack()
	active := 0
	for l := range lanes {
		if b.start(l) {
			active++
		}
	}
	var p [sha512.MaxLanes][]byte
	for active >= minLanes {
		for l := range lanes {
			p[l] = b.rest(l)
		}
		blocks := b.state.Block(&p)
		for l := range lanes {
			if b.lanes[l].stage != stageIdle && b.advance(l, blocks) {
				active--
			}
		}
	}
	for l := range lanes {
		for b.lanes[l].stage != stageIdle {
			p := b.rest(l)
			b.state.Get(l, &b.value)
			sha512.Block(&b.value, p)
			b.state.Set(l, &b.value)
			b.advance(l, len(p)/sha512.BlockSize)
		}
	}
	*b = hmacBatch{} // wipe secrets
}

// rest returns the rest of the lane's run, and perhaps part of a block, which belongs
// to the next stage. It is empty if the lane is idle.
func (b *hmacBatch) rest(l int) []byte {
	switch lane := &b.lanes[l]; lane.stage {
	case stageIdle:
		return nil
	case stageMessage:
		return b.batch[lane.message].Data[lane.offset:]
	default:
		return lane.block[:]
	}
}

// advance moves the lane on after that many blocks of its run have been hashed. It reports
// whether the lane is done: no message is left.
func (b *hmacBatch) advance(l, blocks int) (done bool) {
	lane := &b.lanes[l]
	switch lane.stage {
	case stageOuterPad:
		b.state.Get(l, &lane.outer)
		flipPad(&lane.block)
		b.startPad(l, stageInnerPad)
	case stageInnerPad:
		b.startMessage(l)
	case stageMessage:
		lane.offset += blocks * sha512.BlockSize
		if len(b.batch[lane.message].Data)-lane.offset < sha512.BlockSize {
			b.startEnd(l)
		}
	case stageEnd:
		if lane.long {
			lane.block.WriteLength(b.hashedSize(l))
			lane.stage = stageLength
		} else {
			b.startOuter(l)
		}
	case stageLength:
		b.startOuter(l)
	case stageOuter:
		b.state.Get(l, &b.value)
		b.finish(lane.message)
		return !b.start(l)
	}
	return false
}

// start gives the lane the next message, and reports whether there is one.
func (b *hmacBatch) start(l int) bool {
	lane := &b.lanes[l]
	if b.next == len(b.batch) {
		lane.stage = stageIdle
		return false
	}
	lane.message = b.next
	b.next++
	if b.key != nil {
		lane.outer = b.key.outer
		b.state.Set(l, &b.key.inner)
		b.startMessage(l)
		return true
	}
	writeInnerPad(&lane.block, b.keys[lane.message])
	flipPad(&lane.block)
	b.startPad(l, stageOuterPad)
	return true
}

// startPad begins a hash with the pad in the lane's block.
func (b *hmacBatch) startPad(l int, stage hmacStage) {
	initial := sha512.Initial()
	b.state.Set(l, &initial)
	b.lanes[l].stage = stage
}

// startMessage begins the message, after the inner pad.
func (b *hmacBatch) startMessage(l int) {
	lane := &b.lanes[l]
	lane.offset = 0
	if len(b.batch[lane.message].Data) < sha512.BlockSize {
		b.startEnd(l)
		return
	}
	lane.stage = stageMessage
}

// startEnd begins the last stages, after the message's whole blocks.
func (b *hmacBatch) startEnd(l int) {
	lane := &b.lanes[l]
	lane.long = !lane.block.WritePadding(b.batch[lane.message].Data[lane.offset:], b.hashedSize(l))
	lane.stage = stageEnd
}

// startOuter begins the outer hash, after the message.
func (b *hmacBatch) startOuter(l int) {
	lane := &b.lanes[l]
	b.state.Get(l, &b.value)
	writeInnerHash(&lane.block, &b.value)
	b.state.Set(l, &lane.outer)
	lane.stage = stageOuter
}

// hashedSize returns the number of bytes of the inner hash's message.
func (b *hmacBatch) hashedSize(l int) uint64 {
	return sha512.BlockSize + uint64(len(b.batch[b.lanes[l].message].Data))
}

// finish makes the tag of a message, or compares it, from its last chaining value, which is
// in b.value.
func (b *hmacBatch) finish(message int) {
	m := &b.batch[message]
	if !b.verify {
		sha512.Encode((*[HMACSHA512Size]byte)(m.Tag), &b.value)
		return
	}
	var want [HMACSHA512Size]byte
	sha512.Encode(&want, &b.value)
	m.OK = len(m.Nonce) == 0 && equalTag(m.Tag, &want)
}

// writeInnerHash sets b to the inner hash and its padding, which is always the same.
func writeInnerHash(b *sha512.Buffer, inner *[8]uint64) {
	sha512.Encode((*[sha512.Size]byte)(b[:]), inner)
	copy(b[sha512.Size:], sha512.OuterPadding[:])
}
