// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Command compare measures the kernels of a layer, the standard library and, if you like, another
// checkout of the module, in turn in one process:
//
//	go run ./internal/compare [-old DIR-OR-REVISION] [-op REGEXP] [-kernel REGEXP] [-sizes N,N] [-time D] [LAYER...]
//
// The layers are umac, aes, sha256, sha512 and gcm. A time is the least of thousands of slices of
// some 10 microseconds, which tells a difference of 1 to 2 % also on a busy machine. The column ± is by how
// much the ratio of the leasts differs between the two halves of the slices: it is no better than that. The
// last column has the functions in which a candidate spent its time: a kernel leaves some sizes to
// others. With -old, the operations are those of this tree, in both.
//
// To measure a CPU without some instructions, set GODEBUG, as in cpu.avx512f=off. For features that the Go
// runtime does not use, such as cpu.sha, it prints "unknown cpu feature"; the module obeys.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"example.com/fastmac/internal/compare/operations"
	"example.com/fastmac/internal/measure"
	"example.com/fastmac/internal/origin"
)

const slice = 10 * time.Microsecond

// A tree is a checkout of the module. In the program that old.go builds there is a second one.
type tree struct {
	name    string
	all     func(layer int) []operations.Operation
	kernels func(layer int) (names []string, active int)
	choose  func(layer, index int)
}

var trees = []tree{{"", operations.All, operations.Kernels, operations.Select}}

