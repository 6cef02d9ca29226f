// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"runtime"
	"time"

	"example.com/fastmac/packet"
)

const (
	maxTime    = 60 * time.Second // of sending
	answerTime = 2 * time.Second  // for an answer of the server
	tries      = 5

	// helloGroup is how many peers say hello at a time: while the server answers some, the
	// client prepares others.
	helloGroup = 512
)

// client is one socket and the senders of all peers.
type client struct {
	*Setup
	conn    *net.UDPConn
	writer  *writer
	senders senders
	flow    *flow
	window  uint64

	written uint64 // datagrams
	arrived uint64 // of them, as the server said last
	buffer  [2048]byte
	picked  []uint32
	batch   []packet.Packet
	out     [][]byte
}

// send is the client's process. It takes a Setup from in and writes its Report to out.
func send(in io.Reader, out io.Writer) error {
	var c Setup
	if err := json.NewDecoder(in).Decode(&c); err != nil {
		return fmt.Errorf("udp: client: %w", err)
	}
	report, err := runClient(&c)
	if err != nil {
		report.Error = err.Error()
	}
	return json.NewEncoder(out).Encode(report)
}

func runClient(c *Setup) (r Report, err error) {
	if err := loopback(c.Server.Addr); err != nil {
		return r, err
	}
	conn, err := net.DialUDP("udp4", nil, net.UDPAddrFromAddrPort(c.Server.Addr))
	if err != nil {
		return r, fmt.Errorf("udp: client: %w", err)
	}
	defer conn.Close()
	if _, err := setBuffers(conn); err != nil {
		return r, fmt.Errorf("udp: client: %w", err)
	}
	s, err := newSenders(c)
	if err != nil {
		return r, err
	}
	f, err := newFlow(c, "client", "server")
	if err != nil {
		return r, err
	}
	k := &client{Setup: c, conn: conn, writer: newWriter(conn, c.GSO), senders: s, flow: f, window: uint64(c.Server.Window)}
	group := min(helloGroup, c.Server.Window)
	k.picked, k.batch = make([]uint32, max(c.Batch, group)), make([]packet.Packet, max(c.Batch, group))
	begin := time.Now()
	if err := k.ask(flowAsk); err != nil { // so that the server knows where the client is
		return r, err
	}
	for first := 0; first < c.Peers; first += group {
		if err := k.openSessions(uint32(first), uint32(min(first+group, c.Peers))); err != nil {
			return r, err
		}
	}
	if err := k.ask(flowStart); err != nil {
		return r, err
	}
	if k.arrived != k.written {
		return r, fmt.Errorf("udp: client: %d of %d packets with which sessions open were lost", k.written-k.arrived, k.written)
	}
	r.Hellos = time.Since(begin)
	runtime.GC() // what was before is not measured
	err = k.measure(&r)
	r.GSO = k.writer.gso
	return r, err
}

// openSessions says hello for some peers, and sends the packets that open the sessions.
func (c *client) openSessions(first, end uint32) error {
	hellos := make([][]byte, end-first)
	for i := range hellos {
		var secret peerSecret
		c.Master.peer(first+uint32(i), &secret)
		hello, err := c.senders.hello(first+uint32(i), secret.config(tagSize(c.MAC)))
		clear(secret[:])
		if err != nil {
			return err
		}
		if hello != nil {
			hellos[i] = append(putMark(nil, markHello, first+uint32(i)), hello...)
		}
	}
	if err := c.hellos(first, hellos); err != nil {
		return err
	}
	c.out = c.out[:0]
	for i := range hellos {
		message := make([]byte, max(c.Size-packet.OpeningSize, markedSize), maxSize+maxOverhead)
		putMark(message[:0], markOpen, first+uint32(i))
		p, err := c.senders.first(first+uint32(i), message)
		if err != nil {
			return err
		}
		c.out = append(c.out, p)
	}
	return c.write(c.out)
}

// hellos sends hellos until all have an answer.
func (c *client) hellos(first uint32, hellos [][]byte) error {
	for try := 0; ; try++ {
		c.out = c.out[:0]
		for _, h := range hellos {
			if h != nil {
				c.out = append(c.out, h)
			}
		}
		missing := len(c.out)
		if missing == 0 {
			return nil
		}
		if try == tries {
			return fmt.Errorf("udp: client: %d hellos from %d on have no answer", missing, first)
		}
		if err := c.writer.send(c.out); err != nil {
			return err
		}
		for missing > 0 {
			answer, err := c.read()
			if timedOut(err) {
				break
			}
			if err != nil {
				return err
			}
			if len(answer) != helloSize || mark(answer) != markAnswer {
				c.take(answer) // a flow message
				continue
			}
			i := int64(binary.BigEndian.Uint32(answer[4:])) - int64(first)
			if i < 0 || i >= int64(len(hellos)) || hellos[i] == nil {
				continue
			}
			if c.senders.answer(first+uint32(i), answer[markedSize:]) {
				hellos[i] = nil
				missing--
			}
		}
	}
}

