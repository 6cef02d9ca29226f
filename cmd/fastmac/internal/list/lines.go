// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package list

import (
	"iter"
	"slices"
)

// Lines are those of a list, packed: in each block the nonce, the tag, the size and the times, which
// begin with their length, and the path of one line after the other. A slice of lines takes three times
// the memory, and more when it grows.
type Lines struct {
	nonce, tag int  // sizes
	times      bool // they are kept
	blocks     [][]byte
	starts     []lineStart
}

// A lineStart is where a line begins.
type lineStart struct{ block, at uint32 }

// The first block has room for a few lines, and the last ones for many.
const firstBlock, lastBlock = 64 << 10, 4 << 20

// Add appends a line.
func (l *Lines) Add(one Line) {
	if !l.times {
		one.Times = ""
	}
	size := len(one.Nonce) + len(one.Tag) + 1 + len(one.Times) + len(one.Path)
	last := len(l.blocks) - 1
	if last < 0 || size > cap(l.blocks[last])-len(l.blocks[last]) {
		room := min(firstBlock<<min(len(l.blocks), 20), lastBlock)
		l.blocks = append(l.blocks, make([]byte, 0, max(room, size)))
		last++
	}
	block := l.blocks[last]
	l.starts = append(l.starts, lineStart{uint32(last), uint32(len(block))})
	block = append(append(append(block, one.Nonce...), one.Tag...), byte(len(one.Times)))
	l.blocks[last] = append(append(block, one.Times...), one.Path...)
}

// Len returns how many lines there are.
func (l *Lines) Len() int { return len(l.starts) }

// At returns line i. Its nonce and its tag are those of l.
func (l *Lines) At(i int) Line {
	start := l.starts[i]
	text := l.blocks[start.block]
	if i+1 < len(l.starts) && l.starts[i+1].block == start.block {
		text = text[:l.starts[i+1].at]
	}
	text = text[start.at:]
	tags := l.nonce + l.tag
	path := tags + 1 + int(text[tags])
	return Line{slices.Clip(text[:l.nonce]), slices.Clip(text[l.nonce:tags]), string(text[path:]), string(text[tags+1 : path])}
}

// All returns the lines in order.
func (l *Lines) All() iter.Seq[Line] {
	return func(yield func(Line) bool) {
		for i := range l.Len() {
			if !yield(l.At(i)) {
				return
			}
		}
	}
}
