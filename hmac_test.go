// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac

import (
	"bytes"
	"crypto"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/sha512"
	"errors"
	"fmt"
	"hash"
	"math/rand/v2"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"example.com/fastmac/internal/mactest"
	"example.com/fastmac/internal/sha2"
)

// hmacList is the hashes of HMAC.
var hmacList = mactest.SHA2

// forAllHMAC runs f as a subtest for each hash and each implementation of it.
func forAllHMAC(t *testing.T, f func(t *testing.T, h crypto.Hash)) {
	t.Helper()
	eachHMAC(t, func(name string) {
		for _, h := range hmacList {
			t.Run(name+"/"+h.String(), func(t *testing.T) { f(t, h) })
		}
	})
}

func newKey(h crypto.Hash, key []byte) *HMACKey { return mactest.Must(NewHMACKey(h, key)) }

// eachHMAC calls f with each implementation of HMAC in use. The last one is crypto/hmac, as in FIPS
// 140 mode.
func eachHMAC(t testing.TB, f func(name string)) {
	t.Helper()
	if !useFIPS {
		mactest.EachKernel(t, mactest.HMAC, f)
		defer func() { useFIPS = false }()
		useFIPS = true
	}
	f("crypto/hmac")
}

func TestHMACContract(t *testing.T) { forAllHMAC(t, testHMACContract) }

func testHMACContract(t *testing.T, f crypto.Hash) {
	k := newKey(f, []byte("key"))
	mactest.TestHash(t, mactest.Subject{
		New:     func() hash.Hash { return k.New() },
		Methods: []string{"Destroy", "Verify"},
	})
}

// TestHMACHashes checks which hashes there are, and what happens with others.
func TestHMACHashes(t *testing.T) {
	for h := range crypto.Hash(300) {
		k, err := NewHMACKey(h, nil)
		m, errStream := NewHMAC(h, nil)
		var former HMACKey
		former.Init(crypto.SHA256, []byte("former"))
		want := former.Tag(nil, nil)
		errInit := former.Init(h, nil)
		if slices.Contains(hmacList, h) {
			if err != nil || errStream != nil || errInit != nil || k.Size() != h.Size() || m.Size() != h.Size() || former.Size() != h.Size() {
				t.Errorf("%v: %v, %v, %v", h, err, errStream, errInit)
			}
			continue
		}
		for _, err := range []error{err, errStream, errInit} {
			if err == nil {
				t.Fatalf("%v: no error: is it missing in mactest.SHA2?", h)
			}
			if want := "fastmac: HMAC with " + h.String() + " is not supported"; !errors.Is(err, errors.ErrUnsupported) || err.Error() != want {
				t.Errorf("%v: %v, want %s", h, err, want)
			}
		}
		if k != nil || m != nil {
			t.Errorf("%v: a key or a stream with an error", h)
		}
		if !former.Verify(want, nil) {
			t.Errorf("%v: an Init that fails has changed the key", h)
		}
		mactest.MustPanic(t, h.String(), "is not supported", func() { SumHMAC(h, nil, nil, nil) })
		mactest.MustPanic(t, h.String(), "is not supported", func() { SumHMACBatch(h, nil, nil) })
	}
}

// TestHMACAppend checks that SumHMAC appends, also over its arguments.
func TestHMACAppend(t *testing.T) { forAllHMAC(t, testHMACAppend) }

func testHMACAppend(t *testing.T, f crypto.Hash) {
	const size = 300
	for _, n := range []int{0, 20, 64, 128, 200} {
		buf := bytes.Repeat([]byte("buffer"), size/6)
		want := SumHMAC(f, nil, bytes.Clone(buf[:n]), bytes.Clone(buf[10:]))
		if got := SumHMAC(f, []byte("dst"), buf[:n], buf[10:]); string(got) != "dst"+string(want) {
			t.Errorf("appended: %x, want %x", got, want)
		}
		if got := SumHMAC(f, buf[:5], buf[:n], buf[10:]); string(got) != "buffe"+string(want) || &got[0] != &buf[0] {
			t.Errorf("over key and message: %x, want %x", got, want)
		}
	}
}

