// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"maps"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"example.com/fastmac/internal/mactest"
)

// TestProofs proves a part of the sizes, or all of them.
func TestProofs(t *testing.T) {
	step := fewSizes
	if mactest.Long() {
		step = 1
	}
	var out strings.Builder
	if err := proveAll(&out, linkedProgram(t), step); err != nil {
		t.Error(err)
	}
	t.Log(out.String())
}

// TestUnproved checks that no function is without a proof, and no proof without a function.
func TestUnproved(t *testing.T) {
	p := linkedProgram(t)
	defer func(all []proof) { proofs = all }(proofs)
	for want, list := range map[string][]proof{
		"no function has": append([]proof{{kernels: "noSuchKernel"}}, proofs...),
		"has no proof":    proofs[1:],
	} {
		proofs = list
		if err := proveAll(io.Discard, p, fewSizes); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

// TestBrokenKernels alters an instruction of a kernel at a time. One of the kernel's proofs must
// fail, unless the altered kernel computes the same: with numbers, in all cases that are proved.
// All kernels are altered only if long tests run.
func TestBrokenKernels(t *testing.T) {
	p := linkedProgram(t)
	places := 2
	if mactest.Long() {
		places = 3
	}
	altered := make(map[string]bool)
	refused, same := make(map[string]int), make(map[string]int)
	for _, f := range p.functions {
		own := f.proofs()
		if len(own) == 0 || !mactest.Long() && !slices.Contains([]string{"nhAdd", "tagWords", "initKey"}, own[0].kernels) {
			continue
		}
		t.Run(f.name, func(t *testing.T) {
			for _, what := range slices.Sorted(maps.Keys(alterations)) {
				for k := range places {
					broken, n := f.altered(alterations[what], k*len(f.code)/places, p.executed(f))
					place := fmt.Sprint(f.name, what, n)
					if broken == nil || altered[place] {
						break
					}
					altered[place] = true
					if p.refuses(own, broken) {
						refused[what]++
					} else if err := p.sameNumbers(own, f, broken); err != nil {
						t.Errorf("%s: %s: %v: not refused: %v", f.name, what, f.code[n], err)
					} else {
						t.Logf("%s: %s: %v: the same", f.name, what, f.code[n])
						same[what]++
					}
				}
			}
		})
	}
	for _, what := range slices.Sorted(maps.Keys(alterations)) {
		t.Logf("%3d refused, %2d the same: %s", refused[what], same[what], what)
	}
}

// TestSameNumbers has kernels that do not compute the same.
func TestSameNumbers(t *testing.T) {
	p := linkedProgram(t)
	for kernel, what := range map[string]string{"tagWordsAVX2": "a lane that is dropped", "hashAESNI": "the key of another round, or another power"} {
		f := p.find(kernel)[0]
		own := f.proofs()
		broken, n := f.altered(alterations[what], len(f.code)/2, p.executed(f))
		if p.sameNumbers(own, f, f) != nil || p.sameNumbers(own, f, broken) == nil {
			t.Errorf("%s: %s: %v: not noticed", kernel, what, f.code[n])
		}
	}
}

// refuses reports whether a proof of a kernel fails. They are for a part of the sizes.
func (p *program) refuses(own []proof, broken *function) bool {
	for _, step := range []int{fewSizes, someSizes} {
		for _, x := range own {
			if _, err := x.prove(newProver(p, broken, step)); err != nil {
				return true
			}
		}
	}
	return false
}

// sameNumbers executes a kernel and an altered one with random numbers, for the cases of its
// proofs. It returns an error if they leave different memory.
func (p *program) sameNumbers(own []proof, f, broken *function) (err error) {
	r := rand.New(rand.NewPCG(11, 12))
	for _, x := range own {
		v := newProver(p, f, someSizes)
		v.before = func(m *machine[word, symbols]) {
			variables := v.randomNumbers(r)
			want, got := v.execute(m, f, variables), v.execute(m, broken, variables)
			if !slices.EqualFunc(want, got, bytes.Equal) {
				err = fmt.Errorf("different numbers in case %d of %s", v.seen, x.kernels)
			}
		}
		if _, err := x.prove(v); err != nil {
			return err
		}
	}
	return err
}

// randomNumbers returns values of all variables, with powers of a hash subkey.
func (v *prover) randomNumbers(r *rand.Rand) map[word]uint64 {
	variables := make(map[word]uint64)
	for w, x := range v.nodes {
		if x.op == isVariable {
			variables[word(w)] = r.Uint64()
			if x.max != 1<<64-1 {
				variables[word(w)] %= x.max + 1
			}
		}
	}
	if v.g != nil {
		h := element{r.Uint64(), r.Uint64()}
		power := inverseU
		for n := 1; n <= len(v.g.powers); n++ {
			power = power.times(h)
			variables[v.g.powers[n][0]], variables[v.g.powers[n][1]] = bits.Reverse64(power.high), bits.Reverse64(power.low)
		}
	}
	return variables
}

// execute executes a function with numbers for variables, and returns the memory that it may
// change, or nothing if it fails.
func (v *prover) execute(from *machine[word, symbols], f *function, variables map[word]uint64) (changed [][]byte) {
	d := &numbers{program: v.program}
	number := func(b byteOf) byte { return byte(v.evaluate(b.word, variables) >> (8 * b.at)) }
	m := &machine[uint64, bytes64]{algebra: d, thread: v.evaluate(from.thread, variables)}
	for k, w := range from.general {
		m.general[k] = v.evaluate(w, variables)
	}
	for k, x := range from.vectors {
		for i, b := range x {
			m.vectors[k][i] = number(b)
		}
	}
	for _, s := range v.memory {
		r := region{base: s.base, readOnly: s.readOnly}
		for _, b := range s.bytes {
			r.bytes = append(r.bytes, number(b))
		}
		d.memory = append(d.memory, r)
	}
	slices.SortFunc(d.memory, func(a, b region) int { return cmp.Compare(a.base, b.base) })
	stack := m.general[rsp]
	if m.run(f, func(w uint64) bool { return w == 1 }, func(*instruction) {}) != nil {
		return nil
	}
	for _, r := range d.memory {
		if r.base+frameLimit == stack {
			r.bytes = r.bytes[frameLimit+argumentBase:] // the frame is not a result
		}
		if !r.readOnly {
			changed = append(changed, r.bytes)
		}
	}
	return changed
}

// alterations change an instruction, and report whether they could.
var alterations = map[string]func(i *instruction) bool{
	"a wrong shift": func(i *instruction) bool {
		return i.is("vpsrlq", "psrlq", "psllq", "pslldq", "vprorq", "shr", "shl") && i.alterImmediate(func(x uint64) uint64 { return x ^ 8 })
	},
	"the key of another word": func(i *instruction) bool { return i.is("vpaddd") && i.move(4) },
	"a lane that is dropped": func(i *instruction) bool {
		return i.is("vpaddq", "paddd", "vpaddd", "pxor", "vpxor", "vpxorq", "vpternlogq") && !i.clears() && i.becomes("nop")
	},
	"a product with itself": func(i *instruction) bool {
		if i.is("vpmuludq", "vpclmulqdq") && i.operands[2].kind == vector && i.operands[1] != i.operands[2] {
			i.operands[2] = i.operands[1]
			return true
		}
		return false
	},
	"the product of another half": func(i *instruction) bool {
		return i.is("pclmulqdq", "vpclmulqdq") && i.alterImmediate(func(x uint64) uint64 { return x ^ 1 })
	},
	"a sum modulo 2^32": func(i *instruction) bool { return i.is("vpaddq") && i.becomes("vpaddd") },
	"an end that is off by one": func(i *instruction) bool {
		o := i.memoryOperand()
		return o != nil && (i.is("vmovdqu8") || i.is("lea") && (o.base == none || o.index != none)) && i.move(1)
	},
	"a jump that is not taken": func(i *instruction) bool { return i.is("jae", "jge", "jb", "jbe") && i.becomes("nop") },
	"a comparison that is off by one": func(i *instruction) bool {
		return i.is("cmp") && i.alterImmediate(func(x uint64) uint64 { return x + 1 })
	},
	"the key of another round, or another power": func(i *instruction) bool {
		o := i.memoryOperand()
		return o != nil && o.base != none && i.operands[0].kind == vector && i.move(16)
	},
	"another constant": func(i *instruction) bool {
		o := i.memoryOperand()
		return o != nil && o.base == none && i.operands[0].kind == vector && i.move(64)
	},
	"a round that is dropped": func(i *instruction) bool { return i.is("aesenc", "vaesenc") && i.becomes("nop") },
	"another round": func(i *instruction) bool {
		return i.is("aesenclast") && i.becomes("aesenc") || i.is("vaesenclast") && i.becomes("vaesenc")
	},
	"a constant that differs": func(i *instruction) bool {
		return i.is("imul") && i.alterImmediate(func(x uint64) uint64 { return x + 1 })
	},
	"a step of another size": func(i *instruction) bool {
		return i.is("add", "sub") && i.operands[0].number != rsp && i.alterImmediate(func(x uint64) uint64 { return x + 16 })
	},
	"another order of lanes": func(i *instruction) bool {
		return i.is("pshufd", "vpshufd", "vshufi64x2", "vextracti128", "vextracti64x4", "vextracti32x4", "vinserti128", "vinserti32x4", "vinserti64x4", "vperm2i128") &&
			i.alterImmediate(func(x uint64) uint64 { return x ^ 1 })
	},
	"another register": func(i *instruction) bool {
		if len(i.operands) > 1 && i.operands[0].kind == vector && i.operands[1].kind == vector && !i.clears() {
			i.operands[1].number ^= 1
			return true
		}
		return false
	},
	"a store that is dropped": func(i *instruction) bool {
		return len(i.operands) > 0 && i.operands[0].kind == memory && i.operands[0].base != rsp && strings.Contains(i.mnemonic, "mov") && i.becomes("nop")
	},
}

func (i *instruction) is(mnemonics ...string) bool { return slices.Contains(mnemonics, i.mnemonic) }

func (i *instruction) becomes(mnemonic string) bool {
	i.mnemonic = mnemonic
	return true
}

// clears reports whether i sets a register to zero, or to ones.
func (i *instruction) clears() bool {
	last := len(i.operands) - 1
	return last > 0 && i.operands[last] == i.operands[last-1]
}

// move changes the address of the memory operand, if there is one.
func (i *instruction) move(by uint64) bool {
	o := i.memoryOperand()
	if o != nil {
		o.number += by
	}
	return o != nil
}

func (i *instruction) alterImmediate(f func(x uint64) uint64) bool {
	last := &i.operands[len(i.operands)-1]
	if last.kind == immediate {
		last.number = f(last.number)
	}
	return last.kind == immediate
}

// altered returns f with an instruction that is altered, and its index. It is one of those that
// can be, from a place on.
func (f *function) altered(alter func(i *instruction) bool, from int, allowed map[*instruction]bool) (*function, int) {
	for k := range f.code {
		n := (k + from) % len(f.code)
		i := *f.code[n]
		i.operands = slices.Clone(i.operands)
		if allowed[f.code[n]] && alter(&i) {
			broken := *f
			broken.code = slices.Clone(f.code)
			broken.code[n] = &i
			return &broken, n
		}
	}
	return nil, 0
}

// executedBy caches what executed returns.
var executedBy = make(map[*function]map[*instruction]bool)

// executed returns the instructions that the proofs of a function execute, for some sizes.
func (p *program) executed(f *function) map[*instruction]bool {
	if executedBy[f] == nil {
		executedBy[f] = make(map[*instruction]bool)
		step := fewSizes
		if mactest.Long() {
			step = someSizes
		}
		for _, x := range f.proofs() {
			v := newProver(p, f, step)
			x.prove(v)
			maps.Copy(executedBy[f], v.executed)
		}
	}
	return executedBy[f]
}

// someSizes is a step of provers, as fewSizes is.
const someSizes = 7
