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
	"sync"

	"example.com/fastmac"
	"example.com/fastmac/packet"
)

// newSession is what an end has for a session, in examples that do not exchange random bytes.
func newSession() packet.Counters {
	return packet.NewSession([]byte("16 random bytes and 16 others..."))
}

// Two ends share a secret, and have sent each other 16 random bytes. This is a new session, so they
// need not store anything.
func Example() {
	secret := make([]byte, 32) // from a file that both ends have
	rand.Read(secret)
	ofClient, ofServer := make([]byte, 16), make([]byte, 16) // from the two ends
	rand.Read(ofClient)
	rand.Read(ofServer)
	c := packet.Config{Secret: secret, TagSize: fastmac.UMAC128Size}
	session := slices.Concat(ofClient, ofServer) // at both ends

	send, _, err := packet.NewUMACPair(c, "client", "server", packet.NewSession(session))
	if err != nil {
		panic(err)
	}
	_, receive, err := packet.NewUMACPair(c, "server", "client", packet.NewSession(session))
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

// disk stands for a Store that outlives the program, such as a File of package packet/store.
type disk struct {
	mu    sync.Mutex
	value uint64
}

func (d *disk) Reserve(id [16]byte, n uint64) (first uint64, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	first = d.value
	d.value += n
	return first, nil
}

func (d *disk) Release(id [16]byte, end, next uint64) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.value != end {
		return fmt.Errorf("%d counters are reserved, and not %d", d.value, end)
	}
	d.value = next
	return nil
}

// The key stays the same, and the counters go on after a restart. Here the sender ends in good order,
// and the receiver crashes. What it had before is refused afterwards.
func ExampleStored() {
	c := packet.Config{
		Secret:   []byte("32 random bytes, not these here."),
		Sender:   "sensor/7",
		TagSize:  fastmac.GMACSize,
		DataSize: 2,
	}
	port := []byte{0x1f, 0x90} // authenticated, not sent
	ofSender, ofReceiver := new(disk), new(disk)
	var first []byte
	for run := range 2 {
		s, err := packet.NewGMACSender(c, packet.Stored(ofSender, nil))
		if err != nil {
			panic(err)
		}
		r, err := packet.NewGMACReceiver(c, packet.Stored(nil, ofReceiver))
		if err != nil {
			panic(err)
		}
		for range 2 + run {
			p, err := s.Seal([]byte("21.5 degrees"), port)
			if err != nil {
				panic(err)
			}
			msg, counter, err := r.Open(p, port)
			fmt.Printf("%q %d %v\n", msg, counter, err)
			if first == nil {
				first = p
			}
		}
		_, _, err = r.Open(first, port)
		fmt.Println(err)
		if err := s.Stop(); err != nil {
			panic(err)
		}
		s.Destroy()
		r.Destroy()
	}
	fmt.Println(ofSender.value)
	// Output:
	// "21.5 degrees" 0 <nil>
	// "21.5 degrees" 1 <nil>
	// packet: accepted before
	// "21.5 degrees" 2 <nil>
	// "21.5 degrees" 3 <nil>
	// "21.5 degrees" 4 <nil>
	// packet: perhaps accepted before the receiver's start
	// 5
}

// A program opens many packets at once, as recvmmsg returns them. One was changed on the way, and
// one arrives twice.
func ExampleUMACReceiver_OpenBatch() {
	c := packet.Config{Secret: []byte("32 random bytes, not these here."), Sender: "feed", TagSize: fastmac.UMAC64Size}
	var s packet.UMACSender
	var r packet.UMACReceiver
	if err := s.Init(c, newSession()); err != nil {
		panic(err)
	}
	if err := r.Init(c, newSession()); err != nil {
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

	fmt.Println(r.OpenBatch(batch), "are good,", r.Stats().Forged, "is forged")
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
		if senders[i], err = packet.NewUMACSender(c, newSession()); err != nil {
			panic(err)
		}
		if receivers[i], err = packet.NewUMACReceiver(c, newSession()); err != nil {
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
	c := packet.Config{Secret: []byte("32 random bytes, not these here."), Sender: "feed", TagSize: fastmac.UMAC64Size}
	s, err := packet.NewUMACSender(c, newSession())
	if err != nil {
		panic(err)
	}
	r, err := packet.NewUMACReceiver(c, newSession())
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

// While keys change, a set has two receivers, and opens packets of both.
func ExampleUMACReceivers() {
	c := packet.Config{Secret: []byte("32 random bytes, not these here."), Sender: "server", TagSize: fastmac.UMAC128Size}
	var receivers packet.UMACReceivers
	var packets [][]byte
	for epoch := range uint8(2) {
		c.Epoch = epoch
		r, err := packet.NewUMACReceiver(c, newSession())
		if err != nil {
			panic(err)
		}
		if err := receivers.Add(r); err != nil {
			panic(err)
		}
		s, err := packet.NewUMACSender(c, newSession())
		if err != nil {
			panic(err)
		}
		for range 2 {
			p, err := s.Seal(fmt.Append(nil, "of epoch ", epoch), nil)
			if err != nil {
				panic(err)
			}
			packets = append(packets, p)
		}
	}
	for _, i := range []int{0, 2, 1} { // in another order
		msg, _, err := receivers.Open(packets[i], nil)
		fmt.Printf("%s %v\n", msg, err)
	}
	receivers.Remove(0)
	_, _, err := receivers.Open(packets[1], nil)
	fmt.Println(err)
	stats := receivers.Stats()
	fmt.Println(stats.Accepted, "accepted,", stats.Unknown, "unknown")
	// Output:
	// of epoch 0 <nil>
	// of epoch 1 <nil>
	// of epoch 0 <nil>
	// packet: another epoch
	// 3 accepted, 1 unknown
}

// Epoch returns the epoch of a packet, without a receiver.
func ExampleEpoch() {
	c := packet.Config{Secret: []byte("32 random bytes, not these here."), Sender: "server", TagSize: fastmac.UMAC128Size, Epoch: 7}
	s, err := packet.NewUMACSender(c, newSession())
	if err != nil {
		panic(err)
	}
	p, err := s.Seal([]byte("hello"), nil)
	if err != nil {
		panic(err)
	}
	fmt.Println(packet.Epoch(p, c.TagSize))
	fmt.Println(packet.Epoch(p[:3], c.TagSize))
	// Output:
	// 7 true
	// 0 false
}
