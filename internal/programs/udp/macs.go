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
	// init sets up the sender of a peer.
	init(peer uint32, c packet.Config, s *packet.HelloSession) error
	// seal seals batch[i].Bytes for peers[i], and sets Counter.
	seal(peers []uint32, batch []packet.Packet) error
	// overhead is how much longer a packet is than its message.
	overhead() int
	// number is how far before the end of a packet its number is.
	number() int
}

// receivers are those of all peers.
type receivers interface {
	// try opens a packet with a new session. If it is good, the session replaces the old one.
	try(peer uint32, c packet.Config, s *packet.HelloSession, datagram []byte) error
	// open opens batch[i].Bytes with the receiver of peers[i], and sets Err. A number that no
	// peer has gives ErrUnknown.
	open(peers []uint32, batch []packet.Packet)
}

// newSenders returns room for senders.
func newSenders(mac string, peers int) (senders, error) {
	switch mac {
	case "none":
		return noSenders{make([]uint64, peers)}, nil
	case "aesgcm":
		return &gcmSenders{peers: make([]gcmSender, peers)}, fastmac.RequireGCM()
	case "umac64", "umac128":
		return &packetSenders[*packet.UMACSender]{pointers(make([]packet.UMACSender, peers)), tagSize(mac), nil}, nil
	case "gmac":
		return &packetSenders[*packet.GMACSender]{pointers(make([]packet.GMACSender, peers)), tagSize(mac), nil}, fastmac.RequireGCM()
	}
	return nil, fmt.Errorf("udp: -mac %s: want one of %v", mac, macs)
}

// newReceivers returns room for receivers. A peer has none before its first session opens.
func newReceivers(mac string, peers int) (receivers, error) {
	switch mac {
	case "none":
		return noReceivers{peers}, nil
	case "aesgcm":
		return &gcmReceivers{peers: make([]gcmReceiver, peers)}, fastmac.RequireGCM()
	case "umac64", "umac128":
		return newPacketReceivers(pointers(make([]packet.UMACReceiver, peers+1))), nil
	case "gmac":
		return newPacketReceivers(pointers(make([]packet.GMACReceiver, peers+1))), fastmac.RequireGCM()
	}
	return nil, fmt.Errorf("udp: -mac %s: want one of %v", mac, macs)
}

func tagSize(mac string) int {
	if mac == "umac64" {
		return fastmac.UMAC64Size
	}
	return fastmac.UMAC128Size // and GMAC
}

// pointers returns the pointers to all elements. That these are side by side, and not objects of
// their own, saves memory.
func pointers[T any](s []T) []*T {
	p := make([]*T, len(s))
	for i := range s {
		p[i] = &s[i]
	}
	return p
}

// A sender is one of package packet.
type sender interface {
	*packet.UMACSender | *packet.GMACSender
	Init(packet.Config, packet.Counters) error
}

type packetSenders[S sender] struct {
	peers   []S
	tagSize int
	picked  []S
}

func (s *packetSenders[S]) init(peer uint32, c packet.Config, n *packet.HelloSession) error {
	return s.peers[peer].Init(toServer(c, n))
}

func (s *packetSenders[S]) overhead() int { return numberSize + s.tagSize }
func (s *packetSenders[S]) number() int   { return s.overhead() }

func (s *packetSenders[S]) seal(peers []uint32, batch []packet.Packet) error {
	s.picked = s.picked[:0]
	for _, peer := range peers {
		s.picked = append(s.picked, s.peers[peer])
	}
	if packet.SealBatch(s.picked, batch) == len(batch) {
		return nil
	}
	i := slices.IndexFunc(batch, func(p packet.Packet) bool { return p.Err != nil })
	return fmt.Errorf("udp: peer %d: %w", peers[i], batch[i].Err)
}

// A receiver is one of package packet.
type receiver interface {
	*packet.UMACReceiver | *packet.GMACReceiver
	Init(packet.Config, packet.Counters) error
	Open(packet, data []byte) (msg []byte, counter uint64, err error)
	Destroy()
}

type packetReceivers[R receiver] struct {
	peers  []R // nil before the first session
	unused []R
	spare  R // for a session that may never open
	picked []R
}

func newPacketReceivers[R receiver](room []R) *packetReceivers[R] {
	return &packetReceivers[R]{make([]R, len(room)-1), room[1:], room[0], nil}
}

func (r *packetReceivers[R]) try(peer uint32, c packet.Config, n *packet.HelloSession, datagram []byte) error {
	if err := r.spare.Init(toServer(c, n)); err != nil {
		return err
	}
	if _, _, err := r.spare.Open(datagram, nil); err != nil {
		return err
	}
	old := r.peers[peer]
	r.peers[peer] = r.spare
	if old != nil {
		old.Destroy()
		r.spare = old
	} else {
		r.spare, r.unused = r.unused[0], r.unused[1:]
	}
	return nil
}

func (r *packetReceivers[R]) open(peers []uint32, batch []packet.Packet) {
	r.picked = r.picked[:0]
	for _, peer := range peers {
		var one R
		if int64(peer) < int64(len(r.peers)) {
			one = r.peers[peer]
		}
		r.picked = append(r.picked, one)
	}
	packet.OpenBatch(r.picked, batch)
}

// errAgain is the error of AES-GCM's receiver, for both of package packet's: ReplayWindow does
// not tell them apart.
var errAgain = errors.New("udp: accepted before, or older than the window")
