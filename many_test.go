// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac

import (
	"bytes"
	"crypto"
	"fmt"
	"maps"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"example.com/fastmac/internal/mactest"
	"example.com/fastmac/internal/prefetch"
)

// manyKeys is what tests of batches over many keys know of a type of key.
type manyKeys[K interface {
	*UMACKey | *GMACKey | *HMACKey
}] struct {
	mac     string
	newKey  func(i int) K // tag sizes and sizes of keys differ
	size    func(k K) int
	tag     func(k K, nonce, msg []byte) []byte
	destroy func(k K)
	nonces  []int          // their sizes
	bad     map[int]string // sizes that nonces do not have, and what a panic says of them
	rng     *rand.ChaCha8
}

func manyUMAC(rng *rand.ChaCha8) manyKeys[*UMACKey] {
	return manyKeys[*UMACKey]{
		"UMAC",
		func(i int) *UMACKey {
			return mactest.Must(NewUMACKey(mactest.Random(rng, 16+8*(i%3)), mactest.UMACTagSizes[i%4]))
		},
		(*UMACKey).Size, func(k *UMACKey, nonce, msg []byte) []byte { return k.Tag(nil, nonce, msg) },
		(*UMACKey).Destroy, []int{1, 8, 16}, map[int]string{0: "want 1 to 16", 17: "want 1 to 16"}, rng,
	}
}

func manyGMAC(rng *rand.ChaCha8) manyKeys[*GMACKey] {
	return manyKeys[*GMACKey]{
		"GMAC",
		func(i int) *GMACKey { return mactest.Must(NewGMACKey(mactest.Random(rng, 16+8*(i%3)))) },
		(*GMACKey).Size, func(k *GMACKey, nonce, msg []byte) []byte { return k.Tag(nil, nonce, msg) },
		(*GMACKey).Destroy, []int{12}, map[int]string{0: "want 12", 8: "want 12", 16: "want 12"}, rng,
	}
}

func manyHMAC(h crypto.Hash, rng *rand.ChaCha8) manyKeys[*HMACKey] {
	return manyKeys[*HMACKey]{
		"HMAC",
		func(i int) *HMACKey { return newKey(h, mactest.Random(rng, 14+7*i)) },
		(*HMACKey).Size, func(k *HMACKey, _, msg []byte) []byte { return k.Tag(nil, msg) },
		(*HMACKey).Destroy, []int{0}, map[int]string{1: "want none", 12: "want none"}, rng,
	}
}

// TestManyKeys has batches of all lengths up to 20 and some more, in which keys are there several
// times.
func TestManyKeys(t *testing.T) {
	rng := rand.NewChaCha8([32]byte([]byte("TestManyKeys, a seed of 32 bytes")))
	t.Run("UMAC", func(t *testing.T) {
		mactest.ForAllKernels(t, mactest.UMAC, func(t *testing.T) { manyUMAC(rng).test(t) })
	})
	t.Run("GMAC", func(t *testing.T) {
		mactest.ForAllKernels(t, mactest.GCM, func(t *testing.T) { manyGMAC(rng).test(t) })
	})
	t.Run("HMAC", func(t *testing.T) {
		forAllHMAC(t, func(t *testing.T, h crypto.Hash) {
			if h == crypto.SHA256 || h == crypto.SHA384 || h == crypto.SHA512 || mactest.Long() { // one of each kind
				manyHMAC(h, rng).test(t)
			}
		})
	})
}

func (m manyKeys[K]) test(t *testing.T) {
	r := rand.New(m.rng)
	keys := make([]K, 13)
	for i := range keys {
		keys[i] = m.newKey(i)
	}
	for n := range 25 {
		equal := 64 * n
		if n > 20 { // many messages, and more blocks than a call of a kernel gets
			m.check(t, m.some(keys[:1+n%13], n), func() int { return 20 * equal })
			n *= 20
		}
		for _, most := range []int{0, 64, 300, 3000} {
			m.check(t, m.some(keys, n), func() int { return r.IntN(most + 1) })
		}
		m.check(t, m.some(keys[:1+n%13], n), func() int { return equal })
	}
	for length := range 1100 / 7 { // one for each cache line of a key, and more
		m.check(t, m.some(keys, 5), func() int { return 7 * length })
	}
	m.panics(t)
	m.refuses(t)
	m.overlaps(t)
	m.allocates(t)
}

