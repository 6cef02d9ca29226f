// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac

import (
	"bytes"
	"crypto/cipher"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"example.com/fastmac/internal/aes"
	"example.com/fastmac/internal/kernel"
	"example.com/fastmac/internal/mactest"
	"example.com/fastmac/internal/umacref"
)

// TestUMACNonceLength compares the tags under nonces of all lengths with umacref.
func TestUMACNonceLength(t *testing.T) {
	key, msg := make([]byte, 16), []byte("message")
	nonce := mactest.Unhex("ff00ff00ff00ff00ff00ff00ff00ff03")
	for n := 1; n <= len(nonce); n++ {
		for _, size := range mactest.UMACTagSizes {
			want := umacref.UMAC(key, msg, nonce[:n], size)
			if got := mactest.Must(NewUMACKey(key, size)).Tag(nil, nonce[:n], msg); !bytes.Equal(got, want) {
				t.Errorf("nonce of %d bytes: tag %x, want %x", n, got, want)
			}
		}
	}
}

// TestUMACNonceOrder draws nonces in and out of order. A stream may have their pads
// computed ahead; its tags are compared with one-shots, which compute each pad.
func TestUMACNonceOrder(t *testing.T) { mactest.ForAllKernels(t, mactest.UMAC, testUMACNonceOrder) }

func testUMACNonceOrder(t *testing.T) {
	rng := rand.NewChaCha8([32]byte([]byte("testUMACNonceOrder, 32 byte seed")))
	for _, size := range mactest.UMACTagSizes {
		k := mactest.Must(NewUMACKey(make([]byte, 16), size))
		u := k.New()
		nonce := make([]byte, 8)
		for range 20000 {
			switch r := rng.Uint64() % 1000; {
			case r < 900: // the next one
				for i := len(nonce) - 1; i >= 0; i-- {
					if nonce[i]++; nonce[i] != 0 {
						break
					}
				}
			case r < 950: // some skipped
				nonce[len(nonce)-1] += byte(rng.Uint64() % 40)
			case r < 960: // back by a few
				nonce[len(nonce)-1] -= byte(rng.Uint64() % 10)
			case r < 970: // the same again
			case r < 975: // one that panics
				mactest.MustPanic(t, "nonce of 17 bytes", "1 to 16", func() { u.Tag(nil, make([]byte, 17)) })
			case r < 980: // near the end of the numbers
				for i := range nonce {
					nonce[i] = 0xff
				}
				nonce[len(nonce)-1] -= byte(rng.Uint64() % 40)
			case r < 985: // a bit of the part that is no counter
				nonce[0] ^= 1
			case r < 990:
				nonce = mactest.Random(rng, 1+int(rng.Uint64()%16))
			case r < 995: // longer or shorter, with the same number at its end
				n := make([]byte, 1+rng.Uint64()%16)
				copy(n[max(0, len(n)-len(nonce)):], nonce[max(0, len(nonce)-len(n)):])
				nonce = n
			default:
				c, err := u.Clone()
				if err != nil {
					t.Fatal(err)
				}
				u = c.(*UMAC)
			}
			want := k.Tag(nil, nonce, nil)
			if got := u.Tag(nil, nonce); !bytes.Equal(got, want) {
				t.Fatalf("nonce %x: tag %x, want %x", nonce, got, want)
			}
			if rng.Uint64()%10 == 0 && !u.Verify(want, nonce) {
				t.Fatalf("nonce %x: refused the second time", nonce)
			}
		}
	}
}

// TestUMACNonceCarry counts nonces of several lengths up by one across every carry from one
// byte to the next. The tags of a stream, whose pads are computed ahead, are compared with
// one-shots.
func TestUMACNonceCarry(t *testing.T) { mactest.ForAllKernels(t, mactest.UMAC, testUMACNonceCarry) }

func testUMACNonceCarry(t *testing.T) {
	const before = 43 // nonces: at the carry, pads of all sizes have been computed ahead
	for _, size := range mactest.UMACTagSizes {
		k := mactest.Must(NewUMACKey(make([]byte, 16), size))
		for _, length := range []int{8, 9, 12, 16} {
			for carry := 1; carry <= length; carry++ { // bytes that become zero
				u, nonce := k.New(), make([]byte, length)
				for i := range carry {
					nonce[length-1-i] = 0xff
				}
				nonce[length-1] -= before
				for range 2 * before {
					want := k.Tag(nil, nonce, nil)
					if got := u.Tag(nil, nonce); !bytes.Equal(got, want) {
						t.Fatalf("%d bytes, nonce %x: tag %x, want %x", size, nonce, got, want)
					}
					for i := length - 1; i >= 0; i-- {
						if nonce[i]++; nonce[i] != 0 {
							break
						}
					}
				}
			}
		}
	}
}