// options are those of the command line.
type options struct {
	old, op, kernel string
	sizes           []int
	time            time.Duration
	layers          []int // indices of operations.Layers
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	o, err := parse(os.Args[1:], os.Stderr)
	if err == nil {
		if o.old != "" && len(trees) == 1 {
			err = runOld(ctx, o.old, os.Args[1:])
		} else {
			err = run(ctx, o, os.Stdout)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(1)
	}
}

func parse(args []string, stderr io.Writer) (o options, err error) {
	flags := flag.NewFlagSet("compare", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&o.old, "old", "", "another checkout of the module: a `folder` or a revision of git")
	flags.StringVar(&o.op, "op", "", "only operations that match this `regexp`")
	flags.StringVar(&o.kernel, "kernel", "", "only kernels that match this `regexp`")
	sizes := flags.String("sizes", "16,64,256,1500,16384", "of messages, in `bytes`")
	flags.DurationVar(&o.time, "time", 300*time.Millisecond, "for each candidate and size")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	for s := range strings.SplitSeq(*sizes, ",") {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 {
			return o, fmt.Errorf("size %q: want numbers of bytes with commas between them", s)
		}
		o.sizes = append(o.sizes, n)
	}
	for i, l := range operations.Layers {
		if flags.NArg() == 0 || slices.Contains(flags.Args(), l) {
			o.layers = append(o.layers, i)
		}
	}
	if flags.NArg() > len(o.layers) {
		return o, fmt.Errorf("layers %q: want different ones of %q", flags.Args(), operations.Layers)
	}
	for _, pattern := range []string{o.op, o.kernel} {
		if _, err := regexp.Compile(pattern); err != nil {
			return o, err
		}
	}
	return o, nil
}

// A candidate computes an operation at a size.
type candidate struct {
	name string
	old  *candidate // the same kernel in the other tree, or nil
	measure.Cell
}

// run measures and prints.
func run(ctx context.Context, o options, w io.Writer) error {
	fmt.Fprintf(w, "%s, %s, %s/%s, commit %s\n", origin.CPU(), runtime.Version(), runtime.GOOS, runtime.GOARCH, origin.Commit())
	for _, t := range trees[1:] {
		fmt.Fprintf(w, "old: %s\n", t.name)
	}
	for _, layer := range o.layers {
		if names, _ := operations.Kernels(layer); len(names) == 0 {
			fmt.Fprintf(w, "\n%s: no implementation for this machine\n", operations.Layers[layer])
			continue
		}
		for i, op := range operations.All(layer) {
			if !regexp.MustCompile(o.op).MatchString(op.Name) {
				continue
			}
			sizes := o.sizes
			if op.Size != 0 {
				sizes = []int{op.Size}
			}
			table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
			first := "÷ " + op.StdName
			if op.Std == nil {
				first = "÷ first"
			}
			fmt.Fprintf(table, "\n%s\n%s\tcandidate\tns\t%s\t±\t", op.Name, op.Unit, first)
			if len(trees) > 1 {
				fmt.Fprint(table, "÷ old\t")
			}
			fmt.Fprint(table, "  ran\n")
			for _, size := range sizes {
				if err := o.measure(ctx, table, layer, i, size); err != nil {
					return err
				}
			}
			table.Flush()
		}
	}
	return nil
}

// measure adds the rows of an operation, by its index in its layer, at a size.
func (o options) measure(ctx context.Context, w io.Writer, layer, index, size int) error {
	defer restore(layer)()
	all, err := o.candidates(layer, index, size)
	if err != nil {
		return err
	}
	ran, err := profiled(ctx, all, o.time)
	if err != nil {
		return err
	}
	for i, c := range all {
		least := func(c *candidate) float64 { return measure.Quantile(c.NS, 0) }
		drift := ""
		if c != all[0] {
			drift = fmt.Sprintf("%.0f%%", 100*measure.RatioDrift(c.NS, all[0].NS, 0))
		}
		fmt.Fprintf(w, "%d\t%s\t%.1f\t%.2f\t%s\t", size, c.name, least(c), least(c)/least(all[0]), drift)
		if len(trees) > 1 && c.old != nil {
			fmt.Fprintf(w, "%.2f", least(c)/least(c.old))
		}
		if len(trees) > 1 {
			fmt.Fprint(w, "\t")
		}
		fmt.Fprintf(w, "  %s\n", ran[i])
	}
	return nil
}

// restore returns a function that puts the kernels into use again that are in use now.
func restore(layer int) func() {
	var before []int
	for _, t := range trees {
		_, active := t.kernels(layer)
		before = append(before, active)
	}
	return func() {
		for i, t := range trees {
			t.choose(layer, before[i])
		}
	}
}

// candidates returns those of an operation at a size: the standard library first, and a star for the kernels that
// users get. They must compute the same.
func (o options) candidates(layer, index, size int) (all []*candidate, err error) {
	defer restore(layer)()
	op := operations.All(layer)[index]
	var want []byte
	add := func(name string, setup operations.Setup, before func()) *candidate {
		before()
		// The time can depend on where a key lies in memory, so there are several.
		var places [4]func(n int) []byte
		for i := range places {
			places[i] = setup(size)
		}
		got := bytes.Clone(places[0](op.Batch))
		if len(all) == 0 {
			want = got
		} else if !bytes.Equal(got, want) {
			err = fmt.Errorf("%s, %d %s: %s has %x, want %x", op.Name, size, op.Unit, name, got, want)
		}
		place := 0
		c := &candidate{name: name, Cell: measure.Cell{Batch: op.Batch}}
		c.Before = func() {
			before()
			place++
		}
		c.Do = func(n int) { places[place%len(places)](n) }
		all = append(all, c)
		return c
	}
	if op.Std != nil {
		add(op.StdName, op.Std, func() {})
	}
	ours := make(map[string]*candidate)
	for i, t := range trees {
		names, active := t.kernels(layer)
		for k, name := range names {
			if !regexp.MustCompile(o.kernel).MatchString(name) {
				continue
			}
			shown := name
			if k == active {
				shown += "*"
			}
			if i > 0 {
				shown = "old " + shown
			}
			c := add(shown, t.all(layer)[index].Own, func() { t.choose(layer, k) })
			if i == 0 {
				ours[name] = c
			} else if ours[name] != nil {
				ours[name].old = c
			}
		}
	}
	return all, err
}
