// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"crypto"
	"crypto/rand"
	"crypto/sha512"
	"encoding/binary"

	"example.com/fastmac"
	"example.com/fastmac/packet"
)

// A datagram begins with four bytes: the number of a peer, or one of these marks.
const (
	markHello  = 0xffffffff - iota // client to server: begin a session
	markAnswer                     // server to client: its part of the session
	markOpen                       // client to server: a packet that opens the session
	markFlow                       // both: how many datagrams have arrived
)

// Sizes in bytes. A hello and an answer are a head and the tag of HMAC-SHA-512. An answer is
// as long as its hello, so nobody can use the server to multiply traffic.
const (
	randomSize   = 16
	headSize     = 4 + 4 + 1 + randomSize // mark, number of the peer, epoch, random bytes
	helloSize    = headSize + sha512.Size
	openHeadSize = 4 + 4 + randomSize // mark, number of the peer, the client's random bytes
)

// A master is the secret of the server, from which the secrets of all peers come. A peer is
// given its own two at the factory, or however it becomes a peer.
type master [32]byte

// peerSecrets are the secrets of a peer, for packets and for hellos: the two halves.
type peerSecrets [sha512.Size]byte

func (s *peerSecrets) packets() []byte { return s[:32] }
func (s *peerSecrets) hellos() []byte  { return s[32:] }

// peer sets the secrets of a peer. The caller clears them.
func (m *master) peer(number uint32, s *peerSecrets) {
	var b [4]byte
	binary.BigEndian.PutUint32(b[:], number)
	fastmac.SumHMAC(crypto.SHA512, s[:0], m[:], b[:])
}

// A session is what both ends chose for one session: the random bytes of the client, those of
// the server, and the epoch, which the server chose. Whoever has one of these, and not the
// secret of the peer, has nothing.
type session struct {
	random [2 * randomSize]byte
	epoch  uint8
}

// config returns what package packet needs for the direction from the client to the server. In the
// other direction the names would be swapped.
func (s *session) config(secret []byte, tagSize int) packet.Config {
	return packet.Config{Secret: secret, Sender: "client", Receiver: "server", Epoch: s.epoch, TagSize: tagSize}
}

// A helloClient begins one session. After a restart, or if there is no answer for too long, the
// client makes a new one. While there is no answer, it may send the same hello again.
type helloClient struct {
	key   [32]byte
	hello [helloSize]byte
	done  bool // there is one, or there is no key
}

// newHelloClient returns a client with a copy of the peer's secret for hellos.
func newHelloClient(number uint32, key []byte) *helloClient {
	c := new(helloClient)
	copy(c.key[:], key)
	head := putHead(c.hello[:0], markHello, number, 0)
	rand.Read(c.hello[headSize-randomSize : headSize])
	fastmac.SumHMAC(crypto.SHA512, head, c.key[:], head)
	return c
}

// session returns the session that an answer agrees to, and false if it is no answer to this
// hello by the server. It does so once: from a second answer to the same hello, or the same one
// again, the same session could come, and a second sender for it would repeat counters. So make
// one sender of it.
func (c *helloClient) session(answer []byte) (s session, ok bool) {
	if c.done || len(answer) != helloSize || binary.BigEndian.Uint32(answer) != markAnswer {
		return s, false
	}
	mac, err := fastmac.NewHMACKey(crypto.SHA512, c.key[:])
	if err != nil {
		return s, false
	}
	defer mac.Destroy()
	if !mac.Verify(answer[headSize:], bothHeads(c.hello[:], answer)) {
		return s, false
	}
	copy(s.random[:], c.hello[headSize-randomSize:headSize])
	copy(s.random[randomSize:], answer[headSize-randomSize:headSize])
	s.epoch = answer[8]
	c.destroy()
	return s, true
}

// destroy overwrites the key. No answer is accepted after that, also none with a tag under zeros.
func (c *helloClient) destroy() {
	clear(c.key[:])
	c.done = true
}

// putOpen writes what a packet begins with until the client knows that the session is open: the
// packet says itself to which session it belongs. message has at least openHeadSize bytes.
func (c *helloClient) putOpen(message []byte) {
	binary.BigEndian.PutUint32(message, markOpen)
	copy(message[4:], c.hello[4:8])
	copy(message[8:openHeadSize], c.hello[headSize-randomSize:headSize])
}

