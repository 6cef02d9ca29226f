// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"bufio"
	"crypto"
	"crypto/sha512"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"example.com/fastmac"
)

// A frame has a fixed size: the version, the device, the counter and the value, all
// big-endian, and the tag of these 17 bytes. sensor.ino has the same layout.
const (
	version     = 1
	messageSize = 1 + 4 + 8 + 4
	frameSize   = messageSize + sha512.Size
)

// A reading is what a device reports. Its counter is higher than in all readings of the
// device before.
type reading struct {
	device  uint32
	counter uint64
	value   int32
}

// A device is a sender of readings.
type device struct {
	key *fastmac.HMACKey
	// counters has one bit, so it accepts only counters above all that it has accepted
	// before: readings that arrive late are refused, not only those that arrive twice.
	counters *fastmac.ReplayWindow
}

// newDevice returns a device whose readings are refused up to the counter last.
func newDevice(key []byte, last uint64) (*device, error) {
	k, err := fastmac.NewHMACKey(crypto.SHA512, key)
	if err != nil {
		return nil, err
	}
	counters := fastmac.NewReplayWindow(1)
	counters.Accept(last)
	return &device{k, counters}, nil
}

// open returns the reading in a frame, or the reason why it is refused. It accepts a
// frame once.
func open(devices map[uint32]*device, frame []byte) (reading, error) {
	if len(frame) != frameSize {
		return reading{}, fmt.Errorf("frame of %d bytes: want %d", len(frame), frameSize)
	}
	msg, tag := frame[:messageSize], frame[messageSize:]
	if msg[0] != version {
		return reading{}, fmt.Errorf("version %d: want %d", msg[0], version)
	}
	r := reading{
		device:  binary.BigEndian.Uint32(msg[1:]),
		counter: binary.BigEndian.Uint64(msg[5:]),
		value:   int32(binary.BigEndian.Uint32(msg[13:])),
	}
	d, ok := devices[r.device]
	if !ok {
		return reading{}, fmt.Errorf("device %d: no key for it", r.device)
	}
	if !d.key.Verify(tag, msg) {
		return reading{}, fmt.Errorf("device %d: wrong tag", r.device)
	}
	// Only now: a forged counter must not move the window.
	if !d.counters.Accept(r.counter) {
		return reading{}, fmt.Errorf("device %d: counter %d: not above that of the last reading", r.device, r.counter)
	}
	return r, nil
}

// receive reads frames up to the end of port. It calls accept for each reading, and
// refuse for each frame that is none, with the reason. It returns the first error of port
// or accept.
func receive(port io.Reader, devices map[uint32]*device, accept func(reading) error, refuse func(error)) error {
	s := slip{r: bufio.NewReader(port)}
	for {
		frame, err := s.next()
		if err == io.EOF {
			return nil
		}
		var r reading
		if err == nil {
			r, err = open(devices, frame)
		} else if !errors.Is(err, errFraming) {
			return err
		}
		if err != nil {
			refuse(err)
		} else if err := accept(r); err != nil {
			return err
		}
	}
}

// The bytes of SLIP, RFC 1055.
const (
	slipEnd    = 0xc0
	slipEsc    = 0xdb
	slipEscEnd = 0xdc // after slipEsc: slipEnd
	slipEscEsc = 0xdd // after slipEsc: slipEsc
)

// errFraming is wrapped by the errors of a frame that cannot be read. The next one can.
var errFraming = errors.New("bad framing")

// A slip splits a stream into frames. After noise it finds the next frame at its first
// slipEnd.
type slip struct {
	r   *bufio.Reader
	buf [frameSize]byte
}

// next returns the next frame, which is valid until the following call, or an error that
// wraps errFraming, or io.EOF, or an error of the stream. Empty frames are left out: the
// devices send slipEnd before each frame too, to end what noise has begun.
func (s *slip) next() ([]byte, error) {
	var bad error // why this frame cannot be read
	n, escaped := 0, false
	for {
		c, err := s.r.ReadByte()
		if err == io.EOF && (n > 0 || escaped || bad != nil) {
			return nil, fmt.Errorf("%w: the stream ends within a frame", errFraming)
		} else if err != nil {
			return nil, err
		}
		if c == slipEnd {
			switch {
			case escaped:
				return nil, fmt.Errorf("%w: the frame ends within an escape", errFraming)
			case bad != nil:
				return nil, bad
			case n > 0:
				return s.buf[:n], nil
			}
			continue
		}
		if escaped {
			escaped = false
			switch c {
			case slipEscEnd:
				c = slipEnd
			case slipEscEsc:
				c = slipEsc
			default:
				bad = fmt.Errorf("%w: byte %#x after an escape", errFraming, c)
			}
		} else if c == slipEsc {
			escaped = true
			continue
		}
		if n == len(s.buf) {
			bad = fmt.Errorf("%w: frame of more than %d bytes", errFraming, frameSize)
		}
		if bad == nil {
			s.buf[n] = c
			n++
		}
	}
}