// some returns n of the keys, in any order.
func (m manyKeys[K]) some(keys []K, n int) []K {
	r := rand.New(m.rng)
	all := make([]K, n)
	for i := range all {
		all[i] = keys[r.IntN(len(keys))]
	}
	return all
}

// batch returns messages under the keys, and their tags.
func (m manyKeys[K]) batch(keys []K, length func() int) (batch []Message, tags [][]byte) {
	for i, k := range keys {
		b := Message{
			Nonce: mactest.Random(m.rng, m.nonces[i%len(m.nonces)]), Data: mactest.Random(m.rng, length()),
			Tag: mactest.Random(m.rng, m.size(k)), OK: i%2 == 0,
		}
		batch, tags = append(batch, b), append(tags, m.tag(k, b.Nonce, b.Data))
	}
	return batch, tags
}

// check compares TagBatch with Tag, and has VerifyBatch with right tags and wrong ones.
func (m manyKeys[K]) check(t *testing.T, keys []K, length func() int) {
	t.Helper()
	batch, tags := m.batch(keys, length)
	before := slices.Clone(keys)
	TagBatch(keys, batch)
	for i := range batch {
		if !bytes.Equal(batch[i].Tag, tags[i]) || batch[i].OK != (i%2 == 0) {
			t.Fatalf("message %d of %d, %d bytes: %+v, want the tag %x", i, len(batch), len(batch[i].Data), batch[i], tags[i])
		}
	}
	if !VerifyBatch(keys, batch) || slices.ContainsFunc(batch, func(b Message) bool { return !b.OK }) {
		t.Fatalf("%d messages: right tags are refused: %+v", len(batch), batch)
	}
	r := rand.New(m.rng)
	wrong := make([]bool, len(batch))
	for i := range batch {
		if wrong[i] = r.IntN(4) == 0; wrong[i] {
			batch[i].Tag[r.IntN(len(batch[i].Tag))] ^= 1 << r.IntN(8)
		}
	}
	all := VerifyBatch(keys, batch)
	for i := range batch {
		if batch[i].OK == wrong[i] {
			t.Fatalf("message %d of %d: %v, want %v", i, len(batch), batch[i].OK, !wrong[i])
		}
	}
	if all == slices.Contains(wrong, true) || !slices.Equal(keys, before) {
		t.Fatalf("%d messages, wrong are %v: all is %v", len(batch), wrong, all)
	}
}

// keys returns n new keys.
func (m manyKeys[K]) keys(n int) (keys []K) {
	for i := range n {
		keys = append(keys, m.newKey(i))
	}
	return keys
}

// panics has batches that panic before anything is written, and at a message.
func (m manyKeys[K]) panics(t *testing.T) {
	const n = 21
	unchanged := func(what string, batch, before []Message, tags [][]byte) {
		t.Helper()
		for i, b := range batch {
			if !bytes.Equal(b.Tag, tags[i]) || b.OK != before[i].OK {
				t.Errorf("%s: %s: message %d: %+v, want the tag %x", m.mac, what, i, b, tags[i])
			}
		}
	}
	old := func(batch []Message) (tags [][]byte) {
		for _, b := range batch {
			tags = append(tags, bytes.Clone(b.Tag))
		}
		return tags
	}
	length := func() int { return 50 }
	keys := m.keys(n)
	for _, lengths := range [][2]int{{3, 4}, {4, 3}, {0, 1}, {1, 0}} {
		batch, _ := m.batch(keys[:lengths[1]], length)
		before, tags := slices.Clone(batch), old(batch)
		for f, call := range map[string]func(){
			"TagBatch": func() { TagBatch(keys[:lengths[0]], batch) }, "VerifyBatch": func() { VerifyBatch(keys[:lengths[0]], batch) },
		} {
			want := fmt.Sprintf("fastmac: %s with %d keys and %d messages", f, lengths[0], lengths[1])
			mactest.MustPanic(t, want, want, call)
			unchanged(want, batch, before, tags)
		}
	}
	for _, at := range []int{0, 9, n - 1} {
		for size, what := range m.bad {
			batch, _ := m.batch(keys, length)
			before, tags := slices.Clone(batch), old(batch)
			batch[at].Nonce = make([]byte, size)
			want := fmt.Sprintf("fastmac: TagBatch: message %d: %s nonce of %d bytes: %s", at, m.mac, size, what)
			mactest.MustPanic(t, want, want, func() { TagBatch(keys, batch) })
			unchanged(want, batch, before, tags)
		}
		size := m.size(keys[at])
		dead := m.newKey(at)
		m.destroy(dead)
		for _, test := range []struct {
			key  K
			tag  []byte
			want string
		}{
			{nil, make([]byte, size), fmt.Sprintf("fastmac: TagBatch: key %d is nil", at)},
			{dead, make([]byte, size), "Key that was destroyed or never set up"},
			{dead, nil, "Key that was destroyed or never set up"},
			{keys[at], make([]byte, size+1), fmt.Sprintf("fastmac: TagBatch: message %d: Tag of %d bytes: want %d", at, size+1, size)},
			{keys[at], make([]byte, size-1), fmt.Sprintf("fastmac: TagBatch: message %d: Tag of %d bytes: want %d", at, size-1, size)},
			{keys[at], nil, fmt.Sprintf("fastmac: TagBatch: message %d: Tag of 0 bytes: want %d", at, size)},
		} {
			batch, right := m.batch(keys, length)
			some := slices.Clone(keys)
			some[at], batch[at].Tag = test.key, test.tag
			before, tags := slices.Clone(batch), old(batch)
			copy(tags, right[:at])
			mactest.MustPanic(t, test.want, test.want, func() { TagBatch(some, batch) })
			unchanged(test.want, batch, before, tags)
			if test.key != dead || test.tag == nil {
				continue
			}
			TagBatch(keys, batch)
			mactest.MustPanic(t, test.want, test.want, func() { VerifyBatch(some, batch) })
			for i, b := range batch {
				if b.OK != (i < at) {
					t.Errorf("%s: message %d is %v after VerifyBatch panics at %d", m.mac, i, b.OK, at)
				}
			}
		}
	}
	TagBatch(keys[:0], nil)
	if !VerifyBatch[K](nil, nil) {
		t.Errorf("%s: an empty batch is refused", m.mac)
	}
}