// TestHMACManyHashes has keys of different hashes in one batch, in runs and one by one, and some that
// are nil.
func TestHMACManyHashes(t *testing.T) {
	eachHMAC(t, func(name string) {
		for _, run := range []int{1, 2, 3, 19} {
			var keys []*HMACKey
			var batch []Message
			for i := range 120 {
				h := hmacList[i/run%len(hmacList)]
				k := newKey(h, []byte{byte(i)})
				m := Message{Data: bytes.Repeat([]byte{byte(i)}, i%150), Tag: make([]byte, h.Size())}
				keys, batch = append(keys, k), append(batch, m)
			}
			TagBatch(keys, batch)
			for i, m := range batch {
				if want := keys[i].Tag(nil, m.Data); !bytes.Equal(m.Tag, want) {
					t.Fatalf("%s, runs of %d, message %d: %x, want %x", name, run, i, m.Tag, want)
				}
			}
			if !VerifyBatch(keys, batch) {
				t.Fatalf("%s, runs of %d: refused", name, run)
			}
			batch[50].Tag[3] ^= 4
			keys[60] = nil
			if VerifyBatch(keys, batch) {
				t.Fatalf("%s, runs of %d: accepted", name, run)
			}
			for i, m := range batch {
				if m.OK != (i != 50 && i != 60) {
					t.Fatalf("%s, runs of %d, message %d: %v", name, run, i, m.OK)
				}
			}
		}
	})
}

func TestHMACVerify(t *testing.T) { forAllHMAC(t, testHMACVerify) }

func testHMACVerify(t *testing.T, f crypto.Hash) {
	k := newKey(f, []byte("key"))
	if k.Size() != f.Size() || k.New().Size() != f.Size() || k.New().BlockSize() != f.New().BlockSize() {
		t.Errorf("a key of Size %d, a stream of Size %d, BlockSize %d", k.Size(), k.New().Size(), k.New().BlockSize())
	}
	msg := []byte("message")
	h := k.New()
	h.Write(msg)
	for name, verify := range map[string]func(tag []byte) bool{
		"key":    func(tag []byte) bool { return k.Verify(tag, msg) },
		"stream": h.Verify,
	} {
		tag := k.Tag(nil, msg)
		if !verify(tag) {
			t.Errorf("%s: the right tag is refused", name)
		}
		for bit := range 8 * len(tag) {
			tag[bit/8] ^= 1 << (bit % 8)
			if verify(tag) {
				t.Errorf("%s: accepted with bit %d flipped", name, bit)
			}
			tag[bit/8] ^= 1 << (bit % 8)
		}
		for n := range len(tag) {
			if verify(tag[:n]) {
				t.Errorf("%s: accepted cut to %d bytes", name, n)
			}
		}
		if verify(nil) || verify(append(tag, 0)) || verify(append(tag, tag...)) {
			t.Errorf("%s: accepted nil or extended", name)
		}
	}
	// Verify does not change the stream.
	h.Write(msg)
	if !h.Verify(k.Tag(nil, append(msg, msg...))) {
		t.Error("the right tag is refused after Verify and Write")
	}
}

func TestHMACVerifyBatch(t *testing.T) { forAllHMAC(t, testHMACVerifyBatch) }

