// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package packet

import (
	"bytes"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"example.com/fastmac"
	"example.com/fastmac/internal/mactest"
	"example.com/fastmac/packet/internal/packetref"
)

// set is what the sets of both algorithms have in common.
type set interface {
	Remove(epoch uint8) bool
	Open(packet, data []byte) (msg []byte, counter uint64, err error)
	OpenBatch(batch []Packet) int
	Stats() ReceiverStats
}

// newSet returns an empty set, and its Add.
func newSet(a packetref.Algorithm) (set, func(receiver) error) {
	if a == packetref.GMAC {
		s := new(GMACReceivers)
		return s, func(r receiver) error { return s.Add(r.(*GMACReceiver)) }
	}
	s := new(UMACReceivers)
	return s, func(r receiver) error { return s.Add(r.(*UMACReceiver)) }
}

// TestStatsAdd checks that sums have all numbers but what is left.
func TestStatsAdd(t *testing.T) {
	var one, sum ReceiverStats
	v := reflect.ValueOf(&one).Elem()
	for i := range v.NumField() {
		v.Field(i).SetUint(uint64(i + 1))
	}
	sum.add(one)
	sum.add(one)
	for i, v := 0, reflect.ValueOf(sum); i < v.NumField(); i++ {
		want := 2 * uint64(i+1)
		if name := v.Type().Field(i).Name; strings.HasSuffix(name, "Left") {
			want = 0
		}
		if got := v.Field(i).Uint(); got != want {
			t.Errorf("%s is %d, want %d", v.Type().Field(i).Name, got, want)
		}
	}
}

// TestReceivers has a set with receivers of several epochs, and packets of all kinds, alone and in
// batches. The results are those of the receivers.
func TestReceivers(t *testing.T) {
	forAll(t, func(t *testing.T, a packetref.Algorithm) {
		s, add := newSet(a)
		inEpoch := func(epoch uint8, dataSize int) Config {
			c := config()
			c.Epoch, c.DataSize = epoch, dataSize
			return c
		}
		if _, _, err := s.Open(make([]byte, 50), nil); err != ErrEpoch || s.Remove(0) {
			t.Errorf("an empty set: %v", err)
		}
		for _, epoch := range []uint8{3, 0, 255} {
			if err := add(newReceiver(a, inEpoch(epoch, 4), SecretIsNew())); err != nil {
				t.Fatal(err)
			}
		}
		for what, c := range map[string]Config{"of this epoch": inEpoch(3, 4), "DataSize of 5": inEpoch(4, 5), "TagSize": inEpoch(5, 4)} {
			other := a
			if what == "TagSize" {
				if other = packetref.UMAC64 + packetref.UMAC128 - a; a == packetref.GMAC {
					continue
				}
			}
			if err := add(newReceiver(other, c, SecretIsNew())); err == nil || !strings.Contains(err.Error(), what) {
				t.Errorf("%s: %v", what, err)
			}
		}
		data := pattern(4)
		var packets [][]byte
		var want []error
		senders := make(map[uint8]sender)
		for _, epoch := range []uint8{0, 3, 7, 255} {
			senders[epoch] = newSender(a, inEpoch(epoch, 4), SecretIsNew())
		}
		for i := range 100 {
			epoch := []uint8{0, 3, 3, 7, 255, 0, 0}[i*i%7]
			p := mactest.Must(senders[epoch].Seal(pattern(i), data))
			err := error(nil)
			if epoch == 7 {
				err = ErrEpoch
			}
			switch i % 9 {
			case 4:
				if p[len(p)-1]++; err == nil {
					err = ErrForged
				}
			case 5:
				p, err = p[:3], ErrForged
			}
			if packets, want = append(packets, p), append(want, err); i%10 == 0 && err == nil {
				packets, want = append(packets, p), append(want, ErrReplayed)
			}
		}
		var stats ReceiverStats
		good := 0
		for i, p := range packets {
			switch want[i] {
			case nil:
				stats.Accepted++
			case ErrReplayed:
				stats.Replayed++
			case ErrForged:
				if len(p) > 3 {
					stats.Forged++
				} else {
					stats.Unknown++
				}
			case ErrEpoch:
				stats.Unknown++
			}
			if want[i] == nil {
				good++
			}
		}
		for i, p := range packets {
			if msg, _, err := s.Open(bytes.Clone(p), data); err != want[i] || (msg == nil) != (err != nil) {
				t.Errorf("packet %d: %v, want %v", i, err, want[i])
			}
		}
		stats.Unknown++ // of the empty set
		stats.Left, stats.ForgedLeft = s.Stats().Left, s.Stats().ForgedLeft
		if stats.Left >= maxRange || stats.Left < maxRange-100 || stats.ForgedLeft > maxForged {
			t.Errorf("%+v", stats)
		}
		if got := s.Stats(); got != stats {
			t.Errorf("%+v, want %+v", got, stats)
		}
		b, add := newSet(a)
		for epoch := range 256 {
			if epoch == 7 {
				continue
			}
			if err := add(newReceiver(a, inEpoch(uint8(epoch), 4), SecretIsNew())); err != nil {
				t.Fatal(err)
			}
		}
		batch := make([]Packet, len(packets))
		for i, p := range packets {
			batch[i] = Packet{Bytes: bytes.Clone(p), Data: data, Counter: 9, Err: ErrWorn}
		}
		if n := b.OpenBatch(batch); n != good {
			t.Errorf("%d are good, want %d", n, good)
		}
		for i, p := range batch {
			if p.Err != want[i] || (p.Bytes == nil) != (p.Err != nil) || p.Err == ErrEpoch && p.Counter != 0 {
				t.Errorf("packet %d of a batch: %+v, want %v", i, p, want[i])
			}
		}
		stats.Unknown--
		if got := b.Stats(); got != stats {
			t.Errorf("%+v, want %+v", got, stats)
		}
		mactest.MustPanic(t, "Open", "data of 3 bytes: want 4", func() { b.Open(nil, pattern(3)) })
		mactest.MustPanic(t, "OpenBatch", "packet 1: data of 3 bytes: want 4", func() { b.OpenBatch([]Packet{{Data: data}, {Data: pattern(3)}}) })
		if !b.Remove(0) || b.Remove(0) {
			t.Error("Remove")
		}
		if got := b.Stats(); got.Accepted != stats.Accepted {
			t.Errorf("%+v after Remove, want %+v", got, stats)
		}
		var u UMACReceivers
		mactest.MustPanic(t, "Add", "never set up", func() { u.Add(new(UMACReceiver)) })
	})
}

