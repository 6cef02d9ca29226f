// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package list

import (
	"encoding/binary"
	"iter"
	"slices"
)

// Lines are those of a list, packed: in each block the nonce, the tag, the state and the path of one line
// after the other. A slice of lines takes three times the memory, and more when it grows.
type Lines struct {
	nonce, tag int // sizes
	blocks     [][]byte
	starts     []lineStart
}

// A lineStart is where a line begins.
type lineStart struct{ block, at uint32 }

// The first block has room for a few lines, and the last ones for many.
const firstBlock, lastBlock = 64 << 10, 4 << 20

// Add appends a line.
func (l *Lines) Add(one Line) {
	var room [maxState]byte
	state := one.State.pack(room[:0])
	size := len(one.Nonce) + len(one.Tag) + len(state) + len(one.Path)
	last := len(l.blocks) - 1
	if last < 0 || size > cap(l.blocks[last])-len(l.blocks[last]) {
		next := min(firstBlock<<min(len(l.blocks), 20), lastBlock)
		l.blocks = append(l.blocks, make([]byte, 0, max(next, size)))
		last++
	}
	block := l.blocks[last]
	l.starts = append(l.starts, lineStart{uint32(last), uint32(len(block))})
	l.blocks[last] = append(append(append(append(block, one.Nonce...), one.Tag...), state...), one.Path...)
}

// maxState is the size of a packed state at most, in bytes.
const maxState = 4 * binary.MaxVarintLen64

// pack appends a state. Most files have a ctime that is not far from their mtime.
func (s State) pack(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(s.Size))
	b = binary.AppendVarint(b, s.Mtime)
	b = binary.AppendVarint(b, s.Ctime-s.Mtime)
	return binary.AppendUvarint(b, s.Inode)
}

// unpack returns a state, and what follows it.
func unpack(b []byte) (s State, _ []byte) {
	size, n := binary.Uvarint(b)
	b = b[n:]
	mtime, n := binary.Varint(b)
	b = b[n:]
	since, n := binary.Varint(b)
	b = b[n:]
	inode, n := binary.Uvarint(b)
	return State{int64(size), mtime, mtime + since, inode}, b[n:]
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
	state, path := unpack(text[tags:])
	return Line{slices.Clip(text[:l.nonce]), slices.Clip(text[l.nonce:tags]), string(path), state}
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