// testHMACVerifyBatch has batches of all sizes up to 20, of messages of many
// lengths, in which no tag, each single tag or several tags have a wrong bit.
func testHMACVerifyBatch(t *testing.T, f crypto.Hash) {
	k := newKey(f, []byte("key"))
	rng := rand.New(rand.NewPCG(2104, 4231))
	for size := range 21 {
		tags, msgs := make([][]byte, size), make([][]byte, size)
		for i := range msgs {
			msgs[i] = make([]byte, rng.IntN(400))
			for j := range msgs[i] {
				msgs[i][j] = byte(rng.Uint32())
			}
			tags[i] = k.Tag(nil, msgs[i])
		}
		check := func(wrong ...int) {
			t.Helper()
			sent, want, ok := clones(tags), make([]bool, size), make([]bool, size)
			for i := range want {
				want[i] = !slices.Contains(wrong, i)
				ok[i] = rng.IntN(2) == 0 // what was there before
				if !want[i] {
					bit := rng.IntN(8 * f.Size())
					sent[i][bit/8] ^= 1 << (bit % 8)
				}
			}
			before := clones(sent)
			if all := mactest.VerifyBatch(k.VerifyBatch, ok, sent, nil, msgs); all != (len(wrong) == 0) || !slices.Equal(ok, want) {
				t.Errorf("%d messages, %v wrong: all %v, %v", size, wrong, all, ok)
			}
			if !slices.EqualFunc(sent, before, bytes.Equal) {
				t.Error("VerifyBatch changes tags")
			}
		}
		check()
		for i := range size {
			check(i)
		}
		if size > 3 {
			check(rng.Perm(size)[:size/2]...)
			check(rng.Perm(size)...)
		}
	}
}

// clones returns copies of tags.
func clones(tags [][]byte) (all [][]byte) {
	for _, tag := range tags {
		all = append(all, bytes.Clone(tag))
	}
	return all
}

func TestHMACBatch(t *testing.T) { forAllHMAC(t, testHMACBatch) }

func testHMACBatch(t *testing.T, f crypto.Hash) {
	k := newKey(f, nil)
	const n = 20
	size := f.Size()
	batch := make([]Message, n)
	for i := range batch {
		batch[i] = Message{Data: []byte{byte(i)}, Tag: make([]byte, size), OK: i == 3}
	}
	with := func(i int, m Message) []Message {
		bad := slices.Clone(batch)
		bad[i] = m
		return bad
	}
	for want, bad := range map[string][]Message{
		fmt.Sprintf("message 8: Tag of %d bytes: want %d", size-1, size): with(8, Message{Tag: make([]byte, size-1)}),
		fmt.Sprintf("message 2: Tag of 0 bytes: want %d", size):          with(2, Message{}),
		fmt.Sprintf("message 5: Tag of %d bytes: want %d", size+1, size): with(5, Message{Tag: make([]byte, size+1)}),
		"message 8: HMAC nonce of 1 bytes: want none":                    with(8, Message{Nonce: []byte{0}, Tag: make([]byte, size)}),
	} {
		mactest.MustPanic(t, want, "fastmac: TagBatch: "+want, func() { k.TagBatch(bad) })
		mactest.MustPanic(t, want, "fastmac: SumHMACBatch: "+want, func() { SumHMACBatch(f, make([][]byte, n), bad) })
		if k.VerifyBatch(slices.Clone(bad)) {
			t.Errorf("VerifyBatch accepts what has %s", want)
		}
	}
	for i := range batch {
		for _, wrong := range []Message{{Tag: make([]byte, size+1)}, {Nonce: []byte{0}, Tag: make([]byte, size)}} {
			bad := with(i, wrong)
			mactest.MustPanic(t, fmt.Sprint("message ", i), "", func() { k.TagBatch(bad) })
			mactest.MustPanic(t, fmt.Sprint("message ", i), "", func() { SumHMACBatch(f, make([][]byte, n), bad) })
		}
	}
	mactest.MustPanic(t, "SumHMACBatch", "fastmac: SumHMACBatch with 19 keys and 20 messages", func() { SumHMACBatch(f, make([][]byte, n-1), batch) })
	mactest.MustPanic(t, "SumHMACBatch", "fastmac: SumHMACBatch with 20 keys and 0 messages", func() { SumHMACBatch(f, make([][]byte, n), nil) })
	for i, m := range batch {
		if !bytes.Equal(m.Tag, make([]byte, size)) || m.OK != (i == 3) {
			t.Errorf("a batch that panics has written message %d: %+v", i, m)
		}
	}
	// What is wrong does not matter to the others.
	k.TagBatch(batch)
	for i := range batch {
		for _, bad := range []Message{{Tag: batch[i].Tag[:size-1]}, {}, {Tag: make([]byte, size+1)}, {Nonce: []byte{0}, Tag: batch[i].Tag}} {
			bad.Data, bad.OK = batch[i].Data, true
			all := with(i, bad)
			if k.VerifyBatch(all) {
				t.Errorf("accepts %+v", bad)
			}
			for j, m := range all {
				if m.OK != (j != i) {
					t.Errorf("message %d of a batch whose message %d is wrong: %v", j, i, m.OK)
				}
			}
		}
	}
	if !k.VerifyBatch(batch) || !k.VerifyBatch(nil) {
		t.Error("a batch without wrong messages is refused")
	}
	k.TagBatch(nil)
	SumHMACBatch(f, nil, nil)
}

