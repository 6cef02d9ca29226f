// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package proofs

import (
	"fmt"
	"slices"
	"strings"

	"example.com/fastmac/internal/assurance/algebra"
	"example.com/fastmac/internal/assurance/formula"
	"example.com/fastmac/internal/assurance/program"
	"example.com/fastmac/internal/assurance/x86"
)

// A prover executes kernels with formulas for all that is secret. Sizes and addresses are
// numbers.
type prover struct {
	*formula.Formulas
	program  *program.Program
	function *x86.Function
	next     uint64 // where the next memory is placed
	count    int    // of variables
	results  uint64 // address of the words after the arguments of the last call

	step, seen int   // of so many sizes, one is proved; the number of sizes
	only       []int // if not nil, the numbers of the sizes that are proved, in order

	executed map[*x86.Instruction]bool
	at       map[*x86.Instruction][]int                          // if not nil, the sizes for which it is executed, in order
	before   func(m *x86.Machine[formula.Word, formula.Symbols]) // what call calls before the kernel, or nil

	g *formula.Algebraist // for proofs of GCM
}

// limitNodes is where a prover forgets all formulas.
const limitNodes = 1 << 16

func NewProver(p *program.Program, f *x86.Function, step int) *prover {
	return &prover{Formulas: formula.NewFormulas(p.At), program: p, function: f, next: 1 << 40, step: step, executed: make(map[*x86.Instruction]bool)}
}

// skips reports whether the next size is not proved. Those that are have no pattern.
func (v *prover) skips() bool {
	v.seen++
	if v.only != nil {
		_, found := slices.BinarySearch(v.only, v.seen)
		return !found
	}
	return uint64(v.seen)*0x9e3779b97f4a7c15>>32%uint64(v.step) != 0
}

// Reset removes the memory. Formulas stay, as long as they are not too many.
func (v *prover) Reset() {
	v.Memory, v.next, v.count = nil, 1<<40, 0
	if len(v.Nodes) > limitNodes {
		rounds := v.WholeRounds
		v.Formulas = formula.NewFormulas(v.program.At)
		v.WholeRounds = rounds
	}
}

// Variable is a new variable of n bits, which is at most max.
func (v *prover) Variable(n int, max uint64) formula.Word {
	v.count++
	return v.Formulas.Variable(n, v.count, max)
}

// place makes memory of words of n bits and returns its address.
func (v *prover) place(n int, readOnly bool, words ...formula.Word) uint64 {
	r := formula.SymbolicRegion{Base: v.next, ReadOnly: readOnly}
	for _, w := range words {
		r.Bytes = append(r.Bytes, v.Bytes(w, n)...)
	}
	v.Memory = append(v.Memory, r)
	v.next += uint64(len(r.Bytes)+1<<12) &^ 63
	return r.Base
}

// variables returns new variables of n bits.
func (v *prover) variables(n, count int, max uint64) []formula.Word {
	words := make([]formula.Word, count)
	for k := range words {
		words[k] = v.Variable(n, max)
	}
	return words
}

// numbers returns constants of 64 bits.
func (v *prover) numbers(x ...uint64) (words []formula.Word) {
	for _, x := range x {
		words = append(words, v.Constant(64, x))
	}
	return words
}

// result returns memory as words of n bits.
func (v *prover) result(address uint64, n, count int) (words []formula.Word) {
	for k := range count {
		at := v.Constant(64, address+uint64(k*n/8))
		words = append(words, v.FromBytes(v.Find(at, n/8, false)))
	}
	return words
}