// refuses has messages that are not right: nil keys, wrong tags, nonces and lengths.
func (m manyKeys[K]) refuses(t *testing.T) {
	keys := m.keys(20)
	for at := range keys {
		batch, tags := m.batch(keys, func() int { return 70 })
		for i := range batch {
			batch[i].Tag = tags[i]
		}
		size := len(tags[at])
		other := bytes.Clone(tags[at])
		other[at%size] ^= 1
		wrong := []Message{
			{Nonce: batch[at].Nonce, Tag: nil},
			{Nonce: batch[at].Nonce, Tag: tags[at][:size-1]},
			{Nonce: batch[at].Nonce, Tag: append(bytes.Clone(tags[at]), 0)},
			{Nonce: batch[at].Nonce, Tag: other},
		}
		for n := range m.bad {
			wrong = append(wrong, Message{Nonce: make([]byte, n), Tag: tags[at]})
		}
		check := func(keys []K, b Message) {
			t.Helper()
			some := slices.Clone(batch)
			b.Data, b.OK = batch[at].Data, true
			some[at] = b
			if VerifyBatch(keys, some) {
				t.Errorf("%s: message %d is right: %+v", m.mac, at, b)
			}
			for i := range some {
				if some[i].OK != (i != at) {
					t.Errorf("%s: message %d is %v if message %d is %+v", m.mac, i, some[i].OK, at, b)
				}
			}
		}
		for _, b := range wrong {
			check(keys, b)
		}
		without := slices.Clone(keys)
		without[at] = nil
		check(without, batch[at])
	}
	nothing, batch := make([]K, 9), make([]Message, 9)
	if VerifyBatch(nothing, batch) || slices.ContainsFunc(batch, func(b Message) bool { return b.OK }) {
		t.Errorf("%s: right without a key: %+v", m.mac, batch)
	}
}

// overlaps has tags over nonces and messages.
func (m manyKeys[K]) overlaps(t *testing.T) {
	keys := m.keys(10)
	for at := range 80 {
		var batch []Message
		var tags [][]byte
		for i, k := range keys {
			n, size := m.nonces[i%len(m.nonces)], m.size(k)
			packet := mactest.Random(m.rng, 80+size)
			tags = append(tags, m.tag(k, packet[:n], packet[n/2:60]))
			batch = append(batch, Message{Nonce: packet[:n], Data: packet[n/2 : 60], Tag: packet[at:][:size]})
		}
		TagBatch(keys, batch)
		for i, b := range batch {
			if !bytes.Equal(b.Tag, tags[i]) {
				t.Errorf("%s: tag at %d: %x, want %x", m.mac, at, b.Tag, tags[i])
			}
		}
	}
}

