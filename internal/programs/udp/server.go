// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"runtime"
	"time"

	"example.com/fastmac/packet"
)

// server is one socket and the receivers of all peers. One goroutine does everything. Package
// packet allows more, as all its types are safe for concurrent use.
type server struct {
	all       uint32 // peers
	receivers receivers
	flow      *flow

	peers []uint32 // of the packets in batch
	batch []packet.Packet

	counts   counts
	received uint64 // datagrams that are neither hellos nor of the flow
	told     uint64 // of them, when the client was told last
	quarter  uint64 // of the client's window
	ready    []byte // an answer
	reported bool
	start    clock
	report   Report
	done     func(Report)
}

// Report is what one side says of its measured part.
type Report struct {
	Packets uint64 // sealed, or received
	Written uint64 // by the client
	Lost    uint64 // by the kernel
	Counts  counts // what arrived, or should
	CPU     time.Duration
	Wall    time.Duration
	Hellos  time.Duration // all of them, by the client
	GSO     bool          // it was not refused
	Error   string
}

func newServer(c *Setup, window int, done func(Report)) (*server, error) {
	receivers, err := newReceivers(c)
	if err != nil {
		return nil, err
	}
	flow, err := newFlow(c, "server", "client")
	if err != nil {
		return nil, err
	}
	return &server{
		all:       uint32(c.Peers),
		receivers: receivers,
		flow:      flow,
		quarter:   uint64(window+3) / 4,
		done:      done,
	}, nil
}

// take takes a datagram, which must stay as it is until flush, and returns an answer or nil. The
// answer is valid until the next call.
func (s *server) take(datagram []byte) (answer []byte) {
	switch mark(datagram) {
	case markHello:
		return s.answer(datagram)
	case markFlow:
		s.flush() // the client asks for what it wrote before
		return s.answerFlow(datagram)
	case markOpen:
		s.flush()
		s.received++
		s.counts.add(s.open(datagram))
	default:
		s.received++
		s.peers = append(s.peers, mark(datagram))
		s.batch = append(s.batch, packet.Packet{Bytes: datagram})
	}
	return nil
}

// flush opens the packets that take has collected.
func (s *server) flush() {
	s.receivers.open(s.peers, s.batch)
	for i := range s.batch {
		// A program that does more than count has its messages in s.batch[i].Bytes.
		s.counts.add(s.batch[i].Err)
	}
	s.peers, s.batch = s.peers[:0], s.batch[:0]
}

// answer returns the answer to a hello, or nil if the hello is not from a peer.
func (s *server) answer(datagram []byte) []byte {
	number, ok := s.number(datagram)
	if !ok {
		return nil
	}
	answer, err := s.receivers.answer(number, putMark(s.ready[:0], markAnswer, number), datagram[markedSize:])
	if err != nil {
		return nil
	}
	s.ready = answer
	return answer
}

// number returns the number behind a mark, if there is such a peer.
func (s *server) number(datagram []byte) (number uint32, ok bool) {
	if len(datagram) < markedSize {
		return 0, false
	}
	number = mark(datagram[4:])
	return number, number < s.all
}

// open opens a packet with an opening. It costs far more than another packet if its session opens. And the
// packets before it are opened first, so it breaks the batch.
func (s *server) open(datagram []byte) error {
	number, ok := s.number(datagram)
	if !ok {
		return packet.ErrUnknown
	}
	return s.receivers.first(number, datagram)
}

// count returns a message for the client if it is time for one, or nil.
func (s *server) count() ([]byte, error) {
	if s.received-s.told < s.quarter {
		return nil, nil
	}
	s.told = s.received
	return s.flow.seal(flowCount, s.received)
}

// answerFlow returns the answer to a flow message, or nil if it is not from the client.
func (s *server) answerFlow(datagram []byte) []byte {
	kind, value, ok := s.flow.open(datagram)
	if !ok {
		return nil
	}
	switch kind {
	case flowStart:
		runtime.GC() // what was before is not measured
		s.counts = counts{}
		s.report.Packets = s.received
		s.start = startClock()
	case flowEnd:
		if !s.reported { // the answer may get lost, and the client asks again
			s.reported = true
			r := &s.report
			r.CPU, r.Wall = s.start.stop()
			r.Counts = s.counts
			if value > s.received { // it can be below: somebody else may send something
				r.Lost = value - s.received
			}
			r.Packets = s.received - r.Packets
			s.done(*r)
		}
	}
	s.told = s.received
	answer, err := s.flow.seal(kind, s.received)
	if err != nil {
		return nil // only after 2^48 messages
	}
	return answer
}

// serve is the server's process. It takes a Setup from in, writes its Address and then its Report to
// out, and ends when in does.
func serve(in io.Reader, out io.Writer) error {
	var c Setup
	decoder := json.NewDecoder(in)
	if err := decoder.Decode(&c); err != nil {
		return fmt.Errorf("udp: server: %w", err)
	}
	conn, err := net.ListenUDP("udp4", net.UDPAddrFromAddrPort(netip.MustParseAddrPort("127.0.0.1:0")))
	if err != nil {
		return fmt.Errorf("udp: server: %w", err)
	}
	defer conn.Close()
	buffer, err := setBuffers(conn)
	if err != nil {
		return fmt.Errorf("udp: server: %w", err)
	}
	window := window(buffer, c.Size)
	encoder := json.NewEncoder(out)
	s, err := newServer(&c, window, func(r Report) { encoder.Encode(r) })
	if err != nil {
		return err
	}
	r, err := newReader(conn, c.GSO, c.Batch, maxSize+maxOverhead+1)
	if err != nil {
		return err
	}
	if err := encoder.Encode(Address{conn.LocalAddr().(*net.UDPAddr).AddrPort(), window}); err != nil {
		return fmt.Errorf("udp: server: %w", err)
	}
	go func() {
		io.Copy(io.Discard, in)
		conn.Close()
	}()
	if err := s.run(conn, r); !errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("udp: server: %w", err)
	}
	return nil
}

// run reads datagrams until the socket is closed.
func (s *server) run(conn *net.UDPConn, r *reader) error {
	var client net.Addr // where the last flow message with a right tag came from
	for {
		err := r.next(func(datagram []byte, from net.Addr) {
			answer := s.take(datagram)
			if len(answer) == 0 {
				return
			}
			if mark(answer) == markFlow {
				client = from
			}
			// If the system does not take it, it is lost as on a network: the client asks again.
			conn.WriteTo(answer, from)
		})
		if err != nil {
			return err
		}
		s.flush()
		if message, err := s.count(); err == nil && message != nil && client != nil {
			conn.WriteTo(message, client)
		}
	}
}

// clock measures a part of a process.
type clock struct {
	wall time.Time
	cpu  time.Duration
}

func startClock() clock {
	cpu, _ := cpuTime() // fails nowhere: main asks systemError first
	return clock{time.Now(), cpu}
}

func (c clock) stop() (cpu, wall time.Duration) {
	now, _ := cpuTime()
	return now - c.cpu, time.Since(c.wall)
}
