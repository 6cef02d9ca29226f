// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package packet

import (
	"encoding/binary"

	"example.com/fastmac"
	"example.com/fastmac/internal/opaque"
)

// UMACSender seals the packets of one sender with UMAC-64 or UMAC-128.
//
// It is safe for concurrent use, except for Init and Destroy. Do not copy it, and do not use it
// in two processes after a fork: copies repeat counters. It prints as its name and tag size. All
// methods except Init, Destroy and those that print its name panic if the sender was never set
// up or has been destroyed.
type UMACSender struct {
	_ opaque.NoCopy
	_ opaque.Incomparable

	counters counters
	umacSenderName
	form form
	key  fastmac.UMACKey
}

// UMACReceiver opens the packets of one sender with UMAC-64 or UMAC-128.
//
// It is safe for concurrent use, except for Init and Destroy. Do not copy it: a copy accepts
// packets again. It prints as its name and tag size. All methods except Init, Destroy and those
// that print its name panic if the receiver was never set up or has been destroyed.
type UMACReceiver struct {
	_ opaque.NoCopy
	_ opaque.Incomparable

	window window
	umacReceiverName
	form form
	key  fastmac.UMACKey
}

// NewUMACPair returns the sender and the receiver of one end of a connection, whose own name is
// me; the other end swaps the names. c.Sender must be empty, and the names different, or
// NewUMACPair returns an error. Its other errors are those of [UMACSender.Init] and
// [UMACReceiver.Init].
func NewUMACPair(c Config, me, peer string, send, receive Counters) (*UMACSender, *UMACReceiver, error) {
	sending, receiving, err := c.pair(me, peer)
	if err != nil {
		return nil, nil, err
	}
	r, err := NewUMACReceiver(receiving, receive)
	if err != nil {
		return nil, nil, err
	}
	s, err := NewUMACSender(sending, send)
	if err != nil {
		r.Destroy()
		return nil, nil, err
	}
	return s, r, nil
}

// NewUMACSender returns a sender for the counters of n, or the error of [UMACSender.Init].
func NewUMACSender(c Config, n Counters) (*UMACSender, error) {
	s := new(UMACSender)
	if err := s.Init(c, n); err != nil {
		return nil, err
	}
	return s, nil
}

// NewUMACReceiver returns a receiver for the counters of n, or the error of
// [UMACReceiver.Init].
func NewUMACReceiver(c Config, n Counters) (*UMACReceiver, error) {
	r := new(UMACReceiver)
	if err := r.Init(c, n); err != nil {
		return nil, err
	}
	return r, nil
}

// Init is like [NewUMACSender] but sets up s in place, for arrays, and replaces what was there. If
// a field of c or the range n is not as [Config] and [Counters] say, Init returns an error, and s
// is unchanged.
func (s *UMACSender) Init(c Config, n Counters) error {
	algorithm := c.umacAlgorithm()
	if err := c.check(algorithm); err != nil {
		return err
	}
	if err := n.check(); err != nil {
		return err
	}
	if err := c.initUMAC(&s.key, algorithm); err != nil {
		return err
	}
	s.umacSenderName = opaque.Of(umacSenderText(c.TagSize))
	s.form = c.form()
	s.counters.init(n)
	return nil
}

// Init is like [NewUMACReceiver] but sets up r in place, for arrays, and replaces what was there.
// If a field of c or the range n is not as [Config] and [Counters] say, Init returns an error,
// and r is unchanged.
func (r *UMACReceiver) Init(c Config, n Counters) error {
	algorithm := c.umacAlgorithm()
	if err := c.check(algorithm); err != nil {
		return err
	}
	if err := c.checkWindow(); err != nil {
		return err
	}
	if err := n.check(); err != nil {
		return err
	}
	if err := c.initUMAC(&r.key, algorithm); err != nil {
		return err
	}
	r.umacReceiverName = opaque.Of(umacReceiverText(c.TagSize))
	r.form = c.form()
	r.window.init(&c, n)
	return nil
}

// initUMAC derives a key.
func (c *Config) initUMAC(k *fastmac.UMACKey, algorithm byte) error {
	var okm [okmSize]byte
	c.derive(&okm, algorithm)
	err := k.Init(okm[:keySize], c.TagSize)
	clear(okm[:])
	return err
}

