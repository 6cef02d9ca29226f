// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"errors"
	"fmt"
	"slices"

	"example.com/fastmac"
	"example.com/fastmac/packet"
)

// macs are the values of the flag -mac, in the order of a comparison.
var macs = []string{"none", "aesgcm", "umac64", "umac128", "gmac"}

// senders are those of all peers.
type senders interface {
	// hello returns the hello of a peer, or nil if its sender needs none.
	hello(peer uint32, c packet.Config) ([]byte, error)
	// answer takes an answer, and reports whether it is right.
	answer(peer uint32, answer []byte) bool
	// first seals the first packet of a peer, with its opening.
	first(peer uint32, message []byte) ([]byte, error)
	// seal seals batch[i].Bytes for peers[i], and sets Counter.
	seal(peers []uint32, batch []packet.Packet) error
	// overhead is how much longer a packet is than its message.
	overhead() int
	// number is how far before the end of a packet its number is.
	number() int
}

// receivers are those of all peers.
type receivers interface {
	// answer appends the answer to a hello to dst.
	answer(peer uint32, dst, hello []byte) ([]byte, error)
	// first opens a packet with an opening. If it is good, its session replaces the old one.
	first(peer uint32, datagram []byte) error
	// open opens batch[i].Bytes with the receiver of peers[i], and sets Err. A number that no
	// peer has gives ErrUnknown.
	open(peers []uint32, batch []packet.Packet)
}

// newSenders returns the senders of all peers, or room for them.
func newSenders(c *Setup) (senders, error) {
	switch c.MAC {
	case "none":
		return noSenders{make([]uint64, c.Peers)}, nil
	case "aesgcm":
		return newGCMSenders(c)
	case "umac64", "umac128":
		return newPacketSenders(c, packet.NewUMACClient, packet.SealBatch[*packet.UMACSender]), nil
	case "gmac":
		return newPacketSenders(c, packet.NewGMACClient, packet.SealBatch[*packet.GMACSender]), fastmac.RequireGCM()
	}
	return nil, fmt.Errorf("udp: -mac %s: want one of %v", c.MAC, macs)
}

// newReceivers returns the receivers of all peers. With package packet a peer has none before its first
// session opens.
func newReceivers(c *Setup) (receivers, error) {
	switch c.MAC {
	case "none":
		return noReceivers{c.Peers}, nil
	case "aesgcm":
		return newGCMReceivers(c)
	case "umac64", "umac128":
		return newPacketReceivers(c, packet.NewUMACServer, packet.OpenBatch[*packet.UMACReceiver])
	case "gmac":
		return newPacketReceivers(c, packet.NewGMACServer, packet.OpenBatch[*packet.GMACReceiver])
	}
	return nil, fmt.Errorf("udp: -mac %s: want one of %v", c.MAC, macs)
}

func tagSize(mac string) int {
	if mac == "umac64" {
		return fastmac.UMAC64Size
	}
	return fastmac.UMAC128Size // and GMAC
}

// A clientOf is a client of package packet, whose sender is an S.
type clientOf[S any] interface {
	Hello(dst []byte) []byte
	Answer(answer []byte) bool
	Seal(packet, data []byte) ([]byte, error)
	Sender() S
}

type packetSenders[K clientOf[S], S any] struct {
	tagSize   int
	peers     []K
	picked    []S
	newClient func(c packet.Config, me, peer string) (K, error)
	sealBatch func([]S, []packet.Packet) int
}

func newPacketSenders[K clientOf[S], S any](c *Setup, newClient func(packet.Config, string, string) (K, error), sealBatch func([]S, []packet.Packet) int) *packetSenders[K, S] {
	return &packetSenders[K, S]{tagSize(c.MAC), make([]K, c.Peers), nil, newClient, sealBatch}
}

func (s *packetSenders[K, S]) hello(peer uint32, c packet.Config) ([]byte, error) {
	k, err := s.newClient(c, clientName, serverName)
	if err != nil {
		return nil, err
	}
	s.peers[peer] = k
	return k.Hello(nil), nil
}

func (s *packetSenders[K, S]) answer(peer uint32, answer []byte) bool {
	return s.peers[peer].Answer(answer)
}

func (s *packetSenders[K, S]) first(peer uint32, message []byte) ([]byte, error) {
	return s.peers[peer].Seal(message, nil)
}

func (s *packetSenders[K, S]) overhead() int { return numberSize + s.tagSize }
func (s *packetSenders[K, S]) number() int   { return s.overhead() }

func (s *packetSenders[K, S]) seal(peers []uint32, batch []packet.Packet) error {
	s.picked = s.picked[:0]
	for _, peer := range peers {
		s.picked = append(s.picked, s.peers[peer].Sender())
	}
	if s.sealBatch(s.picked, batch) == len(batch) {
		return nil
	}
	i := slices.IndexFunc(batch, func(p packet.Packet) bool { return p.Err != nil })
	return fmt.Errorf("udp: peer %d: %w", peers[i], batch[i].Err)
}

// A serverOf is a server of package packet, for one peer, whose receiver is an R.
type serverOf[R any] interface {
	Answer(dst, hello []byte) ([]byte, error)
	Open(packet, data []byte) (msg []byte, counter uint64, err error)
	Receiver() R
}

type packetReceivers[V serverOf[R], R any] struct {
	servers   []V
	peers     []R // of the open sessions, or nil
	picked    []R
	openBatch func([]R, []packet.Packet) int
}

func newPacketReceivers[V serverOf[R], R any](c *Setup, newServer func(packet.Config, string, string) (V, error), openBatch func([]R, []packet.Packet) int) (*packetReceivers[V, R], error) {
	r := &packetReceivers[V, R]{make([]V, c.Peers), make([]R, c.Peers), nil, openBatch}
	for i := range r.servers {
		var secret peerSecret
		c.Master.peer(uint32(i), &secret)
		s, err := newServer(secret.config(tagSize(c.MAC)), serverName, clientName)
		clear(secret[:])
		if err != nil {
			return nil, err
		}
		r.servers[i] = s
	}
	return r, nil
}

func (r *packetReceivers[V, R]) answer(peer uint32, dst, hello []byte) ([]byte, error) {
	return r.servers[peer].Answer(dst, hello)
}

func (r *packetReceivers[V, R]) first(peer uint32, datagram []byte) error {
	_, _, err := r.servers[peer].Open(datagram, nil)
	r.peers[peer] = r.servers[peer].Receiver()
	return err
}

func (r *packetReceivers[V, R]) open(peers []uint32, batch []packet.Packet) {
	r.picked = r.picked[:0]
	for _, peer := range peers {
		var one R
		if int64(peer) < int64(len(r.peers)) {
			one = r.peers[peer]
		}
		r.picked = append(r.picked, one)
	}
	r.openBatch(r.picked, batch)
}

// errAgain is the error of AES-GCM's receiver, for both of package packet's: ReplayWindow does
// not tell them apart.
var errAgain = errors.New("udp: accepted before, or older than the window")
