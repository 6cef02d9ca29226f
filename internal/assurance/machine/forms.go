// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package machine

import (
	"fmt"
	"slices"
	"strings"

	"example.com/fastmac/internal/assurance/algebra"
)

// Arithmetic makes an algebra from the one of numbers. That of the models is [AsItIs].
type Arithmetic func(*algebra.Numbers) algebra.Algebra[uint64, algebra.Bytes64]

// AsItIs returns the algebra of numbers.
func AsItIs(d *algebra.Numbers) algebra.Algebra[uint64, algebra.Bytes64] { return d }

// A Form is the instructions that one model is for: a mnemonic with operands of the same kinds
// and sizes.
type Form struct {
	Name         string
	Classes      []Class
	Instructions []*Instruction // with different operands
}

// Forms returns the forms of all instructions that can be executed one by one. For those name returns the
// name of a form, and for others "".
func Forms(functions []*Function, name func(*Instruction) string) (all []Form) {
	index := make(map[string]int)
	seen := make(map[string]bool)
	for _, f := range functions {
		for _, i := range f.Code {
			form := name(i)
			text := fmt.Sprint(i.Mnemonic, i.Condition, i.Operands, i.Mask, i.Zeroing)
			if i.Flow != Next && i.Flow != Branch || form == "" || seen[text] {
				continue
			}
			seen[text] = true
			k, ok := index[form]
			if !ok {
				k = len(all)
				index[form] = k
				all = append(all, Form{Name: form, Classes: i.Classes})
			}
			all[k].Instructions = append(all[k].Instructions, i)
		}
	}
	slices.SortFunc(all, func(a, b Form) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// A Comparison is how often the models of a form have been compared with a CPU, or 0 if it lacks one
// of the form's classes.
type Comparison struct {
	Form
	Times int
}

// A CPU executes instructions of some classes.
type CPU interface {
	Has(Class) bool

	// Compare executes an instruction a number of times with the CPU and with its model. A
	// difference is an error.
	Compare(i *Instruction, with Arithmetic, times int) error
}

// Compare compares the models of forms with a CPU: each form at least so many times, and each
// instruction 64 times. A difference is an error.
func Compare(cpu CPU, forms []Form, with Arithmetic, trials int) (done []Comparison, err error) {
	for _, f := range forms {
		c := Comparison{Form: f}
		if !slices.ContainsFunc(f.Classes, func(c Class) bool { return !cpu.Has(c) }) {
			each := max(64, (trials+len(f.Instructions)-1)/len(f.Instructions))
			for _, i := range f.Instructions {
				if err := cpu.Compare(i, with, each); err != nil {
					return done, err
				}
				c.Times += each
			}
		}
		done = append(done, c)
	}
	return done, nil
}
