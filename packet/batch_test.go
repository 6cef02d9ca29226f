// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package packet

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"example.com/fastmac"
	"example.com/fastmac/internal/fork"
	"example.com/fastmac/internal/mactest"
	"example.com/fastmac/packet/internal/packetref"
)

// TestBatch compares batches with calls for single packets, and with the reference: packets of all
// kinds, in all places.
func TestBatch(t *testing.T) {
	forAll(t, func(t *testing.T, a packetref.Algorithm) {
		rng := rand.New(rand.NewPCG(1, 2))
		for _, dataSize := range []int{0, 1, 16} {
			c := config()
			c.DataSize, c.MaxForged = dataSize, 60
			s1, s2 := newSender(a, c, steps(100, 10000)), newSender(a, c, steps(100, 10000))
			r1, r2 := newReceiver(a, c, steps(120, 400)), newReceiver(a, c, steps(120, 400))
			for n := range 75 {
				batch := make([]Packet, n%40+n/70*60)
				var want [][]byte
				for i := range batch {
					msg := pattern(rng.IntN(3 * 700))
					data := pattern(dataSize)
					batch[i] = Packet{Bytes: msg, Data: data}
					want = append(want, mactest.Must(s2.Seal(bytes.Clone(msg), data)))
				}
				if err := s1.SealBatch(batch); err != nil {
					t.Fatal(err)
				}
				for i := range batch {
					if !bytes.Equal(batch[i].Bytes, want[i]) || batch[i].Counter != s1.Next()-uint64(len(batch)-i) {
						t.Fatalf("packet %d of %d differs", i, len(batch))
					}
				}
				for i := range batch {
					p := batch[i].Bytes
					switch rng.IntN(12) {
					case 0:
						p[rng.IntN(len(p))] ^= 1
					case 1:
						p = p[:rng.IntN(len(p))]
					case 2:
						p = p[:rng.IntN(20)]
					case 3:
						p = bytes.Clone(want[rng.IntN(i+1)])
					case 4:
						p[len(p)-8-a.TagSize()] ^= 7
					}
					batch[i].Bytes = p
					want[i] = bytes.Clone(p)
				}
				good := 0
				packets := make([][]byte, len(batch))
				for i := range batch {
					packets[i] = batch[i].Bytes
				}
				count := r1.OpenBatch(batch)
				for i, p := range batch {
					msg, counter, err := r2.Open(bytes.Clone(want[i]), p.Data)
					if !bytes.Equal(p.Bytes, msg) || (p.Bytes == nil) != (err != nil) || p.Counter != counter || p.Err != err {
						t.Fatalf("packet %d of %d: %v, %d; one by one: %v, %d", i, len(batch), p.Err, p.Counter, err, counter)
					}
					if !bytes.Equal(packets[i], want[i]) {
						t.Fatalf("packet %d of %d is changed", i, len(batch))
					}
					if err == nil {
						good++
					}
				}
				if count != good || r1.Next() != r2.Next() || r1.Stats() != r2.Stats() {
					t.Fatalf("%d packets are good, Next is %d, %+v; one by one: %d, %d, %+v", count, r1.Next(), r1.Stats(), good, r2.Next(), r2.Stats())
				}
			}
			if r1.Forged() != 60 {
				t.Errorf("%d wrong tags: the batch in which the receiver stops has not been tested", r1.Forged())
			}
		}
	})
}

// many is a sender and a receiver of each of some peers, of one type, and how a batch is for them.
type many struct {
	senders   []sender
	receivers []receiver
	seal      func(who []int, batch []Packet) int // a peer of -1 is a nil sender
	open      func(who []int, batch []Packet) int
}

// choose returns all[i] for each i of who, and nil for -1.
func choose[T any](all []*T, who []int) []*T {
	some := make([]*T, len(who))
	for i, at := range who {
		if at >= 0 {
			some[i] = all[at]
		}
	}
	return some
}

// newMany returns n peers with a configuration each.
func newMany(a packetref.Algorithm, n int, config func(i int) (Config, Counters)) (m many) {
	var us []*UMACSender
	var ur []*UMACReceiver
	var gs []*GMACSender
	var gr []*GMACReceiver
	for i := range n {
		c, counters := config(i)
		s, r := newSender(a, c, counters), newReceiver(a, c, counters)
		m.senders, m.receivers = append(m.senders, s), append(m.receivers, r)
		if a == packetref.GMAC {
			gs, gr = append(gs, s.(*GMACSender)), append(gr, r.(*GMACReceiver))
		} else {
			us, ur = append(us, s.(*UMACSender)), append(ur, r.(*UMACReceiver))
		}
	}
	m.seal = func(who []int, batch []Packet) int { return SealBatch(choose(us, who), batch) }
	m.open = func(who []int, batch []Packet) int { return OpenBatch(choose(ur, who), batch) }
	if a == packetref.GMAC {
		m.seal = func(who []int, batch []Packet) int { return SealBatch(choose(gs, who), batch) }
		m.open = func(who []int, batch []Packet) int { return OpenBatch(choose(gr, who), batch) }
	}
	return m
}

