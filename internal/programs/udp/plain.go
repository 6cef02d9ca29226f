// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"crypto/sha512"
	"encoding/binary"
	"fmt"
	"slices"

	"example.com/fastmac"
	"example.com/fastmac/aesgcm"
	"example.com/fastmac/hkdf"
	"example.com/fastmac/packet"
)

// This file has what the MACs are compared with: no MAC, and AES-GCM by hand. Both have the
// number of package packet behind the message, AES-GCM behind its tag.

const (
	numberSize = 8
	maxCounter = 1 << 56

	// windowBits is the ReplayWindow that accepts what a packet.Config.Window of 1024 does.
	windowBits = 961
)

type noSenders struct{ counters []uint64 }

func (s noSenders) init(uint32, packet.Config, *packet.HelloSession) error { return nil }
func (s noSenders) overhead() int                                          { return numberSize }
func (s noSenders) number() int                                            { return numberSize }

func (s noSenders) seal(peers []uint32, batch []packet.Packet) error {
	for i := range batch {
		counter := &s.counters[peers[i]]
		batch[i].Bytes = binary.BigEndian.AppendUint64(batch[i].Bytes, *counter)
		batch[i].Counter = *counter
		*counter++
	}
	return nil
}

type noReceivers struct{ peers int }

func (r noReceivers) try(uint32, packet.Config, *packet.HelloSession, []byte) error { return nil }

func (r noReceivers) open(peers []uint32, batch []packet.Packet) {
	for i := range batch {
		p := &batch[i]
		p.Err = nil
		switch n := len(p.Bytes) - numberSize; {
		case int64(peers[i]) >= int64(r.peers):
			p.Err = packet.ErrUnknown
		case n < 0:
			p.Err = packet.ErrForged
		default:
			p.Counter, p.Bytes = binary.BigEndian.Uint64(p.Bytes[n:]), p.Bytes[:n]
		}
	}
}

// gcmSecret is a key, a salt and an epoch. The nonce is salt and number, as with GMAC of package
// packet.
type gcmSecret struct {
	key   aesgcm.Key
	salt  uint32
	epoch uint8
}

func (g *gcmSecret) init(c packet.Config, n *packet.HelloSession) error {
	c, _ = n.With(c) // for the epoch
	g.epoch = c.Epoch
	okm, err := hkdf.Key(sha512.New, c.Secret, n.Opening(nil), "fastmac udp aesgcm client"+string([]byte{c.Epoch}), 16+4)
	if err != nil {
		return fmt.Errorf("udp: %w", err)
	}
	g.salt = binary.BigEndian.Uint32(okm[16:])
	return g.key.Init(okm[:16])
}

func (g *gcmSecret) nonce(number uint64) (nonce [aesgcm.NonceSize]byte) {
	binary.BigEndian.PutUint32(nonce[:], g.salt)
	binary.BigEndian.PutUint64(nonce[4:], number)
	return nonce
}

type gcmSender struct {
	gcmSecret
	number uint64 // the next one
}

type gcmSenders struct{ peers []gcmSender }

func (s *gcmSenders) overhead() int { return numberSize + aesgcm.Overhead }
func (s *gcmSenders) number() int   { return numberSize } // Key.Open wants the tag next to the ciphertext

func (s *gcmSenders) init(peer uint32, c packet.Config, n *packet.HelloSession) error {
	p := &s.peers[peer]
	err := p.gcmSecret.init(c, n)
	p.number = uint64(p.epoch) * maxCounter
	return err
}

// seal encrypts all but the head of a message, which the receiver must read first: the
// number of the peer. It is authenticated.
func (s *gcmSenders) seal(peers []uint32, batch []packet.Packet) error {
	for i := range batch {
		p, b := &s.peers[peers[i]], slices.Grow(batch[i].Bytes, s.overhead())
		head := gcmHead(b)
		nonce := p.nonce(p.number)
		sealed := p.key.Seal(b[head:head], nonce[:], b[head:], b[:head])
		b = b[:head+len(sealed)]
		batch[i].Bytes = binary.BigEndian.AppendUint64(b, p.number)
		batch[i].Counter = p.number % maxCounter
		p.number++
	}
	return nil
}

// gcmHead returns how many bytes of a datagram are not encrypted.
func gcmHead(datagram []byte) int {
	if binary.BigEndian.Uint32(datagram) == markOpen {
		return openHeadSize
	}
	return 4
}

type gcmReceiver struct {
	gcmSecret
	window *fastmac.ReplayWindow // nil before the first session
}

type gcmReceivers struct {
	peers []gcmReceiver
	spare gcmReceiver
}

func (r *gcmReceivers) try(peer uint32, c packet.Config, n *packet.HelloSession, datagram []byte) error {
	if err := r.spare.init(c, n); err != nil {
		return err
	}
	r.spare.window = fastmac.NewReplayWindow(windowBits)
	p := packet.Packet{Bytes: append([]byte(nil), datagram...)} // Open overwrites it
	if r.spare.open(&p); p.Err != nil {
		return p.Err
	}
	// A key may not be copied, so it is set up again.
	one := &r.peers[peer]
	one.window = r.spare.window
	return one.init(c, n)
}

func (r *gcmReceivers) open(peers []uint32, batch []packet.Packet) {
	for i := range batch {
		if int64(peers[i]) >= int64(len(r.peers)) || r.peers[peers[i]].window == nil {
			batch[i].Err = packet.ErrUnknown
			continue
		}
		r.peers[peers[i]].open(&batch[i])
	}
}

func (r *gcmReceiver) open(p *packet.Packet) {
	n := len(p.Bytes) - numberSize
	if n < 0 || n < gcmHead(p.Bytes)+aesgcm.Overhead {
		p.Err = packet.ErrForged
		return
	}
	number := binary.BigEndian.Uint64(p.Bytes[n:])
	if uint8(number/maxCounter) != r.epoch {
		p.Err = packet.ErrEpoch
		return
	}
	head := gcmHead(p.Bytes)
	nonce := r.nonce(number)
	plain, err := r.key.Open(p.Bytes[head:head], nonce[:], p.Bytes[head:n], p.Bytes[:head])
	switch {
	case err != nil:
		p.Err = packet.ErrForged
	case !r.window.Accept(number % maxCounter):
		p.Err = errAgain
	default:
		p.Err, p.Counter, p.Bytes = nil, number%maxCounter, p.Bytes[:head+len(plain)]
	}
}
