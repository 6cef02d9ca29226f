// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sshmac

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash"
	"io"
	"math"
	"slices"
	"testing"
	"testing/synctest"

	"example.com/fastmac/internal/umacref"
)

// Sequence numbers at which a sign or a width could go wrong: around 2^31, and around
// 2^32, after which they begin with 0 again. A UMAC key encrypts the pads of nonces to
// come, which must not be used after that.
var boundaries = []uint32{1 << 31, 0}

// TestSequenceNumbers compares tags around the boundaries with those of the reference.
func TestSequenceNumbers(t *testing.T) {
	message := make([]byte, 1100)
	content(0).Read(message)
	for _, m := range allModes() {
		key := make([]byte, m.KeySize)
		content(1).Read(key)
		h := m.New(key)
		for _, boundary := range boundaries {
			for i := range 40 {
				packet := binary.BigEndian.AppendUint32(nil, boundary-20+uint32(i))
				packet = append(packet, message[:[]int{16, 600, 1100}[i%3]]...) // two within a block, and one of two blocks
				h.Reset()
				h.Write(packet[:4])
				h.Write(packet[4:])
				if got, want := h.Sum(nil), referenceTag(m, key, packet); !bytes.Equal(got, want) {
					t.Errorf("%s: packet %d of %d bytes: tag %x, want %x", m.Name, boundary-20+uint32(i), len(packet)-4, got, want)
				}
			}
		}
	}
}

// referenceTag is the tag of a packet that begins with its sequence number, which is the
// nonce of UMAC, as in OpenSSH: 8 bytes, big-endian.
func referenceTag(m Mode, key, packet []byte) []byte {
	if h := standard(m, key); h != nil {
		h.Write(packet)
		return h.Sum(nil)
	}
	size := 8
	if m.Name == UMAC128 || m.Name == UMAC128ETM {
		size = 16
	}
	nonce := binary.BigEndian.AppendUint64(nil, uint64(binary.BigEndian.Uint32(packet)))
	return umacref.UMAC(key, packet[sequenceSize:], nonce, size)
}

// numbered records the sequence numbers that a transport writes.
type numbered struct {
	hash.Hash
	first   bool // Write after Reset
	numbers []uint32
}

func (n *numbered) Reset() {
	n.Hash.Reset()
	n.first = true
}

func (n *numbered) Write(p []byte) (int, error) {
	if n.first {
		n.numbers = append(n.numbers, binary.BigEndian.Uint32(p))
		n.first = false
	}
	return n.Hash.Write(p)
}

// TestSequenceWrap moves the sequence numbers of a live connection close to a boundary,
// and sends packets across it in both directions, then one of them again. One end of each
// direction has the reference instead of UMAC. That a number wraps happens where the peer
// has no strict key exchange, with which x/crypto counts from 0 after each.
//
// With OpenSSH as the peer this is not possible: its numbers are in another process.
func TestSequenceWrap(t *testing.T) {
	registered(t)
	const before, after = 3, 4 // packets on either side of the boundary
	for _, m := range allModes() {
		for _, boundary := range boundaries {
			for replayed := range before + after {
				for _, fromServer := range []bool{false, true} {
					name := fmt.Sprintf("%s/%d/packet=%d/fromServer=%v", m.Name, boundary, replayed, fromServer)
					t.Run(name, func(t *testing.T) { sequenceWrap(t, m, boundary-before, before+after, replayed, fromServer) })
				}
			}
		}
	}
}

