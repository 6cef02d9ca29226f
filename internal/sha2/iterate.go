// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sha2

import "example.com/fastmac/internal/wipe"

// An Iteration is a block of PBKDF2 under way, RFC 8018 section 5.2: the last HMAC, U, and the sum of
// all of them, T, as the words of a hash. If the hash is cut, the rest is zeros.
type Iteration[W Word] struct {
	Key  Key[W]
	U, T State[W]
}

// Start sets U and T to the HMAC of msg under the key, with a hash of size bytes.
func (it *Iteration[W]) Start(size int, msg []byte) {
	it.T = State[W]{}
	Sum(it.T.bytes()[:size], &it.Key.Inner, &it.Key.Outer, uint64(BlockSize[W]()), msg)
	it.T.decode(it.T.bytes())
	it.U = it.T
}

// Sum sets out, of at most the size of a hash, to the first bytes of T.
func (it *Iteration[W]) Sum(out []byte) {
	var b Block[W]
	it.T.encode(b.Bytes()[:Size[W]()])
	copy(out, b.Bytes())
	clear(b[:])
}

// Iterate makes n more steps of each iteration: U becomes the HMAC of U, and is added to T. The hash has
// size bytes.
func Iterate[W Word](its []Iteration[W], size, n int) {
	for len(its) > 0 {
		count, inLanes := sideBySide[W](len(its))
		switch {
		case count == 0 || size < Size[W]():
			count = 1
			wipe.ReserveStack() // steps has U in a variable, and iterateInLanes all of the iterations
			its[0].steps(size, n)
		case inLanes:
			wipe.ReserveStack()
			iterateInLanes(its[:count], n)
		default:
			for left := n; left > 0; left -= maxSteps {
				iterate(its[:count], min(left, maxSteps))
			}
		}
		its = its[count:]
	}
}

// hasSteps is [Hash.HasSteps] for a hash of size bytes. It calls chooseForIterations.
func hasSteps[W Word](size, count int) bool {
	chooseForIterations[W]()
	n, _ := sideBySide[W](count)
	return HasAssembly[W]() || n > 0 && size == Size[W]()
}

// steps is Iterate for one iteration, message by message.
func (it *Iteration[W]) steps(size, n int) {
	var b Block[W]
	it.U.encode(b.Bytes()[:Size[W]()])
	u := b.Bytes()[:size]
	for range n {
		Sum(u, &it.Key.Inner, &it.Key.Outer, uint64(BlockSize[W]()), u)
		it.U.decode(b.Bytes())
		for i := range it.U { // with a second variable it would copy U to the stack
			it.T[i] ^= it.U[i]
		}
	}
	clear(b[:])
}

// Iterations are several that are made side by side, each in a lane of all rows, as in [Lanes].
type iterations[W Word] struct {
	inner, outer           [8]row // chaining values
	u, t                   [8]row
	innerFirst, outerFirst [8]row // of the assembly for 32-bit words
}

// iterateInLanes makes n steps of at most as many iterations as there are lanes.
func iterateInLanes[W Word](its []Iteration[W], n int) {
	var s iterations[W]
	for l := range its {
		it := &its[l]
		for i := range it.U {
			*at[W](&s.inner[i], l), *at[W](&s.outer[i], l) = it.Key.Inner[i], it.Key.Outer[i]
			*at[W](&s.u[i], l), *at[W](&s.t[i], l) = it.U[i], it.T[i]
		}
	}
	for left := n; left > 0; left -= maxLaneSteps {
		iterateLanes(&s, min(left, maxLaneSteps))
	}
	for l := range its {
		it := &its[l]
		for i := range it.U {
			it.U[i], it.T[i] = *at[W](&s.u[i], l), *at[W](&s.t[i], l)
		}
	}
	s = iterations[W]{}
}
