// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package packet

import (
	"crypto"
	stdaes "crypto/aes"
	"crypto/hkdf"
	"crypto/sha512"
	"encoding/binary"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"example.com/fastmac"
	"example.com/fastmac/internal/aes"
	"example.com/fastmac/internal/kernel"
	"example.com/fastmac/internal/mactest"
	"example.com/fastmac/internal/umacref"
	"example.com/fastmac/packet/internal/packetref"
)

// scanEnv is the environment variable that is set in the scanned processes, to one of these.
const (
	scanEnv     = "FASTMAC_TEST_PACKET_SCANNED"
	scanInit    = "init"    // overwrites what Init has set up, without Destroy
	scanDestroy = "destroy" // seals and opens, and destroys
	scanControl = "control" // keeps all, and what Init computes on the way
)

// A scanInput has the Secret of each algorithm. It is sent xor scanMask.
type scanInput [3][32]byte

const (
	scanMask    = 0xa5
	scanPackets = 12 // of a batch
)

func (in *scanInput) mask() {
	for i := range mactest.Storage(in) {
		mactest.Storage(in)[i] ^= scanMask
	}
}

// config returns the configuration for an algorithm.
func (in *scanInput) config(a packetref.Algorithm) Config {
	c := config()
	c.Secret, c.Receiver, c.DataSize, c.Window = in[a-1][:], "server", 8*int(a%2), 2048
	c.TagSize = a.TagSize()
	return c
}

// scanCounters returns Counters of another kind for each algorithm.
func scanCounters(a packetref.Algorithm) Counters {
	switch a {
	case packetref.UMAC64:
		return NewSession(pattern(32))
	case packetref.UMAC128:
		return Stored(new(memory), new(memory))
	}
	return SecretIsNew()
}

// A scanPiece is a secret of a kind.
type scanPiece struct {
	kind  string
	bytes []byte
}

// heldSecrets are what a sender has for as long as it lives.
func heldSecrets(a packetref.Algorithm, s sender) []scanPiece {
	if a == packetref.GMAC {
		return []scanPiece{{"GMAC key", mactest.Field(s, "key.gcm")}}
	}
	return []scanPiece{
		{"L1 key", mactest.Field(s, "key.uhash.l1")},
		{"L2 key", mactest.Field(s, "key.uhash.l2")},
		{"L3 key", mactest.Field(s, "key.uhash.l3.k2")},
		{"pad key", mactest.Field(s, "key.pad.schedule")},
	}
}

// passingSecrets are what is computed on the way, and is not kept.
func passingSecrets(a packetref.Algorithm, c Config) []scanPiece {
	n := scanCounters(a)
	ref := refKeyOf(a, c, n)
	prk := mactest.Must(hkdf.Extract(sha512.New, c.Secret, n.session))
	okm := mactest.Must(hkdf.Expand(sha512.New, prk, string(ref.Info()), sha512.Size))
	states := mactest.Field(mactest.Must(fastmac.NewHMACKey(crypto.SHA512, prk)), "states")
	ofSecret := mactest.Field(mactest.Must(fastmac.NewHMACKey(crypto.SHA512, c.Secret)), "states")
	pad := func(key []byte, with byte) []byte {
		p := make([]byte, sha512.BlockSize)
		for i := range p {
			p[i] = with
		}
		for i := range key {
			p[i] ^= key[i]
		}
		return p
	}
	inner := func(key []byte, msg ...byte) []byte {
		sum := sha512.Sum512(append(pad(key, 0x36), msg...))
		return sum[:]
	}
	pieces := []scanPiece{
		{"Secret", c.Secret}, {"PRK", prk}, {"OKM", okm},
		{"PRK, padded", pad(prk, 0x36)}, {"PRK, padded", pad(prk, 0x5c)},
		{"chaining values of PRK", states[:sha512.Size]}, {"chaining values of PRK", states[sha512.Size:]},
		{"inner hashes", inner(n.session, c.Secret...)}, {"inner hashes", inner(prk, append(ref.Info(), 1)...)},
	}
	if a == packetref.UMAC128 { // which has Stores
		pieces = append(pieces,
			scanPiece{"Secret, padded", pad(c.Secret, 0x36)}, scanPiece{"Secret, padded", pad(c.Secret, 0x5c)},
			scanPiece{"chaining values of Secret", ofSecret[:sha512.Size]}, scanPiece{"chaining values of Secret", ofSecret[sha512.Size:]},
		)
	}
	block := mactest.Must(stdaes.NewCipher(okm[:keySize]))
	if a == packetref.GMAC {
		hashKey := make([]byte, 16)
		block.Encrypt(hashKey, hashKey)
		pieces = append(pieces, scanPiece{"GHASH key", hashKey})
	} else {
		var s aes.Schedule
		s.Expand(okm[:keySize])
		pieces = append(pieces, scanPiece{"KDF key", mactest.Storage(&s)})
	}
	for counter := range uint64(scanPackets - 1) { // the pad of the last message of a batch may remain
		number := binary.BigEndian.AppendUint64(nil, uint64(c.Epoch)<<56|counter)
		if nonce := ref.Nonce(number); a == packetref.GMAC {
			mask := append(nonce, 0, 0, 0, 1)
			block.Encrypt(mask, mask)
			pieces = append(pieces, scanPiece{"tag masks", mask})
		} else {
			pieces = append(pieces, scanPiece{"pads", umacref.PDF(okm[:keySize], nonce, 16)})
		}
	}
	return pieces
}

