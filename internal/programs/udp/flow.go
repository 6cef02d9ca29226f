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

// newFlow returns an end for a run. Its counters begin at 0, so its key must be new. A server
// keeps its master secret: under a key of this alone, counters would repeat after a restart, or
// with a second client. The session makes the key new. Here measure draws it for both ends,
// and starts neither of them twice with it. Ends that start on their own need a hello, as peers have.
func newFlow(c *Setup, me, peer string) (*flow, error) {
	config := packet.Config{Secret: c.Master[:], TagSize: fastmac.UMAC128Size}
	send, receive, err := packet.NewUMACPair(config, me, peer, packet.NewSession(c.Session[:]))
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
