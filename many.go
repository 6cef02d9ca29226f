// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac

import (
	"fmt"
	"sync"
	"unsafe"

	"example.com/fastmac/internal/lifetime"
	"example.com/fastmac/internal/prefetch"
	"example.com/fastmac/internal/sha2"
)

// TagBatch writes the tag of batch[i].Data under keys[i] and batch[i].Nonce to batch[i].Tag, for
// each i. With HMAC there is no nonce.
//
// It is for servers with more keys than the CPU's cache has room for: while it hashes some
// messages, it loads the keys of the next ones. If all messages are under one key, the method
// TagBatch of that key is faster, for example [UMACKey.TagBatch]. The keys need no order. A key may
// occur several times. UMAC keys may have different tag sizes, and HMAC keys different hashes: messages
// that follow each other are hashed side by side if their hash is the same.
//
// Never use a nonce of UMAC or GMAC for two messages under one key, in this batch or ever.
//
// If keys and batch have different lengths, or a nonce has a wrong length, TagBatch panics before
// it writes anything. If a key is nil or was destroyed, or a Tag is not Size() bytes long, it
// panics when it comes to that message: to check all keys first would cost as much as the tags. The
// tags that it has written by then are valid, so their nonces are used.
//
// batch[i].Tag may overlap batch[i].Nonce and batch[i].Data, and no slice of another message.
// Messages may overlap each other. TagBatch does not allocate where Tag of the keys does not. It is
// safe for concurrent use with the same keys.
func TagBatch[K *UMACKey | *GMACKey | *HMACKey](keys []K, batch []Message) {
	mustPair("TagBatch", len(keys), len(batch))
	switch keys := any(keys).(type) {
	case []*UMACKey:
		mustNonces(batch, "UMAC", 1, UMACMaxNonceSize, "1 to 16")
		tagMany(keys, &linesOfKeys().umac, batch)
	case []*GMACKey:
		mustNonces(batch, "GMAC", GMACNonceSize, GMACNonceSize, "12")
		tagMany(keys, &linesOfKeys().gmac, batch)
	case []*HMACKey:
		tagHMACs(keys, batch)
	}
}

// VerifyBatch sets batch[i].OK to whether batch[i].Tag is the tag of batch[i].Data under keys[i]
// and batch[i].Nonce, and reports whether all are OK. For an empty batch it returns true. A message
// is not OK if its nonce or tag has a wrong length, or if its key is nil, as for an unknown sender.
//
// VerifyBatch works like [TagBatch]. It changes nothing except OK, which is false until the tag has
// been verified. The comparisons are constant time. All slices may overlap.
//
// If keys and batch have different lengths, VerifyBatch panics before it writes anything. If a key
// was destroyed, it panics when it comes to that message.
func VerifyBatch[K *UMACKey | *GMACKey | *HMACKey](keys []K, batch []Message) bool {
	mustPair("VerifyBatch", len(keys), len(batch))
	refuse(batch)
	switch keys := any(keys).(type) {
	case []*UMACKey:
		return verifyMany(keys, &linesOfKeys().umac, batch)
	case []*GMACKey:
		return verifyMany(keys, &linesOfKeys().gmac, batch)
	case []*HMACKey:
		return verifyHMACs(keys, batch)
	}
	panic("unreachable")
}

// mustPair panics in the function f unless there is a key for each message.
func mustPair(f string, keys, messages int) {
	if keys != messages {
		panic(fmt.Sprintf("fastmac: %s with %d keys and %d messages", f, keys, messages))
	}
}

// mustNonces panics in TagBatch unless all nonces have from least to most bytes.
func mustNonces(batch []Message, mac string, least, most int, want string) {
	for i := range batch {
		if n := len(batch[i].Nonce); n < least || n > most {
			panic(badNonce("TagBatch", i, mac, n, want))
		}
	}
}

// nilKey is the text of a panic of TagBatch: the key of message i is nil.
func nilKey(i int) string { return fmt.Sprintf("fastmac: TagBatch: key %d is nil", i) }