// TestScan looks in the memory of processes. When Init has returned no secret may be there but in
// what it has set up, and none at all after Destroy. In a process that destroys nothing, and keeps
// what Init computes on the way, all are found.
func TestScan(t *testing.T) {
	switch {
	case fipsMode():
		t.Skip("FIPS 140 mode: crypto/hmac keeps copies of the key")
	case fastmac.RequireGCM() != nil || kernel.Active(kernel.GCM) == "stdlib" || !kernel.InUse(kernel.AES):
		t.Skip("needs kernels of AES and GMAC")
	}
	var in scanInput
	rand.NewChaCha8([32]byte{1, 2, 3}).Read(mactest.Storage(&in))
	secrets, kinds := new(mactest.Secrets), make(map[string]bool)
	for _, a := range algorithms() {
		c := in.config(a)
		for _, p := range append(passingSecrets(a, c), heldSecrets(a, newSender(a, c, scanCounters(a)))...) {
			kinds[p.kind] = true
			if secrets.Add(p.kind, name(a), p.bytes) == 0 {
				t.Errorf("%s, %s: nothing to look for", name(a), p.kind)
			}
		}
	}
	in.mask()
	modes := []string{scanInit, scanDestroy, scanControl}
	if mactest.Long() {
		modes = append(modes, slices.Repeat(modes[:2], 20)...)
	}
	for _, godebug := range []string{"", "cpu.avx512f=off", "cpu.avx512f=off,cpu.avx2=off"} {
		for _, mode := range modes {
			found := secrets.ScanTest(t, mactest.Storage(&in), 1, scanEnv+"="+mode, mactest.ScanDebug+godebug)[0]
			for kind := range kinds {
				if (len(found[kind]) > 0) != (mode == scanControl) {
					t.Errorf("%s, %q: %s: %v", mode, godebug, kind, found[kind])
				}
			}
		}
	}
}

