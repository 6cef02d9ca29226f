// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac

import (
	"fmt"

	"example.com/fastmac/internal/sha512"
	"example.com/fastmac/internal/wipe"
)

// TagBatch writes the tag of batch[i].Data to batch[i].Tag, for each i. If a Tag is not 64 bytes
// long, or there is a Nonce, it panics before it writes anything. It does not allocate, except in
// FIPS 140 mode.
//
// On amd64 with AVX2 it hashes several messages side by side, whatever their lengths. It is fastest
// if they have about the same length, and if their number is a multiple of eight (AVX-512) or four
// (AVX2). On arm64 with SHA512 instructions it hashes messages 0 and 1 side by side, then 2 and 3,
// and so on, for as many blocks as the shorter of the two has.
//
// batch[i].Tag may overlap batch[i].Data, and no slice of another message. Messages may overlap
// each other.
func (k *HMACSHA512Key) TagBatch(batch []Message) {
	k.mustLive()
	mustHMACBatch("TagBatch", batch)
	b := hmacBatch{batch: batch, key: k}
	b.run()
}

// VerifyBatch sets batch[i].OK to whether batch[i].Tag is the tag of batch[i].Data, and reports
// whether all are OK. For an empty batch it returns true. A message is not OK if its Tag has a
// wrong length, or if it has a Nonce.
//
// VerifyBatch is nearly as fast as [HMACSHA512Key.TagBatch]. It changes nothing except OK, which is
// false until the tag has been verified. The comparisons are constant time. All slices may overlap.
func (k *HMACSHA512Key) VerifyBatch(batch []Message) bool {
	refuse(batch)
	k.mustLive()
	b := hmacBatch{batch: batch, verify: true, key: k}
	b.run()
	return allOK(batch)
}

// allOK reports whether all messages are OK.
func allOK(batch []Message) bool {
	all := true
	for i := range batch {
		right := batch[i].OK // loaded first: no branch depends on whether all are right so far
		all = all && right
	}
	return all
}