// TestMany compares batches over many senders and receivers with calls for single packets: with
// peers that are unknown, several packets of one, additional data of several sizes, wrong packets,
// packets for others, receivers that stop and ranges that end.
func TestMany(t *testing.T) {
	forAll(t, func(t *testing.T, a packetref.Algorithm) {
		const peers = 12
		peer := func(i int) (Config, Counters) {
			c := config()
			c.Sender, c.DataSize, c.MaxForged = fmt.Sprintf("peer %d", i), i%3*8, 9
			return c, steps(uint64(i), 30+10*uint64(i))
		}
		batched, single := newMany(a, peers, peer), newMany(a, peers, peer)
		rng := rand.New(rand.NewPCG(3, 4))
		errs := make(map[error]int)
		for n := range 110 {
			batch := make([]Packet, n)
			who := make([]int, n)
			for i := range batch {
				who[i] = rng.IntN(peers+1) - 1
				if i > 0 && rng.IntN(3) == 0 {
					who[i] = who[i-1]
				}
				batch[i] = Packet{Bytes: pattern(rng.IntN(200)), Counter: 99, Err: ErrEpoch}
				if who[i] >= 0 {
					c, _ := peer(who[i])
					batch[i].Data = pattern(c.DataSize)
				}
			}
			want := make([]Packet, n)
			sealed := 0
			for i := range want {
				want[i] = Packet{Err: ErrUnknown}
				if who[i] >= 0 {
					s := single.senders[who[i]]
					want[i].Counter = s.Next()
					if want[i].Bytes, want[i].Err = s.Seal(bytes.Clone(batch[i].Bytes), batch[i].Data); want[i].Err != nil {
						want[i].Counter = 0
					} else {
						sealed++
					}
				}
			}
			same := func(what string) {
				t.Helper()
				for i, p := range batch {
					if w := want[i]; !bytes.Equal(p.Bytes, w.Bytes) || p.Counter != w.Counter || p.Err != w.Err {
						t.Fatalf("%s %d of %d for peer %d: %x, %d, %v; one by one: %x, %d, %v", what, i, n, who[i], p.Bytes, p.Counter, p.Err, w.Bytes, w.Counter, w.Err)
					}
					errs[p.Err]++
				}
			}
			if got := batched.seal(who, batch); got != sealed {
				t.Fatalf("%d of %d are sealed, want %d", got, n, sealed)
			}
			same("sealed packet")

			packets := make([][]byte, n)
			for i := range batch {
				p := &batch[i]
				switch rng.IntN(20) {
				case 0:
					if len(p.Bytes) > 0 {
						p.Bytes[rng.IntN(len(p.Bytes))] ^= 1
					}
				case 1:
					p.Bytes = p.Bytes[:rng.IntN(len(p.Bytes)+1)]
				case 2:
					p.Bytes = bytes.Clone(batch[rng.IntN(i+1)].Bytes) // of another peer
				case 4:
					again := rng.IntN(i + 1)
					who[i], p.Bytes, p.Data = who[again], bytes.Clone(batch[again].Bytes), batch[again].Data
				case 3:
					who[i], p.Data = -1, nil
				}
				packets[i] = bytes.Clone(p.Bytes)
			}
			good := 0
			for i := range want {
				want[i] = Packet{Err: ErrUnknown}
				if who[i] >= 0 {
					w := &want[i]
					if w.Bytes, w.Counter, w.Err = single.receivers[who[i]].Open(bytes.Clone(packets[i]), batch[i].Data); w.Err == nil {
						good++
					}
				}
			}
			whole := make([][]byte, n)
			for i := range batch {
				whole[i] = batch[i].Bytes
			}
			if got := batched.open(who, batch); got != good {
				t.Fatalf("%d of %d are good, want %d", got, n, good)
			}
			same("opened packet")
			for i, p := range batch {
				if !bytes.Equal(whole[i], packets[i]) || (p.Bytes == nil) != (p.Err != nil) {
					t.Fatalf("packet %d of %d is changed: %x, was %x", i, n, whole[i], packets[i])
				}
			}
		}
		for i := range peers {
			if b, s := batched.receivers[i], single.receivers[i]; b.Next() != s.Next() || b.Stats() != s.Stats() {
				t.Errorf("peer %d: Next is %d, %+v; one by one: %d, %+v", i, b.Next(), b.Stats(), s.Next(), s.Stats())
			}
		}
		for _, err := range []error{nil, ErrForged, ErrReplayed, ErrEnd, ErrUnknown, ErrWorn} {
			if errs[err] < 10 {
				t.Errorf("%v was seen %d times", err, errs[err])
			}
		}
	})
}

