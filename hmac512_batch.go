// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac

import (
	"fmt"
	"unsafe"

	"example.com/fastmac/internal/sha512"
)

// TagBatch sets tags[i] to the tag of msgs[i]. On amd64 with AVX2 it hashes several
// messages side by side, of the same or of different lengths. It does not allocate,
// but in FIPS 140 mode. Slices of different lengths panic before anything is
// written. tags[i] may overlap msgs[i], but no other message; messages may overlap
// each other.
func (k *HMACSHA512Key) TagBatch(tags [][64]byte, msgs [][]byte) {
	k.mustLive()
	if len(tags) != len(msgs) {
		panic(fmt.Sprintf("fastmac: TagBatch with %d tags and %d messages", len(tags), len(msgs)))
	}
	if lanes, least := sha512.LaneCount(); useSHA512 && lanes > 0 && len(msgs) >= least {
		b := hmacBatch{tags: tags, msgs: msgs, key: k}
		b.run(lanes, least)
		return
	}
	for i, msg := range msgs {
		k.Tag(tags[i][:0], msg)
	}
}

// SumHMACSHA512Batch sets tags[i] to the HMAC-SHA-512 of msgs[i] under keys[i]. It
// works as [HMACSHA512Key.TagBatch] does, with the keys side by side too. tags[i] may
// overlap keys[i] and msgs[i], but no other key or message. Keys are as for
// [NewHMACSHA512Key].
func SumHMACSHA512Batch(tags [][64]byte, keys, msgs [][]byte) {
	if len(tags) != len(msgs) || len(keys) != len(msgs) {
		panic(fmt.Sprintf("fastmac: SumHMACSHA512Batch with %d tags, %d keys and %d messages", len(tags), len(keys), len(msgs)))
	}
	if lanes, least := sha512.LaneCount(); useSHA512 && lanes > 0 && len(msgs) >= least {
		b := hmacBatch{tags: tags, msgs: msgs, keys: keys}
		b.run(lanes, least)
		return
	}
	for _, key := range keys {
		mustApprove(key)
	}
	for i, msg := range msgs {
		tags[i] = SumHMACSHA512(keys[i], msg)
	}
}

// hmacBatch is a batch under way. Each lane has a message of its own, and takes the
// next one as soon as it is done.
type hmacBatch struct {
	tags [][64]byte
	msgs [][]byte
	next int // the first message that no lane has taken

	key  *HMACSHA512Key // of all messages, or
	keys [][]byte       // one for each

	state sha512.Lanes
	lanes [sha512.MaxLanes]hmacLane
}

// hmacLane is a message under way. A stage is a run of blocks; when it has been
// hashed, the next stage begins.
type hmacLane struct {
	stage   hmacStage
	message int       // its number
	blocks  int       // that are left of the run
	offset  int       // where the run goes on in the message, in stageMessage
	block   hmacBlock // the run in other stages
	long    bool      // the message's padding takes another block after stageEnd

	outer [8]uint64 // chaining value after the outer pad
}

type hmacStage uint8

const (
	stageIdle     hmacStage = iota // all messages have been taken
	stageOuterPad                  // where keys are set up: this pad first, for outer
	stageInnerPad
	stageMessage // whole blocks
	stageEnd     // the rest, with padding
	stageLength
	stageOuter
)

