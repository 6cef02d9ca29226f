// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package packet_test

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"slices"

	"example.com/fastmac"
	"example.com/fastmac/packet"
)

// Two ends share a secret, and have sent each other 16 random bytes. This is a new session, so they
// need not store anything.
func Example() {
	secret := make([]byte, 32) // from a file that both ends have
	rand.Read(secret)
	ofClient, ofServer := make([]byte, 16), make([]byte, 16) // from the two ends
	rand.Read(ofClient)
	rand.Read(ofServer)
	c := packet.Config{Secret: secret, Session: slices.Concat(ofClient, ofServer), TagSize: fastmac.UMAC128Size}

	send, _, err := packet.NewUMACPair(c, "client", "server", packet.Fresh(), packet.Fresh())
	if err != nil {
		panic(err)
	}
	_, receive, err := packet.NewUMACPair(c, "server", "client", packet.Fresh(), packet.Fresh())
	if err != nil {
		panic(err)
	}
	clear(secret)
	defer send.Destroy()
	defer receive.Destroy()

	buffer := make([]byte, 0, 1500) // with room for what Seal appends
	for _, text := range []string{"first", "second"} {
		p, err := send.Seal(append(buffer, text...), nil)
		if err != nil {
			panic(err)
		}
		fmt.Println(len(p)-len(text) == send.Overhead())
		msg, counter, err := receive.Open(p, nil)
		fmt.Printf("%q %d %v\n", msg, counter, err)
		_, _, err = receive.Open(p, nil)
		fmt.Println(err)
	}
	// Output:
	// true
	// "first" 0 <nil>
	// packet: accepted before
	// true
	// "second" 1 <nil>
	// packet: accepted before
}

// newGMAC returns both ends of one direction.
func newGMAC(send, receive packet.Counters) (*packet.GMACSender, *packet.GMACReceiver) {
	c := packet.Config{
		Secret:   []byte("32 random bytes, not these here."),
		Sender:   "sensor/7",
		TagSize:  fastmac.GMACSize,
		DataSize: 2,
	}
	s, err := packet.NewGMACSender(c, send)
	if err != nil {
		panic(err)
	}
	r, err := packet.NewGMACReceiver(c, receive)
	if err != nil {
		panic(err)
	}
	return s, r
}

// The key stays the same, and the counters continue after a restart. The program stores the end of
// each range before it uses the range.
func ExampleStored() {
	const step, short = 1000, 10
	disk := struct{ send, receive uint64 }{7000, 7000} // a file: write, sync, and only then go on
	first, from := disk.send, disk.receive
	disk.send, disk.receive = first+step, from+short
	s, r := newGMAC(packet.Stored(first, step), packet.Stored(from, short))
	defer s.Destroy()
	defer r.Destroy()

	port := []byte{0x1f, 0x90} // authenticated, not sent
	for i := range 600 {
		p, err := s.Seal([]byte("21.5 degrees"), port)
		if err != nil {
			panic(err)
		}
		if disk.send-s.Next() < step/2 {
			disk.send += step
			if err := s.Extend(disk.send); err != nil {
				panic(err)
			}
		}
		if i > 1 && i < 598 {
			continue // lost
		}
		msg, counter, err := r.Open(p, port)
		if err == packet.ErrEnd {
			fmt.Println(counter, err)
			disk.receive = counter + short
			if err := r.Extend(disk.receive); err != nil {
				panic(err)
			}
			msg, counter, err = r.Open(p, port)
		}
		fmt.Printf("%s %d %v\n", msg, counter, err)
	}

	// An orderly stop saves the counters that are left.
	disk.send, disk.receive = s.Stop(), r.Stop()
	fmt.Println(disk)
	// Output:
	// 21.5 degrees 7000 <nil>
	// 21.5 degrees 7001 <nil>
	// 7598 packet: at the end of the range of counters
	// 21.5 degrees 7598 <nil>
	// 21.5 degrees 7599 <nil>
	// {7600 7600}
}

// A program opens many packets at once, as recvmmsg returns them. One was changed on the way, and
// one arrives twice.
func ExampleUMACReceiver_OpenBatch() {
	c := packet.Config{Secret: bytes.Repeat([]byte{1}, 32), Session: []byte("16 random bytes of each"), Sender: "feed", TagSize: fastmac.UMAC64Size}
	var s packet.UMACSender
	var r packet.UMACReceiver
	if err := s.Init(c, packet.Fresh()); err != nil {
		panic(err)
	}
	if err := r.Init(c, packet.Fresh()); err != nil {
		panic(err)
	}
	batch := make([]packet.Packet, 4)
	for i := range batch {
		batch[i].Bytes = fmt.Append(nil, "message ", i)
	}
	if err := s.SealBatch(batch); err != nil {
		panic(err)
	}
	batch[1].Bytes[0] ^= 1
	batch[3].Bytes = bytes.Clone(batch[2].Bytes)

	fmt.Println(r.OpenBatch(batch), "are good,", r.Forged(), "is forged")
	for _, p := range batch {
		fmt.Printf("%q %v\n", p.Bytes, p.Err)
	}
	// Output:
	// 2 are good, 1 is forged
	// "message 0" <nil>
	// "" packet: the tag is wrong, or the packet is too short
	// "message 2" <nil>
	// "" packet: accepted before
}

