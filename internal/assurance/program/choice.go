// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package program

import (
	"fmt"
	"go/types"
	"slices"
	"strings"

	"example.com/fastmac/internal/assurance/machine"
	"example.com/fastmac/internal/assurance/x86"
)

// A Choice is a function that jumps to one of those that have its name and another end, with its own
// arguments, and does nothing else: to the best kernel in use, or to the portable function.
type Choice struct {
	*machine.Function

	// The best kernel is for more than Above bytes of a slice among the arguments, or for all if it is -1.
	Best  string
	Above int64
}

// ends are those of the names of the kernels among which functions choose, best first. Flags are called
// use and then the end, or for kernels of long functions Long and the end. If one is true, so are those after
// it: see kernel.Register.
var (
	ends  = []string{"AVX512", "AVX2"}
	flags = []string{"LongAVX512", "AVX512", "AVX2"}
	long  = []string{"nhNext", "nhPoly", "tagTwo"} // for more than a block
)

// flagOf returns the flag of a kernel.
func flagOf(name, end string) string {
	if end == "AVX512" && slices.Contains(long, name) {
		return "LongAVX512"
	}
	return end
}

// portable is the end of the name of a Go function to which functions of assembly jump. The linker makes
// a wrapper of it that has the ABI of assembly.
const portable = "Generic"

// choose moves the functions that jump to others from p.Functions to p.Choices, and checks them.
func (p *Program) choose() error {
	var computing []*machine.Function
	for _, f := range p.Functions {
		if !slices.ContainsFunc(f.Code, func(i *machine.Instruction) bool { return i.Flow == machine.Leave }) {
			computing = append(computing, f)
			continue
		}
		c, err := p.NewChoice(f)
		if err != nil {
			return err
		}
		p.Choices = append(p.Choices, c)
	}
	p.Functions = computing
	return nil
}

// NewChoice returns what f chooses, or an error if it chooses wrongly, or does anything but compare
// and jump. It executes f for all values of the flags, and for lengths on both sides of the number with
// which f compares one.
func (p *Program) NewChoice(f *machine.Function) (*Choice, error) {
	if f.Architecture != x86.Architecture {
		return nil, fmt.Errorf("%s: jumps to another function", f.Name)
	}
	c := &Choice{Function: f, Above: -1}
	kernels := slices.DeleteFunc(slices.Clone(ends), func(end string) bool {
		return !slices.ContainsFunc(p.Functions, func(g *machine.Function) bool { return g.Pkg == f.Pkg && g.Name == f.Name+end })
	})
	if len(kernels) == 0 {
		return nil, fmt.Errorf("%s: jumps to another function, and no kernel has its name", f.Name)
	}
	c.Best = f.Name + kernels[0]
	declared, slicesIn := p.Declared[f.Pkg+"."+f.Name], 0
	for _, end := range slices.Concat(kernels, []string{portable}) {
		if other := p.Declared[f.Pkg+"."+f.Name+end]; other == nil || !types.Identical(declared, other) {
			return nil, fmt.Errorf("%s: is declared as %v, and %s as %v", f.Name, declared, f.Name+end, other)
		}
	}
	for v := range declared.Params().Variables() {
		if _, isSlice := v.Type().Underlying().(*types.Slice); isSlice {
			slicesIn++
		}
	}
	for _, i := range f.Code {
		if bytes, ok := p.length(f, i); ok {
			if c.Above >= 0 || slicesIn > 1 {
				return nil, fmt.Errorf("%s: compares two lengths, or has two slices", f.Name)
			}
			c.Above = bytes
		}
	}
	executed := make(map[*machine.Instruction]bool)
	for k := range len(flags) + 1 {
		inUse := flags[k:]
		for _, bytes := range []int64{0, max(c.Above, 0), c.Above + 1, 1 << 40} {
			want := portable
			for n, end := range slices.Backward(kernels) {
				if slices.Contains(inUse, flagOf(f.Name, end)) && (n > 0 || bytes > c.Above) {
					want = end
				}
			}
			target, err := p.chosen(f, inUse, bytes, executed)
			if err != nil {
				return nil, err
			}
			if target != f.Pkg+"."+f.Name+want {
				return nil, fmt.Errorf("%s: jumps to %q for %d bytes where %v are in use, want %s", f.Name, target, bytes, inUse, want)
			}
		}
	}
	for _, i := range f.Code {
		if !executed[i] && i.Flow != machine.Fill && i.Flow != machine.Stop {
			return nil, fmt.Errorf("%s: %v is never executed", f.Name, i)
		}
	}
	return c, nil
}

// chosen returns the function at whose beginning f jumps if the flags of some kernels are true, and the
// slice whose length it compares has so many bytes.
func (p *Program) chosen(f *machine.Function, inUse []string, bytes int64, executed map[*machine.Instruction]bool) (target string, err error) {
	var compared bool
	var a, b int64
	for n, steps := 0, 0; n < len(f.Code) && steps < len(f.Code); steps++ {
		i := f.Code[n]
		executed[i] = true
		taken := true
		switch flag, isFlag := p.flag(f, i); {
		case i.Flow == machine.Fill:
			taken = false
		case isFlag:
			compared, a, b, taken = true, 0, 0, false
			if slices.Contains(inUse, flag) {
				a = 1
			}
		case i.Mnemonic == "cmp":
			number, ok := p.length(f, i)
			if !ok {
				return "", fmt.Errorf("%s: %v compares neither a flag with 0 nor a length", f.Name, i)
			}
			compared, a, b, taken = true, bytes, number, false
		case i.Mnemonic == "je" && compared:
			taken = a == b
		case i.Mnemonic == "ja" && compared:
			taken = a > b
		case i.Flow == machine.Leave:
			return p.begins[i.Target], nil
		default:
			return "", fmt.Errorf("%s: %v is not a part of a choice", f.Name, i)
		}
		if n++; taken {
			n = f.At[i.Target]
		}
	}
	return "", fmt.Errorf("%s: does not jump to a function", f.Name)
}

// flag returns which of flags i compares with 0.
func (p *Program) flag(f *machine.Function, i *machine.Instruction) (flag string, ok bool) {
	if i.Mnemonic != "cmp" {
		return "", false
	}
	m, n := i.Operands[0], i.Operands[1]
	if m.Kind != machine.Memory || m.Base != machine.None || m.Index != machine.None || m.Thread || m.Size != 8 || n.Kind != machine.Immediate || n.Number != 0 {
		return "", false
	}
	s := p.symbol(m.Number)
	flag, ok = strings.CutPrefix(s.Name, f.Pkg+".use")
	return flag, ok && slices.Contains(flags, flag) && s.Value == m.Number && s.Size == 1
}

// length returns the number with which i compares the length of a slice among the arguments.
func (p *Program) length(f *machine.Function, i *machine.Instruction) (bytes int64, ok bool) {
	if i.Mnemonic != "cmp" {
		return 0, false
	}
	m, n := i.Operands[0], i.Operands[1]
	if m.Kind != machine.Memory || m.Base != f.StackPointer || m.Index != machine.None || m.Size != 64 || n.Kind != machine.Immediate || int64(n.Number) < 0 {
		return 0, false
	}
	var offset int64
	for v := range p.Declared[f.Pkg+"."+f.Name].Params().Variables() {
		align := Layout.Alignof(v.Type())
		offset = (offset + align - 1) / align * align
		if _, isSlice := v.Type().Underlying().(*types.Slice); isSlice && m.Number == uint64(machine.ArgumentBase+offset+8) {
			return int64(n.Number), true
		}
		offset += Layout.Sizeof(v.Type())
	}
	return 0, false
}
