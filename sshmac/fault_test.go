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
)

// damage is what happens to packets on their way.
type damage struct {
	name      string
	fault     func(i int, packet []byte) (wire []byte, end bool) // see memStream; i counts from 0
	delivered int                                                // packets whose data the application must have been given
	errs      []string                                           // one of them ends the connection; none: any but the end of the stream
}

// Errors of x/crypto. It looks at the length and at the padding's before it has
// the tag.
const (
	macFailure = "ssh: MAC failure"
	tooSmall   = "ssh: invalid packet length, packet too small"
	tooLarge   = "ssh: invalid packet length, packet too large"
)

// damages returns faults to packets of the given sizes of data, all of them to
// others than the last.
func damages(t *testing.T, rng *rand.Rand, sizes []int, etm bool, tagSize int) []damage {
	var all []damage
	// wireSize is the size of packet k: length, padding length, type, channel, size
	// of the data, data, padding to a multiple of 16 and at least 4, tag.
	wireSize := func(k int) int {
		n := 4 + 1 + 9 + sizes[k] + 4
		if etm {
			n -= 4 // the clear length is not padded
		}
		n = (n + 15) &^ 15
		if etm {
			n += 4
		}
		return n + tagSize
	}
	// change is a fault that replaces packet k.
	change := func(k, delivered int, errs []string, replace func(p []byte) ([]byte, bool), format string, args ...any) {
		all = append(all, damage{
			name: fmt.Sprintf("packet %d of %d bytes: ", k, sizes[k]) + fmt.Sprintf(format, args...),
			fault: func(i int, p []byte) ([]byte, bool) {
				if i != k {
					return p, false
				}
				if len(p) != wireSize(k) {
					t.Errorf("packet %d has %d bytes, want %d", k, len(p), wireSize(k))
				}
				return replace(bytes.Clone(p))
			},
			delivered: delivered,
			errs:      errs,
		})
	}
	flip := func(k, position int) {
		bit := rng.IntN(8)
		errs := []string{macFailure}
		switch {
		case position < 4:
			errs = nil // depends on the bit
		case position == 4:
			errs = append(errs, tooSmall)
		}
		change(k, k, errs, func(p []byte) ([]byte, bool) {
			p[position] ^= 1 << bit
			return p, false
		}, "bit %d of byte %d flipped", bit, position)
	}
	times := 2
	if !testing.Short() {
		times = 8
		k := rng.IntN(len(sizes) - 1)
		for k < len(sizes)-2 && sizes[k] > 200 {
			k++
		}
		for position := range wireSize(k) {
			flip(k, position)
		}
	}
	for range times {
		k := rng.IntN(len(sizes) - 1)
		n := wireSize(k)
		flip(k, rng.IntN(4))                      // length
		flip(k, 4)                                // padding length
		flip(k, 5+rng.IntN(9+sizes[k]))           // message
		flip(k, n-tagSize-4+rng.IntN(4))          // padding
		flip(k, n-tagSize+rng.IntN(tagSize))      // tag
		flip(k, n-[]int{tagSize, 1}[rng.IntN(2)]) // ends of the tag
		for _, length := range []uint32{0, 1, 1 << 31, 1<<32 - 1, 256<<10 + 1, uint32(n-4-tagSize) - 16, uint32(n-4-tagSize) + 16} {
			errs := []string{macFailure, tooSmall}
			switch {
			case length <= 1:
				errs = []string{tooSmall}
			case length > 256<<10: // x/crypto's limit
				errs = []string{tooLarge}
			}
			change(k, k, errs, func(p []byte) ([]byte, bool) {
				// Under a stream cipher too, who knows the length can replace it.
				have := uint32(len(p) - 4 - tagSize)
				binary.BigEndian.PutUint32(p, binary.BigEndian.Uint32(p)^have^length)
				return p, false
			}, "length %d", length)
		}
		for _, length := range []int{1 + rng.IntN(4), 5, 6 + rng.IntN(n-6), n - 1} {
			errs := []string{io.ErrUnexpectedEOF.Error()}
			if length == 5 {
				errs = []string{io.EOF.Error()} // where x/crypto has read a whole prefix
			}
			change(k, k, errs, func(p []byte) ([]byte, bool) { return p[:length], true }, "cut after %d bytes", length)
		}

		// The key stream is out of step: without etm there can be any error.
		var garbled []string
		if etm {
			garbled = []string{macFailure, tooSmall}
		}
		change(k, k, garbled, func(p []byte) ([]byte, bool) { return nil, false }, "dropped")
		change(k, k+1, garbled, func(p []byte) ([]byte, bool) { return append(p, p...), false }, "repeated")
		var held []byte
		all = append(all, damage{
			name: fmt.Sprintf("packets %d and %d swapped", k, k+1),
			fault: func(i int, p []byte) ([]byte, bool) {
				switch i {
				case k:
					held = bytes.Clone(p)
					return nil, false
				case k + 1:
					return append(bytes.Clone(p), held...), false
				}
				return p, false
			},
			delivered: k,
			errs:      garbled,
		})
	}
	return all
}

// TestDamage damages a connection after its handshake, in one direction: it must
// end with an error, and all that was sent before and nothing else be delivered.
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
				tagSize := mode.new(make([]byte, mode.keySize)).Size()
				whole := damage{
					name:      "no damage",
					fault:     func(i int, p []byte) ([]byte, bool) { return p, false },
					delivered: len(sizes),
					errs:      []string{io.EOF.Error()},
				}
				for _, d := range append(damages(t, rng, sizes, mode.etm, tagSize), whole) {
					synctest.Test(t, func(t *testing.T) { d.test(t, mac, fromServer, sizes) })
				}
			})
		}
	}
}

func (d damage) test(t *testing.T, mac string, fromServer bool, sizes []int) {
	sender, receiver := connectMem(t, clientConfig(only(mac)))
	if fromServer {
		sender, receiver = receiver, sender
	}
	stream := sender.raw.(*memConn).out
	synctest.Wait() // until nothing of the handshake is on its way

	packet := 0
	stream.fault = func(p []byte) ([]byte, bool) {
		packet++
		return d.fault(packet-1, p)
	}
	sent := make([]byte, 3000*len(sizes))
	content(0).Read(sent)
	var want []byte
	for i, left := 0, sent; i < len(sizes); i++ {
		sender.channel.Write(left[:sizes[i]]) // fails once the receiver has hung up
		left = left[sizes[i]:]
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
	if len(d.errs) == 0 && err == io.EOF || len(d.errs) > 0 && !slices.Contains(d.errs, err.Error()) {
		t.Errorf("%s: the connection ends with %q, want one of %q", d.name, err, d.errs)
	}
}

// TestAbandoned ends connections at each packet, from the versions to the transfer
// of data: before it, within it and behind it. The stream ends there, or both ends
// give up after the rest did not arrive. Nothing may be left of them: no goroutine,
// without which a bubble cannot end, and no memory.
func TestAbandoned(t *testing.T) {
	registered(t)
	rounds := 10
	if testing.Short() {
		rounds = 1
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
	packet   int     // what is still sent is this many packets
	part     float64 // and this much of the next
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
