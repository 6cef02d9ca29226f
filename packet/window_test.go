// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package packet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"flag"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"example.com/fastmac/internal/mactest"
	"example.com/fastmac/packet/internal/packetref"
)

// windows are the sizes of windows that tests have.
var windows = []int{0, 1024, 2048, 8192, 65536}

// testWindow returns a window for a range.
func testWindow(bits int, n Counters) *window {
	w := new(window)
	w.init(&Config{Window: bits, TagSize: 16}, &supplied{n.first, n.end, nil})
	return w
}

// refWindow returns the reference for it.
func refWindow(bits int, n Counters) *packetref.Window {
	return &packetref.Window{First: n.first, End: n.end, Bits: pick(bits == 0, minWindow, bits)}
}

// TestWindow compares windows with the reference: for counters in order, late, repeated, next to the ends
// of the window and the range, after jumps.
func TestWindow(t *testing.T) {
	counters := pick(testing.Short() || mactest.Race, 10_000, 100_000)
	for _, bits := range windows {
		for _, n := range []Counters{SecretIsNew(), between(1<<56-1<<48, 1<<56), between(1<<32-100, 1<<32+5000), between(63, 1<<40), between(64, 1<<40)} {
			w, ref := testWindow(bits, n), refWindow(bits, n)
			rng := rand.New(rand.NewPCG(uint64(bits), n.first))
			size := uint64(ref.Bits)
			for range counters {
				highest := max(w.highest, n.first)
				var counter uint64
				switch rng.IntN(8) {
				case 0:
					counter = highest + rng.Uint64N(4)
				case 1:
					counter = highest - rng.Uint64N(64)
				case 2:
					counter = highest - rng.Uint64N(2*size)
				case 3:
					counter = highest - size + 60 + rng.Uint64N(8)
				case 4:
					counter = highest + 1 + rng.Uint64N(8)*rng.Uint64N(2)
				case 5:
					if rng.IntN(20) == 0 {
						counter = highest + rng.Uint64N(3*size)
					} else {
						counter = highest + 1
					}
				case 6:
					if rng.IntN(1000) == 0 {
						counter = highest + 1<<rng.IntN(42) + rng.Uint64N(3)
					} else {
						counter = n.first - rng.Uint64N(3)
					}
				case 7:
					counter = pick(rng.IntN(10) == 0, n.end+rng.Uint64N(3), highest)
				}
				got, want := w.judge(counter, true), errorOf(ref.Accept(counter))
				if got != want {
					t.Fatalf("%d bits, %v, %d below %d: %v, want %v", bits, n, w.highest-counter, w.highest, got, want)
				}
				if w.next() != ref.Next() {
					t.Fatalf("%d bits, %v: next is %d, want %d", bits, n, w.next(), ref.Next())
				}
			}
		}
	}
}

// TestReplayEdges opens packets again: at once, at the edges of the window, and after many others.
func TestReplayEdges(t *testing.T) {
	forAll(t, func(t *testing.T, a packetref.Algorithm) {
		c := config()
		s, r := newSender(a, c, SecretIsNew()), newReceiver(a, c, SecretIsNew())
		others := pick(testing.Short() || mactest.Race, 1<<12, 1<<20)
		first := mactest.Must(s.Seal(nil, nil))
		packets := [][]byte{first}
		open := func(p []byte, want error) {
			t.Helper()
			if _, _, err := r.Open(p, nil); err != want {
				t.Fatalf("%v, want %v", err, want)
			}
		}
		open(first, nil)
		open(first, ErrReplayed)
		for range 3000 {
			p := mactest.Must(s.Seal(nil, nil))
			packets = append(packets, p)
			// Counter 960 below is the last in the window.
			if n := len(packets); n > 961 && n%7 == 0 {
				open(packets[n-961], ErrReplayed)
				open(p, nil)
				open(packets[n-961], ErrReplayed)
				open(packets[n-962], ErrOld)
				open(p, ErrReplayed)
			} else {
				open(p, nil)
			}
		}
		last := packets[len(packets)-1]
		var buffer [24]byte
		for range others {
			open(mactest.Must(s.Seal(buffer[:0], nil)), nil)
		}
		open(first, ErrOld)
		open(last, ErrOld)
		for _, p := range packets {
			open(p, ErrOld)
		}
		if r.Forged() != 0 {
			t.Errorf("Forged is %d", r.Forged())
		}
	})
}