// sequenceWrap sends n packets in each direction, the first under the number first, and then
// one of them again.
func sequenceWrap(t *testing.T, m Mode, first uint32, n, replayed int, fromServer bool) {
	made := make(map[string][]*numbered) // by key: those of both ends of a direction
	hook(t, m.Name, func(key []byte, h hash.Hash) hash.Hash {
		ends := made[string(key)]
		if m.KeySize == umacKeySize && len(ends) == 1 {
			h = &reference{key: key, size: h.Size()}
		}
		n := &numbered{Hash: h}
		made[string(key)] = append(ends, n)
		return n
	})
	synctest.Test(t, func(t *testing.T) {
		sender, receiver := connectMem(t, clientConfig(only(m.Name)))
		if fromServer {
			sender, receiver = receiver, sender
		}
		synctest.Wait() // until no packet of the handshake is in flight

		const size = 512
		sent := make([]byte, 2*(1+n)*size)
		content(0).Read(sent)
		back := sent[len(sent)/2:]
		sent = sent[:len(sent)/2]
		send := func(i int) {
			sender.channel.Write(bytes.Clone(sent[i*size:][:size]))
			synctest.Wait()
			receiver.channel.Write(bytes.Clone(back[i*size:][:size]))
			synctest.Wait()
		}
		// An end that waits for a packet has read its number already, and counts on from
		// what it finds after it.
		for _, e := range []end{sender, receiver} {
			*private[uint32](t, e.conn, "transport", "conn", "reader", "seqNum") = first - 1
		}
		send(0)
		for _, e := range []end{sender, receiver} {
			*private[uint32](t, e.conn, "transport", "conn", "writer", "seqNum") = first
		}
		var recorded [][]byte
		stream := sender.raw.(*memConn).out
		stream.fault = func(p []byte) ([]byte, bool) {
			recorded = append(recorded, bytes.Clone(p))
			return p, false
		}
		for i := range n {
			send(1 + i)
		}

		if len(recorded) != n {
			t.Fatalf("%d packets sent, want %d: the connection ends with %q", len(recorded), n, receiver.conn.Wait())
		}
		var want []uint32
		for i := range n {
			want = append(want, first+uint32(i))
		}
		for _, ends := range made {
			for _, h := range ends {
				if got := h.numbers[max(0, len(h.numbers)-n):]; len(ends) != 2 || !slices.Equal(got, want) {
					t.Errorf("a MAC, one of %d for its key, had the sequence numbers %d, want %d", len(ends), got, want)
				}
			}
		}
		stream.fault = nil
		stream.Write(recorded[replayed])
		stream.Write(make([]byte, 1<<19)) // so that a wrong length does not make the receiver wait
		synctest.Wait()
		stream.Close()
		receiver.raw.(*memConn).out.Close()
		for _, tt := range []struct {
			end
			want []byte
			errs []string
		}{
			{receiver, sent, slices.Concat(badPadding, tooLarge)},
			{sender, back, endOfStream},
		} {
			if got, _ := io.ReadAll(tt.channel); !bytes.Equal(got, tt.want) {
				t.Errorf("%d bytes delivered, want %d", len(got), len(tt.want))
			}
			if err := tt.conn.Wait(); !slices.Contains(tt.errs, err.Error()) {
				t.Errorf("the connection ends with %q, want one of %q", err, tt.errs)
			}
		}
	})
}

// TestRekeyBeforeWrap checks what keeps UMAC from using a nonce twice under one key:
// x/crypto renews the keys when an end has sent or received 2^31 packets under them.
func TestRekeyBeforeWrap(t *testing.T) {
	registered(t)
	for _, counter := range []string{"readPacketsLeft", "writePacketsLeft"} {
		made := 0
		hook(t, UMAC64ETM, func(_ []byte, h hash.Hash) hash.Hash {
			made++
			return h
		})
		synctest.Test(t, func(t *testing.T) {
			client, server := connectMem(t, clientConfig(only(UMAC64ETM)))
			synctest.Wait()
			left := private[uint32](t, client.conn, "transport", counter)
			if *left > 1<<31 || *left < math.MaxInt32-100 {
				t.Errorf("%s = %d, want about 2^31", counter, *left)
			}
			*left = 1
			for i := range 3 {
				if i < 2 && made != 4 {
					t.Errorf("%s: %d hashes made before packet %d, want the 4 of a key exchange", counter, made, i)
				}
				client.channel.Write([]byte{byte(i)})
				synctest.Wait()
				server.channel.Write([]byte{byte(i)})
				synctest.Wait()
			}
			if made != 8 {
				t.Errorf("%s: %d hashes made, want the 8 of two key exchanges", counter, made)
			}
		})
	}
}
