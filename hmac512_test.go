// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha512"
	"errors"
	"fmt"
	"hash"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"unsafe"

	"example.com/fastmac/internal/mactest"
)

// forAllHMAC runs f as a subtest for each implementation of HMAC-SHA-512.
func forAllHMAC(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	eachHMAC(t, func(name string) { t.Run(name, f) })
}

// eachHMAC calls f with each implementation of HMAC-SHA-512 in use. The last one is
// crypto/hmac, as in FIPS 140 mode.
func eachHMAC(t testing.TB, f func(name string)) {
	t.Helper()
	if !useFIPS {
		mactest.EachKernel(t, mactest.HMAC, f)
		defer func() { useFIPS = false }()
		useFIPS = true
	}
	f("crypto/hmac")
}

func TestHMACSHA512Contract(t *testing.T) { forAllHMAC(t, testHMACSHA512Contract) }

func testHMACSHA512Contract(t *testing.T) {
	k := NewHMACSHA512Key([]byte("key"))
	mactest.TestHash(t, mactest.Subject{
		New:     func() hash.Hash { return k.New() },
		Methods: []string{"Destroy", "Verify"},
	})
}

func TestHMACSHA512Verify(t *testing.T) { forAllHMAC(t, testHMACSHA512Verify) }

func testHMACSHA512Verify(t *testing.T) {
	k := NewHMACSHA512Key([]byte("key"))
	if k.Size() != HMACSHA512Size || k.New().Size() != HMACSHA512Size {
		t.Errorf("a key of Size %d, a stream of Size %d", k.Size(), k.New().Size())
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

func TestHMACSHA512VerifyBatch(t *testing.T) { forAllHMAC(t, testHMACSHA512VerifyBatch) }

// testHMACSHA512VerifyBatch has batches of all sizes up to 20, of messages of many
// lengths, in which no tag, each single tag or several tags have a wrong bit.
func testHMACSHA512VerifyBatch(t *testing.T) {
	k := NewHMACSHA512Key([]byte("key"))
	rng := rand.New(rand.NewPCG(2104, 4231))
	for size := range 21 {
		tags, msgs := make([][64]byte, size), make([][]byte, size)
		for i := range msgs {
			msgs[i] = make([]byte, rng.IntN(400))
			for j := range msgs[i] {
				msgs[i][j] = byte(rng.Uint32())
			}
			tags[i] = [64]byte(k.Tag(nil, msgs[i]))
		}
		check := func(wrong ...int) {
			t.Helper()
			sent, want, ok := slices.Clone(tags), make([]bool, size), make([]bool, size)
			for i := range want {
				want[i] = !slices.Contains(wrong, i)
				ok[i] = rng.IntN(2) == 0 // what was there before
				if !want[i] {
					bit := rng.IntN(512)
					sent[i][bit/8] ^= 1 << (bit % 8)
				}
			}
			before := slices.Clone(sent)
			if all := mactest.VerifyBatch(k.VerifyBatch, ok, mactest.Slices(sent), nil, msgs); all != (len(wrong) == 0) || !slices.Equal(ok, want) {
				t.Errorf("%d messages, %v wrong: all %v, %v", size, wrong, all, ok)
			}
			if !slices.Equal(sent, before) {
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

func TestHMACSHA512Batch(t *testing.T) { forAllHMAC(t, testHMACSHA512Batch) }

func testHMACSHA512Batch(t *testing.T) {
	k := NewHMACSHA512Key(nil)
	const n = 9
	batch := make([]Message, n)
	for i := range batch {
		batch[i] = Message{Data: []byte{byte(i)}, Tag: make([]byte, 64), OK: i == 3}
	}
	with := func(i int, m Message) []Message {
		bad := slices.Clone(batch)
		bad[i] = m
		return bad
	}
	for want, bad := range map[string][]Message{
		"message 8: Tag of 63 bytes: want 64":                 with(8, Message{Tag: make([]byte, 63)}),
		"message 2: Tag of 0 bytes: want 64":                  with(2, Message{}),
		"message 5: Tag of 65 bytes: want 64":                 with(5, Message{Tag: make([]byte, 65)}),
		"message 8: HMAC-SHA-512 nonce of 1 bytes: want none": with(8, Message{Nonce: []byte{0}, Tag: make([]byte, 64)}),
	} {
		mactest.MustPanic(t, want, "fastmac: TagBatch: "+want, func() { k.TagBatch(bad) })
		mactest.MustPanic(t, want, "fastmac: SumHMACSHA512Batch: "+want, func() { SumHMACSHA512Batch(make([][]byte, n), bad) })
		if k.VerifyBatch(slices.Clone(bad)) {
			t.Errorf("VerifyBatch accepts what has %s", want)
		}
	}
	mactest.MustPanic(t, "SumHMACSHA512Batch", "fastmac: SumHMACSHA512Batch with 8 keys and 9 messages", func() { SumHMACSHA512Batch(make([][]byte, n-1), batch) })
	mactest.MustPanic(t, "SumHMACSHA512Batch", "fastmac: SumHMACSHA512Batch with 9 keys and 0 messages", func() { SumHMACSHA512Batch(make([][]byte, n), nil) })
	for i, m := range batch {
		if !bytes.Equal(m.Tag, make([]byte, 64)) || m.OK != (i == 3) {
			t.Errorf("a batch that panics has written message %d: %+v", i, m)
		}
	}
	// What is wrong does not matter to the others.
	k.TagBatch(batch)
	for i := range batch {
		for _, bad := range []Message{{Tag: batch[i].Tag[:63]}, {}, {Tag: make([]byte, 65)}, {Nonce: []byte{0}, Tag: batch[i].Tag}} {
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
	SumHMACSHA512Batch(nil, nil)
}

// TestHMACSHA512BatchLanes checks from how many messages on a batch uses lanes.
func TestHMACSHA512BatchLanes(t *testing.T) {
	// Lanes, and how many must be in use.
	all := map[string][2]int{"avx512": {8, 3}, "avx512lanes": {8, 3}, "avx2": {4, 4}}
	eachHMAC(t, func(name string) {
		for n := range 20 {
			want := all[name]
			if n < want[1] {
				want = [2]int{}
			}
			if lanes, least := batchLanes(n); want != [2]int{lanes, least} {
				t.Errorf("%s, %d messages: %d lanes, at least %d, want %v", name, n, lanes, least, want)
			}
		}
	})
}

// TestHMACSHA512BatchMixed has batches of all sizes up to 40, of messages and keys of
// many lengths, some of them nil, some the same storage, the longest first or last.
func TestHMACSHA512BatchMixed(t *testing.T) { forAllHMAC(t, testHMACSHA512BatchMixed) }

func testHMACSHA512BatchMixed(t *testing.T) {
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
			n = 128*rng.IntN(4) + 110 + rng.IntN(4) // where the length begins not to fit
		}
		if rng.IntN(2) == 0 {
			return mem[len(mem)-n:]
		}
		return mem[rng.IntN(len(mem)-n):][:n]
	}
	for size := range 41 {
		tags, sums, keys, msgs := make([][64]byte, size), make([][64]byte, size), make([][]byte, size), make([][]byte, size)
		for i := range size {
			keys[i], msgs[i] = part(), part()
		}
		if size > 0 {
			msgs[(size-1)*(size%2)] = mem
		}
		key := part()
		mactest.TagBatch(NewHMACSHA512Key(key).TagBatch, mactest.Slices(tags), nil, msgs)
		mactest.SumBatch(SumHMACSHA512Batch, mactest.Slices(sums), keys, msgs)
		for i, msg := range msgs {
			for name, test := range map[string]struct{ got, key []byte }{
				"TagBatch":           {tags[i][:], key},
				"SumHMACSHA512Batch": {sums[i][:], keys[i]},
			} {
				std := hmac.New(sha512.New, test.key)
				std.Write(msg)
				if want := std.Sum(nil); string(test.got) != string(want) {
					t.Fatalf("%s, message %d of %d, %d bytes, key of %d: %x, want %x", name, i, size, len(msg), len(test.key), test.got, want)
				}
			}
		}
	}
}

func TestHMACSHA512Overlap(t *testing.T) { forAllHMAC(t, testHMACSHA512Overlap) }

func testHMACSHA512Overlap(t *testing.T) {
	k := NewHMACSHA512Key([]byte("key"))
	msg := bytes.Repeat([]byte("message"), 20)
	want := k.Tag(nil, msg)
	if got := k.Tag(msg[:0], msg); !bytes.Equal(got, want) || &got[0] != &msg[0] {
		t.Errorf("tag over the message: %x, want %x", got, want)
	}
	tags := make([][64]byte, 10)
	mactest.TagBatch(k.TagBatch, mactest.Slices(tags), nil, [][]byte{msg, msg, msg[1:], msg, msg[:3], msg, msg, msg, msg, msg})
	if want := k.Tag(nil, msg); !bytes.Equal(tags[9][:], want) || tags[0] != tags[9] {
		t.Errorf("messages that overlap: tags %x, want %x", tags, want)
	}
	// Each tag over its own message, or key.
	for name, batch := range map[string]func(tags [][64]byte, own [][]byte){
		"TagBatch": func(tags [][64]byte, own [][]byte) { mactest.TagBatch(k.TagBatch, mactest.Slices(tags), nil, own) },
		"SumHMACSHA512Batch, messages": func(tags [][64]byte, own [][]byte) {
			keys := make([][]byte, len(tags))
			for i := range keys {
				keys[i] = []byte("key")
			}
			mactest.SumBatch(SumHMACSHA512Batch, mactest.Slices(tags), keys, own)
		},
		"SumHMACSHA512Batch, keys": func(tags [][64]byte, own [][]byte) {
			mactest.SumBatch(SumHMACSHA512Batch, mactest.Slices(tags), own, make([][]byte, len(own)))
		},
	} {
		over, apart := make([][64]byte, 20), make([][64]byte, 20)
		own, copies := make([][]byte, 20), make([][]byte, 20)
		for i := range over {
			copy(over[i][:], msg[i:])
			own[i] = over[i][:i]
			copies[i] = bytes.Clone(own[i])
		}
		batch(over, own)
		batch(apart, copies)
		if !slices.Equal(over, apart) {
			t.Errorf("%s in the storage of the tags: %x, want %x", name, over, apart)
		}
	}
}

func TestHMACSHA512Destroy(t *testing.T) { forAllHMAC(t, testHMACSHA512Destroy) }

func testHMACSHA512Destroy(t *testing.T) {
	k, own := NewHMACSHA512Key([]byte("key")), NewHMACSHA512([]byte("key"))
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
	c.(*HMACSHA512).Destroy()
	own.Sum(nil)

	own.Destroy()
	own.Destroy()
	k.Destroy()
	k.Destroy()
	for name, k := range map[string]*HMACSHA512Key{"destroyed": k, "never set up": new(HMACSHA512Key)} {
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
	for name, h := range map[string]*HMACSHA512{
		"own key": own, "clone of own key": ownClone.(*HMACSHA512), "shared key": shared,
		"destroyed": other, "never set up": new(HMACSHA512),
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
	if !bytes.Equal(mactest.Storage(k), make([]byte, unsafe.Sizeof(*k))) {
		t.Error("HMACSHA512Key is not all zeros after Destroy")
	}
	if !bytes.Equal(mactest.Storage(own), make([]byte, unsafe.Sizeof(*own))) {
		t.Error("HMACSHA512 is not all zeros after Destroy")
	}
}

// TestHMACSHA512Printing checks that keys and streams print as their name and nothing else.
func TestHMACSHA512Printing(t *testing.T) {
	k := NewHMACSHA512Key(bytes.Repeat([]byte{0xa7}, 32))
	mactest.Printing(t, "fastmac.HMACSHA512Key(512-bit tag)", k)
	mactest.Printing(t, "fastmac.HMACSHA512(512-bit tag)", k.New())
}

func TestHMACSHA512Allocations(t *testing.T) { forAllHMAC(t, testHMACSHA512Allocations) }

func testHMACSHA512Allocations(t *testing.T) {
	mactest.SkipAllocations(t)
	if useFIPS {
		return
	}
	key, msg, dst := make([]byte, 200), make([]byte, 1500), make([]byte, 0, 64)
	var k HMACSHA512Key
	k.Init(key)
	h := k.New()
	keys, batch := make([][]byte, 8), mactest.Batch[Message](mactest.Slices(make([][64]byte, 8)), nil, make([][]byte, 8))
	for name, call := range map[string]func(){
		"Init":               func() { k.Init(key) },
		"Tag":                func() { k.Tag(dst, msg) },
		"Verify":             func() { k.Verify(dst[:64], msg) },
		"TagBatch":           func() { k.TagBatch(batch) },
		"VerifyBatch":        func() { k.VerifyBatch(batch) },
		"SumHMACSHA512":      func() { SumHMACSHA512(key, msg) },
		"SumHMACSHA512Batch": func() { SumHMACSHA512Batch(keys, batch) },
		"stream":             func() { h.Reset(); h.Write(msg); h.Sum(dst); h.Verify(dst[:64]) },
		"all on the stack": func() {
			var msg, dst [200]byte
			k.Verify(k.Tag(dst[:0], msg[:]), msg[:])
			tags, keys, batch := [9][64]byte{SumHMACSHA512(msg[:], msg[:])}, [9][]byte{msg[:]}, [9]Message{{Data: msg[:]}}
			for i := range batch {
				batch[i].Tag = tags[i][:]
			}
			k.TagBatch(batch[:])
			k.VerifyBatch(batch[:])
			SumHMACSHA512Batch(keys[:], batch[:])
		},
	} {
		if n := testing.AllocsPerRun(100, call); n != 0 {
			t.Errorf("%s makes %v allocations", name, n)
		}
	}
}

// TestHMACSHA512Reset checks that Reset leaves nothing of a message or its hash.
func TestHMACSHA512Reset(t *testing.T) { forAllHMAC(t, testHMACSHA512Reset) }

func testHMACSHA512Reset(t *testing.T) {
	k := NewHMACSHA512Key([]byte("key"))
	h, fresh := k.New(), k.New()
	msg := bytes.Repeat([]byte("message"), 100)
	for _, length := range []int{0, 1, 100, 127, 128, 129, 300, 700} {
		h.Write(msg[:length/3])
		h.Write(msg[length/3 : length])
		h.Sum(nil)
		h.Reset()
		if h.n != fresh.n || h.state != fresh.state || h.block != fresh.block {
			t.Errorf("%d bytes: Reset leaves %x, %x", length, h.state, h.block)
		}
	}
}

// TestHMACSHA512Concurrent uses one key in 1,000 goroutines, each with streams and clones of
// its own. The tags are compared with those of one goroutine; the race detector watches.
func TestHMACSHA512Concurrent(t *testing.T) { forAllHMAC(t, testHMACSHA512Concurrent) }

func testHMACSHA512Concurrent(t *testing.T) {
	k := NewHMACSHA512Key([]byte("key"))
	msg := bytes.Repeat([]byte("message"), 100)
	lengths := []int{0, 1, 111, 112, 128, 200, 300, 700}
	msgs, wants := [][]byte(nil), [][64]byte(nil)
	for _, length := range lengths {
		msgs = append(msgs, msg[:length])
		wants = append(wants, [64]byte(k.Tag(nil, msg[:length])))
	}
	mactest.Concurrently(1000, func(g int) {
		h, tags := k.New(), make([][64]byte, len(msgs))
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
			if !bytes.Equal(tag, want[:]) || !bytes.Equal(stream, want[:]) {
				t.Errorf("%d bytes: Tag %x, of a stream %x, want %x", len(msg), tag, stream, want)
			}
		}
		if g%8 > 0 {
			return
		}
		mactest.TagBatch(k.TagBatch, mactest.Slices(tags), nil, msgs)
		if !mactest.VerifyBatch(k.VerifyBatch, make([]bool, len(msgs)), mactest.Slices(tags), nil, msgs) || !slices.Equal(tags, wants) {
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

// TestFIPSWiped checks, in FIPS 140 mode, what Destroy overwrites of crypto/hmac, and that
// buffers for it on the heap are all zeros after use.
func TestFIPSWiped(t *testing.T) {
	defer func(fips bool) { useFIPS = fips }(useFIPS)
	useFIPS = true
	k := NewHMACSHA512Key([]byte("0123456789abcdef"))
	buf := bytes.Repeat([]byte{1}, sha512.BlockSize)
	k.newFIPS(buf)
	if !bytes.Equal(buf, make([]byte, len(buf))) {
		t.Error("a key is left in the buffer of newFIPS")
	}

	tag := bytes.Repeat([]byte{1}, HMACSHA512Size)
	m, kept := k.New(), bytes.Clone(tag)
	m.fips = keptTag{m.fips, kept}
	if !m.Verify(tag) {
		t.Error("the tag of crypto/hmac is refused")
	}
	if !bytes.Equal(kept, make([]byte, HMACSHA512Size)) {
		t.Error("Verify leaves the tag of crypto/hmac")
	}

	for _, sizes := range [][]int{{100}, {1, 127}, {1, 127, 50}} {
		m := k.New()
		for _, size := range sizes {
			m.Write(bytes.Repeat([]byte("m"), size))
		}
		h := m.fips
		before, ok := innerHash(h)
		if !ok {
			t.Skipf("the fields of %T are unknown", h)
		}
		m.Destroy()
		after, _ := innerHash(h)
		if want, _ := innerHash(k.New().fips); after == before || after != want {
			t.Errorf("writes of %d bytes: the inner hash is %s, want %s as in a new stream", sizes, after, want)
		}
	}
}

// innerHash returns the state of the inner hash of crypto/hmac, as text.
func innerHash(h hash.Hash) (state string, ok bool) {
	inner := reflect.ValueOf(h).Elem().FieldByName("inner")
	if !inner.IsValid() {
		return "", false
	}
	return fmt.Sprint(inner.Elem().Elem()), true
}

// keptTag is a hash whose Sum returns tag itself.
type keptTag struct {
	hash.Hash
	tag []byte
}

func (k keptTag) Sum([]byte) []byte { return k.tag }