// tagMany is TagBatch for keys that need a nonce.
func tagMany[K UMACKey | GMACKey](keys []*K, lines *keyLines, batch []Message) {
	next := newKeyLoader(keys, lines)
	for i, k := range keys {
		next.load(batch, i)
		if k == nil {
			panic(nilKey(i))
		}
		m := &batch[i]
		switch k := any(k).(type) {
		case *UMACKey:
			if size := k.Size(); len(m.Tag) != size {
				panic(badTag("TagBatch", i, len(m.Tag), size))
			}
			k.Tag(m.Tag[:0:len(m.Tag)], m.Nonce, m.Data)
		case *GMACKey:
			k.mustLive()
			if len(m.Tag) != GMACSize {
				panic(badTag("TagBatch", i, len(m.Tag), GMACSize))
			}
			k.Tag(m.Tag[:0], m.Nonce, m.Data)
		}
	}
}

// verifyMany is VerifyBatch for such keys.
func verifyMany[K UMACKey | GMACKey](keys []*K, lines *keyLines, batch []Message) bool {
	next := newKeyLoader(keys, lines)
	all := true
	for i, k := range keys {
		next.load(batch, i)
		m := &batch[i]
		right := false
		switch k := any(k).(type) {
		case *UMACKey:
			right = k != nil && k.Verify(m.Tag, m.Nonce, m.Data)
		case *GMACKey:
			right = k != nil && k.Verify(m.Tag, m.Nonce, m.Data)
		}
		m.OK, all = right, all && right
	}
	return all
}

