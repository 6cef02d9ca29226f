// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sha2

import "unsafe"

func pair256SHA(state, other *[8]uint32, p, q *byte, blocks int, k *[64]uint32, end *[2]end256) {
	if end == nil {
		end = new([2]end256) // not read
	}
	block256AVX2(state, p, blocks, k, &end[0])
	block256AVX2(other, q, blocks, k, &end[1])
}

func iteratePair256SHA(its *[2]iteration256, n int, k *[64]uint32) {
	iterate256AVX2(&its[0], n, k)
	iterate256AVX2(&its[1], n, k)
}

func lanes256AVX512(state *lanes256, p *[MaxLanes]*byte, blocks int, _ *[64]uint32, initial, outer uint64) {
	eachLane(state, p, blocks, initial, outer)
}

func lanes512AVX512(state *lanes512, p *[MaxLanes]*byte, blocks int, _ *[80]uint64, initial, outer uint64) {
	eachLane(state, p, blocks, initial, outer)
}

func eachLane[W Word](state *Lanes[W], p *[MaxLanes]*byte, blocks int, initial, outer uint64) {
	var runs [MaxLanes][]byte
	for l := range rowSize / wordSize[W]() {
		runs[l] = unsafe.Slice(p[l], blocks*BlockSize[W]())
	}
	state.blockEach(&runs, blocks, LaneSet(initial), LaneSet(outer))
}

func iterateLanes256AVX512(its *iterations256, n int, _ *[64]uint32) { eachStep(its, n) }
func iterateLanes512AVX512(its *iterations512, n int, _ *[80]uint64) { eachStep(its, n) }

func eachStep[W Word](s *iterations[W], n int) {
	for l := range rowSize / wordSize[W]() {
		var it Iteration[W]
		for i := range it.U {
			it.Key.Inner[i], it.Key.Outer[i] = *at[W](&s.inner[i], l), *at[W](&s.outer[i], l)
			it.U[i], it.T[i] = *at[W](&s.u[i], l), *at[W](&s.t[i], l)
		}
		it.steps(Size[W](), n)
		for i := range it.U {
			*at[W](&s.u[i], l), *at[W](&s.t[i], l) = it.U[i], it.T[i]
		}
	}
}