// TestHMACBatchMixed has batches of all sizes up to 40, of messages and keys of
// many lengths, some of them nil, some the same storage, the longest first or last.
func TestHMACBatchMixed(t *testing.T) { forAllHMAC(t, testHMACBatchMixed) }

func testHMACBatchMixed(t *testing.T, f crypto.Hash) {
	rng := rand.New(rand.NewPCG(2104, 198))
	mem := mactest.Guarded(t, 1<<14)
	for i := range mem {
		mem[i] = byte(rng.Uint32())
	}
	// part returns a part of mem: its end, or any other.
	part := func() []byte {
		n := rng.IntN(300)
		switch rng.IntN(8) {
		case 0:
			return nil
		case 1:
			n = rng.IntN(5000)
		case 2:
			n = f.New().BlockSize()*(1+rng.IntN(4)) - 2 - rng.IntN(20) // where the length begins not to fit
		}
		if rng.IntN(2) == 0 {
			return mem[len(mem)-n:]
		}
		return mem[rng.IntN(len(mem)-n):][:n]
	}
	for size := range 41 {
		same := rng.IntN(300) // for runs of messages of one length
		tags, sums, keys, msgs := mactest.Tags(size, f.Size()), mactest.Tags(size, f.Size()), make([][]byte, size), make([][]byte, size)
		for i := range size {
			keys[i], msgs[i] = part(), part()
			if size%3 == 1 {
				msgs[i] = mem[i:][:same]
			}
		}
		if size > 0 && size%3 != 1 {
			msgs[(size-1)*(size%2)] = mem
		}
		key := part()
		mactest.TagBatch(newKey(f, key).TagBatch, tags, nil, msgs)
		mactest.SumBatch(SumHMACBatch, f, sums, keys, msgs)
		for i, msg := range msgs {
			for name, test := range map[string]struct{ got, key []byte }{
				"TagBatch":     {tags[i], key},
				"SumHMACBatch": {sums[i], keys[i]},
			} {
				std := hmac.New(f.New, test.key)
				std.Write(msg)
				if want := std.Sum(nil); string(test.got) != string(want) {
					t.Fatalf("%s, message %d of %d, %d bytes, key of %d: %x, want %x", name, i, size, len(msg), len(test.key), test.got, want)
				}
			}
		}
	}
}

func TestHMACOverlap(t *testing.T) { forAllHMAC(t, testHMACOverlap) }

