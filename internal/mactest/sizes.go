// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package mactest

import (
	"hash/fnv"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
)

// A Fault is what [Sizes] plants in a function: its results are wrong for one size. A nil Fault is none.
type Fault struct {
	size int
	at   uint64 // the bit
	lane bool   // a lane takes the message of another one, if the function has lanes
}

// In changes a bit of out, the results of the function for a size, if the fault is there.
func (f *Fault) In(size int, out []byte) {
	if f != nil && f.size == size && !f.lane {
		bit := f.at % uint64(8*len(out))
		out[bit/8] ^= 1 << (bit % 8)
	}
}

// InLanes exchanges the message of a lane for that of its neighbour, if the fault is there. A function
// with lanes calls it before In.
func InLanes[T any](f *Fault, size int, messages []T) {
	if f == nil || f.size != size {
		return
	}
	if f.lane = len(messages) > 1 && f.at>>32%2 == 1; f.lane {
		i := f.at % uint64(len(messages))
		messages[i] = messages[(i+1)%uint64(len(messages))]
	}
}

// Sizes tests a function with all sizes from 1 to most, as numbers of blocks or of steps. check calls it, shows
// its results to the fault, compares them, and returns an error if they are wrong. Sizes calls check without a
// fault, and then with some at random, each of which check must find: so no size, lane or bit is left out.
func Sizes(t *testing.T, most int, check func(f *Fault) error) {
	t.Helper()
	if err := check(nil); err != nil {
		t.Error(err)
		return
	}
	seed := fnv.New64()
	seed.Write([]byte(t.Name())) // other faults for each kernel
	rng := rand.New(rand.NewPCG(seed.Sum64(), uint64(most)))
	faults := 3
	if Long() {
		faults = 20
	}
	for range faults {
		f := &Fault{size: 1 + rng.IntN(most), at: rng.Uint64()}
		if check(f) == nil {
			t.Errorf("a function that is wrong for %d of 1 to %d passes", f.size, most)
		}
	}
}

// LongSizes returns sizes beyond those that [Sizes] has all of, in order: next to powers of two, from one up to
// another, and some at random beyond.
func LongSizes(rng *rand.ChaCha8, from, most int) (sizes []int) {
	for power := 1 << bits.Len(uint(from-1)); power <= most; power *= 2 {
		sizes = append(sizes, power-1, power, power+1)
	}
	for range 4 {
		sizes = append(sizes, most+rand.New(rng).IntN(most))
	}
	slices.Sort(sizes)
	return sizes
}
