// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package proofs

import (
	"fmt"
	"io"
	"maps"
	"runtime"
	"slices"
	"text/tabwriter"

	"example.com/fastmac/internal/assurance/algebra"
	"example.com/fastmac/internal/assurance/program"
	"example.com/fastmac/internal/assurance/x86"
)

// ProveAll prints all proofs, and fails if one does, or if a function has none. As many run at a
// time as there are CPUs.
func ProveAll(w io.Writer, p *program.Program, step int) error {
	type result struct {
		proof
		*prover
		cases int
		err   error
		done  chan struct{}
	}
	for _, f := range p.Functions {
		if f.Name != "cpuid7" && len(proofsOf(f)) == 0 {
			return fmt.Errorf("%s has no proof", f.Name)
		}
	}
	var results []*result
	for _, x := range proofs {
		found := p.Find(x.kernels)
		if len(found) == 0 {
			return fmt.Errorf("no function has a name for the proof of %s", x.kernels)
		}
		for _, f := range found {
			results = append(results, &result{proof: x, prover: newProver(p, f, step), done: make(chan struct{})})
		}
	}
	running := make(chan struct{}, runtime.GOMAXPROCS(0))
	go func() {
		for _, r := range results {
			running <- struct{}{}
			go func() {
				r.cases, r.err = r.prove(r.prover)
				r.Formulas, r.g = nil, nil // they need much memory
				close(r.done)
				<-running
			}()
		}
	}()

	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "proved\tcases\twhat")
	defer table.Flush()
	executed := make(map[*x86.Function]map[*x86.Instruction]bool)
	for _, r := range results {
		<-r.done
		if r.err != nil {
			return r.err
		}
		fmt.Fprintf(table, "%s\t%d\t%s\n", r.function.Name, r.cases, r.what)
		if executed[r.function] == nil {
			executed[r.function] = make(map[*x86.Instruction]bool)
		}
		maps.Copy(executed[r.function], r.executed)
	}
	done, all := 0, 0
	for f, executed := range executed {
		for _, i := range f.Code {
			if !slices.Contains([]string{"nop", "int3", "ret", "call"}, i.Mnemonic) {
				all++
				done += int(algebra.Truth(executed[i]))
			}
		}
	}
	fmt.Fprintf(table, "\n%d of %d functions are proved, and %d of their %d instructions executed\n", len(executed), len(p.Functions), done, all)
	return nil
}
