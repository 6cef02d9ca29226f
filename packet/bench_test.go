// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package packet

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"example.com/fastmac"
	"example.com/fastmac/internal/mactest"
	"example.com/fastmac/packet/internal/packetref"
)

var benchSizes = []int{64, 1200}

// BenchmarkPacket seals a packet and opens it.
func BenchmarkPacket(b *testing.B) {
	for _, a := range algorithms() {
		for _, size := range benchSizes {
			b.Run(fmt.Sprintf("mac=%s/size=%d", name(a), size), func(b *testing.B) {
				c := config()
				c.TagSize = a.TagSize()
				buffer := make([]byte, size, size+24)
				// Through an interface the calls would take longer.
				if a == packetref.GMAC {
					s, r := mactest.Must(NewGMACSender(c, SecretIsNew())), mactest.Must(NewGMACReceiver(c, SecretIsNew()))
					for b.Loop() {
						p, _ := s.Seal(buffer, nil)
						if _, _, err := r.Open(p, nil); err != nil {
							b.Fatal(err)
						}
					}
					return
				}
				s, r := mactest.Must(NewUMACSender(c, SecretIsNew())), mactest.Must(NewUMACReceiver(c, SecretIsNew()))
				for b.Loop() {
					p, _ := s.Seal(buffer, nil)
					if _, _, err := r.Open(p, nil); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkCores seals packets of 64 bytes on all cores at once, with one sender for all, and with one for each
// goroutine.
func BenchmarkCores(b *testing.B) {
	for _, senders := range []string{"one", "each"} {
		b.Run("senders="+senders, func(b *testing.B) {
			c := config()
			c.TagSize = 16
			one := mactest.Must(NewUMACSender(c, SecretIsNew()))
			b.RunParallel(func(pb *testing.PB) {
				s, buffer := one, make([]byte, 64, 128)
				if senders == "each" {
					s = mactest.Must(NewUMACSender(c, SecretIsNew()))
				}
				for pb.Next() {
					s.Seal(buffer, nil)
				}
			})
		})
	}
}

// byHand is what a program without this package has: a counter, a mutex and a ReplayWindow.
type byHand struct {
	counter atomic.Uint64
	mu      sync.Mutex
	replay  *fastmac.ReplayWindow
}

// BenchmarkByHand does the same without this package.
func BenchmarkByHand(b *testing.B) {
	for _, a := range algorithms() {
		for _, size := range benchSizes {
			b.Run(fmt.Sprintf("mac=%s/size=%d", name(a), size), func(b *testing.B) {
				h := byHand{replay: fastmac.NewReplayWindow(961)}
				buffer := make([]byte, size, size+24)
				key := make([]byte, 16)
				if a == packetref.GMAC {
					k := mactest.Must(fastmac.NewGMACKey(key))
					for b.Loop() {
						var nonce [12]byte
						binary.BigEndian.PutUint64(nonce[4:], h.counter.Add(1))
						p := append(buffer, nonce[4:]...)
						p = k.Tag(p, nonce[:], buffer)
						n := len(p) - 24
						copy(nonce[4:], p[n:])
						if !k.Verify(p[n+8:], nonce[:], p[:n]) {
							b.Fatal("wrong")
						}
						h.mu.Lock()
						ok := h.replay.Accept(binary.BigEndian.Uint64(p[n:]))
						h.mu.Unlock()
						if !ok {
							b.Fatal("wrong")
						}
					}
					return
				}
				k := mactest.Must(fastmac.NewUMACKey(key, a.TagSize()))
				for b.Loop() {
					var nonce [8]byte
					binary.BigEndian.PutUint64(nonce[:], h.counter.Add(1))
					p := append(buffer, nonce[:]...)
					p = k.Tag(p, nonce[:], buffer)
					n := len(p) - 8 - a.TagSize()
					if !k.Verify(p[n+8:], p[n:n+8], p[:n]) {
						b.Fatal("wrong")
					}
					h.mu.Lock()
					ok := h.replay.Accept(binary.BigEndian.Uint64(p[n:]))
					h.mu.Unlock()
					if !ok {
						b.Fatal("wrong")
					}
				}
			})
		}
	}
}

// BenchmarkBatch seals and opens 64 packets at once. The time is that of one.
func BenchmarkBatch(b *testing.B) {
	for _, a := range algorithms() {
		for _, size := range benchSizes {
			b.Run(fmt.Sprintf("mac=%s/size=%d", name(a), size), func(b *testing.B) {
				s, r := newSender(a, config(), SecretIsNew()), newReceiver(a, config(), SecretIsNew())
				batch := make([]Packet, 64)
				for i := range batch {
					batch[i].Bytes = make([]byte, size, size+24)
				}
				for range b.N {
					if s.SealBatch(batch) != nil || r.OpenBatch(batch) != len(batch) {
						b.Fatal("wrong")
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(batch)), "ns/packet")
			})
		}
	}
}

// BenchmarkMany seals and opens packets of 100,000 peers, in no order, 32 at a time. The time is that
// of one packet, sealed and opened.
func BenchmarkMany(b *testing.B) {
	const peers, n = 100_000, 32
	for _, a := range algorithms() {
		m := newMany(a, peers, func(i int) (Config, Counters) {
			c := config()
			c.Sender = fmt.Sprint(i)
			return c, SecretIsNew()
		})
		who := rand.New(rand.NewPCG(1, 2)).Perm(peers)
		first := 0 // so that the peers of a run are not those of the one before
		for _, size := range benchSizes {
			batch, buffers := make([]Packet, n), make([][]byte, n)
			for i := range buffers {
				buffers[i] = make([]byte, size, size+24)
			}
			bench := func(call string, f func(who []int) int) {
				b.Run(fmt.Sprintf("mac=%s/size=%d/call=%s", name(a), size, call), func(b *testing.B) {
					for b.Loop() {
						for i := range batch {
							batch[i] = Packet{Bytes: buffers[i]}
						}
						if first += n; first+n > peers {
							first = 0
						}
						if f(who[first:first+n]) != n {
							b.Fatal("wrong")
						}
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/packet")
				})
			}
			bench("single", func(who []int) (good int) {
				for i, at := range who {
					p, _ := m.senders[at].Seal(batch[i].Bytes, nil)
					if _, _, err := m.receivers[at].Open(p, nil); err == nil {
						good++
					}
				}
				return good
			})
			bench("batch", func(who []int) int {
				m.seal(who, batch)
				return m.open(who, batch)
			})
		}
	}
}

// BenchmarkInit sets up a sender.
func BenchmarkInit(b *testing.B) {
	c := config()
	c.TagSize = 16
	b.Run("mac=UMAC-128", func(b *testing.B) {
		var s UMACSender
		for b.Loop() {
			if err := s.Init(c, SecretIsNew()); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("mac=GMAC", func(b *testing.B) {
		var s GMACSender
		for b.Loop() {
			if err := s.Init(c, SecretIsNew()); err != nil {
				b.Skip(err)
			}
		}
	})
}