// TestOneWinner opens each packet in 16 goroutines at the same time, half of them in batches.
func TestOneWinner(t *testing.T) {
	forAll(t, func(t *testing.T, a packetref.Algorithm) {
		c := config()
		c.DataSize = 8
		data := make([]byte, 8)
		s, r := newSender(a, c, SecretIsNew()), newReceiver(a, c, SecretIsNew())
		const packets, goroutines = 500, 16
		var all [packets][]byte
		for i := range all {
			all[i] = mactest.Must(s.Seal(pattern(i), data))
		}
		var wins [packets]atomic.Int32
		mactest.Concurrently(goroutines, func(g int) {
			for i := range all {
				if p := bytes.Clone(all[i]); g%2 == 0 {
					_, counter, err := r.Open(p, data)
					if err == nil {
						wins[counter].Add(1)
					} else if err != ErrReplayed {
						t.Errorf("packet %d: %v", i, err)
					}
				} else {
					batch := []Packet{{Bytes: p, Data: data}, {Bytes: bytes.Clone(p), Data: data}}
					if r.OpenBatch(batch) > 0 {
						wins[batch[0].Counter].Add(1)
					}
					if batch[1].Err != ErrReplayed {
						t.Errorf("packet %d, twice in a batch: %v", i, batch[1].Err)
					}
				}
			}
		})
		for i := range wins {
			if n := wins[i].Load(); n != 1 {
				t.Errorf("packet %d: %d successes", i, n)
			}
		}
	})
}

var longRun = flag.Int("packets", 0, "let TestLongRun seal so many packets in all, for which it may take 20 bytes of memory each")

// TestLongRun has loss, reordering by up to two windows, duplicates and forged packets, 10^6 packets
// in all, and 10^7 if FASTMAC_TEST_LONG is set. The results are those of a reference that keeps all counters.
func TestLongRun(t *testing.T) {
	forAll(t, func(t *testing.T, a packetref.Algorithm) {
		packets := pick(testing.Short() || mactest.Race, 30_000, 350_000)
		if mactest.Long() && !mactest.Race {
			packets *= 10
		}
		if *longRun > 0 {
			packets = *longRun / len(algorithms())
		}
		rng := rand.New(rand.NewPCG(3, uint64(a)))
		c := config()
		s, r := newSender(a, c, SecretIsNew()), newReceiver(a, c, SecretIsNew())
		ref := refWindow(0, SecretIsNew())
		type item struct {
			packet [8 + 24]byte
			n      int
			forged bool
		}
		var slots [2 * minWindow][]item // what arrives after so many packets
		counts := make(map[error]int)
		var forged uint64
		check := func(it *item, counter uint64, err error) {
			t.Helper()
			want := error(ErrForged)
			number := binary.BigEndian.Uint64(it.packet[8:]) % maxEnd
			if !it.forged {
				want = errorOf(ref.Accept(number))
			} else {
				forged++
			}
			if err != want || err == nil && counter != number {
				t.Fatalf("packet %d: %v, %d; want %v", number, err, counter, want)
			}
			counts[err]++
		}
		var batch []Packet
		for now := range packets + len(slots) {
			slot := &slots[now%len(slots)]
			if now&64 == 0 {
				for i := range *slot {
					it := &(*slot)[i]
					_, counter, err := r.Open(it.packet[:it.n], nil)
					check(it, counter, err)
				}
			} else {
				batch = batch[:0]
				for i := range *slot {
					it := &(*slot)[i]
					batch = append(batch, Packet{Bytes: it.packet[:it.n]})
				}
				r.OpenBatch(batch)
				for i, p := range batch {
					check(&(*slot)[i], p.Counter, p.Err)
				}
			}
			*slot = (*slot)[:0]
			if now >= packets {
				continue
			}
			var it item
			binary.BigEndian.PutUint64(it.packet[:], uint64(now))
			it.n = len(mactest.Must(s.Seal(it.packet[:8], nil)))
			if it.n > len(it.packet) || rng.IntN(100) == 0 { // lost
				continue
			}
			for again := true; again; again = rng.IntN(100) == 0 {
				delay := 1
				if rng.IntN(10) == 0 {
					delay += rng.IntN(len(slots) - 1)
				}
				arrival := &slots[(now+delay)%len(slots)]
				*arrival = append(*arrival, it)
				if rng.IntN(100) == 0 {
					bad := it
					bad.forged = true
					bit := rng.IntN(8 * (it.n - 8))
					if bit >= 64 {
						bit += 8 // not in the epoch
					}
					bad.packet[bit/8] ^= 1 << (bit % 8)
					*arrival = append(*arrival, bad)
				}
			}
		}
		if r.Forged() != forged || r.Next() != ref.Next() {
			t.Errorf("Forged is %d, Next %d; want %d, %d", r.Forged(), r.Next(), forged, ref.Next())
		}
		for _, err := range []error{nil, ErrForged, ErrReplayed, ErrOld} {
			if counts[err] == 0 {
				t.Errorf("no packet with %v", err)
			}
			t.Logf("%d packets: %v", counts[err], err)
		}
	})
}

