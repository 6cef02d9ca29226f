// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Command uhash generates nh_amd64.s, the kernels of UHASH, RFC 4418 section 5, for
// AVX-512 and AVX2. There are files for each layer: nh.go, poly.go and poly128.go, and l3.go. blocks.go is
// L1 of whole blocks, add.go, rest.go and tail.go are L1 of a part of a block, kdf.go is for the
// L1 key, and batch.go and pad.go are for the messages and nonces of a batch.
//
// Most kernels have code for two iterations and for four, and begin with a jump to the one
// that its key needs: UMAC-32 takes the time of UMAC-64, and UMAC-96 that of UMAC-128. They
// read nothing outside their key, their state and the bytes that they are given, and do not
// branch on a secret. Go code calls functions that only choose a kernel, see choose.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/gotypes"
	"github.com/mmcloughlin/avo/ir"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"example.com/fastmac/internal/asm/output"
)

const (
	maxIterations = 4
	blockSize     = 1024
	groupSize     = 32
	halfSize      = groupSize / 2
	wordsSize     = 8 * maxIterations // an l1Words
)

func main() {
	Package("example.com/fastmac")
	ConstraintExpr("!purego")
	nhConstants()
	tailConstants()
	polyConstants()
	l3Constants()
	kdfConstants()
	for _, v := range []isa{avx512{}, avx2{}} {
		nhPoly(v)
		nhBlocks(v)
	}
	for _, v := range []isa{avx512{}, avx2{}} {
		nhAdd(v)
	}
	fill512()
	fill2()
	for _, v := range []isa{avx512{}, avx2{}} {
		tagOnly(v)
		tagNext(v)
		tagTwo(v)
		tagWords(v)
	}
	batchConstants()
	padConstants()
	tagEach512()
	padEachVAES256()
	padEachVAES()
	deriveL1AESNI()
	deriveL1VAES256()
	deriveL1VAES()
	for _, v := range []isa{avx512{}, avx2{}} {
		nhPoly128(v)
		nhNext(v)
	}
	// These jump, and use no vectors.
	keeps := []string{"nhPoly", "nhBlocks", "nhAdd", "nhNext", "fill", "tagOnly", "tagNext", "tagTwo", "tagWords"}
	for _, name := range keeps {
		choose(name)
	}
	// In these kernels wiping would take up to 4 % of the time of a short message, and 3 to 5 % of those
	// of 256 to 1,024 bytes.
	keeps = append(keeps, "nhAddAVX512", "nhAddAVX2", "fillAVX512", "fillAVX2", "tagOnlyAVX512", "tagOnlyAVX2",
		"tagWordsAVX512", "tagWordsAVX2")
	output.Generate(keeps...)
}

// kernel begins a function and generates its body for n iterations: four and two. The one
// for the fewest iterations that are enough for k.n runs.
func kernel(name string, body func(n int, k gotypes.Component)) {
	Implement(name)
	Pragma("noescape")
	k := Dereference(Param("k"))
	two := label("two")
	CMPQ(field(k.Field("n")), Imm(2))
	JLE(LabelRef(two))
	Comment("Four iterations.")
	body(4, k)
	Comment("Two iterations.")
	Label(two)
	body(2, k)
}

// choose generates the function that Go code calls: it jumps to the kernel in use, or to the
// portable function. Internal/assurance/verify checks that it does nothing else.
func choose(name string) {
	Implement(name)
	Pragma("noescape")
	jump := func(end string) {
		to := NewDataAddr(Symbol{Name: "·" + name + end}, 0)
		Instruction(&ir.Instruction{Opcode: "JMP", Operands: []Op{to}, IsTerminal: true})
	}
	use := func(flag string, v isa) {
		next := label("next")
		CMPB(NewDataAddr(Symbol{Name: "·" + flag}, 0), Imm(0))
		JEQ(LabelRef(next))
		jump(v.name())
		Label(next)
	}
	if l, ok := long[name]; ok {
		if l.above+1 < 4*groupSize {
			panic("hashLong takes four groups or more")
		}
		more := label("long")
		CMPQ(field(Param(l.parameter).Len()), I32(l.above))
		JHI(LabelRef(more))
		use("useAVX2", avx2{})
		jump("Generic")
		Label(more)
	}
	switch name {
	case "nhNext", "nhPoly", "tagTwo": // see kernels_amd64.go
		use("useLongAVX512", avx512{})
	default:
		use("useAVX512", avx512{})
	}
	use("useAVX2", avx2{})
	jump("Generic")
}

