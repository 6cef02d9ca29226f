// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package packet

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"example.com/fastmac/internal/mactest"
	"example.com/fastmac/packet/internal/packetref"
)

// fuzzAlgorithm is mostly GMAC, whose reference is the fastest.
func fuzzAlgorithm(code byte) packetref.Algorithm {
	all := algorithms()
	return all[min(int(code%8), len(all)-1)]
}

// FuzzOpen opens any bytes, and packets that are damaged, alone and in a batch.
func FuzzOpen(f *testing.F) {
	mactest.Seeds(f)
	f.Add([]byte("\x00\x00"), []byte{})
	f.Add([]byte("\x01\x10\x00"), pattern(24))
	f.Add([]byte("\x02\x08\x01\x00\x05\x02"), pattern(100))
	f.Add([]byte("\x07\x00\x01\x30\x05\x00"), pattern(1300))
	f.Add([]byte("\x06\x00\x02"), append(pattern(9), "\x05\x00\x00\x00\x00\x00\x00\x09 sixteen byte tag"...))
	f.Fuzz(func(t *testing.T, code, b []byte) {
		s := mactest.Script(code)
		a := fuzzAlgorithm(s.Byte())
		c := config()
		c.DataSize = int(s.Byte() % 17)
		ref := packetref.Receiver{Key: refKey(a, c), Window: *refWindow(0, SecretIsNew()), MaxForged: 1 << 32}
		data, packet := pattern(c.DataSize), b
		if kind := s.Byte(); kind%4 != 0 {
			packet = ref.Seal(b, data, uint64(kind/4))
			if kind%4 > 1 {
				packet = s.Damage(packet)
			}
			if kind%4 > 2 {
				data = s.Damage(append(data, make([]byte, 17)...))[:c.DataSize]
			}
		}
		msg, counter, result := ref.Open(packet, data)
		r := newReceiver(a, c, SecretIsNew())
		got := bytes.Clone(packet)
		if m, n, err := r.Open(got, data); !bytes.Equal(m, msg) || n != counter || err != errorOf(result) || !bytes.Equal(got, packet) {
			t.Fatalf("%q, %d, %v; want %q, %d, %v", m, n, err, msg, counter, errorOf(result))
		}
		if r.Forged() != ref.Forged || r.Next() != ref.Next() {
			t.Fatalf("Forged is %d, Next %d; want %d, %d", r.Forged(), r.Next(), ref.Forged, ref.Next())
		}
		batch := []Packet{{Bytes: got, Data: data}}
		if newReceiver(a, c, SecretIsNew()).OpenBatch(batch); !bytes.Equal(batch[0].Bytes, msg) || batch[0].Err != errorOf(result) || !bytes.Equal(got, packet) {
			t.Fatalf("batch: %q, %v; want %q, %v", batch[0].Bytes, batch[0].Err, msg, errorOf(result))
		}
	})
}