// TestHugeJump has forged packets with the highest counters. The window does not move.
func TestHugeJump(t *testing.T) {
	forAll(t, func(t *testing.T, a packetref.Algorithm) {
		c := config()
		n := between(1<<56-1<<48, 1<<56)
		s, r := newSender(a, c, n), newReceiver(a, c, n)
		for i := range 200 {
			packet := mactest.Must(s.Seal([]byte("message"), nil))
			forged := bytes.Clone(packet)
			for j := 1; j < 8; j++ {
				forged[len("message")+j] = 0xff - byte(i%3)*pick(j == 7, byte(1), 0)
			}
			if _, _, err := r.Open(forged, nil); err != ErrForged {
				t.Fatal(err)
			}
			if r.Next() != n.first+uint64(i) {
				t.Fatalf("Next is %d after a forged packet", r.Next())
			}
			if _, _, err := r.Open(packet, nil); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// TestJumps has a sender that skips counters.
func TestJumps(t *testing.T) {
	forAll(t, func(t *testing.T, a packetref.Algorithm) {
		for _, bits := range windows {
			c := config()
			c.Window = bits
			n := between(1<<56-1<<48, 1<<56-2)
			r := newReceiver(a, c, n)
			at := n.first
			words := uint64(max(bits, minWindow))
			for _, jump := range []uint64{0, 1, 63, 64, 65, words - 64, words - 1, words, words + 1, 2 * words, 1 << 32, 1 << 37, 1 << 40, n.end - 1} {
				if at += jump; jump == n.end-1 {
					at = jump
				}
				open := func(counter uint64, want error) {
					t.Helper()
					if _, _, err := r.Open(sealAt(t, a, c, counter, "x"), nil); err != want {
						t.Fatalf("%d bits, jump of %d, %d below: %v, want %v", bits, jump, at-counter, err, want)
					}
				}
				open(at, nil)
				open(at, ErrReplayed)
				if jump <= words { // or all counters of the window are new
					continue
				}
				for _, back := range []uint64{1, 2, 63, 64, 65, words - 65, words - 64} {
					open(at-back, nil)
					open(at-back, ErrReplayed)
				}
				open(at-words+63, ErrOld)
				open(at-words, ErrOld)
			}
			for _, counter := range []uint64{n.end, n.end + 1} {
				if _, _, err := r.Open(sealAt(t, a, c, counter, "x"), nil); err != ErrEnd {
					t.Fatalf("%d: %v, want ErrEnd", counter, err)
				}
			}
		}
	})
}

// TestWorn has a receiver that refuses everything after MaxForged wrong tags.
func TestWorn(t *testing.T) {
	forAll(t, func(t *testing.T, a packetref.Algorithm) {
		c := config()
		c.MaxForged = 10
		s := newSender(a, c, SecretIsNew())
		bad := mactest.Must(s.Seal([]byte("message"), nil))
		bad[0]++
		r := newReceiver(a, c, SecretIsNew())
		open := func(p []byte, want error) {
			t.Helper()
			if msg, _, err := r.Open(p, nil); err != want || (msg == nil) != (err != nil) {
				t.Fatalf("%v, want %v", err, want)
			}
		}
		for range 20 {
			open(bad[:5], ErrForged) // has no tag
		}
		other := bytes.Clone(bad)
		other[7]++
		open(other, ErrEpoch)
		for i := range 9 {
			if r.Forged() != uint64(i) {
				t.Fatalf("Forged is %d, want %d", r.Forged(), i)
			}
			open(bad, ErrForged)
		}
		good := mactest.Must(s.Seal([]byte("message"), nil))
		open(good, nil)
		open(good, ErrReplayed)
		open(bad, ErrForged)
		good = mactest.Must(s.Seal([]byte("message"), nil))
		for _, p := range [][]byte{good, bad, bad[:5], other, nil} {
			open(p, ErrWorn)
		}
		if r.Forged() != 10 {
			t.Errorf("Forged is %d, want 10", r.Forged())
		}
		r = newReceiver(a, c, SecretIsNew())
		mactest.Concurrently(8, func(int) {
			for range 5 {
				if _, _, err := r.Open(bad, nil); err != ErrForged && err != ErrWorn {
					t.Error(err)
				}
			}
		})
		if r.Forged() != 10 {
			t.Errorf("Forged is %d after attempts of many, want 10", r.Forged())
		}
		open(good, ErrWorn)
	})
	// The last wrong tag may come while others are checked.
	w := testWindow(0, SecretIsNew())
	w.left.Store(0)
	for _, right := range []bool{true, false} {
		if err := w.judge(0, right); err != ErrWorn {
			t.Errorf("%v after the last wrong tag: %v", right, err)
		}
	}
	for size, want := range map[int]uint64{8: 1 << 32, 16: 1 << 48} {
		w := new(window)
		w.init(&Config{TagSize: size}, &supplied{0, 1, nil})
		if w.limit != want {
			t.Errorf("tags of %d bytes: %d wrong ones, want %d", size, w.limit, want)
		}
	}
}

// TestInit sets up receivers again. Nothing of what was there remains.
func TestInit(t *testing.T) {
	var u UMACReceiver
	var g GMACReceiver
	forAll(t, func(t *testing.T, a packetref.Algorithm) {
		c := config()
		c.TagSize, c.MaxForged = a.TagSize(), 1
		var r receiver = &u
		for _, bits := range []int{0, 4096, 0, 2048, 1024} {
			c.Window = bits
			var err error
			if a == packetref.GMAC {
				r, err = &g, g.Init(c, steps(9, 100))
			} else {
				err = u.Init(c, steps(9, 100))
			}
			if err != nil {
				t.Fatal(err)
			}
			if r.Next() != 9 || r.Forged() != 0 {
				t.Errorf("Next is %d, Forged %d", r.Next(), r.Forged())
			}
			for counter := range uint64(20) {
				if _, _, err := r.Open(sealAt(t, a, c, 9+counter, ""), nil); err != nil {
					t.Errorf("%d bits, counter %d: %v", bits, counter, err)
				}
			}
			r.Open(make([]byte, 24), nil)
			bad := sealAt(t, a, c, 50, "")
			bad[len(bad)-1]++
			if _, _, err := r.Open(bad, nil); err != ErrForged || r.Forged() != 1 {
				t.Errorf("%v", err)
			}
		}
	})
}

// TestInitAgain sets up senders and receivers again that have counted something of each kind: they count from zero,
// and accept what the ones before have accepted.
func TestInitAgain(t *testing.T) {
	forAll(t, func(t *testing.T, a packetref.Algorithm) {
		c := config()
		c.TagSize = a.TagSize()
		if a == packetref.GMAC {
			initAgain[GMACSender, GMACReceiver](t, c)
		} else {
			initAgain[UMACSender, UMACReceiver](t, c)
		}
	})
}

func initAgain[S, R any, P interface {
	party[S]
	sender
}, Q interface {
	party[R]
	receiver
}](t *testing.T, c Config) {
	const first, end = 1 << 20, 1<<20 + 5*minWindow
	init := func(s P, r Q) {
		t.Helper()
		if err := errors.Join(s.Init(c, between(first, end)), r.Init(c, between(first, end-1))); err != nil {
			t.Fatal(err)
		}
	}
	newS, newR := P(new(S)), Q(new(R))
	init(newS, newR)
	for _, window := range []int{0, 2 * minWindow} {
		c.Window = window
		s, r := P(new(S)), Q(new(R))
		init(s, r)
		all := make([]Packet, end-first)
		if err := s.SealBatch(all); err != nil || s.SealBatch(make([]Packet, 3)) != ErrEnd {
			t.Fatal(err)
		}
		before := P(new(S)) // for a counter below the range
		if err := before.Init(c, between(first-1, first)); err != nil {
			t.Fatal(err)
		}
		open := func(packet []byte, want error) {
			t.Helper()
			if _, _, err := r.Open(packet, nil); err != want {
				t.Errorf("%v, want %v", err, want)
			}
		}
		last := len(all) - 1
		open(all[last-1].Bytes, nil)
		open(all[last-1].Bytes, ErrReplayed)
		open(all[0].Bytes, ErrOld)
		open(mactest.Must(before.Seal(nil, nil)), ErrRestarted)
		open(append(bytes.Clone(all[last].Bytes[:numberSize]), make([]byte, c.TagSize)...), ErrForged)
		open(all[last].Bytes, ErrEnd)
		open(nil, ErrForged)
		if got := s.Stats(); got != (SenderStats{Sealed: end - first, Ended: 3}) {
			t.Errorf("%+v", got)
		}
		got := r.Stats()
		if got.ForgedLeft = 0; got != (ReceiverStats{1, 1, 1, 1, 1, 1, 1, 0, 0}) {
			t.Errorf("%+v, want one of each", got)
		}
		init(s, r)
		if got, want := s.Stats(), newS.Stats(); got != want {
			t.Errorf("set up again: %+v, want %+v", got, want)
		}
		if got, want := r.Stats(), newR.Stats(); got != want {
			t.Errorf("set up again: %+v, want %+v", got, want)
		}
		open(all[0].Bytes, nil)
		open(all[last-1].Bytes, nil)
	}
}
