// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"cmp"
	"slices"
)

// spreadOut moves positions apart until all are at least gap from each other,
// each as little as possible, and keeps their order.
func spreadOut(want []float64, gap float64) []float64 {
	order := make([]int, len(want))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(want[i], want[j]) })

	// A block is a run of neighbours that stand gap apart; first is where its
	// first one would like the block to be, on average over its members.
	type block struct {
		first float64
		count int
	}
	var blocks []block
	for _, i := range order {
		b := block{want[i], 1}
		for n := len(blocks); n > 0; n = len(blocks) {
			last := blocks[n-1]
			if last.first+gap*float64(last.count) <= b.first {
				break
			}
			total := last.count + b.count
			b.first = (last.first*float64(last.count) + (b.first-gap*float64(last.count))*float64(b.count)) / float64(total)
			b.count = total
			blocks = blocks[:n-1]
		}
		blocks = append(blocks, b)
	}

	at := make([]float64, len(want))
	next := 0
	for _, b := range blocks {
		for n := range b.count {
			at[order[next]] = b.first + gap*float64(n)
			next++
		}
	}
	return at
}
