// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac

import (
	"unsafe"

	"example.com/fastmac/internal/wipe"
)

//go:generate go run -C internal/asm ./uhash -out ../../nh_amd64.s
//go:generate go run -C internal/asm ./neon -out ../../nh_arm64.s

// This file is UHASH, RFC 4418 section 5.1: it composes L1 (nh.go), L2 (poly.go) and
// L3 (l3.go), and is the only caller of their kernels, except for umac.go, batches and parallel.go.
// Some kernels fuse layers: nhPoly runs L1 and L2 over many blocks, and the kernels whose
// names begin with tag go from the last bytes of a message, or all of up to two blocks, to
// its tag.

// uhashKey is the key of UHASH for n iterations, and all that a kernel knows of a
// UMACKey. What a short message needs comes first, and few vectors of l1 cross a cache line: see
// TestKeyLine.
type uhashKey struct {
	n      int
	l3     l3Key
	l1     l1Key
	l2     [maxIterations]l2Key
	l3High l3Words // k_1 to k_4
}

// noGroups is a block without any groups so far. It is shared and never written to:
// one on the stack would have to be zeroed, and loads of it would wait for that.
var noGroups l1State

// tagLong sets tag to UHASH of a message of more than one block, xor the pad.
func (k *uhashKey) tagLong(tag *[maxUMACTagSize]byte, msg []byte, x pad) {
	if len(msg) <= 2*l1Block {
		tagTwo(tag, k, msg, x)
		return
	}
	if !hasNH() {
		wipe.ReserveFrames()
	}
	var l2 l2State
	whole := len(msg) &^ (l1Block - 1)
	k.writeBlocks(&l2, msg[:whole])
	k.tagLast(tag, &l2, &noGroups, msg[whole:], uint64(len(msg)-whole), x)
	l2.y = [maxIterations]uint128{}
}

// uhash is UHASH of one message that arrives in parts.
//
// The last block stays in l1 and group until another byte follows, because a
// message of one block does not pass through L2. The blocks before it are in l2.
type uhash struct {
	l1    l1State
	n     int           // bytes in group
	group [l1Group]byte // the last bytes, at most a group, zero-padded
	l2    l2State
}

// reset makes u the hash of the empty message, with zeros in the place of the last one. Without
// words l2 has only zeros.
func (u *uhash) reset() {
	u.l1.sums, u.l1.bytes, u.n = l1Words{}, 0, 0
	u.group = [l1Group]byte{}
	if u.l2.words > 0 {
		u.l2 = l2State{}
	}
}

// clear overwrites u, except for numbers of bytes and words, on which a call of write that is running in
// another goroutine goes on to rely.
func (u *uhash) clear() {
	u.l1.sums, u.group, u.l2.y, u.l2.pending = l1Words{}, [l1Group]byte{}, [maxIterations]uint128{}, l1Words{}
}

// write adds p to the message. It hashes whole groups in place.
func (u *uhash) write(k *uhashKey, p []byte) {
	if u.n > 0 {
		n := copy(u.group[u.n:], p)
		u.n += n
		p = p[n:]
		if len(p) == 0 {
			return
		}
		u.endGroup(k)
	}
	for len(p) >= l1Group {
		// At most 1 GiB, so that the sum does not overflow where an int has 32 bits.
		n := min(len(p), 1<<30) &^ (l1Group - 1)
		switch bytes := u.l1.bytes + n; {
		case bytes < l1Block || bytes == l1Block && n == len(p) && u.l2.words == 0:
			nhAdd(&u.l1, k, p[:n])
		case bytes < 2*l1Block && u.l2.isPoly64():
			u.nextBlock(k, p)
			return
		case bytes > l1Block && u.l1.bytes > 0 && u.l2.isPoly64():
			n = max(l1Block-u.l1.bytes, l1Group)
			u.nextBlock(k, p[:n])
		case u.l1.bytes == 0:
			n &^= l1Block - 1
			k.writeBlocks(&u.l2, p[:n])
		default:
			if n = l1Block - u.l1.bytes; n > 0 {
				nhAdd(&u.l1, k, p[:n])
			}
			u.endBlock(k)
		}
		p = p[n:]
	}
	if len(p) > 0 {
		fill(&u.group, p)
		u.n = len(p)
	}
}

// hold is write for half a group or a whole one, when group is empty, and reports whether it
// was that. It takes fewer instructions than a kernel.
func (u *uhash) hold(p []byte) bool {
	if u.n > 0 {
		return false
	}
	switch len(p) {
	case l1Group / 2:
		u.group = [l1Group]byte{}
		*(*[l1Group / 2]byte)(u.group[:]) = [l1Group / 2]byte(p)
	case l1Group:
		u.group = [l1Group]byte(p)
	default:
		return false
	}
	u.n = len(p)
	return true
}

// nextBlock is write for at least a group that fills the block, and less than a block more, if
// l2.isPoly64 and group is empty.
func (u *uhash) nextBlock(k *uhashKey, p []byte) {
	u.l2.begin()
	nhNext(&u.l2.y, &u.l1, &u.group, k, p)
	u.l2.words++
	u.n = len(p) % l1Group
}

// isPoly64 reports whether POLY-64 takes the next word.
func (s *l2State) isPoly64() bool { return s.words < poly64Words }

// endGroup moves the full group to l1.
func (u *uhash) endGroup(k *uhashKey) {
	if u.l1.bytes == l1Block {
		u.endBlock(k)
	}
	nhAdd(&u.l1, k, u.group[:])
	u.n = 0
}