// TestManyPanics has wrong calls, of which nothing but what is said may be changed.
func TestManyPanics(t *testing.T) {
	forAll(t, func(t *testing.T, a packetref.Algorithm) {
		const n = lanes + 9 // two groups
		m := newMany(a, 2, func(int) (Config, Counters) {
			c := config()
			c.DataSize = 4
			return c, SecretIsNew()
		})
		m.receivers[1].Destroy()
		m.senders[1].Destroy()
		for _, at := range []int{0, 5, lanes - 1, lanes, n - 1} {
			who, batch := make([]int, n), make([]Packet, n)
			for i := range batch {
				batch[i] = Packet{Bytes: make([]byte, 5, 50), Data: pattern(4)}
			}
			if m.seal(who, batch) != n {
				t.Fatal("not sealed")
			}
			for _, test := range []struct {
				want string
				data []byte
				who  int
			}{
				{fmt.Sprintf("batch: packet %d: data of 3 bytes: want 4", at), pattern(3), 0},
				{fmt.Sprintf("batch: packet %d: data of 0 bytes: want 4", at), nil, 0},
				{"that was destroyed or never set up", pattern(4), 1},
			} {
				some, wrong := slices.Clone(batch), slices.Clone(who)
				some[at].Data, wrong[at] = test.data, test.who
				before := make([]Packet, n)
				for i, p := range some {
					before[i] = p
					before[i].Bytes = bytes.Clone(p.Bytes)
				}
				mactest.MustPanic(t, "OpenBatch", test.want, func() { m.open(wrong, some) })
				for i, p := range some {
					if opened := i < at-at%lanes; opened == (len(p.Bytes) == len(before[i].Bytes)) && (opened || !bytes.Equal(p.Bytes, before[i].Bytes)) {
						t.Errorf("packet %d is changed by a panic at packet %d", i, at)
					}
				}
				next := m.senders[0].Next()
				for i := range some {
					some[i].Bytes = make([]byte, 5, 50)
				}
				mactest.MustPanic(t, "SealBatch", test.want, func() { m.seal(wrong, some) })
				if got, want := m.senders[0].Next(), next+uint64(at); got != want {
					t.Errorf("Next is %d after a panic at packet %d, want %d", got, at, want)
				}
				for i, p := range some[at:] {
					if len(p.Bytes) != 5 {
						t.Errorf("packet %d has %d bytes after a panic at packet %d", at+i, len(p.Bytes), at)
					}
				}
			}
		}
		mactest.MustPanic(t, "SealBatch", "SealBatch with 2 senders and 1 packets", func() { m.seal(make([]int, 2), make([]Packet, 1)) })
		mactest.MustPanic(t, "OpenBatch", "OpenBatch with 0 receivers and 1 packets", func() { m.open(nil, make([]Packet, 1)) })
		if m.seal(nil, nil) != 0 || m.open(nil, nil) != 0 {
			t.Error("an empty batch has packets")
		}
	})
}

