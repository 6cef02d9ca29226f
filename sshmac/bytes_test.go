// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sshmac

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"sync"
	"testing"
	"testing/synctest"

	"example.com/fastmac/internal/mactest"
)

// byteFaults are done to byte i of packet p. They return what a [fault] returns.
var byteFaults = []struct {
	name   string
	change func(p []byte, i int) (wire []byte, end bool)
}{
	{"altered", func(p []byte, i int) ([]byte, bool) {
		p[i] ^= 1 << (i % 8)
		return p, false
	}},
	{"lost", func(p []byte, i int) ([]byte, bool) { return append(p[:i], p[i+1:]...), false }},
	{"repeated", func(p []byte, i int) ([]byte, bool) { return append(p[:i+1], p[i:]...), false }},
	{"exchanged with the next", func(p []byte, i int) ([]byte, bool) {
		next := (i + 1) % len(p) // after the last byte the first
		p[i], p[next] = p[next], p[i]
		return p, false
	}},
	{"cut off with all that follow", func(p []byte, i int) ([]byte, bool) { return p[:i], true }},
}

// transferSizes are those of the packets that each end sends: all in the buffer of
// packetUMAC, and beyond it.
var transferSizes = []int{1, 100, 600}

// A byteDamage is a fault to one byte of one direction of a connection: of its handshake or
// of the data after it.
type byteDamage struct {
	mac        string
	fromServer bool
	fault      int // of byteFaults, none if negative
	at         int
}

// run connects, sends data in both directions and ends both. It returns the number of bytes
// in the damaged direction, whether the damage has changed nothing that counts, and whether
// it has changed nothing at all, as when equal bytes are exchanged.
func (d byteDamage) run(t *testing.T) (n int, harmless, same bool) {
	clientRaw, serverRaw := newMemConns()
	var sent, arrived []byte
	stream := clientRaw.out
	if d.fromServer {
		stream = serverRaw.out
	}
	stream.fault = func(p []byte) (wire []byte, end bool) {
		i := d.at - len(sent)
		sent = append(sent, p...)
		wire = p
		if d.fault >= 0 && 0 <= i && i < len(p) {
			wire, end = byteFaults[d.fault].change(bytes.Clone(p), i)
		}
		arrived = append(arrived, wire...)
		return wire, end
	}

	var data [2][]byte
	for id := range data {
		for _, size := range transferSizes {
			data[id] = append(data[id], make([]byte, size)...)
		}
		content(uint64(id)).Read(data[id])
	}
	// transfer returns whether everything was received and then the end of the stream.
	transfer := func(e end, out, in []byte, ended <-chan bool) bool {
		for _, size := range transferSizes {
			e.channel.Write(bytes.Clone(out[:size]))
			out = out[size:]
		}
		<-ended
		got, _ := io.ReadAll(e.channel)
		if !bytes.HasPrefix(in, got) {
			t.Errorf("%+v: the %d bytes delivered are not what was sent", d, len(got))
		}
		err := e.conn.Wait()
		if err == nil {
			t.Errorf("%+v: a connection ends without an error", d)
		}
		return err == io.EOF && len(got) == len(in)
	}
	var complete [2]bool
	var ends sync.WaitGroup
	ended := make(chan bool)
	config := only(d.mac)
	ends.Go(func() {
		if e, err := dial(clientRaw, clientConfig(config), nil); err == nil {
			complete[0] = transfer(e, data[0], data[1], ended)
		}
	})
	ends.Go(func() {
		if e, _, err := serve(serverRaw, config); err == nil {
			complete[1] = transfer(e, data[1], data[0], ended)
		}
	})
	synctest.Wait() // until all is sent, or both wait for the other
	clientRaw.Close()
	close(ended)
	ends.Wait()

	harmless = bytes.Equal(significant(sent), significant(arrived))
	if got := complete[0] && complete[1]; got != harmless {
		t.Errorf("%+v: the session is complete: %v, want %v", d, got, harmless)
	}
	return len(sent), harmless, bytes.Equal(sent, arrived)
}

// significant returns what counts in one direction of a connection: the version, the
// payloads of the three packets before the keys, and all bytes under them. Version and
// payloads are in the exchange hash that the server signs, or are what it is made of. That
// leaves the padding of three packets, and in their framing the end of the version's line,
// which may be CR LF or LF, and what follows the type of NEWKEYS, which x/crypto ignores.
func significant(stream []byte) []byte {
	version, rest, ok := bytes.Cut(stream, []byte("\n"))
	if !ok {
		return stream
	}
	b := append(bytes.Clone(bytes.TrimSuffix(version, []byte("\r"))), '\n') // a copy: appending must not change stream
	for packet := range 3 {
		if len(rest) < 5 {
			break
		}
		length, padding := int(binary.BigEndian.Uint32(rest)), int(rest[4])
		if length > len(rest)-4 || length <= padding+1 {
			break
		}
		payload := rest[5 : 4+length-padding]
		if packet == 2 && payload[0] == 21 {
			payload = payload[:1]
		}
		b = binary.BigEndian.AppendUint32(b, uint32(len(payload)))
		b = append(b, payload...)
		rest = rest[4+length:]
	}
	return append(b, rest...)
}

// TestEveryByte damages connections at every byte, from the versions to the transfer of
// data: the application must receive a prefix of what was sent. Nobody must notice a change
// of what is not authenticated, and every other change must end the connection.
func TestEveryByte(t *testing.T) {
	registered(t)
	step := 29 // a prime, so that all kinds of fault meet all parts of packets
	switch {
	case testing.Short():
		step = 151
	case mactest.Long():
		step = 1
	}
	var modes []string
	for _, m := range allModes() {
		modes = append(modes, m.Name)
	}
	for _, fromServer := range []bool{false, true} {
		t.Run(fmt.Sprintf("fromServer=%v", fromServer), func(t *testing.T) {
			sizes, longest := make([]int, len(modes)), 0
			for i, mac := range modes {
				synctest.Test(t, func(t *testing.T) { sizes[i], _, _ = byteDamage{mac, fromServer, -1, 0}.run(t) })
				longest = max(longest, sizes[i])
			}
			runs, unauthenticated, none := 0, 0, 0
			for f := range byteFaults {
				for at := f * step / len(byteFaults); at < longest; at += step {
					i := (at/step + f) % len(modes) // they take turns
					if at >= sizes[i] {
						continue
					}
					synctest.Test(t, func(t *testing.T) {
						switch _, harmless, same := (byteDamage{modes[i], fromServer, f, at}).run(t); {
						case same:
							none++
						case harmless:
							unauthenticated++
						}
					})
					runs++
				}
			}
			t.Logf("%d bytes: %d faults, of which %d changed what is not authenticated, and %d exchanged equal bytes", longest, runs, unauthenticated, none)
		})
	}
}
