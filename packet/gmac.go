// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package packet

import (
	"encoding/binary"

	"example.com/fastmac"
	"example.com/fastmac/internal/lifetime"
	"example.com/fastmac/internal/opaque"
)

// GMACSender seals the packets of one sender with GMAC.
//
// It is safe for concurrent use, except for Init and Destroy. Do not copy it: a copy seals nothing,
// and neither does the sender in a child after a fork. See [ErrCopied]. It prints as its name. All
// methods except Init, Destroy, String and Format panic if the sender was never set up or has been
// destroyed.
type GMACSender struct {
	_ opaque.NoCopy
	_ opaque.Incomparable

	counters
	gmacSenderName
	form form
	salt uint32
	key  fastmac.GMACKey
}

// GMACReceiver opens the packets of one sender with GMAC.
//
// It is safe for concurrent use, except for Init and Destroy. Do not copy it: a copy accepts
// packets again. It prints as its name. All methods except Init, Destroy, String and Format panic
// if the receiver was never set up or has been destroyed.
type GMACReceiver struct {
	_ opaque.NoCopy
	_ opaque.Incomparable

	window
	gmacReceiverName
	form form
	salt uint32
	key  fastmac.GMACKey
}

// NewGMACPair returns the sender and the receiver for one end of a connection. me is the name of
// this end, and peer that of the other end, which swaps the two. NewGMACPair returns an error if
// Sender or Receiver of c is not empty, if peer is empty, or if the names are equal. Its other
// errors are those of [GMACSender.Init] and [GMACReceiver.Init].
func NewGMACPair(c Config, me, peer string, n Counters) (*GMACSender, *GMACReceiver, error) {
	return newPair(c, me, peer, n, NewGMACSender, NewGMACReceiver)
}

// NewGMACSender returns a sender that uses the counters of n. Its errors are those of
// [GMACSender.Init].
func NewGMACSender(c Config, n Counters) (*GMACSender, error) {
	s := new(GMACSender)
	if err := s.Init(c, n); err != nil {
		return nil, err
	}
	return s, nil
}

// NewGMACReceiver returns a receiver that accepts the counters of n. Its errors are those of
// [GMACReceiver.Init].
func NewGMACReceiver(c Config, n Counters) (*GMACReceiver, error) {
	r := new(GMACReceiver)
	if err := r.Init(c, n); err != nil {
		return nil, err
	}
	r.window.alone = true
	return r, nil
}

// Init is like [UMACSender.Init]. If the CPU lacks instructions, it returns the error of RequireGCM of
// package fastmac.
func (s *GMACSender) Init(c Config, n Counters) error {
	rng, err := c.initGMAC(&s.counters.life, &s.key, &s.salt, &n, sending)
	if err != nil {
		return err
	}
	s.form = c.form()
	s.counters.init(&rng)
	return nil
}

// Init is like [UMACReceiver.Init]. If the CPU lacks instructions, it returns the error of RequireGCM of
// package fastmac.
func (r *GMACReceiver) Init(c Config, n Counters) error {
	if err := c.checkWindow(); err != nil {
		return err
	}
	rng, err := c.initGMAC(&r.window.life, &r.key, &r.salt, &n, receiving)
	if err != nil {
		return err
	}
	r.form = c.form()
	r.window.init(&c, &rng)
	return nil
}

// initGMAC checks c and n, has the first counters and derives a key and a salt. If it returns an
// error, they are unchanged.
func (c *Config) initGMAC(life *lifetime.Lifetime, k *fastmac.GMACKey, salt *uint32, n *Counters, role byte) (rng supplied, err error) {
	if err := c.check(gmac, n, role); err != nil {
		return rng, err
	}
	if err := fastmac.RequireGCM(); err != nil {
		return rng, err
	}
	if rng, err = n.open(c, gmac, role); err != nil { // calls other code: there is no key yet
		return rng, err
	}
	var okm [okmSize]byte
	c.derive(&okm, gmac, n)
	life.End()
	if err = k.Init(okm[:keySize]); err == nil {
		*salt = binary.BigEndian.Uint32(okm[keySize:])
	}
	clear(okm[:])
	return rng, err
}

// Seal is like [UMACSender.Seal].
func (s *GMACSender) Seal(packet, data []byte) ([]byte, error) {
	id := s.counters.life.Expect()
	s.form.mustData(data)
	counter, err := s.counters.take(1)
	if err != nil {
		return s.counters.refuse(id, err)
	}
	n := len(packet)
	packet = s.form.room(packet)
	hashed := packet[:n]
	if len(data) > 0 {
		hashed = packet[:n+copy(packet[n:], data)]
	}
	number := s.form.number(counter)
	var nonce alignedNonce
	nonce.set(s.salt, number)
	s.key.Tag(packet[:n+numberSize], nonce.nonce[:], hashed)
	binary.BigEndian.PutUint64(packet[n:], number)
	if !s.counters.life.Is(id) {
		panic(clearTrailer(packet[n:]))
	}
	return packet, nil
}

