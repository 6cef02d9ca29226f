// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

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

// proveMutants checks for constant time, and proves, functions with one instruction replaced. A
// mutant that takes more than the limit ends the process; so the output may have fewer lines
// than the input.
func proveMutants(w io.Writer, r io.Reader, limit time.Duration) error {
	p, err := load()
	if err != nil {
		return err
	}
	return p.verdicts(w, r, limit)
}

// verdicts writes a verdict on each mutant that it reads.
func (p *program) verdicts(w io.Writer, r io.Reader, limit time.Duration) error {
	declared, err := declarations()
	if err != nil {
		return err
	}
	encoder := json.NewEncoder(w)
	sizes := make(map[*function][]map[*instruction][]int)
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		var m mutant
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			return err
		}
		k := slices.IndexFunc(p.functions, func(f *function) bool { return f.name == m.Function })
		if k < 0 {
			return fmt.Errorf("no function %q", m.Function)
		}
		f := p.functions[k]
		if sizes[f] == nil {
			if sizes[f], err = p.sizes(f); err != nil {
				return err
			}
		}
		late := m
		late.Verdict = undecided + "no verdict in " + limit.String()
		watchdog := time.AfterFunc(limit, func() {
			encoder.Encode(late)
			os.Exit(3)
		})
		m.Verdict = p.verdict(f, m, sizes[f], newSignature(declared[f.pkg+"."+f.name]))
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
func (p *program) sizes(f *function) (all []map[*instruction][]int, err error) {
	for _, x := range f.proofs() {
		v := newProver(p, f, 1)
		v.at = make(map[*instruction][]int)
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
func (p *program) verdict(f *function, m mutant, sizes []map[*instruction][]int, s *signature) (said string) {
	broken, err := f.mutated(m)
	if err != nil {
		return err.Error()
	}
	defer func() {
		if r := recover(); r != nil { // there is no model of it
			said = fmt.Sprint(r)
		}
	}()
	if found := leaks(broken, s); len(found) > 0 {
		return found[0].String()
	}
	replaced := f.code[f.at[f.code[0].address+m.Offset]]
	executed := false
	for _, step := range []int{fewSizes, 1} {
		for k, x := range broken.proofs() {
			at := sizes[k][replaced]
			if len(at) == 0 {
				continue
			}
			executed = true
			v := newProver(p, broken, 1)
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
func (f *function) mutated(m mutant) (*function, error) {
	n, ok := f.at[f.code[0].address+m.Offset]
	if !ok {
		return nil, fmt.Errorf(undecided+"%s has no instruction at offset %#x", f.name, m.Offset)
	}
	i := *f.code[n]
	before, err := hex.DecodeString(m.Old)
	after, err2 := hex.DecodeString(m.New)
	if err != nil || err2 != nil || len(before) != len(i.bytes) || len(after) != len(i.bytes) {
		return nil, fmt.Errorf(undecided+"%s: want %d bytes for %v", f.name, len(i.bytes), &i)
	}
	changed := slices.Clone(i.bytes)
	for k := range changed {
		if before[k] != after[k] {
			changed[k] = after[k]
		}
	}
	next, err := disassembleOne(i.address, changed)
	if err != nil {
		return nil, err
	}
	broken := *f
	broken.code = slices.Clone(f.code)
	broken.code[n] = next
	if _, ok := f.at[next.target]; next.jumps() && !ok {
		return nil, fmt.Errorf("%v jumps out of the function", next)
	}
	return &broken, nil
}

var noSymbols = regexp.MustCompile(`^rex\.?W? |(# |^j\w+ +)0x`)

// disassembleOne returns the instruction that bytes at an address are. Several that do
// nothing, as mutate puts in place of a dropped one, are one.
func disassembleOne(address uint64, b []byte) (*instruction, error) {
	lines, err := objdump.Bytes(b, address)
	if err != nil {
		return nil, fmt.Errorf(undecided+"%w", err)
	}
	var all []*instruction
	for _, line := range lines {
		// Without symbols, numbers have a prefix, as has an instruction with an idle REX.
		i, err := parse(line.Address, line.Bytes, noSymbols.ReplaceAllString(line.Text, "$1"))
		if err != nil {
			return nil, fmt.Errorf("%q: %w", line.Text, err)
		}
		all = append(all, i)
	}
	others := slices.ContainsFunc(all, func(i *instruction) bool { return i.mnemonic != "nop" })
	if len(all) == 0 || len(all) > 1 && others {
		return nil, fmt.Errorf(undecided+"%d instructions", len(all))
	}
	return all[0], nil
}