// run hashes lanes side by side as long as at least least of them are in use, and
// the last messages by themselves.
func (b *hmacBatch) run(lanes, least int) {
	active := 0
	for l := range lanes {
		if b.start(l); b.lanes[l].stage != stageIdle {
			active++
		}
	}
	for active >= least {
		var p [sha512.MaxLanes]*byte
		var any *byte
		blocks := sha512.MaxRun // or less, that all lanes have before them
		for l := range lanes {
			if lane := &b.lanes[l]; lane.stage != stageIdle {
				p[l] = b.at(l)
				any = p[l]
				blocks = min(blocks, lane.blocks)
			}
		}
		for l := range lanes {
			if p[l] == nil {
				p[l] = any // an idle lane has to hash something
			}
		}
		sha512.BlockLanes(&b.state, &p, blocks)
		for l := range lanes {
			if b.lanes[l].stage == stageIdle {
				continue
			}
			if b.hashed(l, blocks); b.lanes[l].stage == stageIdle {
				active--
			}
		}
	}
	for l := range lanes {
		for lane := &b.lanes[l]; lane.stage != stageIdle; {
			state := b.state.Get(l)
			sha512.Block(&state, unsafe.Slice(b.at(l), lane.blocks*sha512.BlockSize))
			b.state.Set(l, &state)
			b.hashed(l, lane.blocks)
		}
		b.lanes[l] = hmacLane{} // of secrets
	}
	b.state = sha512.Lanes{}
}

// at returns where the lane's next block is.
func (b *hmacBatch) at(l int) *byte {
	lane := &b.lanes[l]
	if lane.stage == stageMessage {
		return &b.msgs[lane.message][lane.offset]
	}
	return &lane.block[0]
}

// hashed goes on after blocks of the lane's run.
func (b *hmacBatch) hashed(l, blocks int) {
	lane := &b.lanes[l]
	if lane.blocks -= blocks; lane.blocks > 0 {
		lane.offset += blocks * sha512.BlockSize
		return
	}
	switch lane.stage {
	case stageOuterPad:
		lane.outer = b.state.Get(l)
		lane.block.flip()
		b.begin(l, stageInnerPad)
	case stageInnerPad:
		b.startMessage(l)
	case stageMessage:
		b.endMessage(l)
	case stageEnd:
		if lane.long {
			lane.block.length(b.length(l))
			b.begin(l, stageLength)
			return
		}
		fallthrough
	case stageLength:
		inner := b.state.Get(l)
		lane.block.outer(&inner)
		b.begin(l, stageOuter)
	case stageOuter:
		tag := b.state.Get(l)
		putState(&b.tags[lane.message], &tag)
		b.start(l)
	}
}

// begin begins a stage of one block, and of a hash if it is one's first.
func (b *hmacBatch) begin(l int, stage hmacStage) {
	lane := &b.lanes[l]
	lane.stage, lane.blocks = stage, 1
	switch stage {
	case stageOuterPad, stageInnerPad:
		initial := sha512.Initial()
		b.state.Set(l, &initial)
	case stageOuter:
		b.state.Set(l, &lane.outer)
	}
}

// start gives the lane the next message, if there is one.
func (b *hmacBatch) start(l int) {
	lane := &b.lanes[l]
	if b.next == len(b.msgs) {
		lane.stage = stageIdle
		return
	}
	lane.message = b.next
	b.next++
	if b.key != nil {
		lane.outer = b.key.outer
		b.state.Set(l, &b.key.inner)
		b.startMessage(l)
		return
	}
	lane.block.innerPad(b.keys[lane.message])
	lane.block.flip()
	b.begin(l, stageOuterPad)
}

// startMessage goes on after the inner pad.
func (b *hmacBatch) startMessage(l int) {
	lane := &b.lanes[l]
	lane.blocks = len(b.msgs[lane.message]) / sha512.BlockSize
	if lane.blocks == 0 {
		b.endMessage(l)
		return
	}
	lane.stage, lane.offset = stageMessage, 0
}

// endMessage goes on after the message's whole blocks.
func (b *hmacBatch) endMessage(l int) {
	lane := &b.lanes[l]
	msg := b.msgs[lane.message]
	lane.long = !lane.block.end(msg[len(msg)&^(sha512.BlockSize-1):], b.length(l))
	b.begin(l, stageEnd)
}

// length is how many bytes the inner hash takes.
func (b *hmacBatch) length(l int) uint64 {
	return sha512.BlockSize + uint64(len(b.msgs[b.lanes[l].message]))
}
