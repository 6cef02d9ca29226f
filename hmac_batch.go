// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac

import (
	"crypto"
	"fmt"
	"unsafe"

	"example.com/fastmac/internal/sha2"
	"example.com/fastmac/internal/wipe"
)

// TagBatch writes the tag of batch[i].Data to batch[i].Tag, for each i. If a Tag is not Size() bytes
// long, or there is a Nonce, it panics before it writes anything. It does not allocate, except in
// FIPS 140 mode.
//
// On amd64 it hashes several messages side by side, whatever their lengths: with SHA-224 and SHA-256
// 16 (AVX-512) or two (SHA instructions), with the other hashes eight (AVX-512) or four (AVX2). It is
// fastest if they have about the same length, and if their number is a multiple of that. On arm64 with
// SHA2 instructions, or with SHA512 instructions for the other hashes, it hashes messages 0 and 1 side
// by side, then 2 and 3, and so on, for as many blocks as the shorter of the two has.
//
// batch[i].Tag may overlap batch[i].Data, and no slice of another message. Messages may overlap
// each other.
func (k *HMACKey) TagBatch(batch []Message) {
	k.mustLive()
	mustHMACBatch("TagBatch", batch, int(k.size))
	b := hmacBatch{hash: sha2.Of(crypto.Hash(k.hash)), batch: batch, key: k}
	b.run()
}