// FuzzReceive runs scripts of a sender, a network and a receiver.
func FuzzReceive(f *testing.F) {
	mactest.Seeds(f)
	f.Add([]byte("\x07\x00\x00"))
	f.Add([]byte("\x03\x05\x12\x01\x10\x02\x20\x03\x30\x04\x40\x05\x50\x06\x60\x07\x70\x00\x01\x01\x02\x01\x03\x01\x04\x01"))
	f.Add([]byte("\x00\x01\x06\x01\x00\x01\x00\x06\x01\x01\x04\x05\x04\x06"))
	f.Add([]byte("\x05\xff\xff\x03\x3c\x03\x3d\x03\x3e\x03\x3f\x03\x40\x02\x20\x02\x25\x02\x30\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, code []byte) {
		s := mactest.Script(code)
		a := fuzzAlgorithm(s.Byte())
		c := config()
		setting := s.Byte()
		c.DataSize = int(setting % 3 * 8)
		c.Window = 1024 << (setting / 3 % 3)
		c.MaxForged = 1 + uint64(setting/9%8)
		n := between(uint64(s.Byte())<<20, uint64(setting)<<10+1<<30)
		stored := setting&1 != 0
		if stored {
			n = Counters{kind: kindStored, first: n.first, end: maxEnd, receive: &memory{value: n.first}}
		}
		r := newReceiver(a, c, n)
		ref := packetref.Receiver{Key: refKeyOf(a, c, n), Window: *refWindow(c.Window, n), MaxForged: c.MaxForged}
		data := pattern(c.DataSize)
		var batch []Packet
		var want []Packet
		flush := func() {
			if len(batch) == 1 {
				p := &batch[0]
				p.Bytes, p.Counter, p.Err = r.Open(p.Bytes, data)
			} else {
				r.OpenBatch(batch)
			}
			for i, p := range batch {
				if w := want[i]; !bytes.Equal(p.Bytes, w.Bytes) || p.Counter != w.Counter || p.Err != w.Err {
					t.Fatalf("packet %d of %d: %q, %d, %v; want %q, %d, %v", i, len(batch), p.Bytes, p.Counter, p.Err, w.Bytes, w.Counter, w.Err)
				}
			}
			if r.Next() != ref.Next() || r.Forged() != ref.Forged {
				t.Fatalf("Next is %d, Forged %d; want %d, %d", r.Next(), r.Forged(), ref.Next(), ref.Forged)
			}
			batch, want = nil, nil
		}
		for steps := 0; len(s) > 0 && steps < 60; steps++ {
			op, arg := s.Byte(), uint64(s.Byte())
			counter := ref.Next()
			forge := false
			switch op % 8 {
			case 0: // in order
				counter += arg % 4
			case 1: // late
				counter -= arg
			case 2: // next to the end of the window
				counter -= uint64(c.Window) - 96 + arg
			case 3: // a jump
				counter += 1 << (arg % 41)
			case 4: // next to the ends of the range
				counter = pick(arg&1 != 0, n.first, ref.End) + arg>>1%8 - 4
			case 5:
				forge = true
				counter += arg << 12
			case 6, 7:
				flush()
				continue
			}
			packet := ref.Seal([]byte{op, byte(arg)}, data, counter%maxEnd)
			if forge {
				packet[len(packet)-1-int(arg)%len(packet)] ^= op | 1
			}
			batch = append(batch, Packet{Bytes: bytes.Clone(packet), Data: data})
			msg, number, result := ref.Open(packet, data)
			want = append(want, Packet{Bytes: msg, Counter: number, Err: errorOf(result)})
			if result == packetref.Good && number != binary.BigEndian.Uint64(packet[2:])%maxEnd {
				t.Fatal("the reference is wrong")
			}
			if op&0x40 == 0 || len(batch) == 2*lanes || stored {
				flush()
			}
			if !stored {
				continue
			}
			if got := n.receive.(*memory).stored(); got != ref.Next() {
				t.Fatalf("%d is stored, want %d", got, ref.Next())
			}
		}
		flush()
	})
}

// A batchEnd is a direction in FuzzBatch: a sender and a receiver for batches, those for the same packets
// one by one, and the reference.
type batchEnd struct {
	sender, sender1     sender
	receiver, receiver1 receiver
	ref                 packetref.Receiver
	data                []byte
	next, end           uint64 // of the sender
}

