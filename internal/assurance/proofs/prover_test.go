// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package proofs

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"maps"
	"math/bits"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"example.com/fastmac/internal/assurance/algebra"
	"example.com/fastmac/internal/assurance/formula"
	"example.com/fastmac/internal/assurance/machine"
	"example.com/fastmac/internal/assurance/program"
	"example.com/fastmac/internal/assurance/x86"
	"example.com/fastmac/internal/mactest"
)

// TestProofs proves a part of the sizes, or all of them.
func TestProofs(t *testing.T) {
	step := fewSizes
	if mactest.Long() {
		step = 1
	}
	for _, a := range program.Architectures {
		var out strings.Builder
		if _, err := All(&out, linkedFor(t, a), step, regexp.MustCompile(".")); err != nil {
			t.Error(err)
		}
		t.Logf("%s\n%s", a.Name, &out)
	}
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
		if _, err := All(io.Discard, p, fewSizes, regexp.MustCompile("cpuid")); err == nil || !strings.Contains(err.Error(), want) {
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
	for _, f := range p.Functions {
		own := proofsOf(f)
		if len(own) == 0 || !mactest.Long() && !slices.Contains([]string{"nhAdd", "tagWords", "initKey"}, own[0].kernels) {
			continue
		}
		t.Run(f.Name, func(t *testing.T) {
			for _, what := range slices.Sorted(maps.Keys(alterations)) {
				for k := range places {
					broken, n := alteredBy(f, alterations[what], k*len(f.Code)/places, executedFor(p, f))
					place := fmt.Sprint(f.Name, what, n)
					if broken == nil || altered[place] {
						break
					}
					altered[place] = true
					if refuses(p, own, broken) {
						refused[what]++
					} else if err := sameNumbers(p, own, f, broken); err != nil {
						t.Errorf("%s: %s: %v: not refused: %v", f.Name, what, f.Code[n], err)
					} else {
						t.Logf("%s: %s: %v: the same", f.Name, what, f.Code[n])
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
		f := p.Find(kernel)[0]
		own := proofsOf(f)
		broken, n := alteredBy(f, alterations[what], len(f.Code)/2, executedFor(p, f))
		if sameNumbers(p, own, f, f) != nil || sameNumbers(p, own, f, broken) == nil {
			t.Errorf("%s: %s: %v: not noticed", kernel, what, f.Code[n])
		}
	}
}

// refuses reports whether a proof of a kernel fails. They are for a part of the sizes.
func refuses(p *program.Program, own []proof, broken *machine.Function) bool {
	for _, step := range []int{fewSizes, someSizes} {
		for _, x := range own {
			if _, err := x.run(newProver(p, broken, step)); err != nil {
				return true
			}
		}
	}
	return false
}

// sameNumbers executes a kernel and an altered one with random numbers, for the cases of its
// proofs. It returns an error if they leave different memory.
func sameNumbers(p *program.Program, own []proof, f, broken *machine.Function) (err error) {
	r := rand.New(rand.NewPCG(11, 12))
	for _, x := range own {
		v := newProver(p, f, someSizes)
		v.before = func(m *state) {
			variables := v.randomNumbers(r)
			want, got := v.execute(m, f, variables), v.execute(m, broken, variables)
			if !slices.EqualFunc(want, got, bytes.Equal) {
				err = fmt.Errorf("different numbers in case %d of %s", v.seen, x.kernels)
			}
		}
		if _, err := x.run(v); err != nil {
			return err
		}
	}
	return err
}

// randomNumbers returns values of all variables, with powers of a hash subkey.
func (v *prover) randomNumbers(r *rand.Rand) map[formula.Word]uint64 {
	variables := make(map[formula.Word]uint64)
	for w, x := range v.Nodes {
		if x.Op == formula.IsVariable {
			variables[formula.Word(w)] = r.Uint64()
			if x.Max != 1<<64-1 {
				variables[formula.Word(w)] %= x.Max + 1
			}
		}
	}
	for k, o := range v.Objects {
		at := uint64(k+1)<<32 + uint64(o.Align*r.IntN(4096/o.Align))
		if o.Rounds {
			at = at&^63 + uint64(o.Residue)
		}
		if o.Linked != 0 {
			at = o.Linked
		}
		variables[o.Address] = at
	}
	if v.g != nil {
		h := formula.Element{Low: r.Uint64(), High: r.Uint64()}
		power := formula.InverseU
		for n := 1; n <= len(v.g.Powers); n++ {
			power = power.Times(h)
			variables[v.g.Powers[n][0]], variables[v.g.Powers[n][1]] = bits.Reverse64(power.High), bits.Reverse64(power.Low)
		}
	}
	return variables
}

// execute executes a function with numbers for variables, and returns the memory that it may
// change, or nothing if it fails.
func (v *prover) execute(from *state, f *machine.Function, variables map[formula.Word]uint64) (changed [][]byte) {
	d := &algebra.Numbers{Data: v.program.At}
	number := func(b formula.ByteOf) byte { return byte(v.Evaluate(b.Word, variables) >> (8 * b.At)) }
	m := &machine.State[uint64, algebra.Bytes64]{Algebra: d, Thread: v.Evaluate(from.Thread, variables)}
	for k, w := range from.General {
		m.General[k] = v.Evaluate(w, variables)
	}
	for k, x := range from.Vectors {
		for i, b := range x {
			m.Vectors[k][i] = number(b)
		}
	}
	for _, s := range v.Objects {
		r := algebra.Region{Base: v.Evaluate(s.Address, variables), ReadOnly: s.ReadOnly}
		for _, b := range s.Bytes {
			r.Bytes = append(r.Bytes, number(b))
		}
		d.Memory = append(d.Memory, r)
	}
	slices.SortFunc(d.Memory, func(a, b algebra.Region) int { return cmp.Compare(a.Base, b.Base) })
	stack := m.General[f.StackPointer]
	if m.Run(program.Models[uint64, algebra.Bytes64](f.Architecture), f, 0, func(_ *machine.Instruction, w uint64) bool { return w == 1 }, func(*machine.Instruction) error { return nil }) != nil {
		return nil
	}
	for _, r := range d.Memory {
		if r.Base+machine.FrameLimit == stack {
			r.Bytes = r.Bytes[machine.FrameLimit+machine.ArgumentBase:] // the frame is not a result
		}
		if !r.ReadOnly {
			changed = append(changed, r.Bytes)
		}
	}
	return changed
}

// An alterable is an instruction that alterations change.
type alterable struct{ *machine.Instruction }

// alterations change an instruction, and report whether they could.
var alterations = map[string]func(i alterable) bool{
	"a wrong shift": func(i alterable) bool {
		return i.is("vpsrlq", "vpsrld", "psrlq", "psllq", "pslldq", "vprorq", "vprord", "shr", "shl") && i.alterImmediate(func(x uint64) uint64 { return x ^ 8 })
	},
	"the key of another word": func(i alterable) bool { return i.is("vpaddd") && i.move(4) },
	"a lane that is dropped": func(i alterable) bool {
		return i.is("vpaddq", "paddd", "vpaddd", "pxor", "vpxor", "vpxorq", "vpternlogq", "vpternlogd", "sha256msg1", "sha256msg2") && !i.clears() && i.becomes("nop")
	},
	"a product with itself": func(i alterable) bool {
		if i.is("vpmuludq", "vpclmulqdq") && i.Operands[2].Kind == machine.Vector && i.Operands[1] != i.Operands[2] {
			i.Operands[2] = i.Operands[1]
			return true
		}
		return false
	},
	"the product of another half": func(i alterable) bool {
		return i.is("pclmulqdq", "vpclmulqdq") && i.alterImmediate(func(x uint64) uint64 { return x ^ 1 })
	},
	"a sum modulo 2^32": func(i alterable) bool { return i.is("vpaddq") && i.becomes("vpaddd") },
	"an end that is off by one": func(i alterable) bool {
		o := i.MemoryOperand()
		return o != nil && (i.is("vmovdqu8") || i.is("lea") && (o.Base == machine.None || o.Index != machine.None)) && i.move(1)
	},
	"a jump that is not taken": func(i alterable) bool { return i.is("jae", "jge", "jb", "jbe") && i.becomes("nop") },
	"a comparison that is off by one": func(i alterable) bool {
		return i.is("cmp") && i.alterImmediate(func(x uint64) uint64 { return x + 1 })
	},
	"the key of another round, or another power": func(i alterable) bool {
		o := i.MemoryOperand()
		return o != nil && o.Base != machine.None && i.Operands[0].Kind == machine.Vector && i.move(16)
	},
	"another constant": func(i alterable) bool {
		o := i.MemoryOperand()
		return o != nil && o.Base == machine.None && i.Operands[0].Kind == machine.Vector && i.move(64)
	},
	"a round that is dropped": func(i alterable) bool { return i.is("aesenc", "vaesenc", "sha256rnds2") && i.becomes("nop") },
	"another round": func(i alterable) bool {
		return i.is("aesenclast") && i.becomes("aesenc") || i.is("vaesenclast") && i.becomes("vaesenc")
	},
	"a constant that differs": func(i alterable) bool {
		return i.is("imul") && i.alterImmediate(func(x uint64) uint64 { return x + 1 })
	},
	"a step of another size": func(i alterable) bool {
		return i.is("add", "sub") && i.Operands[0].Number != x86.RSP && i.alterImmediate(func(x uint64) uint64 { return x + 16 })
	},
	"another order of lanes": func(i alterable) bool {
		return i.is("pshufd", "vpshufd", "vshufps", "vpalignr", "vpinsrd", "vshufi64x2", "vextracti128", "vextracti64x4", "vextracti32x4", "vinserti128", "vinserti32x4", "vinserti64x4", "vperm2i128") &&
			i.alterImmediate(func(x uint64) uint64 { return x ^ 1 })
	},
	"another register": func(i alterable) bool {
		if len(i.Operands) > 1 && i.Operands[0].Kind == machine.Vector && i.Operands[1].Kind == machine.Vector && !i.clears() {
			i.Operands[1].Number ^= 1
			return true
		}
		return false
	},
	"a store that is dropped": func(i alterable) bool {
		return len(i.Operands) > 0 && i.Operands[0].Kind == machine.Memory && i.Operands[0].Base != x86.RSP && strings.Contains(i.Mnemonic, "mov") && i.becomes("nop")
	},
}

func (i alterable) is(mnemonics ...string) bool { return slices.Contains(mnemonics, i.Mnemonic) }

func (i alterable) becomes(mnemonic string) bool {
	i.Mnemonic = mnemonic
	return true
}

// clears reports whether i sets a register to zero, or to ones.
func (i alterable) clears() bool {
	last := len(i.Operands) - 1
	return last > 0 && i.Operands[last] == i.Operands[last-1]
}

// move changes the address of the memory operand, if there is one.
func (i alterable) move(by uint64) bool {
	o := i.MemoryOperand()
	if o != nil {
		o.Number += by
	}
	return o != nil
}

func (i alterable) alterImmediate(f func(x uint64) uint64) bool {
	last := &i.Operands[len(i.Operands)-1]
	if last.Kind == machine.Immediate {
		last.Number = f(last.Number)
	}
	return last.Kind == machine.Immediate
}

// alteredBy returns f with an instruction that is altered, and its index. It is one of those that
// can be, from a place on.
func alteredBy(f *machine.Function, alter func(i alterable) bool, from int, allowed map[*machine.Instruction]bool) (*machine.Function, int) {
	for k := range f.Code {
		n := (k + from) % len(f.Code)
		i := *f.Code[n]
		i.Operands = slices.Clone(i.Operands)
		if allowed[f.Code[n]] && alter(alterable{&i}) {
			broken := *f
			broken.Code = slices.Clone(f.Code)
			broken.Code[n] = &i
			return &broken, n
		}
	}
	return nil, 0
}

// executedBy caches what executed returns.
var executedBy = make(map[*machine.Function]map[*machine.Instruction]bool)

// executedFor returns the instructions that the proofs of a function execute, for some sizes.
func executedFor(p *program.Program, f *machine.Function) map[*machine.Instruction]bool {
	if executedBy[f] == nil {
		executedBy[f] = make(map[*machine.Instruction]bool)
		step := fewSizes
		if mactest.Long() {
			step = someSizes
		}
		for _, x := range proofsOf(f) {
			v := newProver(p, f, step)
			x.run(v)
			maps.Copy(executedBy[f], v.executed)
		}
	}
	return executedBy[f]
}

// someSizes is a step of provers, as fewSizes is.
const someSizes = 7

// TestVariableBounds checks that a variable has the bound of its run, not that of the run before.
func TestVariableBounds(t *testing.T) {
	v := newProver(linkedProgram(t), nil, 1)
	for _, limit := range []uint64{1<<36 - 1, 1<<64 - 1, 1<<36 - 1} {
		v.reset()
		if got := v.Nodes[v.variable(64, limit)].Max; got != limit {
			t.Errorf("bound %#x, want %#x", got, limit)
		}
	}
}