// TestKeyChange has many goroutines that open packets while keys change, and old receivers are taken
// out. No packet that belongs to a receiver of the set is lost, and nothing panics.
func TestKeyChange(t *testing.T) {
	forAll(t, func(t *testing.T, a packetref.Algorithm) {
		s, add := newSet(a)
		const epochs, goroutines = 100, 4
		var sender atomic.Pointer[sender]
		change := func(epoch int) {
			c := config()
			c.Epoch = uint8(epoch)
			n := NewSession(random(32))
			if err := add(newReceiver(a, c, n)); err != nil {
				t.Error(err)
			}
			next := newSender(a, c, n)
			sender.Store(&next)
		}
		change(0)
		var done atomic.Bool
		var lost, accepted atomic.Uint64
		mactest.Concurrently(1+goroutines, func(g int) {
			if g == 0 {
				for epoch := 1; epoch < epochs; epoch++ {
					change(epoch)
					if epoch > 1 && !s.Remove(uint8(epoch-2)) {
						t.Error("not removed")
					}
					if epoch%25 == 0 {
						runtime.GC()
					}
				}
				done.Store(true)
				return
			}
			for last := false; !last; {
				last = done.Load()
				p := mactest.Must((*sender.Load()).Seal([]byte("message"), nil))
				_, _, err := s.Open(p, nil)
				if g == 1 {
					batch := []Packet{{Bytes: p}, {Bytes: mactest.Must((*sender.Load()).Seal(nil, nil))}}
					s.OpenBatch(batch)
				}
				switch err {
				case nil:
					accepted.Add(1)
				case ErrOld: // the others were faster
				case ErrEpoch:
					lost.Add(1) // two changes while it was on the way
				default:
					t.Error(err)
				}
			}
		})
		if got := s.Stats(); accepted.Load() == 0 || got.Forged+got.Ended != 0 {
			t.Errorf("%d packets are accepted, %+v", accepted.Load(), got)
		}
	})
}

// TestInPlaceReceivers has receivers in an array, which the runtime cannot destroy, one that is in
// two sets, and one that is set up again.
func TestInPlaceReceivers(t *testing.T) {
	c := config()
	c.TagSize = 16
	var array [3]UMACReceiver
	var s, other UMACReceivers
	for i := range array {
		c.Epoch = uint8(i)
		if err := array[i].Init(c, SecretIsNew()); err != nil {
			t.Fatal(err)
		}
		if err := s.Add(&array[i]); err != nil {
			t.Fatal(err)
		}
	}
	c.Epoch = 9
	r := mactest.Must(NewUMACReceiver(c, SecretIsNew()))
	for range 2 {
		for _, set := range []*UMACReceivers{&s, &other} {
			if err := set.Add(r); err != nil {
				t.Fatal(err)
			}
			set.Remove(9)
		}
		if err := r.Init(c, SecretIsNew()); err != nil {
			t.Fatal(err)
		}
	}
	runtime.GC()
	for i := range array {
		c.Epoch = uint8(i)
		if _, _, err := s.Open(sealAt(t, packetref.UMAC128, c, 1, "a"), nil); err != nil {
			t.Error(err)
		}
	}
	c.Epoch = 9
	mustOpen(r, sealAt(t, packetref.UMAC128, c, 1, "a"), nil)
}

// BenchmarkReceivers opens packets with a set of two epochs, and with the receiver itself.
func BenchmarkReceivers(b *testing.B) {
	c := config()
	c.TagSize = fastmac.UMAC128Size
	for _, many := range []bool{false, true} {
		b.Run(fmt.Sprintf("set=%v", many), func(b *testing.B) {
			var set UMACReceivers
			for epoch := range uint8(2) {
				c.Epoch = epoch
				if err := set.Add(mactest.Must(NewUMACReceiver(c, SecretIsNew()))); err != nil {
					b.Fatal(err)
				}
			}
			s, r := mactest.Must(NewUMACSender(c, SecretIsNew())), mactest.Must(NewUMACReceiver(c, SecretIsNew()))
			open := r.Open
			if many {
				open = set.Open
			}
			buffer := make([]byte, 64, 100)
			for b.Loop() {
				p, _ := s.Seal(buffer, nil)
				if _, _, err := open(p, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
