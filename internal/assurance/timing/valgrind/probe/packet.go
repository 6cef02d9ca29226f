// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"example.com/fastmac"
	"example.com/fastmac/internal/assurance/timing/macs"
	"example.com/fastmac/internal/mactest"
	"example.com/fastmac/packet"
)

// manyOperations returns the batches over many keys.
func manyOperations() []operation {
	operations := []operation{
		{"many keys: UMAC", func() {
			many(func(i int) (*fastmac.UMACKey, int, int) {
				tagSize := mactest.UMACTagSizes[i%4]
				return mactest.Must(fastmac.NewUMACKey(secret(16+8*(i%3)), tagSize)), tagSize, 1 + i%16
			})
		}},
	}
	for _, h := range macs.HMACHashes {
		operations = append(operations, operation{"many keys: HMAC-" + h.String(), func() {
			many(func(i int) (*fastmac.HMACKey, int, int) {
				return mactest.Must(fastmac.NewHMACKey(h, hmacKey(h, i))), h.Size(), 0
			})
		}})
	}
	if fastmac.RequireGCM() == nil {
		operations = append(operations, operation{"many keys: GMAC", func() {
			many(func(i int) (*fastmac.GMACKey, int, int) {
				return mactest.Must(fastmac.NewGMACKey(secret(16 + 8*(i%3)))), fastmac.GMACSize, fastmac.GMACNonceSize
			})
		}})
	}
	return operations
}

// many verifies right tags, and then with a wrong one at either end. newKey also returns the sizes of
// tags and nonces.
func many[K *fastmac.UMACKey | *fastmac.GMACKey | *fastmac.HMACKey](newKey func(i int) (k K, tagSize, nonceSize int)) {
	for _, n := range []int{1, 2, 5, len(lengths)} {
		keys, batch := make([]K, n), make([]fastmac.Message, n)
		for i := range keys {
			k, tagSize, nonceSize := newKey(i)
			keys[i], batch[i] = k, fastmac.Message{Nonce: nonce(nonceSize), Data: secret(lengths[(i+n)%len(lengths)]), Tag: make([]byte, tagSize)}
		}
		fastmac.TagBatch(keys, batch)
		for _, bad := range []int{-1, 0, n - 1} {
			if bad >= 0 {
				batch[bad].Tag[1] ^= 0x10
			}
			decision(fastmac.VerifyBatch(keys, batch), bad < 0)
			for i := range batch {
				decision(batch[i].OK, i != bad)
			}
			if bad >= 0 {
				batch[bad].Tag[1] ^= 0x10
			}
		}
		results(batch)
	}
}

// What senders and receivers of all algorithms have.
type (
	sender interface {
		Seal(packet, data []byte) ([]byte, error)
		Trailer(dst, msg []byte) ([]byte, error)
		SealBatch(batch []packet.Packet) error
		Stats() packet.SenderStats
		Overhead() int
		Destroy()
	}
	receiver interface {
		Open(packet, data []byte) (msg []byte, counter uint64, err error)
		OpenBatch(batch []packet.Packet) int
		Stats() packet.ReceiverStats
		Destroy()
	}
)

