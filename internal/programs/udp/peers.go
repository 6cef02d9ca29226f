// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"crypto"
	"crypto/sha512"
	"encoding/binary"

	"example.com/fastmac"
	"example.com/fastmac/packet"
)

// A datagram begins with four bytes: the number of a peer, or one of these marks. After a mark for a
// peer there is its number, and then the hello, the answer or the message.
const (
	markHello  = 0xffffffff - iota // client to server: begin a session
	markAnswer                     // server to client: its part of the session
	markOpen                       // client to server: a packet that opens the session
	markFlow                       // both: how many datagrams have arrived
)

// Sizes in bytes.
const (
	markedSize = 4 + 4 // mark, number of the peer
	helloSize  = markedSize + packet.HelloSize
)

// The names of both ends. Each peer has a secret of its own, so it needs no name.
const (
	clientName = "client"
	serverName = "server"
)

// A master is the secret of the server, from which the secrets of all peers come. A peer is
// given its own at the factory, or however it becomes a peer.
type master [32]byte

// A peerSecret is the secret of a peer, for its hellos and packets.
type peerSecret [32]byte

// peer sets the secret of a peer. The caller clears it.
func (m *master) peer(number uint32, s *peerSecret) {
	var b [4]byte
	var sum [sha512.Size]byte
	binary.BigEndian.PutUint32(b[:], number)
	fastmac.SumHMAC(crypto.SHA512, sum[:0], m[:], b[:])
	copy(s[:], sum[:])
	clear(sum[:])
}

// config returns what both ends have in common.
func (s *peerSecret) config(tagSize int) packet.Config {
	return packet.Config{Secret: s[:], TagSize: tagSize}
}

// putMark appends a mark and the number of a peer to dst.
func putMark(dst []byte, mark, number uint32) []byte {
	return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(dst, mark), number)
}
