// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sums

import (
	"iter"
	"slices"
)

// lines are those of a list, packed: in each block the nonce, the tag, the size and the times, which
// begin with their length, and the path of one line after the other. A slice of lines takes three times
// the memory, and more when it grows.
type lines struct {
	nonce, tag int  // sizes
	times      bool // they are kept
	blocks     [][]byte
	starts     []lineStart
}

// A lineStart is where a line begins.
type lineStart struct{ block, at uint32 }

// The first block has room for a few lines, and the last ones for many.
const firstBlock, lastBlock = 64 << 10, 4 << 20

func (l *lines) add(one line) {
	if !l.times {
		one.times = ""
	}
	size := len(one.nonce) + len(one.tag) + 1 + len(one.times) + len(one.path)
	last := len(l.blocks) - 1
	if last < 0 || size > cap(l.blocks[last])-len(l.blocks[last]) {
		room := min(firstBlock<<min(len(l.blocks), 20), lastBlock)
		l.blocks = append(l.blocks, make([]byte, 0, max(room, size)))
		last++
	}
	block := l.blocks[last]
	l.starts = append(l.starts, lineStart{uint32(last), uint32(len(block))})
	block = append(append(append(block, one.nonce...), one.tag...), byte(len(one.times)))
	l.blocks[last] = append(append(block, one.times...), one.path...)
}

func (l *lines) len() int { return len(l.starts) }

// at returns line i. Its nonce and its tag are those of l.
func (l *lines) at(i int) line {
	start := l.starts[i]
	text := l.blocks[start.block]
	if i+1 < len(l.starts) && l.starts[i+1].block == start.block {
		text = text[:l.starts[i+1].at]
	}
	text = text[start.at:]
	tags := l.nonce + l.tag
	path := tags + 1 + int(text[tags])
	return line{slices.Clip(text[:l.nonce]), slices.Clip(text[l.nonce:tags]), string(text[path:]), string(text[tags+1 : path])}
}

// all returns the lines in order.
func (l *lines) all() iter.Seq[line] {
	return func(yield func(line) bool) {
		for i := range l.len() {
			if !yield(l.at(i)) {
				return
			}
		}
	}
}