// A server has a receiver for each peer, and has given each peer a number. Each packet begins with
// this number, in four bytes before the message.
func ExampleOpenBatch() {
	c := packet.Config{Secret: []byte("32 random bytes, not these here."), Receiver: "server", TagSize: fastmac.UMAC64Size}
	senders, receivers := make([]*packet.UMACSender, 3), make([]*packet.UMACReceiver, 3)
	for i := range senders {
		var err error
		c.Sender = fmt.Sprintf("peer %d", i)
		if senders[i], err = packet.NewUMACSender(c, packet.Fresh()); err != nil {
			panic(err)
		}
		if receivers[i], err = packet.NewUMACReceiver(c, packet.Fresh()); err != nil {
			panic(err)
		}
	}

	var batch []packet.Packet
	for _, peer := range []uint32{2, 0, 9, 2} { // there is no peer 9
		msg := binary.BigEndian.AppendUint32(nil, peer)
		p, err := senders[peer%9].Seal(append(msg, "hello"...), nil)
		if err != nil {
			panic(err)
		}
		batch = append(batch, packet.Packet{Bytes: p})
	}

	from := make([]*packet.UMACReceiver, len(batch))
	for i := range batch {
		if len(batch[i].Bytes) < 4 {
			continue
		}
		if n := binary.BigEndian.Uint32(batch[i].Bytes); n < uint32(len(receivers)) {
			from[i] = receivers[n]
		}
	}
	good := packet.OpenBatch(from, batch)
	fmt.Println(good, "of", len(batch))
	for _, p := range batch {
		fmt.Printf("%q %d %v\n", p.Bytes, p.Counter, p.Err)
	}
	// Output:
	// 3 of 4
	// "\x00\x00\x00\x02hello" 0 <nil>
	// "\x00\x00\x00\x00hello" 0 <nil>
	// "" 0 packet: no sender or receiver
	// "\x00\x00\x00\x02hello" 1 <nil>
}

// The message is not in the buffer of the packet, as with writev.
func ExampleUMACSender_Trailer() {
	c := packet.Config{Secret: bytes.Repeat([]byte{1}, 32), Session: []byte("16 random bytes of each"), Sender: "feed", TagSize: fastmac.UMAC64Size}
	s, err := packet.NewUMACSender(c, packet.Fresh())
	if err != nil {
		panic(err)
	}
	r, err := packet.NewUMACReceiver(c, packet.Fresh())
	if err != nil {
		panic(err)
	}
	msg := []byte("in memory of its own")
	trailer, err := s.Trailer(nil, msg)
	if err != nil {
		panic(err)
	}
	got, _, err := r.Open(slices.Concat(msg, trailer), nil)
	fmt.Printf("%s: %d bytes more, %v\n", got, len(trailer), err)
	// Output: in memory of its own: 16 bytes more, <nil>
}

// While keys change, a program has two receivers, and Epoch chooses between them.
func ExampleEpoch() {
	c := packet.Config{Secret: bytes.Repeat([]byte{1}, 32), Session: []byte("16 random bytes of each"), Sender: "server", TagSize: fastmac.UMAC128Size}
	var receivers [2]*packet.UMACReceiver
	var packets [][]byte
	for epoch := range uint8(2) {
		c.Epoch = epoch
		r, err := packet.NewUMACReceiver(c, packet.Fresh())
		if err != nil {
			panic(err)
		}
		receivers[epoch%2] = r
		s, err := packet.NewUMACSender(c, packet.Fresh())
		if err != nil {
			panic(err)
		}
		p, err := s.Seal(fmt.Append(nil, "of epoch ", epoch), nil)
		if err != nil {
			panic(err)
		}
		packets = append(packets, p)
	}
	for _, p := range packets {
		epoch, ok := packet.Epoch(p, c.TagSize)
		if !ok {
			continue
		}
		msg, _, err := receivers[epoch%2].Open(p, nil)
		fmt.Printf("%s %v\n", msg, err)
	}
	_, _, err := receivers[0].Open(packets[1], nil)
	fmt.Println(err == packet.ErrEpoch)
	// Output:
	// of epoch 0 <nil>
	// of epoch 1 <nil>
	// true
}
