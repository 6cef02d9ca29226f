// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/big"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"example.com/fastmac"
	"example.com/fastmac/internal/fork"
	"example.com/fastmac/internal/mactest"
)

// TestNoncesDistinct draws nonces in 1,000 goroutines, 10^7 if FASTMAC_TEST_LONG is set. Each
// distance from the first nonce must come once.
func TestNoncesDistinct(t *testing.T) {
	const goroutines = 1000
	each := 960
	if mactest.Long() {
		each = 10_048 // so that the words of seen are full
	}
	for _, size := range []int{12, 16} {
		nonces := fastmac.NewNonceSequence(size)
		first := nonces.Next(nil)
		seen := make([]atomic.Uint64, goroutines*each/64) // bit i: the nonce at distance 1+i has come
		mactest.Concurrently(goroutines, func(int) {
			var buf [16]byte
			for range each {
				distance := subtract(nonces.Next(buf[:0]), first) - 1
				if distance >= uint64(goroutines*each) || seen[distance/64].Or(1<<(distance%64))>>(distance%64)&1 != 0 {
					t.Errorf("%d bytes: the nonce at distance %d is wrong or repeated", size, distance)
					return
				}
			}
		})
		for i := range seen {
			if seen[i].Load() != 1<<64-1 {
				t.Fatalf("%d bytes: a nonce is missing near distance %d", size, 64*i)
			}
		}
	}
}

// subtract returns a-b modulo 2^(8*len(a)), or 2^64-1 if that is larger.
func subtract(a, b []byte) uint64 {
	difference, borrow := uint64(0), 0
	for i := len(a) - 1; i >= 0; i-- {
		d := int(a[i]) - int(b[i]) - borrow
		borrow = d >> 8 & 1
		if place := len(a) - 1 - i; place < 8 {
			difference |= uint64(byte(d)) << (8 * place)
		} else if byte(d) != 0 {
			return 1<<64 - 1
		}
	}
	return difference
}

// TestNoncesCarry compares nonces with sums of math/big. Their first nonces are next to
// every carry.
func TestNoncesCarry(t *testing.T) {
	rng := rand.NewChaCha8([32]byte([]byte("TestNoncesCarry, 32 bytes of it.")))
	for size := 12; size <= 16; size++ {
		modulus := new(big.Int).Lsh(big.NewInt(1), uint(8*size))
		check := func(first []byte, used uint64) {
			t.Helper()
			nonces := noncesAt(size, first, used)
			want := new(big.Int).Add(new(big.Int).SetBytes(first), new(big.Int).SetUint64(used))
			for range 3 {
				want.Mod(want, modulus)
				if got := nonces.Next([]byte("x")); len(got) != 1+size || got[0] != 'x' || new(big.Int).SetBytes(got[1:]).Cmp(want) != 0 {
					t.Fatalf("%d bytes from %x after %d: %x, want %x", size, first, used, got, want)
				}
				want.Add(want, big.NewInt(1))
			}
		}
		for ones := range 17 {
			first := mactest.Random(rng, 16-ones)
			if ones < 16 {
				first[len(first)-1] &^= 1 // where the carry stops
			}
			first = append(first, bytes.Repeat([]byte{0xff}, ones)...)
			for _, used := range []uint64{0, 1, 0xff, 1<<32 - 1, 1<<63 - 3} {
				check(first, used)
			}
			first[15]--
			check(first, 0)
		}
		for range 1000 {
			check(mactest.Random(rng, 16), rng.Uint64()>>(1+rng.Uint64()%63))
		}
	}
}

// TestNoncesEnd checks that a NonceSequence panics after 2^63 nonces, and does not start again.
func TestNoncesEnd(t *testing.T) {
	nonces := noncesAt(12, make([]byte, 16), 1<<63-2)
	for _, want := range []string{"000000007ffffffffffffffe", "000000007fffffffffffffff"} {
		if got := nonces.Next(nil); !bytes.Equal(got, mactest.Unhex(want)) {
			t.Errorf("nonce %x, want %s", got, want)
		}
	}
	for range 3 {
		mactest.MustPanic(t, "Next after the last nonce", "all of its 2^63 nonces", func() { nonces.Next(nil) })
	}
	last := noncesAt(12, make([]byte, 16), 1<<64-2)
	mactest.MustPanic(t, "Next at the end of the counter", "all of its 2^63 nonces", func() { last.Next(nil) })
	mactest.MustPanic(t, "Next of the zero value", "NewNonceSequence did not make", func() { new(fastmac.NonceSequence).Next(nil) })
}

