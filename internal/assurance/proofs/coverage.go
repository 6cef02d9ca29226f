// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package proofs

import (
	"strings"

	"example.com/fastmac/internal/assurance/formula"
	"example.com/fastmac/internal/assurance/x86"
)

// A coverage is what the proofs of a function have executed.
type coverage struct {
	executed map[*x86.Instruction]bool
	outcomes map[*x86.Instruction]int                // of branches: 1 not taken, 2 taken, 3 both
	compared map[*x86.Instruction]map[[2]uint64]bool // what was compared, by the instruction that uses the flags
}

func newCoverage() coverage {
	return coverage{make(map[*x86.Instruction]bool), make(map[*x86.Instruction]int), make(map[*x86.Instruction]map[[2]uint64]bool)}
}

// visit records that an instruction is executed, and on which numbers it decides.
func (c *coverage) visit(d *formula.Formulas, m *machine, i *x86.Instruction) {
	c.executed[i] = true
	if !i.Branches() && !strings.HasPrefix(i.Mnemonic, "cmov") && i.Mnemonic != "adc" && i.Mnemonic != "sbb" {
		return
	}
	a, b, ok := m.Compared()
	x, xKnown := d.Value(a)
	y, yKnown := d.Value(b)
	if !ok || !xKnown || !yKnown {
		return
	}
	if c.compared[i] == nil {
		c.compared[i] = make(map[[2]uint64]bool)
	}
	c.compared[i][[2]uint64{x, y}] = true
}
