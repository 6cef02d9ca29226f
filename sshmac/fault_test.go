// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sshmac

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"example.com/fastmac/internal/mactest"
)

// A fault is called for the packet that is damaged, with i = 0, and for all packets
// after it, with i = 1, 2 and so on. It returns what is sent instead of packet p, and
// whether the stream ends there.
type fault func(i int, p []byte) (wire []byte, end bool)

// edit returns the fault that changes the damaged packet in place.
func edit(change func(p []byte)) fault {
	return func(i int, p []byte) ([]byte, bool) {
		if i == 0 {
			change(p)
		}
		return p, false
	}
}

func flip(position, bit int) fault {
	return edit(func(p []byte) { p[position] ^= 1 << bit })
}

// setLength replaces the packet's length. Under a stream cipher that is possible
// without the key if the length is known.
func setLength(from, to uint32) fault {
	return edit(func(p []byte) {
		binary.BigEndian.PutUint32(p, binary.BigEndian.Uint32(p)^from^to)
	})
}

// cut ends the stream after n bytes of the packet.
func cut(n int) fault { return func(_ int, p []byte) ([]byte, bool) { return p[:n], true } }

func drop(i int, p []byte) ([]byte, bool) {
	if i == 0 {
		return nil, false
	}
	return p, false
}

func repeat(i int, p []byte) ([]byte, bool) {
	if i == 0 {
		p = append(p, p...)
	}
	return p, false
}

// swap returns the fault that sends the packet after the next one.
func swap() fault {
	var held []byte
	return func(i int, p []byte) ([]byte, bool) {
		switch i {
		case 0:
			held = p
			return nil, false
		case 1:
			return append(p, held...), false
		}
		return p, false
	}
}

// A damage is a fault to one packet of a connection.
type damage struct {
	name      string
	fault     fault
	packet    int      // counts from 0
	delivered int      // packets whose data the application must receive
	errs      []string // one of them ends the connection; nil: any error except the end of the stream
}

// maxLength is the largest length of a packet that x/crypto accepts.
const maxLength = 256 << 10

// Errors of x/crypto. It checks the length and the padding's length before it has
// the tag.
var (
	badMAC      = []string{"ssh: MAC failure"}
	badPadding  = []string{"ssh: MAC failure", "ssh: invalid packet length, packet too small"}
	tooSmall    = []string{"ssh: invalid packet length, packet too small"}
	tooLarge    = []string{"ssh: invalid packet length, packet too large"}
	endOfStream = []string{io.EOF.Error()}
	endInPacket = []string{io.ErrUnexpectedEOF.Error()}
)

// packets describes the packets of one connection that carry data.
type packets struct {
	sizes   []int // of the data in each
	etm     bool
	tagSize int
}

// wireSize returns the size of packet k: length, padding length, type, channel, size
// of the data, data, padding to a multiple of 16 and at least 4, tag.
func (s packets) wireSize(k int) int {
	n := 4 + 1 + 9 + s.sizes[k] + 4
	if s.etm {
		n -= 4 // the clear length is not padded
	}
	n = (n + 15) &^ 15
	if s.etm {
		n += 4
	}
	return n + s.tagSize
}

