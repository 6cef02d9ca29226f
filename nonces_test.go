// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/big"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

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
		nonces := NewNonceSequence(size)
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
	mactest.MustPanic(t, "Next of the zero value", "NewNonceSequence did not make", func() { new(NonceSequence).Next(nil) })
}

func TestNewNonceSequence(t *testing.T) {
	for size := -1; size <= 40; size++ {
		if 12 <= size && size <= 16 {
			if n := len(NewNonceSequence(size).Next(nil)); n != size {
				t.Errorf("%d bytes: a nonce of %d", size, n)
			}
			continue
		}
		mactest.MustPanic(t, "NewNonceSequence", fmt.Sprintf("fastmac: NonceSequence of %d bytes: want 12 to 16", size),
			func() { NewNonceSequence(size) })
	}
}

// TestNoncesRandom checks that each byte of the first nonce is drawn anew.
func TestNoncesRandom(t *testing.T) {
	for size := 12; size <= 16; size++ {
		mactest.TestRandom(t, fmt.Sprint(size, " bytes"), func() []byte { return NewNonceSequence(size).Next(nil) })
	}
}

// TestNoncesFork pretends a fork, after which goroutines draw nonces. These must be distinct, and
// far from those before.
func TestNoncesFork(t *testing.T) {
	const goroutines, each = 8, 100
	for size := 12; size <= 16; size++ {
		nonces := NewNonceSequence(size)
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

// TestNoncesBegin has another goroutine find the same fork, and begin after the first one has: they continue one
// sequence.
func TestNoncesBegin(t *testing.T) {
	nonces := NewNonceSequence(16)
	fork.Pretend()
	first := nonces.Next(nil)
	nonces.begin()
	if got := nonces.Next(nil); subtract(got, first) != 1 {
		t.Errorf("%x after %x", got, first)
	}
}

// TestNoncesForkRandom checks that each byte of the first nonce after a fork is drawn anew.
func TestNoncesForkRandom(t *testing.T) {
	for size := 12; size <= 16; size++ {
		nonces := NewNonceSequence(size)
		mactest.TestRandom(t, fmt.Sprint(size, " bytes"), func() []byte { fork.Pretend(); return nonces.Next(nil) })
	}
}

// TestNoncesForkInNext has a fork just before Next takes a number, after which it must ask for the
// process.
func TestNoncesForkInNext(t *testing.T) {
	nonces := NewNonceSequence(16)
	before := nonces.Next(nil)
	parent, used := fork.Current(), nonces.used.Load()
	defer fork.Replace(func() fork.Process {
		if nonces.used.Load() == used {
			return parent
		}
		return parent + 1
	})()
	if got := nonces.Next(nil); subtract(got, before) < 1<<20 {
		t.Errorf("%x, in the parent %x", got, before)
	}
}

// TestNoncesStorage checks that Next writes its nonce and nothing else, and in place if dst
// has room.
func TestNoncesStorage(t *testing.T) {
	for size := 12; size <= 16; size++ {
		nonces := NewNonceSequence(size)
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
		nonces, dst := NewNonceSequence(size), make([]byte, 0, size)
		if n := testing.AllocsPerRun(100, func() { nonces.Next(dst) }); n != 0 {
			t.Errorf("%d bytes: Next makes %v allocations", size, n)
		}
	}
}

// noncesAt returns a NonceSequence for nonces of size bytes that began with first, which has 16
// bytes, and has returned used nonces since.
func noncesAt(size int, first []byte, used uint64) *NonceSequence {
	n := NewNonceSequence(size)
	for field, value := range map[string]uint64{
		"high": binary.BigEndian.Uint64(first),
		"low":  binary.BigEndian.Uint64(first[8:]),
		"used": used,
	} {
		binary.NativeEndian.PutUint64(mactest.Field(n, field), value)
	}
	return n
}

// TestReplayWindowConcurrent passes each counter twice, to a window that 1,000 goroutines
// share, under a lock. Each must be accepted once. Each goroutine also has its own window,
// which accepts all of them.
func TestReplayWindowConcurrent(t *testing.T) {
	const goroutines, counters = 1000, 8
	shared, accepted := NewReplayWindow(goroutines*counters), 0
	var mu sync.Mutex
	mactest.Concurrently(goroutines, func(g int) {
		own := NewReplayWindow(goroutines * counters)
		for i := range counters {
			counter := uint64(g/2*2*counters + 2*i) // the same in two goroutines
			for range 2 {
				if !own.Accept(counter) {
					t.Errorf("counter %d is refused", counter)
				}
				mu.Lock()
				if shared.Accept(counter) {
					accepted++
				}
				mu.Unlock()
				counter++
			}
		}
	})
	if accepted != goroutines*counters {
		t.Errorf("%d counters accepted, want %d", accepted, goroutines*counters)
	}
}

// TestReplayWindowEdges accepts counters at both ends of a window, and the lowest and highest
// of all counters.
func TestReplayWindowEdges(t *testing.T) {
	const top = 1<<64 - 1
	for _, test := range []struct {
		size    int
		counter []uint64
		want    string // for each counter, y if it is accepted
	}{
		{1, []uint64{0, 0, 1, 0, 1, 2}, "ynynny"},
		{1, []uint64{top, top, top - 1, 0}, "ynnn"},
		{2, []uint64{5, 4, 4, 3, 5, 7, 5, 6}, "yynnnyny"},
		{63, []uint64{1000, 938, 937, 1001, 938, 939}, "yynyny"},
		{64, []uint64{0, 64, 0, 1, 1, 65, 128, 64}, "yynynyyn"},
		{64, []uint64{63, 0, 127, 63, 64, 62}, "yyynyn"},
		{64, []uint64{top - 64, top, top - 64, top - 63, top - 63, 0}, "yynynn"},
		{65, []uint64{0, 64, 0, 65, 0, 1}, "yynyny"},
		{65, []uint64{0, top, 0, top - 64, top - 65, top}, "yynynn"},
		{1000, []uint64{1 << 63, 1<<63 - 999, 1<<63 - 1000, 1 << 63}, "yynn"},
		{1024, []uint64{1023, 1024, 0, 1, 2047, 1023, 1024, 1025}, "yynyynny"},
		{4096, []uint64{1, 1 + 1<<12, 1 + 1<<13, 2 + 1<<12, 1 + 1<<12}, "yyyyn"},
		{1 << 20, []uint64{1<<20 - 1, 0, 1 << 20, 0, 1, 1 << 40, 1<<40 - 1<<20, 1<<40 - 1<<20 + 1}, "yyynyyny"},
	} {
		w := NewReplayWindow(test.size)
		got := ""
		for _, c := range test.counter {
			if w.Accept(c) {
				got += "y"
			} else {
				got += "n"
			}
		}
		if got != test.want {
			t.Errorf("%d bits, counters %d: accepted %s, want %s", test.size, test.counter, got, test.want)
		}
	}
}

// TestReplayWindowFrom begins with a first counter. Whatever is accepted before, those below it are refused,
// and all others are as in a window that has accepted them.
func TestReplayWindowFrom(t *testing.T) {
	for _, first := range []uint64{0, 1, 63, 64, 65, 1000, 1 << 40, 1<<64 - 70} {
		for _, size := range []int{1, 64, 65, 1000} {
			for _, jump := range []uint64{0, 1, 5, 63, 64, 69} {
				w := NewReplayWindowFrom(first, size)
				if first > 0 && w.Accept(first-1) || !w.Accept(first+jump) {
					t.Errorf("from %d on, %d bits, %d", first, size, first+jump)
				}
				for back := range min(first+jump, 1200) + 1 {
					counter := first + jump - back
					if got, want := w.Accept(counter), counter >= first && back > 0 && back < uint64(size); got != want {
						t.Errorf("from %d on, %d bits, %d after %d: %v, want %v", first, size, counter, first+jump, got, want)
					}
				}
			}
		}
	}
}

func TestNewReplayWindow(t *testing.T) {
	for _, n := range []int{-1 << 31, -64, -1, 0, 1<<20 + 1, 1<<31 - 1} {
		mactest.MustPanic(t, "NewReplayWindow", fmt.Sprintf("fastmac: ReplayWindow of %d bits: want 1 to 1048576", n),
			func() { NewReplayWindow(n) })
	}
	mactest.MustPanic(t, "Accept of the zero value", "NewReplayWindow did not make", func() { new(ReplayWindow).Accept(1) })
	mactest.MustPanic(t, "Accept(0) of the zero value", "NewReplayWindow did not make", func() { new(ReplayWindow).Accept(0) })
}

// TestReplayWindowMemory checks that a window has the fewest words, a power of two, that it can
// be in when it begins with the last bit of a word. This is less than twice its bits, and 16
// bytes.
func TestReplayWindowMemory(t *testing.T) {
	for size := 1; size <= 1000; size++ {
		words := len(NewReplayWindow(size).words)
		if room := 64*words - 63; room < size || words > 1 && room-32*words >= size || 8*words > 2*size/8+16 {
			t.Errorf("%d bits: %d words", size, words)
		}
	}
}

func TestReplayWindowAllocations(t *testing.T) {
	mactest.SkipAllocations(t)
	w := NewReplayWindow(1000)
	counter := uint64(0)
	if n := testing.AllocsPerRun(1000, func() { counter += 300; w.Accept(counter); w.Accept(counter - 500) }); n != 0 {
		t.Errorf("Accept makes %v allocations", n)
	}
}