// VerifyBatch sets batch[i].OK to whether batch[i].Tag is the tag of batch[i].Data, and reports
// whether all are OK. For an empty batch it returns true. A message is not OK if its Tag has a
// wrong length, or if it has a Nonce.
//
// VerifyBatch is nearly as fast as [HMACKey.TagBatch]. It changes nothing except OK, which is false
// until the tag has been verified. The comparisons are constant time. All slices may overlap.
func (k *HMACKey) VerifyBatch(batch []Message) bool {
	refuse(batch)
	k.mustLive()
	b := hmacBatch{hash: sha2.Of(crypto.Hash(k.hash)), batch: batch, verify: true, key: k}
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

// SumHMACBatch writes the HMAC of batch[i].Data under keys[i] to batch[i].Tag, for each i. It works
// like [HMACKey.TagBatch], and also expands keys side by side. h and keys are as for [NewHMACKey],
// whose errors are panics here. To verify, compare the tags with [crypto/hmac.Equal].
//
// If keys and batch have different lengths, it panics before it writes anything, as it does for a
// wrong Tag or Nonce. batch[i].Tag may overlap keys[i] and batch[i].Data, and no slice of another
// message or key.
func SumHMACBatch(h crypto.Hash, keys [][]byte, batch []Message) {
	if len(keys) != len(batch) {
		panic(fmt.Sprintf("fastmac: SumHMACBatch with %d keys and %d messages", len(keys), len(batch)))
	}
	f, err := hashOf(h)
	for _, key := range keys {
		if err == nil {
			err = approve(key)
		}
	}
	if err != nil {
		panic(err.Error())
	}
	mustHMACBatch("SumHMACBatch", batch, f.Size)
	b := hmacBatch{hash: f, batch: batch, keys: keys}
	b.run()
}

// mustHMACBatch panics if a Tag of the batch does not have size bytes, or if there is a Nonce.
func mustHMACBatch(f string, batch []Message, size int) {
	for i := range batch {
		m := &batch[i]
		if len(m.Tag) != size {
			panic(badTag(f, i, len(m.Tag), size))
		}
		if len(m.Nonce) != 0 {
			panic(badNonce(f, i, "HMAC", len(m.Nonce), "none"))
		}
	}
}

// hmacBatch is a batch under way.
type hmacBatch struct {
	hash   *sha2.Hash
	batch  []Message
	verify bool // whether to compare the tags
	next   int  // the first message that has not been started

	key  *HMACKey // of all messages, or
	keys [][]byte // one for each, or

	expanded []*HMACKey // one for each, which is loaded
	loader   keyLoader  // before it is needed
}

// run computes the batch.
func (b *hmacBatch) run() {
	switch {
	case useFIPS:
	case b.hash.Initial512 != nil:
		sideBySide(b, b.hash.Initial512)
	default:
		sideBySide(b, b.hash.Initial256)
	}
	for ; b.next < len(b.batch); b.next++ {
		var tag hmacTag
		m := &b.batch[b.next]
		want := b.room(m, &tag)
		switch {
		case b.key != nil:
			b.key.sum(want, m.Data)
		case b.keys != nil:
			sumUnder(b.hash, want, b.keys[b.next], m.Data)
		default:
			b.loader.load(b.batch, b.next)
			b.expanded[b.next].sum(want, m.Data)
		}
		if b.verify {
			b.finish(m, want)
		}
	}
}

// room returns where the tag of a message is computed: in its place, or in tag if it is to be compared.
func (b *hmacBatch) room(m *Message, tag *hmacTag) []byte {
	if b.verify {
		return tag[:b.hash.Size]
	}
	return m.Tag
}

// finish sets the tag of a message, or compares it.
func (b *hmacBatch) finish(m *Message, tag []byte) {
	switch {
	case b.verify:
		m.OK = len(m.Nonce) == 0 && equalTag(m.Tag, tag)
	case len(tag) == sha2.Size512: // these two save a call
		*(*[sha2.Size512]byte)(m.Tag) = [sha2.Size512]byte(tag)
	case len(tag) == sha2.Size256:
		*(*[sha2.Size256]byte)(m.Tag) = [sha2.Size256]byte(tag)
	default:
		copy(m.Tag, tag)
	}
}

// sideBySide computes messages of the batch in lanes or in pairs, and leaves those that are faster
// one by one. The hash has that initial value.
func sideBySide[W sha2.Word](b *hmacBatch, initial *sha2.State[W]) {
	sha2.Choose[W]()
	if lanes, minLanes := sha2.LaneCount[W](); lanes > 0 && len(b.batch) >= minLanes {
		runLanes(b, initial, lanes, minLanes)
	}
	if sha2.HasPairs[W]() && len(b.batch)-b.next >= 2 {
		runPairs(b, initial)
	}
}

// runPairs hashes two messages side by side, then the next two, and so on.
func runPairs[W sha2.Word](b *hmacBatch, initial *sha2.State[W]) {
	wipe.ReserveStack()
	var tags [2]hmacTag
	var keys [2]sha2.Key[W]
	var m [2]sha2.Message[W]
	for i := range m {
		m[i].N = uint64(sha2.BlockSize[W]())
		k := &keys[i]
		if b.key != nil {
			k = words[W](b.key)
		}
		m[i].State, m[i].Outer = &k.Inner, &k.Outer
	}
	for ; len(b.batch)-b.next >= 2; b.next += 2 {
		for i := range m {
			switch n := b.next + i; {
			case b.keys != nil:
				keys[i].Init(initial, b.hash.Size, b.keys[n])
			case b.expanded != nil:
				b.loader.load(b.batch, n)
				k := words[W](b.expanded[n])
				m[i].State, m[i].Outer = &k.Inner, &k.Outer
			}
			message := &b.batch[b.next+i]
			m[i].Out, m[i].P = b.room(message, &tags[i]), message.Data
		}
		sha2.SumPair(&m)
		if b.verify {
			for i := range m {
				b.finish(&b.batch[b.next+i], m[i].Out)
			}
		}
	}
	keys = [2]sha2.Key[W]{}
}

// hmacLanes are messages of a batch side by side. Each lane has one message at a time, and starts
// the next one as soon as it is done.
type hmacLanes[W sha2.Word] struct {
	*hmacBatch
	cut            sha2.LaneSet // sha2.AllHashes if the hash is cut, so that the kernel makes no outer block
	lanes          [sha2.MaxLanes]hmacLane
	ends           [sha2.MaxLanes * 2 * sha2.BlockSize256 / 8]uint64 // a Tail for each lane
	value          *sha2.State[W]                                    // the initial one
	initial, outer sha2.LaneSet                                      // those that begin a hash, and an outer hash after the inner one
	hashes         sha2.Lanes[W]
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
//
// The kernel makes the block of Outer, if the inner hash is not cut.
type hmacLane struct {
	stage   hmacStage
	message int // its number
}

type hmacStage uint8

const (
	stageOuterPad hmacStage = iota
	stageInnerPad
	stageMessage
	stageEnd
	stageOuter
)

// runLanes hashes lanes side by side, while there are minLanes messages for them.
func runLanes[W sha2.Word](b *hmacBatch, initial *sha2.State[W], lanes, minLanes int) {
	wipe.ReserveStack()
	s := hmacLanes[W]{hmacBatch: b, value: initial}
	if b.hash.Size != sha2.Size[W]() {
		s.cut = sha2.AllHashes
	}
	s.run(lanes, minLanes)
}

// run is runLanes after the stack has room for its frame, which has secrets.
func (b *hmacLanes[W]) run(lanes, minLanes int) {
	if b.key != nil {
		b.hashes.SetInitial(&words[W](b.key).Inner)
		b.hashes.SetOuter(&words[W](b.key).Outer)
	} else if b.keys != nil {
		b.hashes.SetInitial(b.value)
	}
	for b.together(lanes) {
	}
	var runs [sha2.MaxLanes][]byte // the rest of each lane's run; a lane without one is idle
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
		initial, outer := b.initial, b.outer|b.cut
		b.initial, b.outer = 0, 0
		hashed := b.hashes.Block(&runs, initial, outer) * sha2.BlockSize[W]()
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
	b.hashes = sha2.Lanes[W]{} // wipe secrets
	clear(b.ends[:])
}

// together computes the next messages in all lanes if they have the same length, and reports whether
// it has. Then all lanes are in the same stage, and there is nothing to decide for each.
func (b *hmacLanes[W]) together(lanes int) bool {
	size, batch := sha2.BlockSize[W](), b.batch[b.next:]
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
	var runs [sha2.MaxLanes][]byte
	all := sha2.LaneSet(1)<<lanes - 1
	initial := all
	switch {
	case b.expanded != nil:
		for l := range batch {
			b.loader.load(b.batch, b.next+l)
			k := words[W](b.expanded[b.next+l])
			b.hashes.Begin(l, &k.Inner, &k.Outer)
		}
		initial = 0
	case b.keys != nil:
		for l := range batch {
			runs[l] = b.outerPad(l, b.keys[b.next+l])
		}
		b.hashes.Block(&runs, all, 0)
		b.hashes.MoveAllToOuter()
		for l := range batch {
			b.end(l)[0].FlipPad()
		}
		b.hashes.Block(&runs, all, 0)
		initial = 0
	}
	for l := range batch {
		runs[l] = batch[l].Data[:n&^(size-1)]
	}
	for len(runs[0]) > 0 {
		hashed := b.hashes.Block(&runs, initial, 0) * size
		initial = 0
		for l := range batch {
			runs[l] = runs[l][hashed:]
		}
	}
	for l := range batch {
		runs[l] = b.end(l).Write(batch[l].Data[n&^(size-1):], uint64(size+n))
	}
	b.hashes.Block(&runs, initial, b.cut)
	if b.cut == 0 {
		for l := range batch {
			runs[l] = runs[l][:size]
		}
		b.hashes.Block(&runs, 0, all)
	} else {
		for l := range batch {
			runs[l] = b.outerBlock(l)
		}
		b.hashes.BeginAllOuter()
		b.hashes.Block(&runs, 0, b.cut)
	}
	for l := range batch {
		b.finish(&batch[l], b.hashes.Hash(l)[:b.hash.Size])
	}
	b.next += lanes
	return true
}

// outerPad returns the outer pad of a key, in the room of a lane.
func (b *hmacLanes[W]) outerPad(l int, key []byte) []byte {
	pad := &b.end(l)[0]
	pad.SetOuterPad(b.value, b.hash.Size, key)
	return pad.Bytes()
}

// start gives an idle lane the next message, and returns its first run.
func (b *hmacLanes[W]) start(l int) []byte {
	lane := &b.lanes[l]
	lane.message = b.next
	b.next++
	if b.expanded != nil {
		b.loader.load(b.batch, lane.message)
		k := words[W](b.expanded[lane.message])
		b.hashes.Begin(l, &k.Inner, &k.Outer)
		return b.startMessage(l)
	}
	b.initial |= 1 << l
	if b.key != nil {
		return b.startMessage(l)
	}
	lane.stage = stageOuterPad
	return b.outerPad(l, b.keys[lane.message])
}

// advance returns the next run of a lane, after one has been hashed. There is none if the lane is
// done.
func (b *hmacLanes[W]) advance(l int) []byte {
	lane := &b.lanes[l]
	switch lane.stage {
	case stageOuterPad:
		lane.stage = stageInnerPad
		b.hashes.MoveToOuter(l)
		b.initial |= 1 << l
		pad := &b.end(l)[0]
		pad.FlipPad()
		return pad.Bytes()
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
	b.finish(&b.batch[lane.message], b.hashes.Hash(l)[:b.hash.Size])
	return nil
}

// outerBlock returns the block of the outer hash of a lane, if the inner one is cut.
func (b *hmacLanes[W]) outerBlock(l int) []byte {
	inner := b.hashes.Hash(l)[:b.hash.Size]
	return b.end(l).Write(inner, uint64(sha2.BlockSize[W]()+len(inner)))
}

// startMessage begins the message of a lane, after the inner pad.
func (b *hmacLanes[W]) startMessage(l int) []byte {
	lane := &b.lanes[l]
	data := b.batch[lane.message].Data
	if len(data) < sha2.BlockSize[W]() {
		return b.startEnd(l)
	}
	lane.stage = stageMessage
	return data[:len(data)&^(sha2.BlockSize[W]()-1)]
}

// startEnd begins the end of the message of a lane, after its whole blocks.
func (b *hmacLanes[W]) startEnd(l int) []byte {
	lane := &b.lanes[l]
	lane.stage = stageEnd
	data := b.batch[lane.message].Data
	return b.end(l).Write(data[len(data)&^(sha2.BlockSize[W]()-1):], uint64(sha2.BlockSize[W]()+len(data)))
}

// end returns the room for a pad or an end of a lane.
func (b *hmacLanes[W]) end(l int) *sha2.Tail[W] {
	return (*sha2.Tail[W])(unsafe.Pointer(&b.ends[l*2*sha2.BlockSize[W]()/8]))
}

// tagHMACs is [TagBatch] for HMAC.
func tagHMACs(keys []*HMACKey, batch []Message) {
	mustNonces(batch, "HMAC", 0, 0, "none")
	for first := 0; first < len(keys); {
		n := sameHash(keys[first:])
		for i := range n {
			if size := int(keys[first].size); len(batch[first+i].Tag) != size {
				runExpanded(keys[first:first+i], batch[first:first+i], false)
				panic(badTag("TagBatch", first+i, len(batch[first+i].Tag), size))
			}
		}
		runExpanded(keys[first:first+n], batch[first:first+n], false)
		if first += n; first < len(keys) && keys[first] == nil {
			panic(nilKey(first))
		} else if first < len(keys) {
			keys[first].mustLive()
		}
	}
}

// verifyHMACs is [VerifyBatch] for HMAC.
func verifyHMACs(keys []*HMACKey, batch []Message) bool {
	for first := 0; first < len(keys); {
		n := sameHash(keys[first:])
		runExpanded(keys[first:first+n], batch[first:first+n], true)
		if first += n; first < len(keys) && keys[first] == nil {
			first++ // not OK
		} else if first < len(keys) {
			keys[first].mustLive()
		}
	}
	return allOK(batch)
}

// sameHash returns how many keys at the beginning have one hash, and are neither nil nor destroyed. It
// looks at all of them before they are used, because messages side by side do not end in order: loads
// of keys are cheap beside SHA-2.
func sameHash(keys []*HMACKey) (n int) {
	for n < len(keys) && keys[n] != nil && keys[n].size != 0 && keys[n].hash == keys[0].hash {
		n++
	}
	return n
}

// runExpanded computes a batch with a key for each message, all of one hash.
func runExpanded(keys []*HMACKey, batch []Message, verify bool) {
	if len(keys) > 0 {
		b := hmacBatch{hash: sha2.Of(crypto.Hash(keys[0].hash)), batch: batch, verify: verify, expanded: keys, loader: newKeyLoader(keys, &hmacLines)}
		b.run()
	}
}