// Trailer is like [UMACSender.Trailer].
func (s *GMACSender) Trailer(dst, msg []byte) ([]byte, error) {
	id := s.counters.life.Expect()
	s.form.mustHaveNoData()
	counter, err := s.counters.take(1)
	if err != nil {
		return s.counters.refuse(id, err)
	}
	n := len(dst)
	dst = s.form.room(dst)
	number := s.form.number(counter)
	var nonce alignedNonce
	nonce.set(s.salt, number)
	s.key.Tag(dst[:n+numberSize], nonce.nonce[:], msg)
	binary.BigEndian.PutUint64(dst[n:], number)
	if !s.counters.life.Is(id) {
		panic(clearTrailer(dst[n:]))
	}
	return dst, nil
}

// SealBatch is like [UMACSender.SealBatch], except for its speed.
func (s *GMACSender) SealBatch(batch []Packet) error {
	id := s.counters.mustLive()
	if len(batch) == 0 {
		return nil
	}
	form := s.form
	form.mustAll(batch)
	counter, err := s.counters.take(uint64(len(batch)))
	if err != nil {
		s.counters.mustBe(id)
		empty(batch)
		return err
	}
	begun, rest := 0, batch
	defer func() {
		if !s.counters.life.Is(id) {
			panic(clearTrailers(batch[:begun], form.overhead()))
		}
	}()
	var msgs [lanes]fastmac.Message
	var nonces [lanes]nonce
	for len(rest) > 0 {
		n := min(len(rest), lanes)
		for i := range rest[:n] {
			msgs[i].Data, msgs[i].Tag = form.begin(&rest[i], counter)
			begun++
			nonces[i].set(s.salt, form.number(counter))
			msgs[i].Nonce = nonces[i][:]
			counter++
		}
		s.key.TagBatch(msgs[:n])
		for i := range rest[:n] {
			form.end(&rest[i])
		}
		rest = rest[n:]
	}
	return nil
}

func (s *GMACSender) parts() (*counters, *form, *fastmac.GMACKey, uint32) {
	return &s.counters, &s.form, &s.key, s.salt
}

func (r *GMACReceiver) parts() (*window, *form, *fastmac.GMACKey, uint32) {
	return &r.window, &r.form, &r.key, r.salt
}

// Overhead returns how many bytes longer a packet is than its message: 24.
func (s *GMACSender) Overhead() int {
	s.counters.mustLive()
	return s.form.overhead()
}

// Destroy is like [UMACSender.Destroy].
func (s *GMACSender) Destroy() {
	s.counters.life.End()
	s.key.Destroy()
	s.salt = 0
	s.counters.destroy()
}

// Open is like [UMACReceiver.Open]. It does not allocate, except where GMACKey.Verify does, and where it has
// a [Store] reserve counters.
func (r *GMACReceiver) Open(packet, data []byte) (msg []byte, counter uint64, err error) {
	id := r.window.life.Expect()
	if r.window.worn() { // or destroyed, or never set up
		r.window.mustLive()
		r.form.mustData(data)
		return nil, 0, r.window.unchecked(ErrWorn)
	}
	r.form.mustData(data)
	number, err := r.form.parse(packet)
	if err != nil {
		r.window.mustBe(id)
		return nil, 0, r.window.unchecked(err)
	}
	n := len(packet) - r.form.overhead()
	var nonce alignedNonce
	nonce.set(r.salt, number)
	var right bool
	if len(data) == 0 {
		right = r.key.Verify(packet[n+numberSize:], nonce.nonce[:], packet[:n])
	} else {
		right = r.verifyWith(packet, n, data, nonce.nonce[:])
	}
	counter = counterOf(number)
	r.window.mu.Lock()
	err = r.window.judge(counter, right)
	if live := r.window.life.Is(id); err != nil || !live {
		return r.window.refuse(counter, err, live)
	}
	r.window.mu.Unlock()
	return packet[:n], counter, nil
}

// verifyWith verifies a packet with a message of n bytes, in which it writes data meanwhile.
func (r *GMACReceiver) verifyWith(packet []byte, n int, data, nonce []byte) bool {
	var saved trailer
	hashed, tag := r.form.borrow(packet, n, data, &saved)
	defer copy(packet[n:], saved[:]) // also if the key is destroyed
	return r.key.Verify(tag, nonce, hashed)
}

// OpenBatch is like [UMACReceiver.OpenBatch], except for its speed.
func (r *GMACReceiver) OpenBatch(batch []Packet) (good int) {
	id := r.window.mustLive()
	form := r.form
	form.mustAll(batch)
	rest, borrowed := batch, 0
	var trailers [lanes]trailer
	defer func() {
		if !r.window.life.Is(id) {
			form.restore(rest[:borrowed], trailers[:borrowed])
			panic(refuseAll(batch))
		}
	}()
	var msgs [lanes]fastmac.Message
	var nonces [lanes]nonce
	for len(rest) > 0 {
		n := min(len(rest), lanes)
		for i := range rest[:n] {
			msgs[i].Data, msgs[i].Tag = form.check(&rest[i], &trailers[i])
			borrowed++
			nonces[i].set(r.salt, form.number(rest[i].Counter))
			msgs[i].Nonce = nonces[i][:]
		}
		r.key.VerifyBatch(msgs[:n])
		form.restore(rest[:n], trailers[:n])
		borrowed = 0
		good += r.window.judgeAll(&form, rest[:n], msgs[:n])
		rest = rest[n:]
	}
	return good
}

// Destroy is like [UMACReceiver.Destroy].
func (r *GMACReceiver) Destroy() {
	r.window.life.End()
	r.key.Destroy()
	r.salt = 0
	r.window.destroy()
}