func testHMACOverlap(t *testing.T, f crypto.Hash) {
	k := newKey(f, []byte("key"))
	msg := bytes.Repeat([]byte("message"), 20)
	want := k.Tag(nil, msg)
	if got := k.Tag(msg[:0], msg); !bytes.Equal(got, want) || &got[0] != &msg[0] {
		t.Errorf("tag over the message: %x, want %x", got, want)
	}
	tags := mactest.Tags(10, f.Size())
	mactest.TagBatch(k.TagBatch, tags, nil, [][]byte{msg, msg, msg[1:], msg, msg[:3], msg, msg, msg, msg, msg})
	if want := k.Tag(nil, msg); !bytes.Equal(tags[9], want) || !bytes.Equal(tags[0], tags[9]) {
		t.Errorf("messages that overlap: tags %x, want %x", tags, want)
	}
	// Each tag over its own message, or key.
	for name, batch := range map[string]func(tags, own [][]byte){
		"TagBatch": func(tags, own [][]byte) { mactest.TagBatch(k.TagBatch, tags, nil, own) },
		"SumHMACBatch, messages": func(tags, own [][]byte) {
			keys := make([][]byte, len(tags))
			for i := range keys {
				keys[i] = []byte("key")
			}
			mactest.SumBatch(SumHMACBatch, f, tags, keys, own)
		},
		"SumHMACBatch, keys": func(tags, own [][]byte) {
			mactest.SumBatch(SumHMACBatch, f, tags, own, make([][]byte, len(own)))
		},
	} {
		over, apart := mactest.Tags(20, f.Size()), mactest.Tags(20, f.Size())
		own, copies := make([][]byte, 20), make([][]byte, 20)
		for i := range over {
			copy(over[i], msg[i:])
			own[i] = over[i][:i]
			copies[i] = bytes.Clone(own[i])
		}
		batch(over, own)
		batch(apart, copies)
		if !slices.EqualFunc(over, apart, bytes.Equal) {
			t.Errorf("%s in the storage of the tags: %x, want %x", name, over, apart)
		}
	}
}

func TestHMACDestroy(t *testing.T) { forAllHMAC(t, testHMACDestroy) }

func testHMACDestroy(t *testing.T, f crypto.Hash) {
	k, own := newKey(f, []byte("key")), mactest.Must(NewHMAC(f, []byte("key")))
	shared, other := k.New(), k.New()
	ownClone, err := own.Clone()
	if mactest.CannotClone(err) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	other.Destroy()
	other.Destroy()
	k.Tag(nil, nil)
	c, _ := own.Clone()
	c.(*HMAC).Destroy()
	own.Sum(nil)

	own.Destroy()
	own.Destroy()
	k.Destroy()
	k.Destroy()
	for name, k := range map[string]*HMACKey{"destroyed": k, "never set up": new(HMACKey)} {
		for method, call := range map[string]func(){
			"Size":        func() { k.Size() },
			"Tag":         func() { k.Tag(nil, nil) },
			"Verify":      func() { k.Verify(nil, nil) },
			"TagBatch":    func() { k.TagBatch(nil) },
			"VerifyBatch": func() { k.VerifyBatch(nil) },
			"New":         func() { k.New() },
		} {
			mactest.MustPanic(t, name+" key: "+method, "destroyed or never set up", call)
		}
	}
	for name, h := range map[string]*HMAC{
		"own key": own, "clone of own key": ownClone.(*HMAC), "shared key": shared,
		"destroyed": other, "never set up": new(HMAC),
	} {
		for method, call := range map[string]func(){
			"Write":     func() { h.Write(nil) },
			"Sum":       func() { h.Sum(nil) },
			"Verify":    func() { h.Verify(nil) },
			"Reset":     func() { h.Reset() },
			"Size":      func() { h.Size() },
			"BlockSize": func() { h.BlockSize() },
			"Clone":     func() { h.Clone() },
		} {
			mactest.MustPanic(t, name+": "+method, "destroyed or never set up", call)
		}
	}
	if !bytes.Equal(mactest.Contents(k), make([]byte, unsafe.Sizeof(*k))) {
		t.Error("HMACKey is not all zeros after Destroy")
	}
	if !bytes.Equal(mactest.Contents(own), make([]byte, unsafe.Sizeof(*own))) {
		t.Error("an HMAC is not all zeros after Destroy")
	}
	checkWiped := func(message any, key any) {
		for _, b := range [][]byte{mactest.Contents(message), mactest.Contents(key)} {
			if !bytes.Equal(b, make([]byte, len(b))) {
				t.Errorf("the message or the key of an HMAC is not all zeros after Destroy: %x", b)
			}
		}
	}
	switch {
	case useFIPS:
	case own.form.wide():
		m := messageOf[uint64](own)
		checkWiped(m, m.key)
	default:
		m := messageOf[uint32](own)
		checkWiped(m, m.key)
	}
}