// packetOperations returns the operations of package packet. Its secrets are Secret, messages and
// additional data; the number of a packet is public, and so is whether it is accepted.
func packetOperations() (operations []operation) {
	add := func(mac string, many func(), ends func(c packet.Config, n packet.Counters) (sender, receiver)) {
		operations = append(operations, operation{"packet, " + mac + ": many senders and receivers", many})
		for _, o := range []struct {
			name string
			run  func(s sender, r receiver, dataSize int)
		}{
			{"Init, Seal, Open", packetSeal},
			{"SealBatch, OpenBatch", packetBatch},
			{"Trailer, printing, Destroy", packetDestroy},
		} {
			operations = append(operations, operation{"packet, " + mac + ": " + o.name, func() {
				for i, dataSize := range []int{16, 1, 0} {
					c := packet.Config{Secret: secret(16 << i), Sender: "sender", Epoch: 3, TagSize: 16, DataSize: dataSize}
					s, r := ends(c, packet.NewSession(slices.Concat(nonce(16), nonce(16))))
					o.run(s, r, dataSize)
				}
			}})
		}
	}
	operations = append(operations, operation{"packet: hellos", packetHellos}, operation{"packet: sets of receivers", packetReceivers}, operation{"packet: stores", packetStores})
	for _, tagSize := range []int{fastmac.UMAC64Size, fastmac.UMAC128Size} {
		add(fmt.Sprintf("UMAC-%d", 8*tagSize), func() {
			c := packet.Config{TagSize: tagSize}
			packetMany(c, packet.NewUMACSender, packet.NewUMACReceiver, packet.SealBatch[*packet.UMACSender], packet.OpenBatch[*packet.UMACReceiver])
		}, func(c packet.Config, n packet.Counters) (sender, receiver) {
			c.TagSize = tagSize
			return mactest.Must(packet.NewUMACSender(c, n)), mactest.Must(packet.NewUMACReceiver(c, n))
		})
	}
	if fastmac.RequireGCM() == nil {
		add("GMAC", func() {
			c := packet.Config{TagSize: fastmac.GMACSize}
			packetMany(c, packet.NewGMACSender, packet.NewGMACReceiver, packet.SealBatch[*packet.GMACSender], packet.OpenBatch[*packet.GMACReceiver])
		}, func(c packet.Config, n packet.Counters) (sender, receiver) {
			return mactest.Must(packet.NewGMACSender(c, n)), mactest.Must(packet.NewGMACReceiver(c, n))
		})
	}
	return operations
}

// trailer takes the number and the tag of a packet.
func trailer(s sender, p []byte) {
	p = p[len(p)-s.Overhead():]
	public(p[:8])
	result(p[8:])
}

func packetSeal(s sender, r receiver, dataSize int) {
	for _, n := range lengths {
		data := secret(dataSize)
		p := mactest.Must(s.Seal(secret(n), data))
		_, _, err := r.Open(wrong(p), data)
		opened(err, packet.ErrForged)
		_, counter, err := r.Open(p, data)
		opened(err, nil)
		for _, n := range []uint64{counter, r.Stats().Accepted, s.Stats().Sealed} {
			public(binary.BigEndian.AppendUint64(nil, n))
		}
		_, _, err = r.Open(p, data)
		opened(err, packet.ErrReplayed)
		trailer(s, p)
	}
}

// opened takes the error of a packet, which is public.
func opened(err, want error) {
	public(storage(&err))
	if err != want {
		fail("%s: error %v, want %v", current, err, want)
	}
	counts.Decisions++
}

func packetBatch(s sender, r receiver, dataSize int) {
	for _, n := range []int{1, 5, len(lengths)} {
		batch := make([]packet.Packet, n)
		for i := range batch {
			batch[i] = packet.Packet{Bytes: secret(lengths[(i+n)%len(lengths)]), Data: secret(dataSize)}
		}
		if err := s.SealBatch(batch); err != nil {
			fail("%s: %v", current, err)
		}
		bad := slices.Clone(batch)
		for i := range bad {
			if bad[i].Bytes = bytes.Clone(batch[i].Bytes); i%2 == 0 {
				bad[i].Bytes = wrong(bad[i].Bytes)
			}
		}
		r.OpenBatch(bad)
		for i := range bad {
			opened(bad[i].Err, []error{packet.ErrForged, nil}[i%2])
		}
		again := slices.Clone(batch)
		r.OpenBatch(again)
		for i := range again {
			opened(again[i].Err, []error{nil, packet.ErrReplayed}[i%2])
			trailer(s, batch[i].Bytes)
		}
	}
}