// FuzzBatch seals batches, and opens batches with packets that are lost, repeated, damaged, too short, of
// another epoch or outside the range, until receivers are worn and senders at their end. It compares what
// comes of it with calls for single packets and with the reference. With one end the batches are
// methods, with more they are functions: there the packets of a batch have different ends, or none.
func FuzzBatch(f *testing.F) {
	rng := rand.NewChaCha8([32]byte{1})
	for i := range byte(24) { // all algorithms, and 1 to 4 ends
		f.Add(append([]byte{i % 3, i * 11, i * 9, i % 4}, mactest.Random(rng, 1000)...))
	}
	f.Fuzz(func(t *testing.T, code []byte) {
		s := mactest.Script(code)
		a := fuzzAlgorithm(s.Byte())
		setting := int(s.Byte())
		n := between(uint64(setting)<<10, uint64(setting)<<10+40+uint64(s.Byte()))
		received := between(n.first+uint64(setting/8%3), n.end-uint64(setting/24%3)) // not all that is sent
		ends := make([]*batchEnd, 1+s.Byte()%4)
		for i := range ends {
			c := config()
			c.Sender = fmt.Sprint("peer ", i)
			c.DataSize = (setting + i) % 3 * 8
			c.MaxForged = 1 + uint64(setting%8)*5
			if i > 0 && a != packetref.GMAC {
				a = packetref.UMAC64 + packetref.UMAC128 - a
			}
			ends[i] = &batchEnd{
				newSender(a, c, n), newSender(a, c, n), newReceiver(a, c, received), newReceiver(a, c, received),
				packetref.Receiver{Key: refKey(a, c), Window: *refWindow(0, received), MaxForged: c.MaxForged},
				pattern(c.DataSize), n.first, n.end,
			}
		}
		choose := func() *batchEnd { // with more than one end, or none
			if i := int(s.Byte()) % (len(ends) + 1); len(ends) > 1 {
				return append(ends, nil)[i]
			}
			return ends[0]
		}
		b := batchTest{T: t, ends: ends}
		for batches := 0; len(s) > 0 && batches < 6; batches++ {
			for range s.Byte() % (2*lanes + 9) {
				b.add(choose(), pattern(s.Size()))
			}
			b.seal()
			for range s.Byte() % (2*lanes + 9) {
				how, at := s.Byte(), int(s.Byte())
				if len(b.sent) == 0 {
					break
				}
				p := b.sent[len(b.sent)-1-at%len(b.sent)]
				packet, e := p.packet, p.of
				switch how % 8 {
				case 3:
					packet = s.Damage(packet)
				case 4: // too short, perhaps
					packet = packet[:int(s.Byte())%(len(packet)+1)]
				case 5: // the sender has jumped, or has another range
					packet = e.ref.Seal(pattern(9), e.data, (received.first+uint64(at)<<(how/8%12)-4)%maxEnd)
				case 6: // other additional data, or another epoch
					other, data := e.ref.Key, bytes.Clone(e.data)
					if other.Epoch += how / 8 % 2; len(data) > 0 {
						data[0]++
					}
					packet = other.Seal(pattern(9), data, received.first+uint64(at))
				case 7:
					e = choose()
				}
				b.add(e, packet)
			}
			b.open()
		}
	})
}

// A batchTest is a batch of packets, and whose they are.
type batchTest struct {
	*testing.T
	ends  []*batchEnd
	batch []Packet
	of    []*batchEnd
	sent  []struct {
		packet []byte
		of     *batchEnd
	}
}

// add adds a packet of e, or of nobody.
func (b *batchTest) add(e *batchEnd, packet []byte) {
	p := Packet{Bytes: bytes.Clone(packet), Counter: 1, Err: ErrWorn}
	if e != nil {
		p.Data = e.data
	}
	b.batch, b.of = append(b.batch, p), append(b.of, e)
}

// seal seals the batch, and does it one by one.
func (b *batchTest) seal() {
	b.Helper()
	want, sealed := slices.Clone(b.batch), 0
	one, first := len(b.ends) == 1, b.ends[0]
	all := uint64(len(b.batch)) <= first.end-first.next
	for i := range want {
		w, e := &want[i], b.of[i]
		if one && !all { // a method seals all or none, and leaves Err alone
			w.Bytes = w.Bytes[:0]
			continue
		} else if !one {
			w.Counter, w.Err = 0, nil
		}
		if e == nil {
			w.Bytes, w.Err = w.Bytes[:0], ErrUnknown
			continue
		} else if e.next == e.end {
			w.Bytes, w.Err = w.Bytes[:0], ErrEnd
			continue
		}
		msg := w.Bytes
		w.Bytes, w.Counter = e.ref.Seal(msg, e.data, e.next), e.next
		if got, err := e.sender1.Seal(bytes.Clone(msg), e.data); !bytes.Equal(got, w.Bytes) || err != nil {
			b.Fatalf("packet %d: Seal returns %x, %v; want %x", i, got, err, w.Bytes)
		}
		e.next++
		sealed++
		b.sent = append(b.sent, struct {
			packet []byte
			of     *batchEnd
		}{w.Bytes, e})
	}
	if one {
		if err := first.sender.SealBatch(b.batch); (err == nil) != all || !all && err != ErrEnd {
			b.Fatalf("SealBatch of %d packets returns %v", len(want), err)
		}
	} else if n := b.sealMany(); n != sealed {
		b.Fatalf("SealBatch returns %d, want %d", n, sealed)
	}
	b.compare("SealBatch", want)
	for i, e := range b.ends {
		if e.sender.Next() != e.next || e.sender1.Next() != e.next {
			b.Fatalf("sender %d: Next is %d, and %d one by one; want %d", i, e.sender.Next(), e.sender1.Next(), e.next)
		}
	}
}

