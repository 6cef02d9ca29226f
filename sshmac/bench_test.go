// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sshmac

import (
	"encoding/binary"
	"fmt"
	"hash"
	"io"
	"runtime"
	"testing"

	"example.com/fastmac/internal/mactest"
)

// packetMAC returns a function that makes the calls of x/crypto's transport for one
// packet that it sends: its body has n bytes, padding included.
func packetMAC(h hash.Hash, n int) func() {
	const padding = 10
	var sequence uint32
	var number [4]byte
	prefix := []byte{0, 0, 1, 0, padding}
	body := make([]byte, n)
	tag := make([]byte, 0, h.Size())
	return func() {
		sequence++
		binary.BigEndian.PutUint32(number[:], sequence)
		h.Reset()
		h.Write(number[:])
		h.Write(prefix)
		h.Write(body[:n-padding])
		h.Write(body[n-padding:])
		tag = h.Sum(tag[:0])
	}
}

var packetSizes = []int{32, 256, 1500, 32768}

func BenchmarkPacket(b *testing.B) {
	for _, m := range allModes() {
		if !m.ETM {
			continue // the same code as with ETM
		}
		key := make([]byte, m.KeySize)
		for impl, h := range map[string]hash.Hash{"fastmac": m.New(key), "crypto.hmac": standard(m, key)} {
			if h == nil {
				continue
			}
			for _, size := range packetSizes {
				b.Run(fmt.Sprintf("mac=%s/impl=%s/size=%d", m.Name, impl, size), func(b *testing.B) {
					packet := packetMAC(h, size)
					b.SetBytes(int64(size))
					b.ReportAllocs()
					for b.Loop() {
						packet()
					}
				})
			}
		}
	}
}

// BenchmarkNew makes hashes, which have all that they need after two messages.
func BenchmarkNew(b *testing.B) {
	if err := Register(); err != nil {
		b.Skip(err)
	}
	for _, mac := range []string{UMAC64ETM, hmacSHA256ETM} {
		b.Run("mac="+mac, func(b *testing.B) {
			m := macModes[mac]
			key := make([]byte, m.keySize)
			tag := make([]byte, 0, 32)
			b.ReportAllocs()
			for b.Loop() {
				h := m.new(key)
				for range 2 {
					h.Reset()
					h.Write(key)
					tag = h.Sum(tag[:0])
				}
			}
		})
	}
}

// BenchmarkConnection opens a connection, sends ten packets and closes it. The time is that of
// both ends, also with -cpu 1. heap-MiB is what is allocated at the end, garbage included: with
// more connections it must not grow.
func BenchmarkConnection(b *testing.B) {
	if err := Register(); err != nil {
		b.Skip(err)
	}
	for _, mac := range []string{UMAC64ETM, hmacSHA256ETM} {
		b.Run("mac="+mac, func(b *testing.B) {
			config := only(mac)
			packet := make([]byte, 100)
			for b.Loop() {
				clientRaw, serverRaw := newMemConns()
				received := make(chan error, 1)
				go func() {
					server, _, err := serve(serverRaw, config)
					if err == nil {
						_, err = io.ReadFull(server.channel, make([]byte, 10*len(packet)))
						server.conn.Close()
					}
					received <- err
				}()
				client, err := dial(clientRaw, clientConfig(config), nil)
				if err != nil {
					b.Fatal(err)
				}
				for range 10 {
					client.channel.Write(packet)
				}
				if err := <-received; err != nil {
					b.Fatal(err)
				}
				client.conn.Close()
			}
			var stats runtime.MemStats
			runtime.ReadMemStats(&stats)
			b.ReportMetric(float64(stats.HeapAlloc)/(1<<20), "heap-MiB")
		})
	}
}

func TestPacketAllocs(t *testing.T) {
	mactest.SkipAllocations(t)
	for _, m := range allModes() {
		for _, size := range packetSizes {
			packet := packetMAC(m.New(make([]byte, m.KeySize)), size)
			if n := testing.AllocsPerRun(100, packet); n != 0 {
				t.Errorf("%s: %v allocations for a packet of %d bytes", m.Name, n, size)
			}
		}
	}
}