// SumHMACSHA512Batch writes the HMAC-SHA-512 of batch[i].Data under keys[i] to batch[i].Tag, for
// each i. It works like [HMACSHA512Key.TagBatch], and also expands keys side by side. Keys are as
// for [NewHMACSHA512Key]. To verify, compare the tags with [crypto/hmac.Equal].
//
// If keys and batch have different lengths, it panics before it writes anything, as it does for a
// wrong Tag or Nonce. batch[i].Tag may overlap keys[i] and batch[i].Data, and no slice of another
// message or key.
func SumHMACSHA512Batch(keys [][]byte, batch []Message) {
	if len(keys) != len(batch) {
		panic(fmt.Sprintf("fastmac: SumHMACSHA512Batch with %d keys and %d messages", len(keys), len(batch)))
	}
	mustHMACBatch("SumHMACSHA512Batch", batch)
	for _, key := range keys {
		mustApprove(key)
	}
	b := hmacBatch{batch: batch, keys: keys}
	b.run()
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

// hmacBatch is a batch under way.
type hmacBatch struct {
	batch  []Message
	verify bool // whether to compare the tags
	next   int  // the first message that has not been started

	key  *HMACSHA512Key // of all messages, or
	keys [][]byte       // one for each, or

	expanded []*HMACSHA512Key // one for each, which is loaded
	loader   keyLoader        // before it is needed
}

// hmacLanes are messages of a batch side by side. Each lane has one message at a time, and starts
// the next one as soon as it is done.
type hmacLanes struct {
	*hmacBatch
	lanes          [sha512.MaxLanes]hmacLane
	initial, outer sha512.LaneSet // those that begin a hash, and an outer hash after the inner one
	hashes         sha512.Lanes
}

// hmacLane is a message under way. A stage is a run of blocks; when it has been
// hashed, the next stage begins. The first two are only for a batch with many keys.
//
//	stage     blocks                                   then
//	OuterPad  the outer pad                            InnerPad
//	InnerPad  the inner pad                            Message
//	Message   the whole blocks of the message, if any  End
//	End       the rest of it, with padding             Outer
//	Outer     the inner hash, after the outer pad      the first stage of the next message
type hmacLane struct {
	stage   hmacStage
	message int         // its number
	blocks  sha512.Tail // the run of a pad or an end
}

type hmacStage uint8

const (
	stageOuterPad hmacStage = iota
	stageInnerPad
	stageMessage
	stageEnd
	stageOuter
)

// run computes the batch in the way that is the fastest: messages side by side, and those that are
// left one by one.
func (b *hmacBatch) run() {
	if lanes, minLanes := batchLanes(len(b.batch)); lanes > 0 {
		b.runLanes(lanes, minLanes)
	} else if sha512.HasPairs() && !useFIPS {
		b.runPairs()
	}
	for ; b.next < len(b.batch); b.next++ {
		var tag [HMACSHA512Size]byte
		m := &b.batch[b.next]
		switch {
		case b.key != nil:
			b.key.sum(&tag, m.Data)
		case b.keys != nil:
			tag = SumHMACSHA512(b.keys[b.next], m.Data)
		default:
			b.loader.load(b.batch, b.next)
			b.expanded[b.next].sum(&tag, m.Data)
		}
		b.finish(m, &tag)
	}
}

// runPairs hashes messages 0 and 1 side by side, then 2 and 3, and so on.
func (b *hmacBatch) runPairs() {
	var tags [2][HMACSHA512Size]byte
	for ; len(b.batch)-b.next >= 2; b.next += 2 {
		batch := (*[2]Message)(b.batch[b.next:])
		switch {
		case b.key != nil:
			sumPair(&tags, b.key, b.key, batch)
		case b.keys != nil:
			sumPairKeys(&tags, (*[2][]byte)(b.keys[b.next:]), batch)
		default:
			b.loader.load(b.batch, b.next)
			sumPair(&tags, b.expanded[b.next], b.expanded[b.next+1], batch)
		}
		b.finish(&batch[0], &tags[0])
		b.finish(&batch[1], &tags[1])
	}
}

// sumPair sets tags to the tags of two messages, each under its key.
func sumPair(tags *[2][HMACSHA512Size]byte, key, other *HMACSHA512Key, batch *[2]Message) {
	sha512.SumPair(tags, &[2]sha512.Message{
		{State: &key.inner, Outer: &key.outer, N: sha512.BlockSize, P: batch[0].Data},
		{State: &other.inner, Outer: &other.outer, N: sha512.BlockSize, P: batch[1].Data},
	})
}

// sumPairKeys is sumPair with keys that have not been expanded.
func sumPairKeys(tags *[2][HMACSHA512Size]byte, keys *[2][]byte, batch *[2]Message) {
	wipe.ReserveStack()
	var key, other HMACSHA512Key
	key.Init(keys[0])
	other.Init(keys[1])
	sumPair(tags, &key, &other, batch)
	key.Destroy()
	other.Destroy()
}

// runLanes hashes lanes side by side, while there are minLanes messages for them.
func (b *hmacBatch) runLanes(lanes, minLanes int) {
	wipe.ReserveStack()
	s := hmacLanes{hmacBatch: b}
	s.run(lanes, minLanes)
}

// run is runLanes after the stack has room for its frame, which has secrets.
func (b *hmacLanes) run(lanes, minLanes int) {
	if b.key != nil {
		b.hashes.SetInitial(&b.key.inner)
		b.hashes.SetOuter(&b.key.outer)
	} else if b.keys != nil {
		initial := sha512.Initial()
		b.hashes.SetInitial(&initial)
	}
	var runs [sha512.MaxLanes][]byte // the rest of each lane's run; a lane without one is idle
	for active := 0; ; {
		for l := 0; l < lanes && b.next < len(b.batch) && active+len(b.batch)-b.next >= minLanes; l++ {
			if len(runs[l]) == 0 {
				runs[l] = b.start(l)
				active++
			}
		}
		if active == 0 {
			break
		}
		initial, outer := b.initial, b.outer
		b.initial, b.outer = 0, 0
		hashed := b.hashes.Block(&runs, initial, outer) * sha512.BlockSize
		for l, run := range runs[:lanes] {
			if len(run) == 0 {
				continue
			}
			if run = run[hashed:]; len(run) == 0 {
				if run = b.advance(l); len(run) == 0 {
					active--
				}
			}
			runs[l] = run
		}
	}
	b.hashes = sha512.Lanes{} // wipe secrets
	b.lanes = [sha512.MaxLanes]hmacLane{}
}

// start gives an idle lane the next message, and returns its first run.
func (b *hmacLanes) start(l int) []byte {
	lane := &b.lanes[l]
	lane.message = b.next
	b.next++
	if b.expanded != nil {
		b.loader.load(b.batch, lane.message)
		k := b.expanded[lane.message]
		b.hashes.Begin(l, &k.inner, &k.outer)
		return b.startMessage(lane)
	}
	b.initial |= 1 << l
	if b.key != nil {
		return b.startMessage(lane)
	}
	lane.stage = stageOuterPad
	pad := lane.pad()
	writePad(pad, b.keys[lane.message], outerPad)
	return pad[:]
}

// advance returns the next run of a lane, after one has been hashed. There is none if the lane is
// done.
func (b *hmacLanes) advance(l int) []byte {
	lane := &b.lanes[l]
	switch lane.stage {
	case stageOuterPad:
		lane.stage = stageInnerPad
		b.hashes.MoveToOuter(l)
		b.initial |= 1 << l
		pad := lane.pad()
		flipPad(pad)
		return pad[:]
	case stageInnerPad:
		return b.startMessage(lane)
	case stageMessage:
		return b.startEnd(lane)
	case stageEnd:
		lane.stage = stageOuter
		b.outer |= 1 << l
		return lane.pad()[:]
	}
	b.finish(&b.batch[lane.message], &b.hashes.Hashes[l])
	return nil
}

// startMessage begins the message, after the inner pad.
func (b *hmacLanes) startMessage(lane *hmacLane) []byte {
	data := b.batch[lane.message].Data
	if len(data) < sha512.BlockSize {
		return b.startEnd(lane)
	}
	lane.stage = stageMessage
	return data[:len(data)&^(sha512.BlockSize-1)]
}

// startEnd begins the end of the message, after its whole blocks.
func (b *hmacLanes) startEnd(lane *hmacLane) []byte {
	lane.stage = stageEnd
	data := b.batch[lane.message].Data
	return lane.blocks.Write(data[len(data)&^(sha512.BlockSize-1):], sha512.BlockSize+uint64(len(data)))
}

// pad returns the room for a pad.
func (lane *hmacLane) pad() *sha512.Buffer { return (*sha512.Buffer)(lane.blocks[:]) }

// finish sets the tag of a message, or compares it.
func (b *hmacBatch) finish(m *Message, tag *[HMACSHA512Size]byte) {
	if b.verify {
		m.OK = len(m.Nonce) == 0 && equalTag(m.Tag, tag)
	} else {
		*(*[HMACSHA512Size]byte)(m.Tag) = *tag
	}
}

// tagHMACs is [TagBatch] for HMAC-SHA-512. It looks at the keys before it hashes, because
// messages side by side do not end in order: loads of keys are cheap beside SHA-512.
func tagHMACs(keys []*HMACSHA512Key, batch []Message) {
	mustNonces(batch, "HMAC-SHA-512", 0, 0, "none")
	good := 0
	for good < len(keys) && keys[good] != nil && keys[good].set && len(batch[good].Tag) == HMACSHA512Size {
		good++
	}
	b := hmacBatch{batch: batch[:good], expanded: keys[:good], loader: newKeyLoader(keys[:good], &hmacLines)}
	b.run()
	if good == len(keys) {
		return
	}
	if keys[good] == nil {
		panic(nilKey(good))
	}
	keys[good].mustLive()
	panic(badTag("TagBatch", good, len(batch[good].Tag), HMACSHA512Size))
}

// verifyHMACs is [VerifyBatch] for HMAC-SHA-512. The messages between two without a key are a
// batch.
func verifyHMACs(keys []*HMACSHA512Key, batch []Message) bool {
	for first := 0; first < len(keys); {
		end := first
		for end < len(keys) && keys[end] != nil && keys[end].set {
			end++
		}
		k := keys[first:end]
		b := hmacBatch{batch: batch[first:end], verify: true, expanded: k, loader: newKeyLoader(k, &hmacLines)}
		b.run()
		if end < len(keys) && keys[end] != nil {
			keys[end].mustLive()
		}
		first = end + 1
	}
	return allOK(batch)
}
