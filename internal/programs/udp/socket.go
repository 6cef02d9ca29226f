// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"syscall"

	"golang.org/x/net/ipv4"
)

const (
	bufferSize = 4 << 20 // of a socket, in bytes. The system may give less
	maxWindow  = 1024    // datagrams under way
	maxUDP     = 1<<16 - 1 - 20 - 8
	gsoMax     = 64 // segments
)

// loopback returns an error for every address that is not on this machine: nothing here is
// made for a network with others in it.
func loopback(a netip.AddrPort) error {
	if !a.Addr().Is4() || !a.Addr().IsLoopback() {
		return fmt.Errorf("udp: address %v: want one in 127.0.0.0/8", a)
	}
	return nil
}

// setBuffers makes the buffers of a socket large, and returns the size for receiving that the
// system says it has.
func setBuffers(c *net.UDPConn) (int, error) {
	for size := bufferSize; size >= 1<<16; size /= 2 { // some systems refuse what is too large
		if c.SetReadBuffer(size) == nil {
			break
		}
	}
	c.SetWriteBuffer(bufferSize / 4) // for more datagrams in a call; less is no fault
	size := 0
	err := control(c, func(fd int) (err error) {
		size, err = receiveBuffer(fd)
		return err
	})
	return size, err
}

// control calls f with the descriptor of a socket.
func control(c *net.UDPConn, f func(fd int) error) error {
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	var inner error
	if err := raw.Control(func(fd uintptr) { inner = f(int(fd)) }); err != nil {
		return err
	}
	return inner
}

// window returns how many datagrams of a size a receive buffer holds. The kernel counts what a
// datagram occupies: up to twice its size, and some 800 bytes more. It gives memory back late,
// so a fourth of the buffer is not counted on.
func window(buffer, size int) int {
	return max(1, min(maxWindow, buffer/4*3/(2*size+1312)))
}

// A writer writes datagrams in batches, with UDP_SEGMENT if gso is set: then one message is up to
// 64 datagrams of one size, which the kernel takes apart.
type writer struct {
	conn  *net.UDPConn
	batch *ipv4.PacketConn
	gso   bool
	write func([]ipv4.Message, int) (int, error) // batch.WriteBatch, except in tests

	// Of each message: itself, the number of its datagrams, room for a control message.
	msgs   []ipv4.Message
	counts []int
	oob    [][]byte
}

func newWriter(conn *net.UDPConn, gso bool) *writer {
	w := &writer{conn: conn, batch: ipv4.NewPacketConn(conn), gso: gso}
	w.write = w.batch.WriteBatch
	return w
}

// send writes all datagrams. If the network card or the kernel refuses UDP_SEGMENT, it
// goes on without.
func (w *writer) send(datagrams [][]byte) error {
	for len(datagrams) > 0 {
		n, err := w.write(w.prepare(datagrams), 0)
		if err != nil {
			if w.gso && (errors.Is(err, syscall.EIO) || errors.Is(err, syscall.EINVAL)) {
				w.gso = false
				continue
			}
			return fmt.Errorf("udp: %w", err)
		}
		if n < 1 {
			return errors.New("udp: WriteBatch wrote nothing")
		}
		for _, k := range w.counts[:n] {
			datagrams = datagrams[k:]
		}
	}
	return nil
}

// prepare makes messages of datagrams.
func (w *writer) prepare(datagrams [][]byte) []ipv4.Message {
	used := 0
	for len(datagrams) > 0 {
		if used == len(w.msgs) {
			w.msgs = append(w.msgs, ipv4.Message{})
			w.counts = append(w.counts, 0)
			w.oob = append(w.oob, nil)
		}
		m := &w.msgs[used]
		n := 1
		if w.gso {
			n = equal(datagrams)
		}
		m.Buffers, m.OOB, w.counts[used] = join(m.Buffers[:0], datagrams[:n]), nil, n
		if n > 1 { // a control message is of no use to one segment
			w.oob[used] = segmentSize(w.oob[used], len(datagrams[0]))
			m.OOB = w.oob[used]
		}
		datagrams = datagrams[n:]
		used++
	}
	return w.msgs[:used]
}

// equal returns how many datagrams, from the first on, have one size and fit into one message.
func equal(datagrams [][]byte) int {
	size := len(datagrams[0])
	limit := min(len(datagrams), gsoMax, max(1, maxUDP/size))
	n := 1
	for n < limit && len(datagrams[n]) == size {
		n++
	}
	return n
}

// join appends datagrams to buffers. Those that are side by side in memory, as they are where
// nothing was lost or late, become one buffer.
func join(buffers, datagrams [][]byte) [][]byte {
	for _, d := range datagrams {
		if k := len(buffers) - 1; k >= 0 && len(d) > 0 {
			last := buffers[k]
			if n := len(last); cap(last) > n && &last[:n+1][n] == &d[0] {
				buffers[k] = last[:n+len(d)]
				continue
			}
		}
		buffers = append(buffers, d)
	}
	return buffers
}

// A reader reads datagrams in batches, with UDP_GRO if gro is set.
type reader struct {
	batch *ipv4.PacketConn
	gro   bool
	msgs  []ipv4.Message
}

// newReader returns a reader for batches of datagrams of at most size bytes.
func newReader(conn *net.UDPConn, gro bool, batch, size int) (*reader, error) {
	r := &reader{batch: ipv4.NewPacketConn(conn), gro: gro}
	oob := 0
	if gro {
		// A message may have 64 datagrams, so a few are a batch.
		size, oob, batch = 1<<16, 64, max(1, batch/gsoMax)*2
		if err := control(conn, enableGRO); err != nil {
			return nil, fmt.Errorf("udp: UDP_GRO: %w", err)
		}
	}
	r.msgs = make([]ipv4.Message, batch)
	for i := range r.msgs {
		r.msgs[i].Buffers = [][]byte{make([]byte, size)}
		r.msgs[i].OOB = make([]byte, oob)
	}
	return r, nil
}

// next waits for datagrams and calls f with each.
func (r *reader) next(f func(datagram []byte, from net.Addr)) error {
	n, err := r.batch.ReadBatch(r.msgs, 0)
	if err != nil {
		return err
	}
	for i := range r.msgs[:n] {
		m := &r.msgs[i]
		b := m.Buffers[0][:m.N]
		size := len(b)
		if r.gro && m.NN > 0 {
			size = groSize(m.OOB[:m.NN], len(b))
		}
		for len(b) > size {
			f(b[:size:size], m.Addr)
			b = b[size:]
		}
		f(b, m.Addr) // also an empty one
	}
	return nil
}

// mark returns the first four bytes, and 0, the number of a peer, for what is shorter.
func mark(datagram []byte) uint32 {
	if len(datagram) < 4 {
		return 0
	}
	return binary.BigEndian.Uint32(datagram)
}

// timedOut reports whether a deadline of a socket has passed.
func timedOut(err error) bool { return errors.Is(err, os.ErrDeadlineExceeded) }