func packetMany[S, R any](c packet.Config, newSender func(packet.Config, packet.Counters) (S, error), newReceiver func(packet.Config, packet.Counters) (R, error),
	seal func([]S, []packet.Packet) int, open func([]R, []packet.Packet) int) {
	const peers = 5 // each has several packets of a batch
	var ends [peers]struct {
		s S
		r R
	}
	for i := range ends {
		c.Secret, c.Sender, c.DataSize = secret(32), fmt.Sprint("peer ", i), []int{0, 16}[i%2]
		ends[i].s, ends[i].r = mactest.Must(newSender(c, packet.SecretIsNew())), mactest.Must(newReceiver(c, packet.SecretIsNew()))
	}
	for _, n := range []int{1, 4, len(lengths) + 1} {
		batch, senders, receivers := make([]packet.Packet, n), make([]S, n), make([]R, n)
		for i := range batch {
			batch[i] = packet.Packet{Bytes: secret(lengths[(i+n)%len(lengths)]), Data: secret([]int{0, 16}[i%peers%2])}
			senders[i], receivers[i] = ends[i%peers].s, ends[i%peers].r
		}
		if seal(senders, batch) != n {
			fail("%s: a packet was not sealed", current)
		}
		bad := slices.Clone(batch)
		for i := range bad {
			bad[i].Bytes = wrong(bad[i].Bytes)
		}
		if open(receivers, bad) != 0 || open(receivers, batch) != n {
			fail("%s: wrong packets were opened", current)
		}
		counts.Decisions += 2 * n
		for _, p := range batch {
			tag := p.Bytes[len(p.Bytes):][:8+c.TagSize]
			public(tag[:8])
			result(tag[8:])
		}
	}
}

func packetDestroy(s sender, r receiver, dataSize int) {
	if dataSize == 0 {
		trailer(s, mactest.Must(s.Trailer(nil, secret(100))))
	}
	public(fmt.Appendf(nil, "%v %+v %x %#v", s, r, s, r))
	s.Destroy()
	r.Destroy()
	public(storage(s))
	public(storage(r))
}

// What clients and servers of all algorithms have.
type (
	client[S, R any] interface {
		Hello(dst []byte) []byte
		Answer(answer []byte) bool
		end[S, R]
	}
	server[S, R any] interface {
		Answer(dst, hello []byte) ([]byte, error)
		Stats() packet.ServerStats
		Close()
		end[S, R]
	}
	end[S, R any] interface {
		Seal(packet, data []byte) ([]byte, error)
		Open(packet, data []byte) (msg []byte, counter uint64, err error)
		Sender() S
		Receiver() R
		Destroy()
	}
)

func packetHellos() {
	for _, tagSize := range []int{fastmac.UMAC64Size, fastmac.UMAC128Size} {
		packetHello(tagSize, packet.NewUMACClient, packet.NewUMACServer)
	}
	if fastmac.RequireGCM() == nil {
		packetHello(fastmac.GMACSize, packet.NewGMACClient, packet.NewGMACServer)
	}
}

// packetHello begins sessions, after wrong hellos, answers and openings.
func packetHello[K client[S, R], V server[S, R], S sender, R receiver](tagSize int,
	newClient func(c packet.Config, me, peer string) (K, error), newServer func(c packet.Config, me, peer string) (V, error)) {
	const head = 17 // of a hello and of an answer, before the tag
	c := packet.Config{Secret: secret(32), TagSize: tagSize}
	public(fmt.Appendf(nil, "%v %#v %v", c, c, c.LogValue()))
	for _, f := range []func() ([]byte, error){c.MarshalText, c.MarshalBinary} {
		text, _ := f()
		public(text)
	}
	c.UnmarshalText(nil)
	c.UnmarshalBinary(nil)
	k, s := mactest.Must(newClient(c, "client", "server")), mactest.Must(newServer(c, "server", "client"))
	hello := k.Hello(nil)
	_, err := s.Answer(nil, wrong(hello))
	opened(err, packet.ErrForged)
	answer, err := s.Answer(nil, hello)
	opened(err, nil)
	result(hello[head:])
	decision(k.Answer(wrong(answer)), false)
	decision(k.Answer(answer), true)
	result(answer[head:])
	p := mactest.Must(k.Seal(secret(100), nil))
	_, _, err = s.Open(wrong(p), nil) // its opening
	opened(err, packet.ErrForged)
	for _, want := range []error{nil, packet.ErrReplayed} {
		_, _, err = s.Open(p, nil)
		opened(err, want)
	}
	_, _, err = k.Open(mactest.Must(s.Seal(secret(100), nil)), nil)
	opened(err, nil)
	result(p[len(p)-tagSize:])
	for _, n := range []uint64{k.Sender().Stats().Sealed, k.Receiver().Stats().Accepted, s.Sender().Stats().Sealed, s.Receiver().Stats().Accepted, s.Stats().Sessions} {
		public(binary.BigEndian.AppendUint64(nil, n))
	}
	public(fmt.Appendf(nil, "%v %v", k, s))
	s.Close()
	k.Destroy()
	s.Destroy()
}