// call executes the kernel with words as arguments, after which there is room for results. The
// kernel must leave only zeros in its frame, besides the saved frame pointer.
func (v *prover) call(arguments ...formula.Word) (err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case algebra.Unprovable:
			err = fmt.Errorf("%s: %s", v.function.Name, string(r))
		default:
			panic(r)
		}
	}()
	unknown := v.variables(64, x86.FrameLimit/8+1, 1<<64-1) // the frame and the address to return to
	base := v.place(64, false, slices.Concat(unknown, arguments, v.numbers(0, 0))...)
	v.results = base + x86.FrameLimit + x86.ArgumentBase + uint64(8*len(arguments))
	m := &x86.Machine[formula.Word, formula.Symbols]{Algebra: v.Formulas, Thread: v.Constant(64, v.place(64, true, v.numbers(0, 0, 0, 0)...))}
	for k := range m.General {
		m.General[k] = v.Variable(64, 1<<64-1)
	}
	for k := range m.Vectors {
		for lane := range 8 {
			v.SetLane(&m.Vectors[k], 64, lane, v.Variable(64, 1<<64-1))
		}
	}
	m.General[x86.RSP] = v.Constant(64, base+x86.FrameLimit)
	if v.before != nil {
		v.before(m)
	}
	below := v.Find(v.Constant(64, base), x86.FrameLimit+8, false)
	before, stack, frame := slices.Clone(below), m.General[x86.RSP], m.General[x86.RBP]
	if err := m.Run(v.function, func(w formula.Word) bool { return v.MustValue(w, "a branch") == 1 }, v.executes); err != nil {
		return err
	}
	if m.General[x86.RSP] != stack || m.General[x86.RBP] != frame || !slices.Equal(below[x86.FrameLimit:], before[x86.FrameLimit:]) {
		return fmt.Errorf("%s: RSP, the frame pointer in RBP or the address to return to is not what it was", v.function.Name)
	}
	for k := 0; k < x86.FrameLimit; k += 8 {
		if slices.Equal(below[k:k+8], before[k:k+8]) {
			continue
		}
		if w := v.FromBytes(below[k : k+8]); w != v.Constant(64, 0) && w != frame {
			return fmt.Errorf("%s: in the frame, at RSP-%#x, is %s", v.function.Name, x86.FrameLimit-k, v.String(w, 4))
		}
	}
	return nil
}

// executes records that an instruction is executed.
func (v *prover) executes(i *x86.Instruction) {
	v.executed[i] = true
	if at := v.at[i]; v.at != nil && (len(at) == 0 || at[len(at)-1] != v.seen) {
		v.at[i] = append(at, v.seen)
	}
}

// equalWords returns an error at the first word that differs from what it must be.
func (v *prover) equalWords(got, want []formula.Word, format string, a ...any) error {
	for k := range want {
		if got[k] != want[k] {
			return fmt.Errorf("%s, %s: word %d is %s, want %s", v.function.Name, fmt.Sprintf(format, a...), k,
				v.String(got[k], 4), v.String(want[k], 4))
		}
	}
	return nil
}

// A proof is for functions whose names begin with kernels. It returns for how many sizes it is.
type proof struct {
	kernels, what string
	prove         func(v *prover) (cases int, err error)
}

var proofs = []proof{
	{"nhAdd", "NH of each run of groups in a block", proveAdd},
	{"nhBlocks", "NH of 1, 2, 3 and 34 blocks", proveBlocks},
	{"nhPoly", "NH and POLY-64 of 1, 2, 3 and 34 blocks", provePoly},
	{"fill", "zero padding of 0 to 31 bytes", proveFill},
	{"tagWords", "L3 and the xor with the pad", proveWords},
	{"tagOnly", "NH, L3 and the xor with the pad, 0 to 1024 bytes", proveOnly},
	{"tagNext", "NH, POLY-64, L3 and the xor with the pad, 0 to 1024 bytes after other blocks", proveNext},
	{"tagTwo", "NH, POLY-64, L3 and the xor with the pad, 1025 to 2048 bytes", proveTwo},
	{"tagEach", "NH, L3 and the xor with the pad, one message of 0 to 1024 bytes, and up to nine", proveEach},
	{"expandKey", "AES key schedule", proveExpand},
	{"encryptBlocks", "AES of 1 to 17 blocks, for each key size", proveEncrypt},
	{"encryptWords", "AES of a block and the choice of its bytes, for each key size", proveEncryptWords},
	{"stretch", "key schedule and counter mode of 512, 1024, 1536 and 2048 bytes", proveStretch},
	{"deriveL1", "KDF of the L1 key, for each key size", proveDerive},
	{"padEach", "PDF of up to eight nonces of 1 to 16 bytes, for each size of the key and the tag", provePads},
	{"initKey", "powers of the hash subkey, for each key size", proveInitKey},
	{"hash", "GHASH of 0 to 19 groups of 128 bytes", proveHash},
	{"gmac", "GMAC of 0 to 400 bytes, and sizes up to 2048, each with one size of the key", proveCrypt},
	{"seal", "GCM of 1 to 400 bytes, and sizes up to 2048, of text, and of no or more additional data, each with one size of the key", proveCrypt},
	{"open", "GCM of 1 to 400 bytes, and sizes up to 2048, of text, and of no or more additional data, each with one size of the key", proveCrypt},
	{"block", "compression of 1 to 3 blocks", proveBlock},
	{"block", "last block of 0 to 15 words, with an outer hash or without", proveEnd},
	{"lanes", "compression of 1 to 3 blocks in each lane", proveLanes},
}

// proofsOf returns the proofs of a function.
func proofsOf(f *x86.Function) []proof {
	return slices.DeleteFunc(slices.Clone(proofs), func(x proof) bool { return !strings.HasPrefix(f.Name, x.kernels) })
}