// damages returns every kind of damage to packet k, which is not the last, each at a
// random position of its kind.
func (s packets) damages(rng *rand.Rand, k int) []damage {
	at := rng.IntN
	size := s.wireSize(k)
	tag := size - s.tagSize // where it begins
	length := uint32(tag - 4)
	var garbled []string // the key stream is out of step: without etm any error is possible
	if s.etm {
		garbled = badPadding
	}
	all := []damage{
		{"length", flip(at(4), at(8)), k, k, nil}, // the error depends on the bit
		{"padding length", flip(4, at(8)), k, k, badPadding},
		{"message", flip(5+at(9+s.sizes[k]), at(8)), k, k, badMAC},
		{"padding", flip(tag-4+at(4), at(8)), k, k, badMAC},
		{"tag", flip(tag+at(s.tagSize), at(8)), k, k, badMAC},
		{"first byte of the tag", flip(tag, at(8)), k, k, badMAC},
		{"last byte of the tag", flip(size-1, at(8)), k, k, badMAC},

		{"length 0", setLength(length, 0), k, k, tooSmall},
		{"length 1", setLength(length, 1), k, k, tooSmall},
		{"length beyond the limit", setLength(length, maxLength+1), k, k, tooLarge},
		{"length 2^31", setLength(length, 1<<31), k, k, tooLarge},
		{"length 2^32-1", setLength(length, 1<<32-1), k, k, tooLarge},
		{"length of a block less", setLength(length, length-16), k, k, badPadding},
		{"length of a block more", setLength(length, length+16), k, k, badPadding},

		{"cut in the length", cut(1 + at(4)), k, k, endInPacket},
		{"cut after the padding length", cut(5), k, k, endOfStream}, // x/crypto has read a whole prefix
		{"cut in the message", cut(6 + at(size-6)), k, k, endInPacket},
		{"cut before the last byte", cut(size - 1), k, k, endInPacket},

		{"dropped", drop, k, k, garbled},
		{"repeated", repeat, k, k + 1, garbled},
		{"swapped with the next", swap(), k, k, garbled},
	}
	for i := range all {
		all[i].name = fmt.Sprintf("packet %d of %d bytes: %s", k, s.sizes[k], all[i].name)
	}
	return all
}

// flips returns one damage for each byte of packet k: a bit of it is flipped.
func (s packets) flips(rng *rand.Rand, k int) []damage {
	var all []damage
	for position := range s.wireSize(k) {
		bit := rng.IntN(8)
		d := damage{fmt.Sprintf("packet %d of %d bytes: bit %d of byte %d", k, s.sizes[k], bit, position), flip(position, bit), k, k, badMAC}
		switch {
		case position < 4:
			d.errs = nil
		case position == 4:
			d.errs = badPadding
		}
		all = append(all, d)
	}
	return all
}

// TestDamage damages a connection after its handshake, in one direction: it must
// end with an error, and everything sent before must be delivered, and nothing else.
func TestDamage(t *testing.T) {
	registered(t)
	for i, mac := range MACs() {
		for _, fromServer := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/fromServer=%v", mac, fromServer), func(t *testing.T) {
				rng := rand.New(rand.NewPCG(uint64(i), 0))
				sizes := []int{1, 1 + rng.IntN(100)} // and up to three blocks of UMAC
				for range 6 {
					sizes = append(sizes, 1+rng.IntN(3000))
				}
				rng.Shuffle(len(sizes), func(i, j int) { sizes[i], sizes[j] = sizes[j], sizes[i] })
				mode := macModes[mac]
				s := packets{sizes, mode.etm, mode.new(make([]byte, mode.keySize)).Size()}

				all := []damage{{"no damage", flip(0, 0), len(sizes), len(sizes), endOfStream}}
				rounds := 2
				switch {
				case testing.Short():
					rounds = 1
				case mactest.Long():
					rounds = 8
					k := rng.IntN(len(sizes) - 1)
					for k < len(sizes)-2 && sizes[k] > 200 {
						k++
					}
					all = append(all, s.flips(rng, k)...)
				}
				for range rounds {
					all = append(all, s.damages(rng, rng.IntN(len(sizes)-1))...)
				}
				for _, d := range all {
					synctest.Test(t, func(t *testing.T) { d.test(t, mac, fromServer, s) })
				}
			})
		}
	}
}