// What sets of receivers of all algorithms have.
type receivers[R any] interface {
	Add(r R) error
	Open(packet, data []byte) (msg []byte, counter uint64, err error)
	OpenBatch(batch []packet.Packet) int
	Remove(epoch uint8) bool
	Stats() packet.ReceiverStats
}

func packetReceivers() {
	packetSet(fastmac.UMAC128Size, packet.NewUMACPair, new(packet.UMACReceivers))
	if fastmac.RequireGCM() == nil {
		packetSet(fastmac.GMACSize, packet.NewGMACPair, new(packet.GMACReceivers))
	}
}

// packetSet has receivers of two epochs.
func packetSet[S sender, R receiver](tagSize int, newPair func(c packet.Config, me, peer string, n packet.Counters) (S, R, error), set receivers[R]) {
	for epoch := range uint8(2) {
		c := packet.Config{Secret: secret(32), TagSize: tagSize, Epoch: epoch}
		session := slices.Concat(nonce(16), nonce(16))
		s, _, err := newPair(c, "a", "b", packet.NewSession(session))
		opened(err, nil)
		_, r, err := newPair(c, "b", "a", packet.NewSession(session))
		opened(err, nil)
		opened(set.Add(r), nil)
		_, _, err = set.Open(wrong(mactest.Must(s.Seal(secret(100), nil))), nil)
		opened(err, packet.ErrForged)
		_, _, err = set.Open(mactest.Must(s.Seal(secret(100), nil)), nil)
		opened(err, nil)
		batch := []packet.Packet{{Bytes: mactest.Must(s.Seal(secret(100), nil))}}
		if set.OpenBatch(batch) != 1 {
			fail("%s: a packet was not opened", current)
		}
	}
	public(binary.BigEndian.AppendUint64(nil, set.Stats().Accepted))
	set.Remove(0)
}

// A memory is a Store.
type memory struct{ next uint64 }

func (m *memory) Reserve(id [16]byte, n uint64) (first uint64, err error) {
	result(id[:])
	first, m.next = m.next, m.next+n
	return first, nil
}

func (m *memory) Release(id [16]byte, end, next uint64) error {
	m.next = next
	return nil
}

func packetStores() {
	c := packet.Config{Secret: secret(32), TagSize: fastmac.UMAC128Size}
	s, r, err := packet.NewUMACPair(c, "a", "a and b", packet.Stored(new(memory), new(memory)))
	opened(err, nil)
	_, from, err := packet.NewUMACPair(c, "a and b", "a", packet.Stored(new(memory), new(memory)))
	opened(err, nil)
	for range 10 {
		p := mactest.Must(s.Seal(secret(100), nil))
		if _, ok := packet.Epoch(p, c.TagSize); !ok {
			fail("%s: no epoch", current)
		}
		_, _, err = from.Open(p, nil)
		opened(err, nil)
		trailer(s, p)
	}
	opened(errors.Join(s.Stop(), r.Stop(), from.Stop()), nil)
}
