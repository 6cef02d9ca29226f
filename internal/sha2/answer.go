// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sha2

import (
	"sync"
	"unsafe"

	"example.com/fastmac/internal/kernel"
)

// Choose puts the best implementation into use, unless that has been done: see [kernel.Choose]. The
// functions of this package that have no key do not call it.
func Choose[W Word]() {
	if wordSize[W]() == 4 {
		kernel.Choose(kernel.SHA256, register256)
	} else {
		kernel.Choose(kernel.SHA512, register512)
	}
}

func right256() bool { return answering256.answer(&Initial256) == wantAnswer256 }
func right512() bool { return answering512.answer(&Initial512) == wantAnswer512 }

// chooseForBatches is Choose with the known answers of kernels that only batches need. Programs without
// batches do not have these kernels.
func chooseForBatches[W Word]() {
	if wordSize[W]() == 4 {
		batchAdded256.Do(addBatch256)
	} else {
		batchAdded512.Do(addBatch512)
	}
	Choose[W]()
}

// chooseForIterations is the same for those that only [Iterate] needs.
func chooseForIterations[W Word]() {
	if wordSize[W]() == 4 {
		iterationsAdded256.Do(addIterations256)
	} else {
		iterationsAdded512.Do(addIterations512)
	}
	Choose[W]()
}

// ChooseAll is Choose with all known answers, for both sizes of words.
func ChooseAll() {
	chooseForBatches[uint32]()
	chooseForBatches[uint64]()
	chooseForIterations[uint32]()
	chooseForIterations[uint64]()
}

var batchAdded256, batchAdded512, iterationsAdded256, iterationsAdded512 sync.Once

func addBatch256() {
	kernel.AddAnswer(kernel.SHA256, func() bool { return answeringBatch256.answer(&Initial256) == wantBatch256 })
}

func addBatch512() {
	kernel.AddAnswer(kernel.SHA512, func() bool { return answeringBatch512.answer(&Initial512) == wantBatch512 })
}

func addIterations256() {
	kernel.AddAnswer(kernel.SHA256, func() bool { return answeringIterations256.answer(&Initial256) == wantIterations256 })
}

func addIterations512() {
	kernel.AddAnswer(kernel.SHA512, func() bool { return answeringIterations512.answer(&Initial512) == wantIterations512 })
}

// What crypto/sha256 and crypto/sha512 compute: see TestAnswers of package kernel.
const (
	wantAnswer256, wantAnswer512         = 0x55f0ef69586d8d6b, 0x647a7dcfc97e78c4
	wantBatch256, wantBatch512           = 0xca86e38985063151, 0xe8be2b29de067805
	wantIterations256, wantIterations512 = 0x6b04da9378b2b04e, 0x3905587d8c29b4ce
)

// answering is what an answer is computed with, answeringBatch that of batches, and answeringIterations that of
// iterations. On the stack it would take longer: the stack would have to grow.
type (
	answering[W Word] struct {
		key  Key[W]
		data [6 * BlockSize512]byte
	}
	answeringBatch[W Word] struct {
		answering[W]
		lanes Lanes[W]
	}
	answeringIterations[W Word] struct {
		answering[W]
		iterations [MaxLanes]Iteration[W]
	}
)

var (
	answering256           answering[uint32]
	answering512           answering[uint64]
	answeringBatch256      answeringBatch[uint32]
	answeringBatch512      answeringBatch[uint64]
	answeringIterations256 answeringIterations[uint32]
	answeringIterations512 answeringIterations[uint64]
)

// begin sets the data and the key.
func (s *answering[W]) begin(initial *State[W]) {
	kernel.FillAnswer(s.data[:])
	s.key.Init(initial, Size[W](), s.data[:BlockSize[W]()-3])
}

// answer returns a checksum of a key, and of messages whose ends have all forms.
func (s *answering[W]) answer(initial *State[W]) (a kernel.Answer) {
	s.begin(initial)
	size := BlockSize[W]()
	addState(&a, &s.key.Inner)
	addState(&a, &s.key.Outer)
	var out State[W]
	for n := 0; n <= 2*size; n += endStep[W]() {
		s.sum(&out, n)
		addState(&a, &out)
	}
	Sum(out.bytes()[:28], &s.key.Inner, &s.key.Outer, uint64(size), s.data[:3*size+3*wordSize[W]()+1])
	addState(&a, &out)
	return a
}

// endStep is the difference of sizes of messages whose ends have all forms.
func endStep[W Word]() int { return 5*wordSize[W]() + 1 }

// sum sets out to the HMAC of n bytes.
func (s *answering[W]) sum(out *State[W], n int) {
	Sum(out.bytes(), &s.key.Inner, &s.key.Outer, uint64(BlockSize[W]()), s.data[:n])
}

// answer returns a checksum of messages in pairs and in lanes.
func (s *answeringBatch[W]) answer(initial *State[W]) (a kernel.Answer) {
	s.begin(initial)
	s.answerPairs(&a)
	s.answerLanes(&a)
	return a
}

// answerPairs adds the HMACs of two messages of different sizes, in pairs or each by itself.
func (s *answeringBatch[W]) answerPairs(a *kernel.Answer) {
	var out [2]State[W]
	for n := 0; n <= 2*BlockSize[W](); n += endStep[W]() {
		var pair [2]Message[W]
		for i := range pair {
			p := s.data[37*i:][:n+(n+i)%2*endStep[W]()]
			pair[i] = Message[W]{Out: out[i].bytes(), State: &s.key.Inner, Outer: &s.key.Outer, N: uint64(BlockSize[W]()), P: p}
		}
		if HasPairs[W]() {
			SumPair(&pair)
		} else {
			for i := range pair {
				m := &pair[i]
				Sum(m.Out, m.State, m.Outer, m.N, m.P)
			}
		}
		addState(a, &out[0])
		addState(a, &out[1])
	}
}

// answer returns a checksum of iterations.
func (s *answeringIterations[W]) answer(initial *State[W]) (a kernel.Answer) {
	s.begin(initial)
	s.answerIterations(&a)
	return a
}

// bytes returns the memory of s.
func (s *State[W]) bytes() []byte { return unsafe.Slice((*byte)(unsafe.Pointer(s)), Size[W]()) }

func addState[W Word](a *kernel.Answer, s *State[W]) { a.AddBytes(s.bytes()) }

// answerLanes adds what as many messages as fit into a row give in lanes, however many the kernel has.
func (s *answeringBatch[W]) answerLanes(a *kernel.Answer) {
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
func (s *answeringIterations[W]) answerIterations(a *kernel.Answer) {
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