// long has the functions whose kernels for AVX-512 are only for more than so many bytes of a parameter.
// With fewer these gain nothing, or lose up to 20 %. Intel's first
// CPUs with AVX-512 lose more: their clock is lower for some time after a 512-bit register was used.
var long = map[string]struct {
	parameter string
	above     int32
}{
	"nhAdd":   {"p", 7 * groupSize},
	"tagOnly": {"rest", 8 * groupSize},
	"tagNext": {"rest", 16 * groupSize},
}

// An isa is a vector width.
type isa interface {
	name() string
	groups() int // in a chunk, whose low or high halves fill one vector
	vec() VecVirtual
	zero(v VecVirtual)
	// load splits the chunk at p into its low and high halves.
	load(p Mem, a, b VecVirtual)
	// fold adds all 128-bit lanes of v into its lowest one.
	fold(v VecVirtual)
	// store stores the lowest 128 bits of v.
	store(v VecVirtual, p Mem)
	// move is a load or a store.
	move(from, to Op)
}

type avx512 struct{}

func (avx512) name() string    { return "AVX512" }
func (avx512) groups() int     { return 4 }
func (avx512) vec() VecVirtual { return ZMM() }

func (avx512) zero(v VecVirtual) { VPXORQ(v, v, v) }

func (avx512) load(p Mem, a, b VecVirtual) {
	w := ZMM()
	VMOVDQU64(p, a)
	VMOVDQU64(p.Offset(64), w)
	split512(w, a, a, b)
}

func (v avx512) store(w VecVirtual, p Mem) { v.move(w.AsX(), p) }

func (avx512) move(from, to Op) { VMOVDQU64(from, to) }

// split512 sets a to the low and b to the high halves of groups 0 and 1, in v, and 2
// and 3, in w.
func split512(w Op, v, a, b VecVirtual) {
	VSHUFI64X2(U8(0xdd), w, v, b) // 128-bit lanes 1 and 3 of both
	VSHUFI64X2(U8(0x88), w, v, a) // lanes 0 and 2
}

// Only the first step needs 512 bits. VEXTRACTI128 reaches only 16 registers.
func (avx512) fold(v VecVirtual) {
	t := YMM()
	VEXTRACTI64X4(U8(1), v.AsZ(), t)
	VPADDQ(t, v.AsY(), v.AsY())
	VEXTRACTI64X2(U8(1), v.AsY(), t.AsX())
	VPADDQ(t.AsX(), v.AsX(), v.AsX())
}

type avx2 struct{}

func (avx2) name() string    { return "AVX2" }
func (avx2) groups() int     { return 2 }
func (avx2) vec() VecVirtual { return YMM() }

func (avx2) zero(v VecVirtual) { VPXOR(v, v, v) }

func (avx2) load(p Mem, a, b VecVirtual) {
	// The halves between the first and the last one, which is blended with these: on
	// Intel's CPUs VPERM2I128 has one port.
	VMOVDQU(p.Offset(16), b)
	VPBLENDD(U8(0x0f), p, b, a)
	VPBLENDD(U8(0xf0), p.Offset(32), b, b)
}

func (v avx2) store(w VecVirtual, p Mem) { v.move(w.AsX(), p) }

func (avx2) move(from, to Op) { VMOVDQU(from, to) }

func (avx2) fold(v VecVirtual) {
	x := XMM()
	VEXTRACTI128(U8(1), v.AsY(), x)
	VPADDQ(v.AsX(), x, v.AsX())
}

var labels int

// label returns a new label; avo wants them to be unique in a file.
func label(name string) string {
	labels++
	return fmt.Sprintf("%s%d", name, labels)
}

// field returns the address of a component.
func field(c gotypes.Component) Mem {
	b, err := c.Resolve()
	if err != nil {
		panic(err)
	}
	return b.Addr
}
