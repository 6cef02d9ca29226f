// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"encoding/binary"

	"example.com/fastmac"
	"example.com/fastmac/packet"
)

// UDP drops what a socket has no room for. So that a run measures MACs and counts faults that
// it made itself, the client has only as many datagrams under way as the server's buffer holds.
// The server says how many have arrived. These messages are packets too, under keys of their own:
// what is acted upon is authenticated.

// Kinds of flow messages. The server answers all but flowCount, with the same kind.
const (
	flowCount = iota // server: so many datagrams have arrived
	flowAsk          // client: how many?
	flowStart        // client: begin to measure
	flowEnd          // client: stop measuring, so many have been written
)

// flow is one end.
type flow struct {
	send    *packet.UMACSender
	receive *packet.UMACReceiver
	buffer  [64]byte
}

func newFlow(secret []byte, me, peer string) (*flow, error) {
	c := packet.Config{Secret: secret, TagSize: fastmac.UMAC128Size}
	send, receive, err := packet.NewUMACPair(c, me, peer, packet.Fresh(), packet.Fresh())
	return &flow{send: send, receive: receive}, err
}

// seal returns a message, which is valid until the next call.
func (f *flow) seal(kind byte, value uint64) ([]byte, error) {
	m := binary.BigEndian.AppendUint32(f.buffer[:0], markFlow)
	m = binary.BigEndian.AppendUint64(append(m, kind), value)
	return f.send.Seal(m, nil)
}

func (f *flow) open(datagram []byte) (kind byte, value uint64, ok bool) {
	m, _, err := f.receive.Open(datagram, nil)
	if err != nil || len(m) != 4+1+8 {
		return 0, 0, false
	}
	return m[4], binary.BigEndian.Uint64(m[5:]), true
}
