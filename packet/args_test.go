// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package packet

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"example.com/fastmac/internal/mactest"
	"example.com/fastmac/packet/internal/packetref"
)

// TestArgs calls all functions and methods that get slices. They must write only to what they return or set: not to
// their other arguments, and not behind these, where there may be another packet.
func TestArgs(t *testing.T) {
	a := mactest.NewArgs(rand.NewChaCha8([32]byte([]byte("TestArgs, a seed with 32 bytes.."))))
	forAll(t, func(t *testing.T, algorithm packetref.Algorithm) {
		for _, dataSize := range []int{0, 1, 7, maxDataSize} {
			for _, n := range []int{0, 1, 40, 64, 127, 300, 1100} {
				c := config()
				c.TagSize, c.DataSize, c.Secret = algorithm.TagSize(), dataSize, a.In(32)
				if algorithm == packetref.GMAC {
					callParties(t, a, algorithm, c, n, SealBatch[*GMACSender], OpenBatch[*GMACReceiver], new(GMACReceivers))
				} else {
					callParties(t, a, algorithm, c, n, SealBatch[*UMACSender], OpenBatch[*UMACReceiver], new(UMACReceivers))
				}
			}
		}
		c := helloConfig()
		c.Secret = a.In(32)
		k, s := newClientEnd(algorithm, c), newServerEnd(algorithm, c)
		hello := a.Copy(k.Hello(a.Room(3, HelloSize)))[3:]
		answer := a.Copy(mactest.Must(s.Answer(a.Room(3, HelloSize), hello)))[3:]
		s.Answer(a.Room(3, 0), a.In(HelloSize))
		k.Answer(a.In(HelloSize))
		if !k.Answer(answer) {
			t.Error("the answer is refused")
		}
		overhead := numberSize + algorithm.TagSize()
		mustSend(t, a, k.Seal, s.Open, overhead+helloRandomSize+overhead)
		mustSend(t, a, s.Seal, k.Open, overhead)
		s.Open(a.In(100+OpeningSize), nil)
		k.Open(a.In(100), nil)
		a.Check(t, "a handshake")
	})
}

// mustSend seals a message, in a room of so many bytes, and opens it.
func mustSend(t *testing.T, a *mactest.Args, seal func(packet, data []byte) ([]byte, error), open func(packet, data []byte) ([]byte, uint64, error), room int) {
	t.Helper()
	packet := mactest.Must(seal(a.RoomFor(a.In(40), room), nil))
	if _, _, err := open(a.Copy(packet), nil); err != nil {
		t.Error(err)
	}
}

// callParties calls the functions and methods for senders and receivers, with messages of n bytes.
func callParties[S, R any, P interface {
	party[S]
	sender
}, Q interface {
	party[R]
	receiver
}](t *testing.T, a *mactest.Args, algorithm packetref.Algorithm, c Config, n int, sealMany func([]P, []Packet) int, openMany func([]Q, []Packet) int, set interface {
	Add(Q) error
	Open(packet, data []byte) ([]byte, uint64, error)
	OpenBatch([]Packet) int
}) {
	const packets = lanes + 3
	session := a.Copy(pattern(minSessionSize))
	counters := NewSession(session)
	s, r := P(new(S)), Q(new(R))
	must := func(err error) {
		if err != nil {
			t.Helper()
			t.Fatal(err)
		}
	}
	must(s.Init(c, counters))
	must(r.Init(c, counters))
	check := func(what string) {
		t.Helper()
		a.Check(t, fmt.Sprintf("%s: %s of %d bytes with %d bytes of data", name(algorithm), what, n, c.DataSize))
	}
	check("Init")
	overhead := s.Overhead()
	data := func() []byte { return a.In(c.DataSize) }

	sealed := data()
	packet := slices.Clone(mactest.Must(s.Seal(a.RoomFor(a.In(n), overhead), sealed)))
	check("Seal")
	p, d := a.Copy(packet), a.Copy(sealed)
	_, _, err := r.Open(p, d)
	must(err)
	for _, wrong := range [][]byte{p, a.In(len(p)), a.In(overhead - 1)} {
		if _, _, err := r.Open(wrong, d); err == nil {
			t.Error("a wrong packet is opened")
		}
	}
	packet[len(packet)-1] ^= 1
	if _, _, err := r.Open(a.Copy(packet), d); err != ErrForged {
		t.Errorf("a forged packet: %v", err)
	}
	Epoch(p, c.TagSize)
	check("Open")
	if c.DataSize == 0 {
		mactest.Must(s.Trailer(a.Room(n%9, overhead), a.In(n)))
		check("Trailer")
	}

	// batch returns messages with room, and open the packets that they became, every third one changed.
	batch := func() []Packet {
		b := make([]Packet, packets)
		for i := range b {
			b[i] = Packet{Bytes: a.RoomFor(a.In(n), overhead), Data: data()}
		}
		return b
	}
	opened := func(sealed []Packet) []Packet {
		b := slices.Clone(sealed)
		for i := range b {
			if i%3 == 0 {
				b[i].Bytes[len(b[i].Bytes)-1] ^= 1
			}
			b[i].Bytes = a.Copy(b[i].Bytes)
		}
		return b
	}
	const good = packets - (packets+2)/3
	b := batch()
	must(s.SealBatch(b))
	check("SealBatch")
	if b = opened(b); r.OpenBatch(b) != good {
		t.Error("not the right packets are opened")
	}
	check("OpenBatch")
	b = batch()
	if sealMany(slices.Repeat([]P{s}, packets), b) != packets {
		t.Error("not all packets are sealed")
	}
	check("SealBatch of many")
	if b = opened(b); openMany(slices.Repeat([]Q{r}, packets), b) != good {
		t.Error("not the right packets are opened")
	}
	check("OpenBatch of many")
	must(set.Add(r))
	b = batch()
	must(s.SealBatch(b))
	check("SealBatch")
	if b = opened(b); set.OpenBatch(b) != good {
		t.Error("not the right packets are opened")
	}
	set.Open(a.In(len(p)), data())
	check("OpenBatch of a set")
}