// A helloServer has what the server knows of the sessions of its peers. It is not safe for
// concurrent use.
//
// A hello changes nothing. The server's random bytes are ready before it comes, and stay until a
// session with them has opened. So it does not matter how many old hellos are sent again, or
// how many sessions a peer begins and does not open: each costs an answer. The session
// opens with the first packet that has a right tag under its key. Only then do new random bytes
// replace the used ones, so neither this packet nor the hello can open anything again.
//
// A forged opening packet costs far more than another forged packet: the derivation of a key. And
// the packets before it are opened first, so it breaks the batch.
//
// A forged opening packet may have a client's part of its own, and so another key: no receiver
// counts it. The odds add up all the same: whoever guesses one tag opens a session. So wrong tags
// are counted here for each peer, as long as the server runs. At the limit no new session of this
// peer opens. The open one goes on.
type helloServer struct {
	master    master
	peers     []helloPeer
	forged    []uint64 // wrong opening packets of the peers
	maxForged uint64
}

type helloPeer struct {
	next   [randomSize]byte // the server's part of the next session
	opened [randomSize]byte // the client's part of the session that is open
	epoch  uint8            // of the session that is open
	open   bool
}

// newHelloServer has the limits that package packet has for a receiver, by the size of a tag.
func newHelloServer(m master, peers, tagSize int) *helloServer {
	s := &helloServer{master: m, peers: make([]helloPeer, peers), forged: make([]uint64, peers), maxForged: 1 << 48}
	if tagSize == fastmac.UMAC64Size {
		s.maxForged = 1 << 32
	}
	for i := range s.peers {
		rand.Read(s.peers[i].next[:])
	}
	return s
}

// answer appends the answer to a hello to dst. It appends nothing if the hello is not from a
// peer.
func (s *helloServer) answer(dst, hello []byte) []byte {
	if len(hello) != helloSize {
		return dst
	}
	number := binary.BigEndian.Uint32(hello[4:])
	if int64(number) >= int64(len(s.peers)) {
		return dst
	}
	var secrets peerSecrets
	s.master.peer(number, &secrets)
	mac, err := fastmac.NewHMACKey(crypto.SHA512, secrets.hellos())
	clear(secrets[:])
	if err != nil {
		return dst
	}
	defer mac.Destroy()
	if !mac.Verify(hello[headSize:], hello[:headSize]) {
		return dst
	}
	p := &s.peers[number]
	n := len(dst)
	dst = putHead(dst, markAnswer, number, p.epoch+1)
	copy(dst[n+headSize-randomSize:], p.next[:])
	return mac.Tag(dst, bothHeads(hello, dst[n:]))
}

// begin returns the peer of a packet that putOpen began, the session that it would open, and
// whether this one is open already. Nothing of this is authenticated before the packet is.
func (s *helloServer) begin(datagram []byte) (number uint32, n session, open bool, err error) {
	if len(datagram) < openHeadSize {
		return 0, n, false, packet.ErrForged
	}
	number = binary.BigEndian.Uint32(datagram[4:])
	if int64(number) >= int64(len(s.peers)) {
		return 0, n, false, packet.ErrUnknown
	}
	p := &s.peers[number]
	copy(n.random[:], datagram[8:openHeadSize])
	copy(n.random[randomSize:], p.next[:])
	n.epoch = p.epoch + 1
	open = p.open && p.opened == [randomSize]byte(datagram[8:openHeadSize])
	if !open && s.forged[number] >= s.maxForged {
		err = packet.ErrWorn
	}
	return number, n, open, err
}

// opened says that a packet with this session had a right tag.
func (s *helloServer) opened(number uint32, n session) {
	p := &s.peers[number]
	copy(p.opened[:], n.random[:])
	p.epoch, p.open = n.epoch, true
	rand.Read(p.next[:])
}

// putHead appends a head to dst, with room for random bytes.
func putHead(dst []byte, mark, number uint32, epoch uint8) []byte {
	dst = binary.BigEndian.AppendUint32(dst, mark)
	dst = binary.BigEndian.AppendUint32(dst, number)
	dst = append(dst, epoch)
	return append(dst, make([]byte, randomSize)...)
}

// bothHeads returns what the tag of an answer authenticates: to which hello it is the answer,
// and what it says.
func bothHeads(hello, answer []byte) []byte {
	return append(append(make([]byte, 0, 2*headSize), hello[:headSize]...), answer[:headSize]...)
}
