// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sha2

import (
	"crypto/subtle"
	"encoding/binary"
	"unsafe"

	"example.com/fastmac/internal/prefetch"
	"example.com/fastmac/internal/wipe"
)

// A Batch is HMACs of several messages, all with one hash.
type Batch struct {
	Hash     *Hash
	Messages []BatchMessage
	Verify   bool // whether to compare the tags

	Key  *KeyRoom // of all messages, or
	Keys [][]byte // one for each, or

	// one for each, in the KeyRooms that are At bytes after these pointers. Load is called in turn for
	// messages whose number is a multiple of [prefetch.Group], before their keys are used.
	Expanded []*byte
	At       uintptr
	Load     func(i int)

	next int // the first message that has not been started
}

// A BatchMessage is a message of a batch, which has the fields of Message of package fastmac. If there is
// a Nonce it is not OK.
type BatchMessage struct {
	Nonce, Data, Tag []byte
	OK               bool
}

// A Tag has room for a tag of any hash.
type Tag [Size512]byte

// EqualTags reports whether tag is want. Its time depends only on the lengths. For the usual sizes it
// compares words: with [subtle.ConstantTimeCompare], which compares bytes, to verify a batch takes a third
// longer.
func EqualTags(tag, want []byte) bool {
	var diff uint64
	switch {
	case len(tag) != len(want):
		return false
	case len(want) == Size256:
		a, b := (*[Size256]byte)(tag), (*[Size256]byte)(want)
		for i := 0; i < len(a); i += 8 {
			diff |= binary.LittleEndian.Uint64(a[i:]) ^ binary.LittleEndian.Uint64(b[i:])
		}
	case len(want) == Size512:
		a, b := (*[Size512]byte)(tag), (*[Size512]byte)(want)
		for i := 0; i < len(a); i += 8 {
			diff |= binary.LittleEndian.Uint64(a[i:]) ^ binary.LittleEndian.Uint64(b[i:])
		}
	default:
		return subtle.ConstantTimeCompare(tag, want) == 1
	}
	return diff == 0
}

// Run writes the tags of the batch, or sets OK.
func (b *Batch) Run() {
	if b.Hash.Wide() {
		run(b, b.Hash.Initial512)
	} else {
		run(b, b.Hash.Initial256)
	}
}

// run computes messages in lanes or in pairs, and those that are faster so one by one. The hash has that
// initial value.
func run[W Word](b *Batch, initial *State[W]) {
	chooseForBatches[W]()
	if lanes, minLanes := LaneCount[W](); lanes > 0 && len(b.Messages) >= minLanes {
		runLanes(b, initial, lanes, minLanes)
	}
	if HasPairs[W]() && len(b.Messages)-b.next >= 2 {
		runPairs(b, initial)
	}
	for ; b.next < len(b.Messages); b.next++ {
		var tag Tag
		m := &b.Messages[b.next]
		out := b.room(m, &tag)
		if b.Keys != nil {
			SumUnder(initial, out, b.Keys[b.next], m.Data)
		} else {
			room := b.Key
			if room == nil {
				room = b.expanded(b.next)
			}
			k := In[W](room)
			Sum(out, &k.Inner, &k.Outer, uint64(BlockSize[W]()), m.Data)
		}
		if b.Verify {
			b.finish(m, out)
		}
	}
}

// expanded returns the key of message i.
func (b *Batch) expanded(i int) *KeyRoom {
	if prefetch.InUse && i%prefetch.Group == 0 {
		b.Load(i)
	}
	return (*KeyRoom)(unsafe.Add(unsafe.Pointer(b.Expanded[i]), b.At))
}

// room returns where the tag of a message is computed: in its place, or in tag if it is to be compared.
func (b *Batch) room(m *BatchMessage, tag *Tag) []byte {
	if b.Verify {
		return tag[:b.Hash.Size]
	}
	return m.Tag
}

// finish sets the tag of a message, or compares it.
func (b *Batch) finish(m *BatchMessage, tag []byte) {
	switch {
	case b.Verify:
		m.OK = len(m.Nonce) == 0 && EqualTags(m.Tag, tag)
	case len(tag) == Size512: // these two save a call
		*(*[Size512]byte)(m.Tag) = [Size512]byte(tag)
	case len(tag) == Size256:
		*(*[Size256]byte)(m.Tag) = [Size256]byte(tag)
	default:
		copy(m.Tag, tag)
	}
}

