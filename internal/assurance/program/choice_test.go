// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package program

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"example.com/fastmac/internal/assurance/machine"
)

// TestChoices changes each instruction of the functions that choose a kernel. Each change must be refused.
func TestChoices(t *testing.T) {
	p := linkedProgram(t)
	if len(p.Choices) == 0 {
		t.Fatal("no function chooses a kernel")
	}
	for _, c := range p.Choices {
		if got, err := p.NewChoice(c.Function); err != nil || got.Best != c.Best || got.Above != c.Above {
			t.Errorf("%s: %v, error %v, want %v", c.Name, got, err, c)
		}
		for n, i := range c.Code {
			for _, what := range wrongChoices(p, c, n) {
				f := *c.Function
				f.Code = slices.Clone(c.Code)
				f.Code[n] = what
				if _, err := p.NewChoice(&f); err == nil {
					t.Errorf("%s: %v is accepted in place of %v", c.Name, what, i)
				}
			}
		}
	}
}

// wrongChoices returns what must not be in place of instruction n.
func wrongChoices(p *Program, c *Choice, n int) (wrong []*machine.Instruction) {
	change := func(what string, f func(i *machine.Instruction)) {
		i := *c.Code[n]
		i.Operands = slices.Clone(i.Operands)
		i.Text += ", but " + what
		f(&i)
		wrong = append(wrong, &i)
	}
	i := c.Code[n]
	switch i.Flow {
	case machine.Fill, machine.Stop:
		return nil
	case machine.Leave:
		change("to the middle of the function", func(i *machine.Instruction) { i.Target += 16 })
		change("to the byte before", func(i *machine.Instruction) { i.Target-- })
		for address, name := range p.begins {
			if address != i.Target && strings.HasPrefix(name, c.Pkg+".") {
				change("to "+name, func(i *machine.Instruction) { i.Target = address })
			}
		}
		change("to itself", func(i *machine.Instruction) { i.Flow, i.Target = machine.Jump, c.Code[0].Address })
	case machine.Branch:
		for _, mnemonic := range []string{"je", "jne", "ja", "jae", "jb", "jbe", "jl", "jg"} {
			if mnemonic != i.Mnemonic {
				change(mnemonic, func(i *machine.Instruction) { i.Mnemonic = mnemonic })
			}
		}
		for _, to := range c.Code {
			if to.Flow == machine.Leave && to.Address != i.Target {
				change(fmt.Sprintf("to %v", to), func(i *machine.Instruction) { i.Target = to.Address })
			}
		}
		change("a loop", func(i *machine.Instruction) { i.Target = c.Code[0].Address })
	default:
		change("test", func(i *machine.Instruction) { i.Mnemonic = "test" })
		change("at the next byte", func(i *machine.Instruction) { i.Operands[0].Number++ })
		change("of another size", func(i *machine.Instruction) { i.Operands[0].Size = 32 })
		change("with an index", func(i *machine.Instruction) { i.Operands[0].Index = 1 })
		change("with a register", func(i *machine.Instruction) { i.Operands[1].Kind = machine.General })
		change("with a negative number", func(i *machine.Instruction) { i.Operands[1].Number = 1<<64 - 1 })
		if _, isFlag := p.flag(c.Function, i); isFlag {
			change("with 1", func(i *machine.Instruction) { i.Operands[1].Number = 1 })
		} else {
			change("with the capacity", func(i *machine.Instruction) { i.Operands[0].Number += 8 })
		}
	}
	return wrong
}
