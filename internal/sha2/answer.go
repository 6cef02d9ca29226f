// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sha2

import (
	"unsafe"

	"example.com/fastmac/internal/kernel"
)

func init() {
	kernel.AddAnswer(kernel.SHA256, func() bool { return answering256.answer(&Initial256) == wantAnswer256 })
	kernel.AddAnswer(kernel.SHA512, func() bool { return answering512.answer(&Initial512) == wantAnswer512 })
}

// What crypto/sha256 and crypto/sha512 compute: see TestAnswers of package kernel.
const (
	wantAnswer256 = 0x4d6b52e06116f4c9
	wantAnswer512 = 0x66339d93d077594a
)

// Choose puts the best implementation into use, unless that has been done: see [kernel.Choose]. The
// functions of this package that have no key do not call it.
func Choose[W Word]() {
	if wordSize[W]() == 4 {
		kernel.Choose(kernel.SHA256)
	} else {
		kernel.Choose(kernel.SHA512)
	}
}

// answering is what an answer is computed with. On the stack it would take longer: the stack would have to
// grow.
type answering[W Word] struct {
	key        Key[W]
	lanes      Lanes[W]
	iterations [MaxLanes]Iteration[W]
	data       [6 * BlockSize512]byte
}

var (
	answering256 answering[uint32]
	answering512 answering[uint64]
)

// answer returns a checksum of what the implementation in use makes of messages whose ends have all
// forms, one at a time and in lanes, and of iterations. It returns 0 if pairs of messages have other hashes.
func (s *answering[W]) answer(initial *State[W]) (a kernel.Answer) {
	key, data, size := &s.key, s.data[:], BlockSize[W]()
	kernel.FillAnswer(data)
	key.Init(initial, Size[W](), data[:size-3])
	addState(&a, &key.Inner)
	addState(&a, &key.Outer)

	var before, last, one, two State[W]
	for n := 0; n <= 2*size; n += 5*wordSize[W]() + 1 {
		message := Message[W]{Out: last.bytes(), State: &key.Inner, Outer: &key.Outer, N: uint64(size), P: data[:n]}
		Sum(message.Out, message.State, message.Outer, message.N, message.P)
		addState(&a, &last)
		if HasPairs[W]() && n > 0 {
			pair := [2]Message[W]{message, message}
			now, then := n%2, 1-n%2
			pair[now].Out = one.bytes()
			pair[then].Out, pair[then].P = two.bytes(), data[:n-5*wordSize[W]()-1]
			if SumPair(&pair); one != last || two != before {
				return 0
			}
		}
		before = last
	}
	Sum(last.bytes()[:28], &key.Inner, &key.Outer, uint64(size), data[:3*size+5])
	addState(&a, &last)
	s.answerLanes(&a)
	s.answerIterations(&a)
	return a
}

// bytes returns the memory of s.
func (s *State[W]) bytes() []byte { return unsafe.Slice((*byte)(unsafe.Pointer(s)), Size[W]()) }

func addState[W Word](a *kernel.Answer, s *State[W]) { a.AddBytes(s.bytes()) }

// answerLanes adds what as many messages as fit into a row give in lanes, however many the kernel has.
func (s *answering[W]) answerLanes(a *kernel.Answer) {
	all := &s.lanes
	all.SetInitial(&s.key.Outer)
	var answers [MaxLanes]kernel.Answer // of each message
	messages := rowSize / wordSize[W]()
	lanes, _ := LaneCount[W]()
	each := lanes
	if lanes == 0 {
		each = messages
	}
	block := func(p *[MaxLanes][]byte, initial, outer LaneSet) {
		if lanes > 0 {
			all.Block(p, initial, outer)
		} else {
			all.blockEach(p, len(p[0])/BlockSize[W](), initial, outer)
		}
	}
	for first := 0; first < messages; first += each {
		var two, one [MaxLanes][]byte
		var initial, outer LaneSet
		for l := range each {
			all.Begin(l, &s.key.Inner, &s.key.Outer)
			two[l] = s.data[37*(first+l):][:2*BlockSize[W]()] // not a whole number of words, or else rows and columns would be alike
			one[l] = two[l][:BlockSize[W]()]
			initial |= LaneSet((first+l)>>1&1) << l
			outer |= LaneSet((first+l)&1) << l
		}
		block(&two, initial, 0)
		block(&one, 0, 1<<each-1)
		block(&one, 0, outer)
		for l := range each {
			answers[first+l].AddBytes(all.Hash(l))
		}
		block(&one, 0, AllHashes)
		var state State[W]
		for l := range each {
			all.get(l, &state)
			addState(&answers[first+l], &state)
			answers[first+l].AddBytes(all.Hash(l))
		}
	}
	for _, answer := range answers[:messages] {
		a.Add(uint64(answer))
	}
}

// answerIterations adds what one iteration, two, and as many as fit into a row give.
func (s *answering[W]) answerIterations(a *kernel.Answer) {
	its := s.iterations[:rowSize/wordSize[W]()]
	for i := range its {
		its[i] = Iteration[W]{s.key, s.key.Outer, s.key.Inner}
		its[i].U[0] += W(i)
		its[i].Key.Outer[7] += W(i)
	}
	for n := 1; n <= 8/wordSize[W](); n++ { // there are pairs for 32-bit words
		Iterate(its[:n], Size[W](), 2)
	}
	Iterate(its, Size[W](), 2)
	for i := range its {
		addState(a, &its[i].U)
		addState(a, &its[i].T)
	}
}