// endBlock moves the full block from l1 to l2.
func (u *uhash) endBlock(k *uhashKey) {
	u.l1.sums.addLength(l1Block)
	k.writeWords(&u.l2, &u.l1.sums)
	u.l1.sums, u.l1.bytes = l1Words{}, 0
}

// end moves a block that is full, and not the last one, from l1 to l2. Nothing else is left to do
// before a tag.
func (u *uhash) end(k *uhashKey) {
	if u.n > 0 && u.l1.bytes == l1Block {
		u.endBlock(k)
	}
}

// rest returns what is in group, zero-padded.
func (u *uhash) rest() []byte {
	if u.n == 0 {
		return nil
	}
	return u.group[:]
}

// length returns the number of bytes in l1 and group.
func (u *uhash) length() uint64 { return uint64(u.l1.bytes + u.n) }

// writeBlocks adds whole blocks, at least one, of a message longer than a block to l2.
func (k *uhashKey) writeBlocks(l2 *l2State, p []byte) {
	l2.begin()
	for l2.words < poly64Words && len(p) > 0 {
		// A goroutine cannot be preempted in assembly. A run of 1024 blocks takes about
		// 25 microseconds with UMAC-64 and 45 with UMAC-128.
		n := min(uint64(len(p)/l1Block), poly64Words-l2.words, 1024)
		nhPoly(&l2.y, k, p[:n*l1Block])
		l2.words += n
		p = p[n*l1Block:]
	}
	if len(p) > 0 {
		k.writeBlocks128(l2, p)
	}
}

// writeWords adds the L1 words of a block to l2.
func (k *uhashKey) writeWords(l2 *l2State, words *l1Words) {
	blocks := unsafe.Slice(words, 1)
	if l2.words < poly64Words {
		l2.write(k.l2[:k.n], blocks)
		return
	}
	wipe.ReserveFrames()
	l2.write(k.l2[:k.n], blocks)
	wipe.Stack()
}

// The compiled code of POLY-128 stores its keys in stack frames. So its callers overwrite
// these frames.

// writeBlocks128 is writeBlocks after the words of POLY-64.
func (k *uhashKey) writeBlocks128(l2 *l2State, p []byte) {
	wipe.ReserveFrames()
	k.writeBlocks128OnStack(l2, p)
	wipe.Stack()
}

//go:noinline
func (k *uhashKey) writeBlocks128OnStack(l2 *l2State, p []byte) {
	if l2.words%2 == 1 || len(p) < 2*l1Block {
		p = k.writeBlock128(l2, p)
	}
	for len(p) >= 2*l1Block {
		n := min(len(p)/(2*l1Block), 512) // as many blocks as in writeBlocks
		l2.begin128(k.l2[:k.n])
		nhPoly128(&l2.y, k, p[:n*2*l1Block])
		l2.words += uint64(2 * n)
		p = p[n*2*l1Block:]
	}
	if len(p) > 0 {
		k.writeBlock128(l2, p)
	}
}

// poly128Blocks is nhPoly128 in compiled code, after NH of some blocks at a time.
func poly128Blocks(y *[maxIterations]uint128, k *uhashKey, p []byte) {
	var words [16]l1Words
	for len(p) > 0 {
		n := min(len(p)/l1Block, len(words))
		nhBlocks(words[:n], k, p[:n*l1Block])
		poly128Pairs(y, k.l2[:k.n], words[:n])
		p = p[n*l1Block:]
	}
}

// writeBlock128 adds the first block of p to l2, and returns what follows it.
func (k *uhashKey) writeBlock128(l2 *l2State, p []byte) []byte {
	var words l1Words
	nhBlocks(unsafe.Slice(&words, 1), k, p[:l1Block])
	l2.write(k.l2[:k.n], unsafe.Slice(&words, 1))
	return p[l1Block:]
}

// tagLast sets tag to the hash, xor the pad, of a message of more than one block.
// l1, rest and length are as for tagOnly; if length is 0, l2 has the whole message.
func (k *uhashKey) tagLast(tag *[maxUMACTagSize]byte, l2 *l2State, l1 *l1State, rest []byte, length uint64, x pad) {
	switch {
	case length > 0 && l2.words < poly64Words:
		tagNext(tag, k, &l2.y, l1, rest, length, x)
	case length == 0 && l2.words <= poly64Words:
		var words l1Words
		l2.sum64(words[:k.n])
		tagWords(tag, k, &words, x)
	default:
		k.tagLast128(tag, l2, l1, rest, length, x)
	}
}

// tagLast128 is tagLast for more words than POLY-64 has. l2 does not change.
func (k *uhashKey) tagLast128(tag *[maxUMACTagSize]byte, l2 *l2State, l1 *l1State, rest []byte, length uint64, x pad) {
	wipe.ReserveFrames()
	k.tagLast128OnStack(tag, l2, l1, rest, length, x)
	wipe.Stack()
}

//go:noinline
func (k *uhashKey) tagLast128OnStack(tag *[maxUMACTagSize]byte, l2 *l2State, l1 *l1State, rest []byte, length uint64, x pad) {
	end := *l2
	if length > 0 {
		var words l1Words
		lastWordsGeneric(&words, k, l1, rest, length)
		end.write(k.l2[:k.n], unsafe.Slice(&words, 1))
	}
	var h [maxIterations]uint32
	for i := range h[:k.n] {
		h[i] = k.l3Long(i, end.sum128(i, &k.l2[i]))
	}
	x.xor(tag, &h, k.n)
}
