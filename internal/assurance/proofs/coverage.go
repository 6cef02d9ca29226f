// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package proofs

import (
	"fmt"
	"maps"
	"slices"

	"example.com/fastmac/internal/assurance/algebra"
	"example.com/fastmac/internal/assurance/machine"
)

// named are decisions that always have the same result: instructions of this kind in a function, as
// many as decisions.txt has. They are in code that other kernels share, and in functions whose proofs
// cover all sizes that callers use.
var named = []struct{ function, mnemonic, why string }{
	{"nhAddAVX2", "jb", "a single group was taken before"},
	{"nhAddAVX512", "cmovl", "a single group was taken before"},
	{"nhNextAVX2", "jb", "a single group was taken before"},
	{"nhNextAVX512", "jb", "a single group was taken before"},
	{"nhNextAVX512", "cmovl", "a single group was taken before"},
	{"fillAVX2", "cmovb", "there are 16 bytes or more"},
	{"tagOnlyAVX2", "cmovb", "there are 16 bytes or more"},
	{"tagNextAVX2", "cmovb", "there are 16 bytes or more"},
	{"tagNextAVX2", "je", "there is at least one byte"},
	{"tagNonceNEON", "tbz", "a flag, which no number is next to"},
	{"tagNoncesNEON", "tbz", "a flag, which no number is next to"},
	{"expandKey", "tbz", "the constant of a round is a power of 2"},
	{"tagOnlyNEON", "b.lt", "16 bytes have been taken before"},
	{"tagNextNEON", "b.lt", "16 bytes have been taken before"},
	{"tagNonceNEON", "b.lt", "16 bytes have been taken before"},
	{"tagNoncesNEON", "b.lt", "16 bytes have been taken before"},
}

// A coverage is what the proofs of a function have executed.
type coverage struct {
	executed map[*machine.Instruction]bool
	outcomes map[*machine.Instruction]int            // of branches: 1 not taken, 2 taken, 3 both
	compared map[*machine.Instruction]map[int64]bool // differences of numbers, by the instruction that decides on them
	symbolic map[*machine.Instruction]bool           // those that decide on variables too
}

func newCoverage() coverage {
	return coverage{make(map[*machine.Instruction]bool), make(map[*machine.Instruction]int), make(map[*machine.Instruction]map[int64]bool), make(map[*machine.Instruction]bool)}
}

// visit records that an instruction is executed, and on which numbers it decides: of a number of rounds, the least
// that it can be. Whether the stack must grow is not recorded.
func (c *coverage) visit(v *prover, m *state, i *machine.Instruction) {
	c.executed[i] = true
	if i.Condition == "" && !i.Branches() || i.Jumps() && v.function.GrowsStack(v.function.At[i.Target]) {
		return
	}
	difference := int64(mixed)
	if w, n, ok := v.models.Compared(m, i); ok {
		x, known := v.Value(w)
		if !known {
			c.symbolic[i] = true
			if x = v.Least(w); x == 0 {
				return
			}
		}
		difference = int64(x) << (64 - n) >> (64 - n)
		if i.Mnemonic == "tbz" && n < 64 { // below and above the least number that has the bit
			difference = int64(x&(1<<n-1)) - 1<<(n-1)
		}
	}
	if c.compared[i] == nil {
		c.compared[i] = make(map[int64]bool)
	}
	c.compared[i][difference] = true
}

// mixed is in place of a difference where the flags are of several instructions. It is beyond limit.
const mixed = 1 << 62

// add adds what another proof of the function has executed.
func (c coverage) add(d coverage) {
	maps.Copy(c.executed, d.executed)
	maps.Copy(c.symbolic, d.symbolic)
	for i, outcomes := range d.outcomes {
		c.outcomes[i] |= outcomes
	}
	for i, differences := range d.compared {
		if c.compared[i] == nil {
			c.compared[i] = make(map[int64]bool)
		}
		maps.Copy(c.compared[i], differences)
	}
}

// missing returns what the proofs of a function leave out: instructions, ways of branches, and
// numbers next to those with which it compares others. It counts what is named: as a line of
// decisions.txt for each row.
func (c coverage) missing(f *machine.Function) (list, decisions []string) {
	gaps := make(map[*machine.Instruction]string)
	for n, i := range f.Code {
		grows := i.Jumps() && f.GrowsStack(f.At[i.Target])
		differences := c.compared[i]
		switch {
		case i.Flow == machine.Fill || i.Flow == machine.Stop || f.GrowsStack(n):
		case !c.executed[i]:
			gaps[i] = notExecuted
		case i.Branches() && c.outcomes[i] != 3 && !grows:
			gaps[i] = [...]string{"", "is never taken", "is always taken"}[c.outcomes[i]]
		case differences != nil:
			// With one difference only, a branch that went both ways has also compared an address with 0.
			// What decides on variables does so for all that they can be.
			one := len(differences) == 1 && (i.Branches() && c.outcomes[i] == 3 || c.symbolic[i])
			if what := gap(i, differences); what != "" && !one {
				gaps[i] = what
			}
		}
	}
	for _, name := range named {
		if f.Name != name.function {
			continue
		}
		before := len(gaps)
		maps.DeleteFunc(gaps, func(i *machine.Instruction, what string) bool {
			return i.Mnemonic == name.mnemonic && what != notExecuted
		})
		decisions = append(decisions, fmt.Sprintln(f.Name, name.mnemonic, before-len(gaps)))
	}
	for _, i := range f.Code {
		if gaps[i] != "" {
			list = append(list, fmt.Sprintf("%s: %v %s", f.Name, i, gaps[i]))
		}
	}
	return list, decisions
}

// notExecuted is what no row of named excuses.
const notExecuted = "is not executed"

// gap returns what is missing where an instruction decides on the difference of two numbers, or "".
// The decision changes next to 0; the proofs must have had it on both sides. How far the numbers are
// apart is taken from those that there are.
func gap(i *machine.Instruction, differences map[int64]bool) string {
	var list []int64
	for d := range differences {
		list = append(list, d)
	}
	slices.Sort(list)
	unit := int64(0)
	for _, d := range list {
		unit = algebra.GCD(unit, d-list[0])
	}
	if unit == 0 {
		return fmt.Sprintf("no difference but %d", list[0])
	}
	const limit = 1 << 40 // from there on the decision may change again, where the difference wraps around
	if list[0] < -limit || list[len(list)-1] > limit {
		return fmt.Sprintf("differences from %d to %d", list[0], list[len(list)-1])
	}
	var missing []int64
	need := func(some ...int64) {
		if !slices.ContainsFunc(some, func(d int64) bool { return differences[d] }) {
			missing = append(missing, some...)
		}
	}
	need(0)
	switch i.Condition {
	case "e", "ne", "eq":
		need(-unit, unit)
	case "be", "a", "le", "g", "ls", "hi", "gt":
		need(unit)
	case "":
		if i.Mnemonic != "tbz" { // a comparison with 0
			need(-unit, unit)
			break
		}
		fallthrough
	default:
		need(-unit)
	}
	if missing == nil {
		return ""
	}
	return fmt.Sprintf("has no difference of %d, of those from %d to %d", missing, list[0], list[len(list)-1])
}
