// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package x86

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"example.com/fastmac/internal/assurance/algebra"
	"example.com/fastmac/internal/assurance/machine"
)

// Arithmetic makes an algebra from the one of numbers. That of the models is [AsItIs].
type Arithmetic func(*algebra.Numbers) algebra.Algebra[uint64, algebra.Bytes64]

// AsItIs returns the algebra of numbers.
func AsItIs(d *algebra.Numbers) algebra.Algebra[uint64, algebra.Bytes64] { return d }

// Classes of instructions.
const (
	SSE    machine.Class = "SSE to SSE4.1, AES, PCLMULQDQ"
	AVX2   machine.Class = "AVX2, BMI1, BMI2"
	VAES   machine.Class = "VAES, VPCLMULQDQ"
	AVX512 machine.Class = "AVX-512"
)

// features are those of classes, as Linux names them.
var features = map[machine.Class][]string{
	SSE:    {"ssse3", "sse4_1", "aes", "pclmulqdq"},
	AVX2:   {"avx2", "bmi1", "bmi2"},
	VAES:   {"avx2", "vaes", "vpclmulqdq"},
	AVX512: {"avx512f", "avx512bw", "avx512dq", "avx512vl"},
}

// classes returns those of which i is an instruction. One of VAES with an EVEX encoding is of two.
func classes(i *machine.Instruction) (all []machine.Class) {
	name, _ := strings.CutPrefix(i.Mnemonic, "v")
	if vex(i) && (strings.HasPrefix(name, "aes") || name == "pclmulqdq") {
		all = append(all, VAES)
	}
	switch {
	case i.Bytes[0] == evexPrefix || strings.HasPrefix(i.Mnemonic, "k"):
		all = append(all, AVX512)
	case i.Bytes[0] == 0xc4 || i.Bytes[0] == 0xc5 || i.Mnemonic == "pcmpgtq": // of SSE4.2, which no kernel needs
		all = append(all, AVX2)
	default:
		all = append(all, SSE)
	}
	return all
}

// A Form is the instructions that one model is for: a mnemonic with operands of the same kinds
// and sizes.
type Form struct {
	Name         string
	Classes      []machine.Class
	instructions []*machine.Instruction // with different operands
}

// Forms returns the forms of all instructions that can be executed one by one.
func Forms(functions []*machine.Function) (all []Form) {
	index := make(map[string]int)
	seen := make(map[string]bool)
	for _, f := range functions {
		for _, i := range f.Code {
			if i.Flow != machine.Next && i.Flow != machine.Branch || i.Mnemonic == "prefetcht0" || i.Mnemonic == "cpuid" {
				continue
			}
			if slices.ContainsFunc(i.Operands, func(o machine.Operand) bool { return o.Thread }) {
				continue
			}
			name, text := form(i), i.Mnemonic
			if !i.Jumps() {
				text = fmt.Sprint(i.Mnemonic, i.Operands, i.Mask, i.Zeroing)
			}
			if seen[text] {
				continue
			}
			seen[text] = true
			k, ok := index[name]
			if !ok {
				k = len(all)
				index[name] = k
				all = append(all, Form{Name: name, Classes: i.Classes})
			}
			all[k].instructions = append(all[k].instructions, i)
		}
	}
	slices.SortFunc(all, func(a, b Form) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// form returns the name of the form of an instruction.
func form(i *machine.Instruction) string {
	name := i.Mnemonic
	if i.Mask != 0 {
		name += map[bool]string{false: "{k}", true: "{k}{z}"}[i.Zeroing]
	}
	for _, o := range i.Operands {
		name += fmt.Sprint(" ", []string{"r", "v", "k", "imm", "m"}[o.Kind], o.Size)
		if o.Broadcast {
			name += "bcst"
		}
	}
	return name
}

// A Comparison is how often the models of a form have been compared with a CPU, or 0 if it lacks one
// of the form's classes.
type Comparison struct {
	Form
	Times int
}

// Compare compares the models of forms with the CPU: each form at least so many times, and each
// instruction 64 times. A difference is an error.
func (s *Silicon) Compare(forms []Form, with Arithmetic, trials int) (done []Comparison, err error) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, f := range forms {
		c := Comparison{Form: f}
		if !slices.ContainsFunc(f.Classes, func(c machine.Class) bool { return !s.Has(c) }) {
			each := max(64, (trials+len(f.instructions)-1)/len(f.instructions))
			for _, i := range f.instructions {
				if err := s.compare(i, with, each, r); err != nil {
					return done, err
				}
				c.Times += each
			}
		}
		done = append(done, c)
	}
	return done, nil
}