func (m manyKeys[K]) allocates(t *testing.T) {
	if mactest.Allocates || useFIPS || m.mac == "GMAC" && !prefetch.InUse {
		return
	}
	keys := m.keys(20)
	batch, _ := m.batch(keys, func() int { return 100 })
	if n := testing.AllocsPerRun(100, func() {
		var k [20]K
		var b [20]Message // on the stack
		copy(k[:], keys)
		copy(b[:], batch)
		TagBatch(k[:], b[:])
		VerifyBatch(k[:], b[:])
	}); n != 0 {
		t.Errorf("%s: %v allocations", m.mac, n)
	}
}

// TestKeyLines compares the cache lines of keys with those of the parts that messages need.
func TestKeyLines(t *testing.T) {
	if bits.UintSize != 64 {
		t.Skip("no keys are prefetched")
	}
	for length, want := range map[int]int{0: 8, 64: 8, 65: 9, 1024: 23, 1025: 26, 1 << 20: 26} {
		l := &linesOfKeys().umac
		n := int(l.counts[l.class(length)])
		if n != want {
			t.Errorf("%d lines for %d bytes, want %d", n, length, want)
		}
		has := make(map[uint64]bool)
		for _, offset := range l.offsets[:n] {
			if has[(8+offset)/cacheLine] || offset >= uint64(unsafe.Sizeof(UMACKey{})) {
				t.Errorf("offset %d in %d", offset, l.offsets)
			}
			has[(8+offset)/cacheLine] = true
		}
	}
	for length := range l1Block + 100 {
		// The bytes that two iterations use, of all messages of this class. See the table at l1Key.
		var k UMACKey
		used := mactest.Storage(&k)
		mark := func(b []byte) {
			for i := range b {
				b[i] = 1
			}
		}
		uhash := used[unsafe.Offsetof(k.uhash):][:unsafe.Sizeof(k.uhash)]
		mark(used[:unsafe.Offsetof(k.pad)+unsafe.Offsetof(k.pad.schedule)+11*16]) // AES-128
		if length > l1Block {
			mark(uhash)
		} else {
			mark(uhash[:unsafe.Offsetof(k.uhash.l3)+unsafe.Sizeof(k.uhash.l3)])
			n := max(1, (length+chunkOfClass-1)/chunkOfClass) * chunkOfClass / l1Group
			for i := range l1Half * (n + 1) {
				k.uhash.l1.lo[i], k.uhash.l1.hi[min(i, len(k.uhash.l1.hi)-1)] = 1<<32-1, 1<<32-1
			}
		}
		want := make(map[uint64]bool)
		for i, b := range used {
			if b != 0 {
				want[uint64(8+i)/cacheLine] = true
			}
		}
		have := make(map[uint64]bool)
		for _, offset := range linesOfKeys().umac.offsets[:linesOfKeys().umac.counts[linesOfKeys().umac.class(length)]] {
			have[(8+offset)/cacheLine] = true
		}
		if !maps.Equal(have, want) {
			t.Errorf("%d bytes: lines %v, want %v", length, have, want)
		}
	}
	for name, l := range map[string]struct {
		lines *keyLines
		size  uintptr
	}{"GMAC": {&linesOfKeys().gmac, unsafe.Sizeof(GMACKey{})}, "HMAC": {&linesOfKeys().hmac, unsafe.Sizeof(HMACKey{})}} {
		if n := len(l.lines.offsets); l.lines.class(0) != 0 || l.lines.class(1<<20) != 0 || int(l.lines.counts[0]) != n || l.lines.offsets[n-1] >= uint64(l.size) {
			t.Errorf("%s: %v for %d bytes", name, *l.lines, l.size)
		}
	}
}

// TestKeyLoader checks that the keys of a batch are loaded in groups, once, and so far ahead.
func TestKeyLoader(t *testing.T) {
	for n := range 40 {
		batch := make([]Message, n)
		for i := range batch {
			batch[i].Data = make([]byte, 500*(i/3%2)) // runs of three have the same class
		}
		l := newKeyLoader(make([]*UMACKey, n), &linesOfKeys().umac)
		for i := range n {
			l.load(batch, i)
			want := 0
			if prefetch.InUse {
				want = min(n, i-i%prefetch.Group+prefetch.Group+keysAhead)
			}
			if l.done != want {
				t.Fatalf("before message %d of %d: %d keys have been loaded, want %d", i, n, l.done, want)
			}
		}
	}
}