// TestScanned is the process that is scanned.
func TestScanned(t *testing.T) {
	if scannedHellos(t) {
		return
	}
	mode := os.Getenv(scanEnv)
	if mode == "" {
		t.Skip("runs in the processes of TestScan")
	}
	in := new(scanInput)
	if _, err := io.ReadFull(os.Stdin, mactest.Storage(in)); err != nil {
		t.Fatal(err)
	}
	in.mask()
	var kept []any
	var mu sync.Mutex
	keep := func(v any) {
		mu.Lock()
		kept = append(kept, v)
		mu.Unlock()
	}
	var group sync.WaitGroup
	// The stack of a new goroutine is small, and grows at different calls.
	for depth := range 120 {
		for _, a := range algorithms() {
			group.Go(func() {
				deep(depth, func() {
					c := in.config(a)
					n := scanCounters(a)
					s := newSender(a, c, n)
					if keep(s); depth%2 == 1 {
						return // the stack is then as Init leaves it
					} else if mode == scanDestroy {
						failPair(a, c)
					}
					r := newReceiver(a, c, n)
					if mode == scanDestroy && depth%4 == 0 {
						use(s, r, make([]byte, c.DataSize), depth)
						leave(r) // the runtime destroys it
						return
					}
					if keep(r); mode != scanInit {
						group.Go(func() { use(s, r, make([]byte, c.DataSize), depth) })
					}
				})
			})
		}
		if depth%30 == 0 {
			group.Wait()
			runtime.GC()
		}
	}
	group.Wait()
	for range 2 { // finalizers run one after the other, and the last one here is in a collection of its own
		last, done := new([64]byte), make(chan struct{})
		runtime.SetFinalizer(last, func(*[64]byte) { close(done) })
		last = nil
		runtime.GC()
		<-done
	}
	switch mode {
	case scanInit:
		for _, v := range kept {
			switch v := v.(type) {
			case *UMACSender:
				clear(mactest.Storage(v))
			case *UMACReceiver:
				clear(mactest.Storage(v))
			case *GMACSender:
				clear(mactest.Storage(v))
			case *GMACReceiver:
				clear(mactest.Storage(v))
			}
		}
		clear(mactest.Storage(in))
	case scanDestroy:
		for i, v := range kept {
			group.Go(func() { deep(i%120, v.(interface{ Destroy() }).Destroy) })
		}
		group.Wait()
		clear(mactest.Storage(in))
	case scanControl:
		for _, a := range algorithms() {
			keep(passingSecrets(a, in.config(a)))
		}
	}
	mactest.AwaitScan()
	runtime.KeepAlive(kept)
	runtime.KeepAlive(in)
}

// leave has a set destroy a receiver.
func leave(r receiver) {
	var us UMACReceivers
	var gs GMACReceivers
	var err error
	removed := false
	switch r := r.(type) {
	case *UMACReceiver:
		err, removed = us.Add(r), us.Remove(r.form.epoch)
	case *GMACReceiver:
		err, removed = gs.Add(r), gs.Remove(r.form.epoch)
	}
	if err != nil || !removed {
		panic(err)
	}
}

// failPair sets up the sender of a pair, whose receiver then has no Store.
func failPair(a packetref.Algorithm, c Config) {
	peer, me := c.Sender, c.Receiver
	c.Sender, c.Receiver = "", ""
	var err error
	if n := Stored(new(memory), nil); a == packetref.GMAC {
		_, _, err = NewGMACPair(c, me, peer, n)
	} else {
		_, _, err = NewUMACPair(c, me, peer, n)
	}
	if err == nil {
		panic("a receiver without a Store")
	}
}

// use seals and opens packets in a batch, and then one by one.
func use(s sender, r receiver, data []byte, depth int) {
	batch := make([]Packet, scanPackets)
	for i := range batch {
		batch[i] = Packet{Bytes: []byte(strings.Repeat("a message ", i*i)), Data: data}
	}
	if err := s.SealBatch(batch); err != nil {
		panic(err)
	}
	open := func(batch []Packet) {
		if n := r.OpenBatch(batch); n != len(batch) {
			panic(n)
		}
	}
	if depth%4 == 0 { // a packet is the last call then
		open(batch[:7])
		for _, p := range batch[7:] {
			mustOpen(r, p.Bytes, data)
		}
		packet := mactest.Must(s.Seal([]byte("a message"), data))
		mustOpen(r, packet, data)
		return
	}
	open(batch)
}

func deep(n int, f func()) byte {
	var frame [64]byte
	if n == 0 {
		f()
		return 0
	}
	return deep(n-1, f) + frame[n%len(frame)]
}