// runPairs hashes two messages side by side, then the next two, and so on.
func runPairs[W Word](b *Batch, initial *State[W]) {
	wipe.ReserveStack()
	var tags [2]Tag
	var keys [2]Key[W]
	var m [2]Message[W]
	for i := range m {
		m[i].N = uint64(BlockSize[W]())
		k := &keys[i]
		if b.Key != nil {
			k = In[W](b.Key)
		}
		m[i].State, m[i].Outer = &k.Inner, &k.Outer
	}
	for ; len(b.Messages)-b.next >= 2; b.next += 2 {
		for i := range m {
			switch n := b.next + i; {
			case b.Keys != nil:
				keys[i].Init(initial, b.Hash.Size, b.Keys[n])
			case b.Expanded != nil:
				k := In[W](b.expanded(n))
				m[i].State, m[i].Outer = &k.Inner, &k.Outer
			}
			message := &b.Messages[b.next+i]
			m[i].Out, m[i].P = b.room(message, &tags[i]), message.Data
		}
		SumPair(&m)
		if b.Verify {
			for i := range m {
				b.finish(&b.Messages[b.next+i], m[i].Out)
			}
		}
	}
	keys = [2]Key[W]{}
}

// batchLanes are messages of a batch side by side. Each lane has one message at a time, and starts
// the next one as soon as it is done.
type batchLanes[W Word] struct {
	*Batch
	cut            LaneSet // AllHashes if the hash is cut, so that the kernel makes no outer block
	lanes          [MaxLanes]batchLane
	ends           [MaxLanes * 2 * BlockSize256 / 8]uint64 // a Tail for each lane
	value          *State[W]                               // the initial one
	initial, outer LaneSet                                 // those that begin a hash, and an outer hash after the inner one
	hashes         Lanes[W]
}

// batchLane is a message under way. A stage is a run of blocks; when it has been
// hashed, the next stage begins. The first two are only for a batch with many keys.
//
//	stage     blocks                                   then
//	OuterPad  the outer pad                            InnerPad
//	InnerPad  the inner pad                            Message
//	Message   the whole blocks of the message, if any  End
//	End       the rest of it, with padding             Outer
//	Outer     the inner hash, after the outer pad      the first stage of the next message
//
// The kernel makes the block of Outer, if the inner hash is not cut.
type batchLane struct {
	stage   batchStage
	message int // its number
}

type batchStage uint8

const (
	stageOuterPad batchStage = iota
	stageInnerPad
	stageMessage
	stageEnd
	stageOuter
)

// runLanes hashes lanes side by side, while there are minLanes messages for them.
func runLanes[W Word](b *Batch, initial *State[W], lanes, minLanes int) {
	wipe.ReserveStack()
	s := batchLanes[W]{Batch: b, value: initial}
	if b.Hash.Size != Size[W]() {
		s.cut = AllHashes
	}
	s.run(lanes, minLanes)
}