// TestManyAllocations checks that batches over many do not allocate.
func TestManyAllocations(t *testing.T) {
	mactest.SkipAllocations(t)
	if fastmac.RequireAES() != nil {
		t.Skip("without AES instructions a tag may allocate")
	}
	c := config()
	c.TagSize, c.DataSize = 16, 8
	allocations := func(a packetref.Algorithm, seal, open func([]Packet) int) {
		batch, buffers, data := make([]Packet, 70), make([][]byte, 70), pattern(8)
		for i := range buffers {
			buffers[i] = make([]byte, 90, 90+24)
		}
		if n := testing.AllocsPerRun(20, func() {
			for i := range batch {
				batch[i] = Packet{Bytes: buffers[i], Data: data}
			}
			if seal(batch) != len(batch) || open(batch) != len(batch) {
				t.Fatal("batch fails")
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations", name(a), n)
		}
	}
	us := slices.Repeat([]*UMACSender{mactest.Must(NewUMACSender(c, SecretIsNew()))}, 70)
	ur := slices.Repeat([]*UMACReceiver{mactest.Must(NewUMACReceiver(c, SecretIsNew()))}, 70)
	allocations(packetref.UMAC128, func(b []Packet) int { return SealBatch(us, b) }, func(b []Packet) int { return OpenBatch(ur, b) })
	if fastmac.RequireGCM() == nil {
		gs := slices.Repeat([]*GMACSender{mactest.Must(NewGMACSender(c, SecretIsNew()))}, 70)
		gr := slices.Repeat([]*GMACReceiver{mactest.Must(NewGMACReceiver(c, SecretIsNew()))}, 70)
		allocations(packetref.GMAC, func(b []Packet) int { return SealBatch(gs, b) }, func(b []Packet) int { return OpenBatch(gr, b) })
	}
}

// TestFork checks that a sender of another process seals nothing, also if the fork is just before it
// takes counters, with a supply that is asked for each of them, and without one.
func TestFork(t *testing.T) {
	t.Run("supply", func(t *testing.T) { testFork(t, time.Hour) })
	t.Run("none", func(t *testing.T) { testFork(t, 0) })
}

func testFork(t *testing.T, maxAge time.Duration) {
	forAll(t, func(t *testing.T, a packetref.Algorithm) {
		c := config()
		c.MaxAge = maxAge
		m := newMany(a, 1, func(int) (Config, Counters) { return c, SecretIsNew() })
		s := m.senders[0]
		mactest.Must(s.Seal(nil, nil))
		refuses := func() {
			t.Helper()
			if p, err := s.Seal([]byte("abc"), nil); err != ErrCopied || p != nil {
				t.Errorf("Seal: %q, %v", p, err)
			}
			if p, err := s.Trailer([]byte("abc"), nil); err != ErrCopied || p != nil {
				t.Errorf("Trailer: %q, %v", p, err)
			}
			for _, n := range []int{1, lanes + 1} {
				batch := make([]Packet, n)
				fill := func() {
					for i := range batch {
						batch[i].Bytes = []byte("abc")
					}
				}
				filled := func(p Packet) bool { return len(p.Bytes) > 0 || cap(p.Bytes) == 0 }
				fill()
				if err := s.SealBatch(batch); err != ErrCopied || slices.ContainsFunc(batch, filled) {
					t.Errorf("the method SealBatch: %q, %v", batch[n-1].Bytes, err)
				}
				fill()
				if n := m.seal(make([]int, n), batch); n != 0 || batch[len(batch)-1].Err != ErrCopied || slices.ContainsFunc(batch, filled) {
					t.Errorf("SealBatch: %d, %q, %v", n, batch[0].Bytes, batch[0].Err)
				}
			}
		}
		parent, next := fork.Current(), s.Next()
		restore := fork.Replace(func() fork.Process {
			if taken := s.Next() != next; !taken {
				return parent
			}
			next = s.Next()
			return parent + 1
		})
		refuses()
		restore()
		fork.Pretend()
		refuses()
		if err := s.Stop(); err != ErrCopied {
			t.Errorf("Stop: %v", err)
		}
		if got := s.Stats(); got != (SenderStats{}) {
			t.Errorf("Stats are %+v in a child", got)
		}
		mactest.Must(newSender(a, config(), SecretIsNew()).Seal(nil, nil)) // made in the child
	})
}

// TestRestored checks that OpenBatch over several receivers restores the packets, whose additional data it puts
// in the place of trailers, if the key of one ends meanwhile.
func TestRestored(t *testing.T) {
	receivers, batch := make([]*UMACReceiver, 3), make([]Packet, 3)
	var want [3][]byte
	for i := range receivers {
		c := config()
		c.Sender, c.TagSize, c.DataSize = fmt.Sprintf("peer %d", i), 8, 8
		s := mactest.Must(NewUMACSender(c, SecretIsNew()))
		receivers[i] = mactest.Must(NewUMACReceiver(c, SecretIsNew()))
		data := pattern(c.DataSize)
		batch[i] = Packet{Bytes: mactest.Must(s.Seal([]byte("message"), data)), Data: data}
		want[i] = bytes.Clone(batch[i].Bytes)
	}
	opened := slices.Clone(batch)
	receivers[1].key.Destroy() // as if the receiver were destroyed after OpenBatch has looked
	mactest.MustPanic(t, "OpenBatch", "destroyed", func() { OpenBatch(receivers, opened) })
	for i := range batch {
		if opened[i].Bytes != nil || opened[i].Err == nil {
			t.Errorf("packet %d: %q, %v", i, opened[i].Bytes, opened[i].Err)
		}
		if !bytes.Equal(batch[i].Bytes, want[i]) {
			t.Errorf("packet %d is %x, want %x", i, batch[i].Bytes, want[i])
		}
	}
}