// open opens the batch, and does it one by one.
func (b *batchTest) open() {
	b.Helper()
	want, good := slices.Clone(b.batch), 0
	var whole, before [][]byte
	for i := range want {
		w, e := &want[i], b.of[i]
		if e == nil {
			*w = Packet{Err: ErrUnknown}
			continue
		}
		whole, before = append(whole, w.Bytes), append(before, bytes.Clone(w.Bytes))
		packet := bytes.Clone(w.Bytes)
		msg, counter, result := e.ref.Open(packet, w.Data)
		*w = Packet{Bytes: msg, Data: w.Data, Counter: counter, Err: errorOf(result)}
		if msg, counter, err := e.receiver1.Open(bytes.Clone(packet), w.Data); !bytes.Equal(msg, w.Bytes) || counter != w.Counter || err != w.Err {
			b.Fatalf("packet %d: Open returns %x, %d, %v; want %x, %d, %v", i, msg, counter, err, w.Bytes, w.Counter, w.Err)
		}
		if w.Err == nil {
			good++
		}
	}
	if n := b.openMany(); n != good {
		b.Fatalf("OpenBatch returns %d, want %d", n, good)
	}
	b.compare("OpenBatch", want)
	for i := range whole {
		if !bytes.Equal(whole[i], before[i]) {
			b.Fatalf("packet %d is changed", i)
		}
	}
	for i, e := range b.ends {
		for _, r := range []receiver{e.receiver, e.receiver1} {
			if r.Next() != e.ref.Next() || r.Forged() != e.ref.Forged {
				b.Fatalf("receiver %d: Next is %d, Forged %d; want %d, %d", i, r.Next(), r.Forged(), e.ref.Next(), e.ref.Forged)
			}
		}
	}
}

// sealMany and openMany call the functions, whose lists have one type.
func (b *batchTest) sealMany() int {
	if _, ok := b.ends[0].sender.(*GMACSender); ok {
		return SealBatch(listOf[*GMACSender](b.of, func(e *batchEnd) any { return e.sender }), b.batch)
	}
	return SealBatch(listOf[*UMACSender](b.of, func(e *batchEnd) any { return e.sender }), b.batch)
}

func (b *batchTest) openMany() int {
	if len(b.ends) == 1 {
		return b.ends[0].receiver.OpenBatch(b.batch)
	}
	if _, ok := b.ends[0].receiver.(*GMACReceiver); ok {
		return OpenBatch(listOf[*GMACReceiver](b.of, func(e *batchEnd) any { return e.receiver }), b.batch)
	}
	return OpenBatch(listOf[*UMACReceiver](b.of, func(e *batchEnd) any { return e.receiver }), b.batch)
}

func listOf[S any](of []*batchEnd, get func(e *batchEnd) any) []S {
	list := make([]S, len(of))
	for i, e := range of {
		if e != nil {
			list[i] = get(e).(S)
		}
	}
	return list
}

// compare compares the batch with what it should be, and empties it.
func (b *batchTest) compare(what string, want []Packet) {
	b.Helper()
	for i, p := range b.batch {
		if w := want[i]; !bytes.Equal(p.Bytes, w.Bytes) || (p.Bytes == nil) != (w.Bytes == nil) || !bytes.Equal(p.Data, w.Data) || p.Counter != w.Counter || p.Err != w.Err {
			b.Fatalf("%s: packet %d of %d: %+v, want %+v", what, i, len(want), p, w)
		}
	}
	b.batch, b.of = nil, nil
}