func (d damage) test(t *testing.T, mac string, fromServer bool, s packets) {
	sender, receiver := connectMem(t, clientConfig(only(mac)))
	if fromServer {
		sender, receiver = receiver, sender
	}
	stream := sender.raw.(*memConn).out
	synctest.Wait() // until no packet of the handshake is in flight

	packet := -1
	stream.fault = func(p []byte) ([]byte, bool) {
		packet++
		if packet < d.packet {
			return p, false
		}
		if packet < len(s.sizes) && len(p) != s.wireSize(packet) {
			t.Errorf("packet %d has %d bytes, want %d", packet, len(p), s.wireSize(packet))
		}
		return d.fault(packet-d.packet, bytes.Clone(p))
	}
	sent := make([]byte, 3000*len(s.sizes))
	content(0).Read(sent)
	var want []byte
	left := sent
	for i, size := range s.sizes {
		sender.channel.Write(left[:size]) // fails once the receiver has hung up
		left = left[size:]
		if i < d.delivered {
			want = sent[:len(sent)-len(left)]
		}
	}
	stream.Close()

	got, _ := io.ReadAll(receiver.channel) // io.EOF, whatever the reason
	err := receiver.conn.Wait()
	if !bytes.Equal(got, want) {
		t.Errorf("%s: %d bytes delivered, want the %d of %d packets; a prefix of what was sent: %v",
			d.name, len(got), len(want), d.delivered, bytes.HasPrefix(sent, got))
	}
	if d.errs == nil && err == io.EOF || d.errs != nil && !slices.Contains(d.errs, err.Error()) {
		t.Errorf("%s: the connection ends with %q, want one of %q", d.name, err, d.errs)
	}
}

// TestAbandoned ends connections before, within and after each packet, from the
// versions to the transfer of data. The stream ends there, or the rest does not
// arrive and both ends give up. They must leave no goroutine, with which a bubble
// could not end, and no memory.
func TestAbandoned(t *testing.T) {
	registered(t)
	rounds := 3
	switch {
	case testing.Short():
		rounds = 1
	case mactest.Long():
		rounds = 10
	}
	connections := 0
	var heap [2]uint64
	for half := range heap {
		for range rounds {
			for variant := range 2 * 2 * 3 {
				packet := 0
				for reached := true; reached; packet++ {
					a := abandonment{
						mac:      MACs()[connections%len(MACs())],
						byServer: variant&1 != 0,
						silent:   variant&2 != 0,
						packet:   packet,
						part:     float64(variant>>2) / 2,
					}
					synctest.Test(t, func(t *testing.T) { reached = a.test(t) })
					connections++
				}
				// Version, start and end of the key exchange, its new keys,
				// service, authentication, channel, data.
				if packet < 10 {
					t.Fatalf("only %d packets", packet)
				}
			}
		}
		heap[half] = heapInUse()
	}
	checkHeap(t, heap, connections/2)
}

type abandonment struct {
	mac      string
	byServer bool
	silent   bool    // nothing more comes, rather than an end of the stream
	packet   int     // this many packets are still sent
	part     float64 // and this share of the next
}

// test reports whether the connection had that many packets. If not, it must have
// worked.
func (a abandonment) test(t *testing.T) (reached bool) {
	client, server := newMemConns()
	stream := client.out
	if a.byServer {
		stream = server.out
	}
	packet := -1
	stream.fault = func(p []byte) ([]byte, bool) {
		packet++
		switch {
		case packet < a.packet:
			return p, false
		case packet == a.packet:
			return p[:int(a.part*float64(len(p)))], !a.silent
		}
		return nil, !a.silent
	}
	config := only(a.mac)
	var ends sync.WaitGroup
	var clientErr, serverErr error
	ends.Go(func() {
		e, err := dial(client, clientConfig(config), nil)
		if err == nil {
			if err = e.exchange(0, 1, 4000); err == nil {
				e.conn.Wait()
			}
		}
		clientErr = err
	})
	ends.Go(func() {
		e, _, err := serve(server, config)
		if err == nil {
			if err = e.exchange(1, 0, 4000); err == nil {
				_, err = e.channel.SendRequest("done", true, nil)
			}
			e.conn.Close()
		}
		serverErr = err
	})
	if a.silent {
		synctest.Wait() // until both wait for the other, or are done
		client.Close()
		server.Close()
	}
	ends.Wait()
	synctest.Wait() // until x/crypto sends nothing more either
	if packet >= a.packet {
		return true
	}
	if clientErr != nil || serverErr != nil {
		t.Errorf("%+v: %v, %v", a, clientErr, serverErr)
	}
	return false
}