// Seal appends number and tag to packet, which is the message, and returns the packet. The
// message may be empty. data is the additional data, DataSize bytes, or Seal panics. Seal allocates
// only if packet has no room for Overhead() bytes. When all counters have been used it returns
// packet unchanged, and [ErrEnd]. data may overlap packet.
func (s *UMACSender) Seal(packet, data []byte) ([]byte, error) {
	s.form.mustLive("UMACSender")
	s.form.mustData(data)
	counter, ok := s.counters.take(1)
	if !ok {
		return packet, ErrEnd
	}
	n := len(packet)
	packet = s.form.room(packet)
	hashed := packet[:n]
	if len(data) > 0 {
		hashed = packet[:n+copy(packet[n:], data)]
	}
	number := s.form.number(counter)
	var nonce [numberSize]byte
	binary.BigEndian.PutUint64(nonce[:], number)
	s.key.Tag(packet[:n+numberSize], nonce[:], hashed)
	binary.BigEndian.PutUint64(packet[n:], number)
	return packet, nil
}

// Trailer appends number and tag of msg to dst, for messages that are in memory of their own. The
// packet is msg and what Trailer has appended. DataSize must be 0, or Trailer panics. It
// allocates only if dst has no room for Overhead() bytes. When all counters have been used it
// returns dst unchanged, and [ErrEnd].
func (s *UMACSender) Trailer(dst, msg []byte) ([]byte, error) {
	s.form.mustLive("UMACSender")
	s.form.mustHaveNoData()
	counter, ok := s.counters.take(1)
	if !ok {
		return dst, ErrEnd
	}
	n := len(dst)
	dst = s.form.room(dst)
	number := s.form.number(counter)
	var nonce [numberSize]byte
	binary.BigEndian.PutUint64(nonce[:], number)
	s.key.Tag(dst[:n+numberSize], nonce[:], msg)
	binary.BigEndian.PutUint64(dst[n:], number)
	return dst, nil
}

// SealBatch seals batch[i].Bytes, with consecutive counters in the order of the batch, as
// [UMACSender.Seal] does, and sets Counter. With short packets it takes less time than a call of Seal for each. If
// there are fewer counters than packets it returns [ErrEnd] and changes nothing. If a Data does
// not have DataSize bytes it panics before it writes anything. It allocates only where a packet
// has no room. No packet and its room may overlap another.
func (s *UMACSender) SealBatch(batch []Packet) error {
	s.form.mustLive("UMACSender")
	s.form.mustAll(batch)
	counter, ok := s.counters.take(uint64(len(batch)))
	if !ok {
		return ErrEnd
	}
	var msgs [lanes]fastmac.Message
	var nonces [lanes][numberSize]byte
	for len(batch) > 0 {
		n := min(len(batch), lanes)
		for i := range batch[:n] {
			p := &batch[i]
			size := len(p.Bytes)
			p.Bytes, p.Counter = s.form.room(p.Bytes), counter
			binary.BigEndian.PutUint64(nonces[i][:], s.form.number(counter))
			msgs[i].Nonce, msgs[i].Data, msgs[i].Tag = nonces[i][:], p.Bytes[:size], p.Bytes[size+numberSize:]
			if len(p.Data) > 0 {
				msgs[i].Data = p.Bytes[:size+copy(p.Bytes[size:], p.Data)]
			}
			counter++
		}
		s.key.TagBatch(msgs[:n])
		for i := range batch[:n] {
			p := &batch[i]
			binary.BigEndian.PutUint64(p.Bytes[len(p.Bytes)-s.form.overhead():], s.form.number(p.Counter))
		}
		batch = batch[n:]
	}
	return nil
}

// Next returns the next counter. A program that stops in an orderly way may store it in place of
// the end of the range, after the last packet.
func (s *UMACSender) Next() uint64 {
	s.form.mustLive("UMACSender")
	return s.counters.next.Load()
}

// Extend moves the end of the range. Store the new end first; half of the range is a good time. It
// returns an error, and changes nothing, if end is below the present one, above 2^56, or more
// than 2^48 above the first counter.
func (s *UMACSender) Extend(end uint64) error {
	s.form.mustLive("UMACSender")
	return s.counters.extend(end)
}

// Overhead returns how much longer a packet is than its message: 16 bytes with tags of 8, and 24
// with tags of 16.
func (s *UMACSender) Overhead() int {
	s.form.mustLive("UMACSender")
	return s.form.overhead()
}

// Destroy overwrites the sender and its key with zeros. Any later use panics, except that a
// second Destroy does nothing. Do not call it while the sender is in use.
func (s *UMACSender) Destroy() {
	s.key.Destroy()
	s.umacSenderName = umacSenderName{}
	s.form = form{}
	s.counters.destroy()
}