// TestHMACPrinting checks that keys and streams print as their name and nothing else.
func TestHMACPrinting(t *testing.T) {
	for f, want := range map[crypto.Hash]string{crypto.SHA256: "(SHA-256)", crypto.SHA512: "(SHA-512)", crypto.SHA512_224: "(SHA-512/224)"} {
		k := newKey(f, bytes.Repeat([]byte{0xa7}, 32))
		mactest.Printing(t, "fastmac.HMACKey"+want, k)
		m := k.New()
		mactest.Printing(t, "fastmac.HMAC"+want, m)
		m.Destroy()
		mactest.Printing(t, "fastmac.HMAC", m)
		k.Destroy()
		mactest.Printing(t, "fastmac.HMACKey", k)
	}
}

func TestHMACAllocations(t *testing.T) { forAllHMAC(t, testHMACAllocations) }

func testHMACAllocations(t *testing.T, f crypto.Hash) {
	mactest.SkipAllocations(t)
	if useFIPS {
		return
	}
	const n = 20
	key, msg, dst := make([]byte, 200), make([]byte, 1500), make([]byte, 0, 64)
	var k HMACKey
	k.Init(f, key)
	h := newKey(f, key).New() // one of k would be of the key before Init
	keys, batch := make([][]byte, n), mactest.Batch[Message](mactest.Tags(n, f.Size()), nil, make([][]byte, n))
	for name, call := range map[string]func(){
		"Init":         func() { k.Init(f, key) },
		"Tag":          func() { k.Tag(dst, msg) },
		"Verify":       func() { k.Verify(dst[:f.Size()], msg) },
		"TagBatch":     func() { k.TagBatch(batch) },
		"VerifyBatch":  func() { k.VerifyBatch(batch) },
		"SumHMAC":      func() { SumHMAC(f, dst, key, msg) },
		"SumHMACBatch": func() { SumHMACBatch(f, keys, batch) },
		"stream":       func() { h.Reset(); h.Write(msg); h.Sum(dst); h.Verify(dst[:f.Size()]) },
		"all on the stack": func() {
			var msg, dst [200]byte
			k.Verify(k.Tag(dst[:0], msg[:]), msg[:])
			SumHMAC(f, dst[:0], msg[:], msg[:])
			tags, keys, batch := [n][64]byte{}, [n][]byte{msg[:]}, [n]Message{{Data: msg[:]}}
			for i := range batch {
				batch[i].Tag = tags[i][:f.Size()]
			}
			k.TagBatch(batch[:])
			k.VerifyBatch(batch[:])
			SumHMACBatch(f, keys[:], batch[:])
		},
	} {
		if n := testing.AllocsPerRun(100, call); n != 0 {
			t.Errorf("%s makes %v allocations", name, n)
		}
	}
	for name, call := range map[string]func(){
		"NewHMACKey": func() { NewHMACKey(f, key) },
		"NewHMAC":    func() { NewHMAC(f, key) },
	} {
		if n := testing.AllocsPerRun(100, call); n > 1 {
			t.Errorf("%s makes %v allocations", name, n)
		}
	}
}

// TestHMACReset checks that Reset leaves nothing of a message or its hash.
func TestHMACReset(t *testing.T) { forAllHMAC(t, testHMACReset) }