// measure sends the packets.
func (c *client) measure(r *Report) error {
	overhead := c.senders.overhead()
	network := newFaulty(c.Faults, c.Peers, c.senders.number())
	random := rand.New(rand.NewPCG(c.Seed, 2))
	// Packets are sealed side by side, so that the kernel can take them as one.
	each := c.Size + overhead
	room := make([]byte, c.Batch*each)
	before := c.written
	start := startClock()
	for r.Packets < uint64(c.Packets) && time.Since(start.wall) < maxTime {
		n := int(min(uint64(c.Batch), uint64(c.Packets)-r.Packets))
		for i := range n {
			peer := uint32(random.IntN(c.Peers))
			message := room[i*each : i*each+c.Size : (i+1)*each]
			binary.BigEndian.PutUint32(message, peer)
			c.picked[i], c.batch[i].Bytes = peer, message
		}
		if err := c.senders.seal(c.picked[:n], c.batch[:n]); err != nil {
			return err
		}
		for i := range n { // where they are, without an end of their room: join sees from it that they are side by side
			c.batch[i].Bytes = room[i*each : (i+1)*each]
		}
		if err := c.write(network.send(c.picked[:n], c.batch[:n])); err != nil {
			return err
		}
		r.Packets += uint64(n)
	}
	for out := network.flush(); len(out) > 0; out = network.flush() {
		if err := c.write(out); err != nil {
			return err
		}
	}
	err := c.ask(flowEnd)
	r.CPU, r.Wall = start.stop()
	r.Written, r.Counts = c.written-before, network.expect.as(c.MAC)
	return err
}

// write writes datagrams as the server has room for them.
func (c *client) write(datagrams [][]byte) error {
	for len(datagrams) > 0 {
		under := c.written - c.arrived
		if under >= c.window {
			if err := c.waitForCount(); err != nil {
				return err
			}
			continue
		}
		n := min(len(datagrams), int(c.window-under))
		if err := c.writer.send(datagrams[:n]); err != nil {
			return err
		}
		c.written += uint64(n)
		datagrams = datagrams[n:]
	}
	return nil
}

// waitForCount reads one datagram. If there is none for too long, the kernel has dropped so
// many datagrams that the server has no reason to write.
func (c *client) waitForCount() error {
	b, err := c.read()
	if timedOut(err) {
		before := c.arrived
		if err := c.ask(flowAsk); err != nil {
			return err
		}
		if c.written-c.arrived >= c.window && c.arrived == before {
			return fmt.Errorf("udp: client: the kernel has lost %d of %d datagrams", c.written-c.arrived, c.written)
		}
		return nil
	}
	if err != nil {
		return err
	}
	c.take(b)
	return nil
}

// ask sends a flow message and waits for the answer.
func (c *client) ask(kind byte) error {
	for range tries {
		m, err := c.flow.seal(kind, c.written)
		if err != nil {
			return err
		}
		if _, err := c.conn.Write(m); err != nil {
			return fmt.Errorf("udp: client: %w", err)
		}
		for {
			b, err := c.read()
			if timedOut(err) {
				break
			}
			if err != nil {
				return err
			}
			if got, ok := c.take(b); ok && got == kind {
				return nil
			}
		}
	}
	return errors.New("udp: client: the server does not answer")
}

// read waits for a datagram. It is valid until the next call.
func (c *client) read() ([]byte, error) {
	if err := c.conn.SetReadDeadline(time.Now().Add(answerTime)); err != nil {
		return nil, fmt.Errorf("udp: client: %w", err)
	}
	n, err := c.conn.Read(c.buffer[:])
	if err != nil {
		return nil, fmt.Errorf("udp: client: %w", err)
	}
	return c.buffer[:n], nil
}

// take takes a datagram of the server, if it is a flow message.
func (c *client) take(datagram []byte) (kind byte, ok bool) {
	if mark(datagram) != markFlow {
		return 0, false
	}
	kind, arrived, ok := c.flow.open(datagram)
	if ok {
		// The server counts what others send it too, and there is no more room for that.
		c.arrived = min(max(c.arrived, arrived), c.written)
	}
	return kind, ok
}