// Open returns the message, which is a part of packet, and its counter. It checks the tag, and only
// then whether the counter is new, and remembers it. data is the additional data, DataSize
// bytes, or Open panics. It does not allocate, except where UMACKey.Verify does.
//
// If there is an error, the message is nil and the counter 0. The errors are [ErrForged],
// [ErrEpoch], [ErrWorn] and, after a right tag, [ErrReplayed], [ErrOld] and [ErrEnd]. packet is as
// before in all cases. But with a DataSize other than 0 Open writes to it in between, so no
// other goroutine may read it meanwhile. data may overlap the message. The comparison is
// constant time.
func (r *UMACReceiver) Open(packet, data []byte) (msg []byte, counter uint64, err error) {
	r.form.mustLive("UMACReceiver")
	r.form.mustData(data)
	if r.window.worn() {
		return nil, 0, ErrWorn
	}
	number, err := r.form.parse(packet)
	if err != nil {
		return nil, 0, err
	}
	n := len(packet) - r.form.overhead()
	var nonce [numberSize]byte
	binary.BigEndian.PutUint64(nonce[:], number)
	var right bool
	if len(data) == 0 {
		right = r.key.Verify(packet[n+numberSize:], nonce[:], packet[:n])
	} else {
		right = r.verify(packet, n, nonce[:], data)
	}
	if err := r.window.judge(counterOf(number), right); err != nil {
		return nil, 0, err
	}
	return packet[:n], counterOf(number), nil
}

// verify reports whether the tag of a packet with a message of n bytes and data is right.
func (r *UMACReceiver) verify(packet []byte, n int, nonce, data []byte) bool {
	var saved [numberSize + maxTagSize]byte
	trailer := saved[:copy(saved[:], packet[n:])]
	copy(packet[n:], data)
	right := r.key.Verify(trailer[numberSize:], nonce, packet[:n+len(data)])
	copy(packet[n:], trailer)
	return right
}

// OpenBatch opens batch[i].Bytes, in the order of the batch, as [UMACReceiver.Open] does, and
// with short packets takes less time than a call of Open for each. It shortens Bytes to the
// message, or sets it to nil if there is an error, sets Counter and Err, and returns how many
// packets are good. If a Data does not have DataSize bytes it panics before it writes anything. It
// does not allocate. No packet may overlap another.
func (r *UMACReceiver) OpenBatch(batch []Packet) int {
	r.form.mustLive("UMACReceiver")
	r.form.mustAll(batch)
	good := 0
	var msgs [lanes]fastmac.Message
	var nonces [lanes][numberSize]byte
	var saved [lanes][numberSize + maxTagSize]byte
	for len(batch) > 0 {
		n := min(len(batch), lanes)
		for i := range batch[:n] {
			p := &batch[i]
			number, err := r.form.parse(p.Bytes)
			p.Counter, p.Err = counterOf(number), err
			if err != nil {
				msgs[i] = fastmac.Message{}
				continue
			}
			size := len(p.Bytes) - r.form.overhead()
			binary.BigEndian.PutUint64(nonces[i][:], number)
			msgs[i].Nonce, msgs[i].Data, msgs[i].Tag = nonces[i][:], p.Bytes[:size], p.Bytes[size+numberSize:]
			if len(p.Data) > 0 {
				trailer := saved[i][:copy(saved[i][:], p.Bytes[size:])]
				msgs[i].Data, msgs[i].Tag = p.Bytes[:size+copy(p.Bytes[size:], p.Data)], trailer[numberSize:]
			}
		}
		r.key.VerifyBatch(msgs[:n])
		if r.form.dataSize != 0 {
			for i := range batch[:n] {
				if p := &batch[i]; p.Err == nil {
					copy(p.Bytes[len(p.Bytes)-r.form.overhead():], saved[i][:])
				}
			}
		}
		good += r.window.judgeAll(&r.form, batch[:n], msgs[:n])
		batch = batch[n:]
	}
	return good
}

// Next returns one more than the highest accepted counter, or the first of the range if there is
// none. A program that stops in an orderly way may store it in place of the end of the range.
func (r *UMACReceiver) Next() uint64 {
	r.form.mustLive("UMACReceiver")
	return r.window.next()
}

// Extend moves the end of the range. Store the new end first. It returns an error, and changes
// nothing, if end is below the present one, above 2^56, or more than 2^48 above the first
// counter.
func (r *UMACReceiver) Extend(end uint64) error {
	r.form.mustLive("UMACReceiver")
	return r.window.extend(end)
}

// Forged returns the number of wrong tags so far.
func (r *UMACReceiver) Forged() uint64 {
	r.form.mustLive("UMACReceiver")
	return r.window.forged.Load()
}

// Destroy overwrites the receiver and its key with zeros. Any later use panics, except that a
// second Destroy does nothing. Do not call it while the receiver is in use.
func (r *UMACReceiver) Destroy() {
	r.key.Destroy()
	r.umacReceiverName = umacReceiverName{}
	r.form = form{}
	r.window.destroy()
}
