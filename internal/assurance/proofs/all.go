// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package proofs

import (
	"fmt"
	"io"
	"regexp"
	"runtime"
	"strings"
	"text/tabwriter"

	"example.com/fastmac/internal/assurance/program"
	"example.com/fastmac/internal/assurance/x86"
)

// All proves the functions whose names match, prints their proofs, and fails if a proof does, if a
// function has none, or if the proofs leave something out that it does. As many run at a time as
// there are CPUs. With a step greater than 1 they are for one of so many sizes.
func All(w io.Writer, p *program.Program, step int, match *regexp.Regexp) error {
	type result struct {
		proof
		*prover
		cases int
		err   error
		done  chan struct{}
	}
	var results []*result
	for _, x := range proofs {
		found := p.Find(x.kernels)
		if len(found) == 0 {
			return fmt.Errorf("no function has a name for the proof of %s", x.kernels)
		}
		for _, f := range found {
			if match.MatchString(f.Name) {
				results = append(results, &result{proof: x, prover: newProver(p, f, step), done: make(chan struct{})})
			}
		}
	}
	running := make(chan struct{}, runtime.GOMAXPROCS(0))
	go func() {
		for _, r := range results {
			running <- struct{}{}
			go func() {
				r.cases, r.err = r.run(r.prover)
				r.Formulas, r.g = nil, nil // they need much memory
				close(r.done)
				<-running
			}()
		}
	}()

	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	defer table.Flush()
	fmt.Fprintln(table, "proved\tcases\twhat")
	covered := make(map[*x86.Function]coverage)
	for _, r := range results {
		<-r.done
		if r.err != nil {
			return r.err
		}
		fmt.Fprintf(table, "%s\t%d\t%s\n", r.function.Name, r.cases, r.what)
		if _, ok := covered[r.function]; !ok {
			covered[r.function] = newCoverage()
		}
		covered[r.function].add(r.coverage)
	}
	instructions, comparisons := 0, 0
	var missing []string
	for _, f := range p.Functions {
		switch c, ok := covered[f]; {
		case !match.MatchString(f.Name):
		case !ok:
			missing = append(missing, f.Name+" has no proof")
		case step == 1:
			missing = append(missing, c.missing(f)...)
			instructions, comparisons = instructions+len(c.executed), comparisons+len(c.compared)
		}
	}
	if missing != nil {
		return fmt.Errorf("not covered by proofs:\n%s", strings.Join(missing, "\n"))
	}
	if step == 1 {
		fmt.Fprintf(table, "\n%d functions are proved. Their proofs execute all of their %d instructions, take each branch both ways, and make %d decisions on numbers for the numbers on both sides of them, except for %d that cannot be otherwise\n", len(covered), instructions, comparisons, exceptions())
	}
	return nil
}

// exceptions returns how many decisions are named.
func exceptions() (n int) {
	for _, name := range named {
		n += name.times
	}
	return n
}
