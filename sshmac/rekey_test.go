// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sshmac

import (
	"hash"
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"example.com/fastmac/internal/mactest"
	"example.com/fastmac/internal/umacref"
	"golang.org/x/crypto/ssh"
)

// TestRekey renews the keys of one connection many times while data moves both ways,
// and changes to another UMAC each time. With one key of four, one end uses the
// reference instead: two ends with the same code could make the same mistake, such as
// not starting afresh with a key or a packet.
func TestRekey(t *testing.T) {
	registered(t)
	rekeys := 500
	switch {
	case testing.Short():
		rekeys = 200
	case mactest.Long():
		rekeys = 10_000
	}
	names := []string{UMAC64, UMAC64ETM, UMAC128, UMAC128ETM}

	// The number of hashes made for each name: four in a key exchange, one for each
	// direction at each end.
	made := make(map[string]*int)
	for _, name := range names {
		count, once := new(int), make(map[string]bool) // once: keys that only one end has so far
		made[name] = count
		hook(t, name, func(key []byte, h hash.Hash) hash.Hash {
			*count++
			switch {
			case key[0]%4 != 0:
			case once[string(key)]:
				delete(once, string(key))
				return &reference{key: key, size: h.Size()}
			default:
				once[string(key)] = true
			}
			return h
		})
	}

	// In a bubble, a connection that hangs is a deadlock, and found at once.
	synctest.Test(t, func(t *testing.T) {
		config := only(names...)
		config.RekeyThreshold = 1 // x/crypto raises it to 256 bytes, its minimum

		// x/crypto has no way to change the MACs of a connection. It reads its
		// private copy of the configuration in each key exchange, in the goroutine
		// that calls HostKeyCallback, so that is changed here.
		var exchanges atomic.Int64
		var live atomic.Pointer[ssh.Config]
		clientConfig := clientConfig(config)
		clientConfig.HostKeyCallback = func(string, net.Addr, ssh.PublicKey) error {
			n := exchanges.Add(1)
			if c := live.Load(); c != nil {
				c.MACs = []string{names[n%int64(len(names))]}
			}
			return nil
		}
		client, server := connectMem(t, clientConfig)
		live.Store(*private[*ssh.Config](t, client.conn, "transport", "config"))

		var heap [2]uint64
		for half := range heap {
			goal := int64(rekeys * (half + 1) / len(heap))
			for id := uint64(0); exchanges.Load() <= goal; id += 2 {
				if id > uint64(4*rekeys) { // one to three rekeys happen in each turn
					t.Fatalf("only %d key exchanges", exchanges.Load())
				}
				if err := both(client, server, id, 8<<10); err != nil {
					t.Fatalf("after %d key exchanges: %v", exchanges.Load(), err)
				}
			}
			synctest.Wait() // until no key exchange is in progress
			heap[half] = heapInUse()
		}
		checkHeap(t, heap, rekeys/2)
	})
	for name, n := range made {
		// All except those of the first exchanges and of the last.
		if *n < rekeys-4 {
			t.Errorf("%s had %d of %d key exchanges", name, *n/4, rekeys)
		}
	}
}

// reference is UMAC for an SSH transport, as RFC 4418 and OpenSSH have it.
type reference struct {
	key    []byte
	size   int
	packet []byte // the sequence number before it
}

func (r *reference) Write(p []byte) (int, error) {
	r.packet = append(r.packet, p...)
	return len(p), nil
}

func (r *reference) Sum(b []byte) []byte {
	nonce := append(make([]byte, 4), r.packet[:4]...)
	return append(b, umacref.UMAC(r.key, r.packet[4:], nonce, r.size)...)
}

func (r *reference) Reset()         { r.packet = r.packet[:0] }
func (r *reference) Size() int      { return r.size }
func (r *reference) BlockSize() int { return 1024 }