func testHMACReset(t *testing.T, f crypto.Hash) {
	k := newKey(f, []byte("key"))
	h, fresh := k.New(), k.New()
	msg := bytes.Repeat([]byte("message"), 100)
	for _, length := range []int{0, 1, 100, 127, 128, 129, 300, 700} {
		h.Write(msg[:length/3])
		h.Write(msg[length/3 : length])
		h.Sum(nil)
		h.Reset()
		if h.std == nil && (h.form.wide() && *messageOf[uint64](h) != *messageOf[uint64](fresh) || !h.form.wide() && *messageOf[uint32](h) != *messageOf[uint32](fresh)) {
			t.Errorf("%d bytes: Reset leaves something", length)
		}
	}
}

// TestHMACConcurrent uses one key in 1,000 goroutines, each with streams and clones of
// its own. The tags are compared with those of one goroutine; the race detector watches.
func TestHMACConcurrent(t *testing.T) { forAllHMAC(t, testHMACConcurrent) }

func testHMACConcurrent(t *testing.T, f crypto.Hash) {
	k := newKey(f, []byte("key"))
	msg := bytes.Repeat([]byte("message"), 100)
	lengths := []int{0, 1, 111, 112, 128, 200, 300, 700}
	msgs, wants := [][]byte(nil), [][]byte(nil)
	for _, length := range lengths {
		msgs = append(msgs, msg[:length])
		wants = append(wants, k.Tag(nil, msg[:length]))
	}
	mactest.Concurrently(1000, func(g int) {
		h, tags := k.New(), mactest.Tags(len(msgs), f.Size())
		for i := range 3 {
			i = (g + i) % len(lengths)
			msg, want, half := msgs[i], wants[i], lengths[i]/2
			h.Reset()
			h.Write(msg[:half])
			c, err := h.Clone()
			if mactest.CannotClone(err) {
				c = h
			} else {
				h.Write([]byte("not the clone's"))
			}
			c.Write(msg[half:])
			tag, stream := k.Tag(nil, msg), c.Sum(nil)
			if !bytes.Equal(tag, want) || !bytes.Equal(stream, want) {
				t.Errorf("%d bytes: Tag %x, of a stream %x, want %x", len(msg), tag, stream, want)
			}
		}
		if g%8 > 0 {
			return
		}
		mactest.TagBatch(k.TagBatch, tags, nil, msgs)
		if !mactest.VerifyBatch(k.VerifyBatch, make([]bool, len(msgs)), tags, nil, msgs) || !slices.EqualFunc(tags, wants, bytes.Equal) {
			t.Errorf("TagBatch %x, want %x", tags, wants)
		}
	})
}

// TestCloneFIPS checks that a crypto/hmac without Clone is reported as [hash.Cloner] says.
func TestCloneFIPS(t *testing.T) {
	h := struct{ hash.Hash }{hmac.New(sha512.New, make([]byte, 64))}
	if c, err := cloneFIPS(h); c != nil || !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("%v, %v", c, err)
	}
}