func TestNewNonceSequence(t *testing.T) {
	for size := -1; size <= 40; size++ {
		if 12 <= size && size <= 16 {
			if n := len(fastmac.NewNonceSequence(size).Next(nil)); n != size {
				t.Errorf("%d bytes: a nonce of %d", size, n)
			}
			continue
		}
		mactest.MustPanic(t, "NewNonceSequence", fmt.Sprintf("fastmac: NonceSequence of %d bytes: want 12 to 16", size),
			func() { fastmac.NewNonceSequence(size) })
	}
}

// TestNoncesRandom checks that each byte of the first nonce is drawn anew.
func TestNoncesRandom(t *testing.T) {
	for size := 12; size <= 16; size++ {
		mactest.TestRandom(t, fmt.Sprint(size, " bytes"), func() []byte { return fastmac.NewNonceSequence(size).Next(nil) })
	}
}

// TestNoncesFork pretends a fork, after which goroutines draw nonces. These must be distinct, and
// far from those before.
func TestNoncesFork(t *testing.T) {
	const goroutines, each = 8, 100
	for size := 12; size <= 16; size++ {
		nonces := fastmac.NewNonceSequence(size)
		for range 50 {
			before := nonces.Next(nil)
			fork.Pretend()
			var drawn [goroutines][each][]byte
			mactest.Concurrently(goroutines, func(i int) {
				for j := range each {
					drawn[i][j] = nonces.Next(nil)
				}
			})
			seen := make(map[string]bool)
			for _, some := range drawn {
				for _, nonce := range some {
					if seen[string(nonce)] {
						t.Fatalf("%d bytes: %x twice", size, nonce)
					}
					seen[string(nonce)] = true
					if subtract(nonce, before) < 1<<20 || subtract(drawn[0][0], nonce)+1<<20 < 1<<19 {
						t.Fatalf("%d bytes: %x, in the parent %x", size, nonce, before)
					}
				}
			}
		}
	}
}

// TestNoncesStorage checks that Next writes its nonce and nothing else, and in place if dst
// has room.
func TestNoncesStorage(t *testing.T) {
	for size := 12; size <= 16; size++ {
		nonces := fastmac.NewNonceSequence(size)
		previous := nonces.Next(nil)
		for room := range 20 {
			storage := bytes.Repeat([]byte("x"), 3+room)
			got := nonces.Next(storage[:3])
			if len(got) != 3+size || string(got[:3]) != "xxx" || subtract(got[3:], previous) != 1 {
				t.Fatalf("%d bytes, room for %d: %x after %x", size, room, got, previous)
			}
			if inPlace := &got[0] == &storage[0]; inPlace != (room >= size) {
				t.Errorf("%d bytes, room for %d: in place: %v", size, room, inPlace)
			}
			if room > size && string(storage[3+size:]) != "xxxxxxxx"[:room-size] {
				t.Errorf("%d bytes, room for %d: storage %x", size, room, storage)
			}
			previous = got[3:]
		}
	}
}

func TestNoncesAllocations(t *testing.T) {
	mactest.SkipAllocations(t)
	for size := 12; size <= 16; size++ {
		nonces, dst := fastmac.NewNonceSequence(size), make([]byte, 0, size)
		if n := testing.AllocsPerRun(100, func() { nonces.Next(dst) }); n != 0 {
			t.Errorf("%d bytes: Next makes %v allocations", size, n)
		}
	}
}

// noncesAt returns a NonceSequence for nonces of size bytes that began with first, which has 16
// bytes, and has returned used nonces since.
func noncesAt(size int, first []byte, used uint64) *fastmac.NonceSequence {
	n := fastmac.NewNonceSequence(size)
	for field, value := range map[string]uint64{
		"high": binary.BigEndian.Uint64(first),
		"low":  binary.BigEndian.Uint64(first[8:]),
		"used": used,
	} {
		binary.NativeEndian.PutUint64(mactest.Field(n, field), value)
	}
	return n
}