// TestCounting computes a tag for each of 10^5 nonces in order, across 2^64, with one stream of
// each kind, which must allocate nothing and use no more memory than before. Some tags are
// compared with one-shots: 40 in a row, of each 4096. With FASTMAC_TEST_LONG there are 10^8
// nonces of UMAC-64 and of GMAC.
func TestCounting(t *testing.T) {
	type stream interface {
		Write(p []byte) (int, error)
		Reset()
		Tag(dst, nonce []byte) []byte
	}
	count := func(name string, long uint64, s stream, tag func(dst, nonce, msg []byte) []byte) {
		n := uint64(100_000)
		if mactest.Long() && !mactest.Race {
			n = max(n, long)
		}
		nonce := []byte("1234........")
		dst, want := make([]byte, 0, 64), make([]byte, 0, 64)
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		for i := range n {
			binary.BigEndian.PutUint64(nonce[4:], i-n/2)
			s.Reset()
			s.Write(nonce)
			got := s.Tag(dst, nonce)
			if i%4096 < 40 || (i-n/2+20)%(1<<32) < 40 {
				if want := tag(want, nonce, nonce); !bytes.Equal(got, want) {
					t.Fatalf("%s: nonce %x: tag %x, want %x", name, nonce, got, want)
				}
			}
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		// The runtime and package testing allocate now and then.
		allocated, grown := after.Mallocs-before.Mallocs, int64(after.HeapAlloc+after.StackInuse)-int64(before.HeapAlloc+before.StackInuse)
		if !mactest.Allocates && (allocated > n/1000 || grown > 1<<18) {
			t.Errorf("%s: %d allocations for %d tags, %d bytes more in use", name, allocated, n, grown)
		}
	}
	for _, size := range mactest.UMACTagSizes {
		k, long := mactest.Must(NewUMACKey(make([]byte, 16), size)), 0
		if size == UMAC64Size {
			long = 100_000_000
		}
		count(fmt.Sprintf("UMAC-%d", 8*size), uint64(long), k.New(), k.Tag)
	}
	if !useFIPS { // crypto/hmac allocates
		for _, h := range hmacList {
			k := newKey(h, []byte("key"))
			count("HMAC-"+h.String(), 0, streamWithoutNonce{k.New()}, func(dst, _, msg []byte) []byte { return k.Tag(dst, msg) })
		}
	}
	if RequireGCM() == nil && kernel.Active(kernel.GCM) != "stdlib" { // crypto/cipher allocates
		k := mactest.Must(NewGMACKey(make([]byte, 16)))
		count("GMAC", 100_000_000, k.New(), k.Tag)
	}
}

// streamWithoutNonce has Tag as the other streams, without a nonce.
type streamWithoutNonce struct{ *HMAC }

func (h streamWithoutNonce) Tag(dst, _ []byte) []byte { return h.Sum(dst) }

// TestNonceLengths checks what the package documentation says of nonces that are
// equal when zero-padded: the pads are equal if the last bytes select the same part.
func TestNonceLengths(t *testing.T) {
	for _, size := range mactest.UMACTagSizes {
		k := mactest.Must(NewUMACKey(make([]byte, 16), size))
		equal := func(a, b []byte) bool { return k.Verify(k.Tag(nil, a, nil), b, nil) }
		if !equal([]byte{4}, []byte{4, 0}) {
			t.Errorf("%d bytes: tags under 04 and 0400 are different", size)
		}
		if got, want := equal([]byte{1}, []byte{1, 0}), size > 8; got != want {
			t.Errorf("%d bytes: tags under 01 and 0100 are equal: %v, want %v", size, got, want)
		}
	}
}

// TestPadsWiped checks, for nonces in any order, that a stream keeps no block of pads
// whose last nonce has been used or skipped, and that its clones begin without any. It
// also checks that nonces in order make it compute several blocks at once.
func TestPadsWiped(t *testing.T) {
	if !kernel.InUse(kernel.AES) || hasTagNonce() {
		t.Skip("needs AES instructions, and no kernel that takes the nonce")
	}
	for _, size := range mactest.UMACTagSizes {
		k := mactest.Must(NewUMACKey(make([]byte, 16), size))
		shift := k.pad.partBits
		u := k.New()
		most := 0
		counter := uint64(0)
		for i := range 400 {
			switch counter++; {
			case i%50 == 40:
				counter += 2 + uint64(i%4)
			case i%70 == 60:
				counter -= 10
			case i%90 == 80:
				counter += 1000
			}
			u.Sum(binary.BigEndian.AppendUint64(make([]byte, 0, 16), counter))
			s := &u.pads
			most = max(most, int(s.count))
			for i := range uint64(padsAhead) {
				b := s.blocks[(s.number+i)%padsAhead]
				if wiped := b == [aes.BlockSize]byte{}; wiped == (i < uint64(s.count)) {
					t.Fatalf("%d bytes, nonce %d: block %d of %d: wiped %v", size, counter, i, s.count, wiped)
				}
			}
			if next := (counter + 1) >> shift; s.number != next {
				t.Fatalf("%d bytes, after nonce %d the next block is %d, want %d", size, counter, s.number, next)
			}
			c, err := u.Clone()
			if err != nil {
				t.Fatal(err)
			}
			h := u.Bind([]byte("12345678"))
			if c.(*UMAC).pads != (pads{}) || h.(*boundHash).stream.(*UMAC).pads != (pads{}) {
				t.Fatal("a clone has pads")
			}
		}
		if most < 7 {
			t.Errorf("%d bytes: at most %d blocks in store", size, most)
		}
	}
}

// TestPadsAhead checks for nonces of all lengths that a stream encrypts blocks ahead when the
// second in order comes, and one block alone for a nonce that is the first, or out of order.
func TestPadsAhead(t *testing.T) {
	if !kernel.InUse(kernel.AES) {
		t.Skip("needs AES instructions")
	}
	for size := 8; size <= 16; size++ {
		k := mactest.Must(NewUMACKey(make([]byte, 16), 16))
		u, nonce := k.New(), []byte("12345678........")[:size]
		for i, step := range []struct{ number, count uint64 }{{10, 0}, {11, 7}, {14, 4}, {30, 0}, {31, 7}, {29, 0}, {30, 7}} {
			binary.BigEndian.PutUint64(nonce[size-8:], step.number)
			u.Tag(nil, nonce)
			want := step.count
			if hasTagNonce() {
				want = 0
			}
			if got := uint64(u.pads.count); got != want {
				t.Errorf("nonce %d of %d bytes: %d blocks ahead, want %d", i, size, got, want)
			}
		}
	}
}

// TestPadAlone checks that a pad has nothing of the pads of other nonces, which are in the same
// block.
func TestPadAlone(t *testing.T) {
	mactest.ForAllKernels(t, mactest.UMAC, func(t *testing.T) {
		for _, size := range []int{4, 8} {
			k := mactest.Must(NewUMACKey(make([]byte, 16), size))
			for n := range byte(8) {
				if x := k.pad.pad([]byte{n}); x.second != 0 || size == 4 && x.first>>32 != 0 {
					t.Errorf("%d bytes, nonce %d: pad %016x %016x", size, n, x.first, x.second)
				}
			}
		}
	})
}

// TestBuffersWiped checks that buffers on the heap are all zeros after use.
func TestBuffersWiped(t *testing.T) {
	mactest.EachKernel(t, mactest.UMAC, func(kernel string) {
		if aes.InUse() {
			return
		}
		k := mactest.Must(NewUMACKey([]byte("0123456789abcdef"), 8))
		k.Tag(nil, []byte("12345678"), nil)
		if b := aesBuffers.Get().(*[aes.BlockSize]byte); *b != [aes.BlockSize]byte{} {
			t.Errorf("%s: a pad is left: %x", kernel, b)
		}
	})
}

// collecting is a cipher in which the garbage collector runs, and reports whether the key that has it is garbage.
type collecting struct {
	cipher.Block
	final   chan bool
	garbage bool
}

func (c *collecting) Encrypt(dst, src []byte) {
	for range 20 {
		runtime.GC()
		runtime.Gosched()
	}
	c.garbage = c.garbage || len(c.final) > 0
}

// TestKeyIsKept checks that no finalizer of a key runs, which may overwrite it, while crypto/aes encrypts with it.
func TestKeyIsKept(t *testing.T) {
	mactest.EachKernel(t, mactest.UMAC, func(kernel string) {
		if aes.InUse() {
			return
		}
		c := &collecting{final: make(chan bool, 1)}
		k, block := new(aesKey), cipher.Block(c)
		k.std = &block
		runtime.SetFinalizer(k, func(*aesKey) { c.final <- true })
		k.encrypt(make([]byte, aes.BlockSize))
		if c.garbage {
			t.Errorf("%s: it runs", kernel)
		}
	})
}