// TestAroundWiped checks that Destroy overwrites the key of a crypto/hmac that a stream is around, before and
// after a Reset, which replaces it by the states of the hash; and that Destroy of a clone does not.
func TestAroundWiped(t *testing.T) {
	key := []byte("a key of 32 bytes, and no secret")
	for _, reset := range []bool{false, true} {
		std := hmac.New(sha256.New, key)
		m := around(sha2.Of(crypto.SHA256), std)
		if reset {
			m.Reset()
		}
		m.Write([]byte("message"))
		tag, pads := m.Sum(nil), fmt.Sprint(std)
		var clones []*HMAC
		for range 2 {
			c, err := m.Clone()
			if err != nil {
				t.Skip(err) // GOFIPS140=v1.0.0: package hmac does not call newAround
			}
			clones = append(clones, c.(*HMAC))
		}
		clone := clones[0].std
		clones[0].Destroy()
		if state, ok := innerHash(clone); ok && !isZero(state) {
			t.Errorf("after Destroy of a clone its inner hash is %s", state)
		}
		if fmt.Sprint(std) != pads || !m.Verify(tag) {
			t.Error("Destroy of a clone overwrites the key")
		}
		m.Destroy()
		for _, n := range regexp.MustCompile(`\[[^\]]*\]`).FindAllString(fmt.Sprint(std), -1) {
			if !isZero(n) {
				t.Errorf("after Destroy, crypto/hmac still has %s", n)
			}
		}
		if state, ok := innerHash(std); ok && !isZero(state) {
			t.Errorf("after Destroy the inner hash is %s", state)
		}
		clones[1].Destroy() // does not panic, although what it shares is gone
		mactest.MustPanic(t, "Sum", deadHMAC, func() { m.Sum(nil) })
	}
}

// TestFIPSWiped checks, in FIPS 140 mode, what Destroy overwrites of crypto/hmac, and that
// buffers for it on the heap are all zeros after use.
func TestFIPSWiped(t *testing.T) {
	defer func(fips bool) { useFIPS = fips }(useFIPS)
	useFIPS = true
	k := newKey(crypto.SHA512, []byte("0123456789abcdef"))
	buf := bytes.Repeat([]byte{1}, sha512.BlockSize)
	newFIPS(k.form.function(), k.bytes(k.form.function()), buf)
	if !bytes.Equal(buf, make([]byte, len(buf))) {
		t.Error("a key is left in the buffer of newFIPS")
	}

	tag := bytes.Repeat([]byte{1}, sha512.Size)
	m, kept := k.New(), bytes.Clone(tag)
	m.std = keptTag{m.std, kept}
	if !m.Verify(tag) {
		t.Error("the tag of crypto/hmac is refused")
	}
	if !bytes.Equal(kept, make([]byte, sha512.Size)) {
		t.Error("Verify leaves the tag of crypto/hmac")
	}

	m = k.New()
	m.std, tag = dyingSum{m.std}, bytes.Repeat([]byte{1}, sha512.Size)
	mactest.MustPanic(t, "Sum", "wiped", func() { m.Sum(tag[:0]) })
	if !bytes.Equal(tag, make([]byte, sha512.Size)) {
		t.Error("Sum leaves the inner hash when crypto/hmac panics")
	}

	for _, sizes := range [][]int{{100}, {1, 127}, {1, 127, 50}} {
		m := k.New()
		for _, size := range sizes {
			m.Write(bytes.Repeat([]byte("m"), size))
		}
		h := m.std
		before, ok := innerHash(h)
		if !ok {
			t.Skipf("the fields of %T are unknown", h)
		}
		m.Destroy()
		after, _ := innerHash(h)
		if after == before || !isZero(after) {
			t.Errorf("writes of %d bytes: the inner hash is %s", sizes, after)
		}
	}
}

// isZero reports whether what fmt prints has only zeros.
func isZero(printed string) bool { return strings.Trim(printed, "{[0 false]}") == "" }

// innerHash returns the state of the inner hash of crypto/hmac, as text.
func innerHash(h hash.Hash) (state string, ok bool) {
	inner := reflect.ValueOf(h).Elem().FieldByName("inner")
	if !inner.IsValid() {
		return "", false
	}
	return fmt.Sprint(inner.Elem().Elem()), true
}

// dyingSum is a hash that panics in Sum, after it has written the inner hash, as crypto/hmac does first.
type dyingSum struct{ hash.Hash }

func (dyingSum) Sum(b []byte) []byte {
	copy(b[:cap(b)], "inner hash")
	panic("fastmac: wiped")
}

// keptTag is a hash whose Sum returns tag itself.
type keptTag struct {
	hash.Hash
	tag []byte
}

func (k keptTag) Sum([]byte) []byte { return k.tag }
