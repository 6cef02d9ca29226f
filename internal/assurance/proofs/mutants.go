// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package proofs

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"time"

	"example.com/fastmac/internal/assurance/objdump"
	"example.com/fastmac/internal/assurance/program"
	"example.com/fastmac/internal/assurance/secrets"
	"example.com/fastmac/internal/assurance/x86"
)

// A mutant is a line of the input of proveMutants: what an instruction of a function is replaced
// with. Command mutate writes them.
type mutant struct {
	Function string
	Offset   uint64 // of the instruction in the function
	Old, New string // bytes in hexadecimal; those of New that Old does not differ from are kept
	Verdict  string // of the output: held, undecided and why, or why it is refused
}

// undecided is what verdicts begin with that say nothing about the mutant.
const undecided = "undecided: "

// ProveMutants checks for constant time, and proves, functions with one instruction replaced. A
// mutant that takes more than the limit ends the process; so the output may have fewer lines
// than the input.
func ProveMutants(w io.Writer, r io.Reader, limit time.Duration) error {
	p, err := program.Linked()
	if err != nil {
		return err
	}
	return verdicts(p, w, r, limit)
}

// verdicts writes a verdict on each mutant that it reads.
func verdicts(p *program.Program, w io.Writer, r io.Reader, limit time.Duration) error {
	declared, err := program.Declarations()
	if err != nil {
		return err
	}
	encoder := json.NewEncoder(w)
	sizes := make(map[*x86.Function][]map[*x86.Instruction][]int)
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		var m mutant
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			return err
		}
		k := slices.IndexFunc(p.Functions, func(f *x86.Function) bool { return f.Name == m.Function })
		if k < 0 {
			return fmt.Errorf("no function %q", m.Function)
		}
		f := p.Functions[k]
		if sizes[f] == nil {
			if sizes[f], err = sizesOf(p, f); err != nil {
				return err
			}
		}
		late := m
		late.Verdict = undecided + "no verdict in " + limit.String()
		watchdog := time.AfterFunc(limit, func() {
			encoder.Encode(late)
			os.Exit(3)
		})
		m.Verdict = verdict(p, f, m, sizes[f], secrets.NewSignature(declared[f.Pkg+"."+f.Name]))
		if !watchdog.Stop() {
			select {} // until it has ended the process
		}
		if err := encoder.Encode(m); err != nil {
			return err
		}
	}
	return lines.Err()
}

// fewSizes is a step: of so many sizes, one is proved.
const fewSizes = 61

// sizes returns for which sizes each proof of a function executes which instruction.
func sizesOf(p *program.Program, f *x86.Function) (all []map[*x86.Instruction][]int, err error) {
	for _, x := range proofsOf(f) {
		v := NewProver(p, f, 1)
		v.at = make(map[*x86.Instruction][]int)
		if _, err := x.prove(v); err != nil {
			return nil, err
		}
		all = append(all, v.at)
	}
	return all, nil
}

// verdict is that on a function with an instruction replaced. Only the sizes for which the
// function executes the instruction are proved: for the others nothing has changed. Most
// mutants fail for the first of them.
func verdict(p *program.Program, f *x86.Function, m mutant, sizes []map[*x86.Instruction][]int, s *secrets.Signature) (said string) {
	broken, err := mutated(f, m)
	if err != nil {
		return err.Error()
	}
	defer func() {
		if r := recover(); r != nil { // there is no model of it
			said = fmt.Sprint(r)
		}
	}()
	if found := secrets.Leaks(broken, s); len(found) > 0 {
		return found[0].String()
	}
	replaced := f.Code[f.At[f.Code[0].Address+m.Offset]]
	executed := false
	for _, step := range []int{fewSizes, 1} {
		for k, x := range proofsOf(broken) {
			at := sizes[k][replaced]
			if len(at) == 0 {
				continue
			}
			executed = true
			v := NewProver(p, broken, 1)
			for n := 0; n < len(at); n += step {
				v.only = append(v.only, at[n])
			}
			if _, err := x.prove(v); err != nil {
				return err.Error()
			}
		}
	}
	if !executed {
		return undecided + "no proof executes it"
	}
	return "held"
}

// mutated returns f with an instruction replaced.
func mutated(f *x86.Function, m mutant) (*x86.Function, error) {
	n, ok := f.At[f.Code[0].Address+m.Offset]
	if !ok {
		return nil, fmt.Errorf(undecided+"%s has no instruction at offset %#x", f.Name, m.Offset)
	}
	i := *f.Code[n]
	before, err := hex.DecodeString(m.Old)
	after, err2 := hex.DecodeString(m.New)
	if err != nil || err2 != nil || len(before) != len(i.Bytes) || len(after) != len(i.Bytes) {
		return nil, fmt.Errorf(undecided+"%s: want %d bytes for %v", f.Name, len(i.Bytes), &i)
	}
	changed := slices.Clone(i.Bytes)
	for k := range changed {
		if before[k] != after[k] {
			changed[k] = after[k]
		}
	}
	next, err := disassembleOne(i.Address, changed)
	if err != nil {
		return nil, err
	}
	broken := *f
	broken.Code = slices.Clone(f.Code)
	broken.Code[n] = next
	if _, ok := f.At[next.Target]; next.Jumps() && !ok {
		return nil, fmt.Errorf("%v jumps out of the function", next)
	}
	return &broken, nil
}

var noSymbols = regexp.MustCompile(`^rex\.?W? |(# |^j\w+ +)0x`)

// disassembleOne returns the instruction that bytes at an address are. Several that do
// nothing, as mutate puts in place of a dropped one, are one.
func disassembleOne(address uint64, b []byte) (*x86.Instruction, error) {
	lines, err := objdump.Bytes(b, address)
	if err != nil {
		return nil, fmt.Errorf(undecided+"%w", err)
	}
	var all []*x86.Instruction
	for _, line := range lines {
		// Without symbols, numbers have a prefix, as has an instruction with an idle REX.
		i, err := x86.Parse(line.Address, line.Bytes, noSymbols.ReplaceAllString(line.Text, "$1"))
		if err != nil {
			return nil, fmt.Errorf("%q: %w", line.Text, err)
		}
		all = append(all, i)
	}
	others := slices.ContainsFunc(all, func(i *x86.Instruction) bool { return i.Mnemonic != "nop" })
	if len(all) == 0 || len(all) > 1 && others {
		return nil, fmt.Errorf(undecided+"%d instructions", len(all))
	}
	return all[0], nil
}
