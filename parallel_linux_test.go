// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac

import (
	"encoding/binary"
	"fmt"
	"testing"

	"example.com/fastmac/internal/mactest"
)

// TestParallelStack looks for secrets on the stacks of helpers and of a caller that adds their sums, and after what
// long messages call.
func TestParallelStack(t *testing.T) {
	if !mactest.StackProcess(t, "") {
		return
	}
	var ops []mactest.StackOp
	add := func(name string, run func(k *uhashKey, p []byte, words uint64, hash *[maxUMACTagSize]byte) func()) {
		for _, words := range []uint64{chunkBlocks, poly64Words, poly64Words + chunkBlocks} {
			ops = append(ops, mactest.StackOp{Name: fmt.Sprintf("%s after %d words", name, words), Prepare: func(random func(n int) []byte) (func(), func() [][]byte) {
				k := &mactest.Must(NewUMACKey(random(16), UMAC128Size)).uhash
				hash := new([maxUMACTagSize]byte) // may remain
				return run(k, random(runBlocks*l1Block), words, hash), func() [][]byte { return [][]byte{hash[:]} }
			}})
		}
	}
	add("sum", func(k *uhashKey, p []byte, words uint64, hash *[maxUMACTagSize]byte) func() {
		s := new(chunkSum)
		return func() { k.sum(s, p, words) }
	})
	add("sum added", func(k *uhashKey, p []byte, words uint64, hash *[maxUMACTagSize]byte) func() {
		s, l2 := new(chunkSum), &l2State{words: words}
		k.sum(s, p, words)
		l2.begin()
		return func() { k.writeSum(l2, s) }
	})
	add("blocks", func(k *uhashKey, p []byte, words uint64, hash *[maxUMACTagSize]byte) func() {
		l2 := &l2State{words: words}
		return func() { k.writeBlocks(l2, p) }
	})
	add("words of a block", func(k *uhashKey, p []byte, words uint64, hash *[maxUMACTagSize]byte) func() {
		l2, block := &l2State{words: words + 2}, &l1Words{0: binary.LittleEndian.Uint64(p), 3: binary.LittleEndian.Uint64(p[8:])}
		return func() { k.writeWords(l2, block); k.writeWords(l2, block) }
	})
	add("tag", func(k *uhashKey, p []byte, words uint64, hash *[maxUMACTagSize]byte) func() {
		l2 := &l2State{words: words + 2}
		k.writeBlocks(l2, p)
		return func() { k.tagLast(hash, l2, &noGroups, p[:100], 100, pad{}) }
	})
	mactest.ForAllKernels(t, mactest.UMAC, func(t *testing.T) { mactest.CheckStack(t, ops) })
}

// TestChunkSumsWiped checks that nothing of the sums of helpers is left.
func TestChunkSumsWiped(t *testing.T) {
	k := &mactest.Must(NewUMACKey(make([]byte, 16), UMAC128Size)).uhash
	c := newChunkQueue(k, make([]byte, 3*chunkSize), &l2State{words: poly64Words}, 0)
	i, next, ok := c.take()
	if !ok {
		t.Fatal("no chunk for a helper")
	}
	if c.hash(i, next); c.sums[i] == (chunkSum{}) {
		t.Fatal("the sum of a chunk is zero")
	}
	if c.run(); c.sums[i] != (chunkSum{}) {
		t.Error("the sum of a chunk is left")
	}
}