// run is runLanes after the stack has room for its frame, which has secrets.
func (b *batchLanes[W]) run(lanes, minLanes int) {
	if b.Key != nil {
		b.hashes.SetInitial(&In[W](b.Key).Inner)
		b.hashes.SetOuter(&In[W](b.Key).Outer)
	} else if b.Keys != nil {
		b.hashes.SetInitial(b.value)
	}
	for b.together(lanes) {
	}
	var runs [MaxLanes][]byte // the rest of each lane's run; a lane without one is idle
	for active := 0; ; {
		for l := 0; l < lanes && b.next < len(b.Messages) && active+len(b.Messages)-b.next >= minLanes; l++ {
			if len(runs[l]) == 0 {
				runs[l] = b.start(l)
				active++
			}
		}
		if active == 0 {
			break
		}
		initial, outer := b.initial, b.outer|b.cut
		b.initial, b.outer = 0, 0
		hashed := b.hashes.Block(&runs, initial, outer) * BlockSize[W]()
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
	b.hashes = Lanes[W]{} // wipe secrets
	clear(b.ends[:])
}

// together computes the next messages in all lanes if they have the same length, and reports whether
// it has. Then all lanes are in the same stage, and there is nothing to decide for each: without it, 64
// messages of 28 bytes take 17 % longer with SHA-256 and 7 % with SHA-512; from 1 KiB on nothing is lost.
func (b *batchLanes[W]) together(lanes int) bool {
	size, batch := BlockSize[W](), b.Messages[b.next:]
	if len(batch) < lanes {
		return false
	}
	batch = batch[:lanes]
	n := len(batch[0].Data)
	for i := range batch {
		if len(batch[i].Data) != n {
			return false
		}
	}
	var first [MaxLanes]*byte // the blocks of each lane
	all := LaneSet(1)<<lanes - 1
	initial := all
	switch {
	case b.Expanded != nil:
		for l := range batch {
			k := In[W](b.expanded(b.next + l))
			b.hashes.Begin(l, &k.Inner, &k.Outer)
		}
		initial = 0
	case b.Keys != nil:
		for l := range batch {
			first[l] = &b.outerPad(l, b.Keys[b.next+l])[0]
		}
		compressLanes(&b.hashes, &first, 1, all, 0)
		b.hashes.MoveAllToOuter()
		for l := range batch {
			b.addToPad(l, innerPad^outerPad)
		}
		compressLanes(&b.hashes, &first, 1, all, 0)
		initial = 0
	}
	whole := n &^ (size - 1)
	for done := 0; done < whole; {
		for l := range batch {
			first[l] = &batch[l].Data[done]
		}
		blocks := min((whole-done)/size, maxLaneRun)
		compressLanes(&b.hashes, &first, blocks, initial, 0)
		initial = 0
		done += blocks * size
	}
	blocks := 0
	for l := range batch {
		end := b.end(l).Write(batch[l].Data[whole:], uint64(size+n))
		first[l], blocks = &end[0], len(end)/size
	}
	compressLanes(&b.hashes, &first, blocks, initial, b.cut)
	if b.cut == 0 {
		compressLanes(&b.hashes, &first, 1, 0, all)
	} else {
		for l := range batch {
			b.outerBlock(l)
		}
		b.hashes.BeginAllOuter()
		compressLanes(&b.hashes, &first, 1, 0, b.cut)
	}
	for l := range batch {
		b.finish(&batch[l], b.hashes.Hash(l)[:b.Hash.Size])
	}
	b.next += lanes
	return true
}

// outerPad returns the outer pad of a key, in the room of a lane.
func (b *batchLanes[W]) outerPad(l int, key []byte) []byte {
	pad := &b.end(l)[0]
	pad.setKey(b.value, b.Hash.Size, key)
	b.addToPad(l, outerPad)
	return pad.Bytes()
}

// addToPad adds a word to each 8 bytes of a pad in the room of a lane.
func (b *batchLanes[W]) addToPad(l int, word uint64) {
	size := BlockSize[W]() / 8
	for w := b.ends[2*size*l:][:size]; len(w) > 0; w = w[4:] {
		w[0], w[1], w[2], w[3] = w[0]^word, w[1]^word, w[2]^word, w[3]^word
	}
}

// start gives an idle lane the next message, and returns its first run.
func (b *batchLanes[W]) start(l int) []byte {
	lane := &b.lanes[l]
	lane.message = b.next
	b.next++
	if b.Expanded != nil {
		k := In[W](b.expanded(lane.message))
		b.hashes.Begin(l, &k.Inner, &k.Outer)
		return b.startMessage(l)
	}
	b.initial |= 1 << l
	if b.Key != nil {
		return b.startMessage(l)
	}
	lane.stage = stageOuterPad
	return b.outerPad(l, b.Keys[lane.message])
}

// advance returns the next run of a lane, after one has been hashed. There is none if the lane is
// done.
func (b *batchLanes[W]) advance(l int) []byte {
	lane := &b.lanes[l]
	switch lane.stage {
	case stageOuterPad:
		lane.stage = stageInnerPad
		b.hashes.MoveToOuter(l)
		b.initial |= 1 << l
		b.addToPad(l, innerPad^outerPad)
		return b.end(l)[0].Bytes()
	case stageInnerPad:
		return b.startMessage(l)
	case stageMessage:
		return b.startEnd(l)
	case stageEnd:
		lane.stage = stageOuter
		if b.cut == 0 {
			b.outer |= 1 << l
			return b.end(l)[0].Bytes()
		}
		run := b.outerBlock(l)
		b.hashes.BeginOuter(l)
		return run
	}
	b.finish(&b.Messages[lane.message], b.hashes.Hash(l)[:b.Hash.Size])
	return nil
}

// outerBlock returns the block of the outer hash of a lane, if the inner one is cut.
func (b *batchLanes[W]) outerBlock(l int) []byte {
	inner := b.hashes.Hash(l)[:b.Hash.Size]
	return b.end(l).Write(inner, uint64(BlockSize[W]()+len(inner)))
}

// startMessage begins the message of a lane, after the inner pad.
func (b *batchLanes[W]) startMessage(l int) []byte {
	lane := &b.lanes[l]
	data := b.Messages[lane.message].Data
	if len(data) < BlockSize[W]() {
		return b.startEnd(l)
	}
	lane.stage = stageMessage
	return data[:len(data)&^(BlockSize[W]()-1)]
}

// startEnd begins the end of the message of a lane, after its whole blocks.
func (b *batchLanes[W]) startEnd(l int) []byte {
	lane := &b.lanes[l]
	lane.stage = stageEnd
	data := b.Messages[lane.message].Data
	return b.end(l).Write(data[len(data)&^(BlockSize[W]()-1):], uint64(BlockSize[W]()+len(data)))
}

// end returns the room for a pad or an end of a lane.
func (b *batchLanes[W]) end(l int) *Tail[W] {
	return (*Tail[W])(unsafe.Pointer(&b.ends[l*2*BlockSize[W]()/8]))
}