// tagHMACs is [TagBatch] for HMAC.
func tagHMACs(keys []*HMACKey, batch []Message) {
	mustNonces(batch, "HMAC", 0, 0, "none")
	for first := 0; first < len(keys); {
		n, form, ids := sameHash(keys[first:])
		for i := range n {
			if len(batch[first+i].Tag) != form.size() {
				before, _, ids := sameHash(keys[first : first+i])
				runExpanded(form, ids, keys[first:first+before], batch[first:first+before], false)
				panic(badTag("TagBatch", first+i, len(batch[first+i].Tag), form.size()))
			}
		}
		runExpanded(form, ids, keys[first:first+n], batch[first:first+n], false)
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
		n, form, ids := sameHash(keys[first:])
		runExpanded(form, ids, keys[first:first+n], batch[first:first+n], true)
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
func sameHash(keys []*HMACKey) (n int, form hmacForm, ids lifetime.Sum) {
	for ; n < len(keys) && keys[n] != nil; n++ {
		id, f := keys[n].life.ID(), keys[n].form
		if n == 0 {
			form = f
		}
		if id.None() || f == 0 || f != form {
			break
		}
		ids.Add(id)
	}
	return n, form, ids
}

// runExpanded computes a batch with a key for each message, all of one hash. If one of them is destroyed
// meanwhile, none of the tags gets out.
func runExpanded(form hmacForm, ids lifetime.Sum, keys []*HMACKey, batch []Message, verify bool) {
	if len(keys) == 0 {
		return
	}
	f, next := form.function(), newKeyLoader(keys, &linesOfKeys().hmac)
	runHMACs(&sha2.Batch{Hash: f, Messages: messagesOf(batch), Verify: verify,
		Expanded: next.keys, At: unsafe.Offsetof(keys[0].states), Load: func(i int) { next.load(batch, i) },
	}, batch, func(tag []byte, i int) { keys[i].sumFIPS(f, tag, batch[i].Data) })
	var now lifetime.Sum
	lifetime.Loads()
	for _, k := range keys {
		now.Add(k.life.ID())
	}
	switch {
	case now == ids:
	case verify:
		panic(refuseTags(batch, deadHMACKey))
	default:
		panic(clearTags(batch, deadHMACKey))
	}
}

// keysAhead is how many keys ahead of a message are loaded, at least, while those of the messages
// before them are in use: see BenchmarkManyKeys.
const keysAhead = 8

// keyLoader loads the keys of a batch into the cache before they are needed.
type keyLoader struct {
	keys  []*byte
	lines *keyLines
	done  int // so many have been loaded, or are about to be
}

// newKeyLoader returns one for keys. It is made where they are on the stack: a pointer to them that
// is stored later would move them, and the messages, to the heap.
func newKeyLoader[T any](keys []*T, lines *keyLines) keyLoader {
	first := (**byte)(unsafe.Pointer(unsafe.SliceData(keys))) // the keys as pointers to their first bytes
	return keyLoader{keys: unsafe.Slice(first, len(keys)), lines: lines}
}

// load is called before message i, for each i in turn.
func (l *keyLoader) load(batch []Message, i int) {
	if prefetch.InUse && i%prefetch.Group == 0 {
		l.loadTo(batch, min(len(batch), i+prefetch.Group+keysAhead))
	}
}

// loadTo loads keys up to the one of message end. A call is for a run of messages of about the
// same length.
func (l *keyLoader) loadTo(batch []Message, end int) {
	for l.done < end {
		var group [prefetch.Group]*byte
		class := l.lines.class(len(batch[l.done].Data))
		for i := range group {
			if group[i] = group[0]; l.done < end && l.lines.class(len(batch[l.done].Data)) == class {
				group[i] = l.keys[l.done]
				l.done++
			}
		}
		prefetch.Lines(&group, l.lines.offsets[:l.lines.counts[class]])
	}
}

// keyLines are the cache lines of a key of some type that a message needs. A message that is
// longer needs some more, so one list is enough.
type keyLines struct {
	offsets []uint64 // of a byte of each line
	counts  []uint8  // how many of them a message needs, by its class
}

// class returns the class of a message of n bytes: the number of its chunks, up to the last
// class.
func (l *keyLines) class(n int) uint {
	return min((uint(n)+chunkOfClass-1)/chunkOfClass, uint(len(l.counts))-1)
}

// chunkOfClass is how many bytes of a message make a class. They need 32 bytes of each half of
// the L1 key of UMAC.
const chunkOfClass = 64

// cacheLine is the size of a cache line in bytes. Where a CPU has longer ones, some are asked for
// twice.
const cacheLine = 64

// linesOf returns the lines that parts of a key are in, for each class what those of the classes
// before it do not have. A part is two offsets, those of its first byte and of the byte after the
// last one. The key begins at a byte of a cache line.
func linesOf(at uintptr, classes ...[][2]uintptr) (l keyLines) {
	var has uint64 // bit by bit: no key has 64 lines
	for _, parts := range classes {
		for _, part := range parts {
			for line := (at + part[0]) / cacheLine; line <= (at+part[1]-1)/cacheLine; line++ {
				if has>>line&1 == 0 {
					has |= 1 << line
					l.offsets = append(l.offsets, uint64(max(line*cacheLine, at)-at))
				}
			}
		}
		l.counts = append(l.counts, uint8(len(l.offsets)))
	}
	return l
}

// The lists are for keys that the runtime allocates. A key of GMAC then begins at the start of a
// cache line, one of UMAC 8 bytes after it (see TestKeyLine), and one of HMAC anywhere. Of
// keys in other places a line may be missing, which costs time only.
type listsOfLines struct {
	made             sync.Once
	umac, gmac, hmac keyLines
}

var lists listsOfLines

// linesOfKeys returns the lists, which are made when the first batch needs one.
func linesOfKeys() *listsOfLines {
	lists.made.Do(func() {
		lists.umac = linesOf(8, umacParts()...)
		lists.gmac = linesOf(0, [][2]uintptr{{0, unsafe.Sizeof(GMACKey{})}})
		lists.hmac = linesOf(cacheLine-8, [][2]uintptr{{0, unsafe.Sizeof(HMACKey{})}})
	})
	return &lists
}

// umacParts returns the parts of a UMACKey that messages of each class need for two iterations and
// with a key of 16 bytes. Four iterations need 16 bytes more of the L1 key, and longer keys 32 or 64
// bytes more of the key schedule. The last class is of messages that do not fit into a block.
func umacParts() (classes [][][2]uintptr) {
	var k UMACKey
	const step, schedule = 4 * l1Half, 4 * 44 // of an iteration in each half of the L1 key; of AES-128
	pad := [2]uintptr{0, unsafe.Offsetof(k.pad) + unsafe.Offsetof(k.pad.schedule) + schedule}
	uhash := unsafe.Offsetof(k.uhash)
	lo := uhash + unsafe.Offsetof(k.uhash.l1) + unsafe.Offsetof(k.uhash.l1.lo)
	hi := uhash + unsafe.Offsetof(k.uhash.l1) + unsafe.Offsetof(k.uhash.l1.hi)
	for n := 0; n <= l1Block/chunkOfClass; n++ {
		half := uintptr(max(n, 1) * chunkOfClass / 2)
		classes = append(classes, [][2]uintptr{
			pad,
			{uhash, min(lo+half+step, lo+unsafe.Sizeof(k.uhash.l1.lo))},
			{hi, min(hi+half+step, hi+unsafe.Sizeof(k.uhash.l1.hi))},
		})
	}
	return append(classes, [][2]uintptr{pad, {uhash, uhash + unsafe.Sizeof(k.uhash)}})
}
