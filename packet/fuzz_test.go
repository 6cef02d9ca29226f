// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package packet

import (
	"bytes"
	"encoding/binary"
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
		ref := packetref.Receiver{Key: refKey(a, c), Window: *refWindow(0, Fresh()), MaxForged: 1 << 32}
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
		r := newReceiver(a, c, Fresh())
		got := bytes.Clone(packet)
		if m, n, err := r.Open(got, data); !bytes.Equal(m, msg) || n != counter || err != errorOf(result) || !bytes.Equal(got, packet) {
			t.Fatalf("%q, %d, %v; want %q, %d, %v", m, n, err, msg, counter, errorOf(result))
		}
		if r.Forged() != ref.Forged || r.Next() != ref.Next() {
			t.Fatalf("Forged is %d, Next %d; want %d, %d", r.Forged(), r.Next(), ref.Forged, ref.Next())
		}
		batch := []Packet{{Bytes: got, Data: data}}
		if newReceiver(a, c, Fresh()).OpenBatch(batch); !bytes.Equal(batch[0].Bytes, msg) || batch[0].Err != errorOf(result) || !bytes.Equal(got, packet) {
			t.Fatalf("batch: %q, %v; want %q, %v", batch[0].Bytes, batch[0].Err, msg, errorOf(result))
		}
	})
}

// FuzzReceive runs scripts of a sender, a network and a receiver.
func FuzzReceive(f *testing.F) {
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
		n := Counters{uint64(s.Byte()) << 20, uint64(setting)<<10 + 1<<30}
		r := newReceiver(a, c, n)
		ref := packetref.Receiver{Key: refKey(a, c), Window: *refWindow(c.Window, n), MaxForged: c.MaxForged}
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
				counter = pick(arg&1 != 0, n.First, ref.End) + arg>>1%8 - 4
			case 5:
				forge = true
				counter += arg << 12
			case 6:
				flush()
				end := n.First + arg<<(arg%48)
				err := r.Extend(end)
				ok := end >= ref.End && end-n.First <= 1<<48 && end <= 1<<56
				if (err == nil) != ok {
					t.Fatalf("Extend from %d to %d: %v", ref.End, end, err)
				}
				if ok {
					ref.End = end
				}
				continue
			case 7:
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
			if op&0x40 == 0 || len(batch) == 2*lanes {
				flush()
			}
		}
		flush()
	})
}
