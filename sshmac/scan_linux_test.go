// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sshmac

import (
	"crypto"
	"crypto/fips140"
	"encoding/binary"
	"hash"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"sync"
	"testing"

	"example.com/fastmac"
	"example.com/fastmac/internal/kernel"
	"example.com/fastmac/internal/mactest"
)

// scanEnv is the environment variable that is set in the scanned processes, to one of these.
const (
	scanEnv     = "FASTMAC_TEST_SSHMAC_SCANNED"
	scanDropped = "dropped" // drops its hashes, as x/crypto does
	scanControl = "control" // keeps them
)

// secretDo calls f. In a build with GOEXPERIMENT=runtimesecret it is secret.Do.
var secretDo = func(f func()) { f() }

// A scanInput is the secrets of a process. It is sent xor a byte.
type scanInput struct {
	key [64]byte
	msg [5000]byte
}

func (in *scanInput) mask() {
	for i := range mactest.Storage(in) {
		mactest.Storage(in)[i] ^= 0xa5
	}
}

// secrets returns what the process has, and adds the kinds.
func (in *scanInput) secrets(kinds map[string]bool) *mactest.Secrets {
	secrets := new(mactest.Secrets)
	add := func(kind string, secret []byte) {
		if secrets.Add(kind, "", secret) > 0 {
			kinds[kind] = true
		}
	}
	add("key", in.key[:])
	add("message", in.msg[:])
	for _, size := range []int{fastmac.UMAC64Size, fastmac.UMAC128Size} {
		u := mactest.Must(fastmac.NewUMAC(in.key[:umacKeySize], size))
		for _, field := range []string{"l1", "l2", "l3.k2"} {
			add("UHASH key", mactest.Field(u, "key.uhash."+field))
		}
		add("pad key", mactest.Field(u, "key.pad.schedule"))
	}
	for _, h := range []crypto.Hash{crypto.SHA256, crypto.SHA512} {
		add(h.String()+" chaining values", mactest.Field(mactest.Must(fastmac.NewHMACKey(h, in.key[:h.Size()])), "states"))
	}
	return secrets
}

// TestScan looks in the memory of processes that use the MACs in x/crypto's table. Nothing may be
// there when they have dropped them: finalizers overwrite them.
func TestScan(t *testing.T) {
	if fips140.Enabled() {
		t.Skip("FIPS 140 mode: crypto/hmac keeps copies of the key")
	}
	var in scanInput
	rand.NewChaCha8([32]byte{1, 2, 3}).Read(mactest.Storage(&in))
	kinds := make(map[string]bool)
	secrets := in.secrets(kinds)
	want := 6
	if fastmac.Hardware(); kernel.Active(kernel.AES) == "stdlib" {
		want-- // the schedules of crypto/aes are unknown
	}
	if len(kinds) != want {
		t.Errorf("%d kinds of secrets, want %d: %v", len(kinds), want, kinds)
	}
	in.mask()
	modes := []string{scanControl, scanDropped}
	if mactest.Long() {
		modes = append(modes, slices.Repeat(modes[1:], 20)...)
	}
	for _, godebug := range []string{"", "cpu.avx512f=off", "cpu.avx512f=off,cpu.avx2=off", "cpu.avx512f=off,cpu.avx2=off,cpu.aes=off"} {
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
	mode := os.Getenv(scanEnv)
	if mode == "" {
		t.Skip("runs in the processes of TestScan")
	}
	if err := Register(); err != nil {
		t.Fatal(err)
	}
	in := new(scanInput)
	if _, err := io.ReadFull(os.Stdin, mactest.Storage(in)); err != nil {
		t.Fatal(err)
	}
	in.mask()
	var kept, clones []hash.Hash
	var mu sync.Mutex
	var group sync.WaitGroup
	// The stack of a new goroutine is small, and grows at different calls.
	for depth := range 120 {
		for _, m := range allModes() {
			group.Go(func() {
				deep(depth, func() {
					h, clone := scanUse(macModes[m.Name], in)
					mu.Lock()
					kept, clones = append(kept, h), append(clones, clone)
					mu.Unlock()
				})
			})
		}
		if depth%30 == 0 {
			group.Wait()
			runtime.GC()
		}
	}
	group.Wait()
	if mode == scanDropped {
		for i, c := range clones { // they have no finalizer
			group.Go(func() { deep(i%120, c.(interface{ Destroy() }).Destroy) })
		}
		group.Wait()
		kept, clones = nil, nil
		for range 4 { // one finalizer makes the object of the next unreachable
			collected := make(chan bool)
			runtime.SetFinalizer(new([64]byte), func(*[64]byte) { close(collected) })
			runtime.GC()
			<-collected
		}
		clear(mactest.Storage(in))
	}
	mactest.AwaitScan()
	runtime.KeepAlive(kept)
	runtime.KeepAlive(clones)
	runtime.KeepAlive(in)
}

// scanUse makes a hash, tags packets, and returns it and its clone.
func scanUse(m *macMode, in *scanInput) (h, clone hash.Hash) {
	h = m.new(in.key[:m.keySize])
	for i, size := range []int{0, 1, 20, 64, 200, 1000, 1024, 1500, 5000} {
		h.Reset()
		h.Write(binary.BigEndian.AppendUint32(nil, uint32(i)))
		h.Write(in.msg[:size])
		h.Sum(nil)
	}
	h.Reset()
	h.Write(in.msg[:100])
	c := mactest.Must(h.(hash.Cloner).Clone())
	c.Write(in.msg[100:1000])
	return h, c
}

func deep(n int, f func()) byte {
	var frame [64]byte
	if n == 0 {
		secretDo(f)
		return 0
	}
	return deep(n-1, f) + frame[n%len(frame)]
}
