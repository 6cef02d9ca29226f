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

func (s noSenders) hello(uint32, packet.Config) ([]byte, error) { return nil, nil }
func (s noSenders) answer(uint32, []byte) bool                  { return false }
func (s noSenders) overhead() int                               { return numberSize }
func (s noSenders) number() int                                 { return numberSize }

func (s noSenders) first(peer uint32, message []byte) ([]byte, error) {
	return firstOf(s, peer, message)
}

// firstOf seals a packet.
func firstOf(s senders, peer uint32, message []byte) ([]byte, error) {
	one := []packet.Packet{{Bytes: message}}
	err := s.seal([]uint32{peer}, one)
	return one[0].Bytes, err
}

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

func (r noReceivers) answer(uint32, []byte, []byte) ([]byte, error) { return nil, packet.ErrForged }
func (r noReceivers) first(uint32, []byte) error                    { return nil }

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

// gcmSecret is a key and a salt. The nonce is salt and number, as with GMAC of package packet. The key is new because
// the session of the flow messages is: these peers say no hello.
type gcmSecret struct {
	key  aesgcm.Key
	salt uint32
}

const gcmEpoch = 1

// init sets up the key of a peer.
func (g *gcmSecret) init(c *Setup, peer int) error {
	var secret peerSecret
	c.Master.peer(uint32(peer), &secret)
	defer clear(secret[:])
	okm, err := hkdf.Key(sha512.New, secret[:], c.Session[:], "fastmac udp aesgcm client", 16+4)
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

type gcmSenders struct {
	noSenders // without a hello
	peers     []gcmSender
}

func newGCMSenders(c *Setup) (*gcmSenders, error) {
	s := &gcmSenders{peers: make([]gcmSender, c.Peers)}
	for i := range s.peers {
		if err := s.peers[i].init(c, i); err != nil {
			return nil, err
		}
		s.peers[i].number = gcmEpoch * maxCounter
	}
	return s, fastmac.RequireGCM()
}

func (s *gcmSenders) overhead() int { return numberSize + aesgcm.Overhead }
func (s *gcmSenders) number() int   { return numberSize } // Key.Open wants the tag next to the ciphertext

func (s *gcmSenders) first(peer uint32, message []byte) ([]byte, error) {
	return firstOf(s, peer, message)
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
		return markedSize
	}
	return 4
}

type gcmReceiver struct {
	gcmSecret
	window *fastmac.ReplayWindow
}

type gcmReceivers struct {
	noReceivers // without a hello
	peers       []gcmReceiver
}

func newGCMReceivers(c *Setup) (*gcmReceivers, error) {
	r := &gcmReceivers{peers: make([]gcmReceiver, c.Peers)}
	for i := range r.peers {
		r.peers[i].window = fastmac.NewReplayWindow(windowBits)
		if err := r.peers[i].init(c, i); err != nil {
			return nil, err
		}
	}
	return r, fastmac.RequireGCM()
}

func (r *gcmReceivers) first(peer uint32, datagram []byte) error {
	one := packet.Packet{Bytes: datagram}
	r.peers[peer].open(&one)
	return one.Err
}

func (r *gcmReceivers) open(peers []uint32, batch []packet.Packet) {
	for i := range batch {
		if int64(peers[i]) >= int64(len(r.peers)) {
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
	if uint8(number/maxCounter) != gcmEpoch {
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
