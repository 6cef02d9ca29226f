// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package mactest

import (
	"bytes"
	"hash/fnv"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"
)

// A Fault is what [Sizes] plants in a function: its results are wrong for one size. A nil Fault is none.
type Fault struct {
	size int
	at   uint64
	lane bool // a lane takes the message of its neighbour; otherwise a bit of the results changes
}

// In plants the fault in a function with several lanes, before it gets their messages for a size: one of them
// becomes that of the next lane.
func In[T any](f *Fault, size int, messages []T) {
	if f != nil && f.size == size {
		if f.lane = len(messages) > 1 && f.at>>32%2 == 1; f.lane {
			i := f.at % uint64(len(messages))
			messages[i] = messages[(i+1)%uint64(len(messages))]
		}
	}
}

// in plants the fault in the results of a function.
func (f *Fault) in(size int, results []byte) {
	if f != nil && f.size == size && !f.lane {
		bit := f.at % uint64(8*len(results))
		results[bit/8] ^= 1 << (bit % 8)
	}
}

// Sizes tests a function with all sizes from 1 to most, and with some that are longer, as numbers of blocks or of
// steps. run calls it, and returns its results and what they must be; if the function has lanes, run calls [In]
// before. Then Sizes plants faults at random, each of which must be found: so no size, lane or bit is left out.
func Sizes(t testing.TB, most int, longer []int, run func(size int, f *Fault) (got, want []byte)) {
	t.Helper()
	right := func(size int, f *Fault) bool {
		got, want := run(size, f)
		f.in(size, got)
		if f == nil && !bytes.Equal(got, want) {
			at := 0
			for at < min(len(got), len(want)) && got[at] == want[at] {
				at++
			}
			t.Errorf("%d: the result of %d bytes is %x from byte %d on, want %x", size, len(got), got[at:min(len(got), at+64)], at, want[at:min(len(want), at+64)])
		}
		return bytes.Equal(got, want)
	}
	allRight := func(f *Fault) bool {
		for size := 1; size <= most; size++ {
			if !right(size, f) {
				return false
			}
		}
		return true
	}
	if !allRight(nil) {
		return
	}
	for _, size := range longer {
		right(size, nil)
	}
	seed := fnv.New64()
	seed.Write([]byte(t.Name())) // other faults for each kernel
	rng := rand.New(rand.NewPCG(seed.Sum64(), uint64(most)))
	for range 3 {
		f := &Fault{size: 1 + rng.IntN(most), at: rng.Uint64()}
		if allRight(f) {
			t.Errorf("a function that is wrong for %d of 1 to %d passes", f.size, most)
		}
	}
}

// Bytes returns the memory of a slice.
func Bytes[T any](s []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(*new(T))))
}

// LongSizes returns sizes beyond those that [Sizes] has all of, in order: next to powers of two, from one up to
// another, and some at random beyond.
func LongSizes(rng *rand.ChaCha8, from, most int) (sizes []int) {
	for power := 1 << bits.Len(uint(from-1)); power <= most; power *= 2 {
		sizes = append(sizes, power-1, power, power+1)
	}
	for range 2 {
		sizes = append(sizes, most+rand.New(rng).IntN(most))
	}
	slices.Sort(sizes)
	return sizes
}
