// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Command peers measures package fastmac beside its peers on the same messages, and
// makes tables and charts of the results.
//
//	go run -C internal/peers . -check -o results/NAME.json
//	go run -C internal/peers . -tables
//	go run -C internal/peers . -page
//
// Each peer runs its loop in a separate process, in its own language, and all take
// turns. Package serve is their protocol, package rivals is what is measured, and
// package report makes the tables and charts. With -check the tests run first, and what
// else package check does, to find out whether fastmac works on a machine.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"example.com/fastmac/internal/peers/check"
	"example.com/fastmac/internal/peers/report"
	"example.com/fastmac/internal/peers/rivals"
	"example.com/fastmac/internal/peers/serve"
)

const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2

	// serveArg is the argument that makes this program the Go peer. With more after it
	// the program is an end of SSH connections.
	serveArg = "-serve"
)

var (
	// inChart are the machines whose results the chart shows, side by side.
	inChart = []string{"amd-zen5", "amd-zen5-avx2"}

	// withTables are the documents with tables that this program makes.
	withTables = []string{"README.md", filepath.Join("docs", "speed.md")}
)

func main() {
	if len(os.Args) == 2 && strings.HasPrefix(os.Args[1], serveArg) {
		if err := servePeer(os.Args[1]); err != nil {
			printError(os.Stderr, err)
			os.Exit(exitFailed)
		}
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// servePeer runs this program as the peer that arg names.
func servePeer(arg string) error {
	if arg == serveArg {
		return serve.Serve(os.Stdin, os.Stdout, rivals.GoVersions(), rivals.GoOps())
	}
	ops, err := endOps(arg)
	if err != nil {
		return err
	}
	return serve.ServeClock(os.Stdin, os.Stdout, nil, ops, cpuTime)
}

type options struct {
	out, openssh, fakeboboliu string

	only *regexp.Regexp // nil is all

	boringssl, check, quick, tables, page bool
}

// flags returns the flags that set o.
func flags(o *options) *flag.FlagSet {
	fs := flag.NewFlagSet("peers", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.StringVar(&o.out, "o", "", "also write the results to `FILE`: results/NAME.json for machine NAME")
	fs.BoolVar(&o.check, "check", false, "before, run the tests, compare the models of the proofs with the CPU,\nand look at DIT; this too is written to FILE")
	fs.BoolVar(&o.quick, "quick", false, "measure for a short time, to see whether everything works")
	fs.Func("only", "measure only what matches `REGEXP`, as seal:fastmac:aes256-gcm:seal:\ngroup, implementation, algorithm, mode", func(s string) (err error) {
		o.only, err = regexp.Compile(s)
		return err
	})
	fs.StringVar(&o.openssh, "openssh", "", "also measure umac.c, umac.h and umac128.c in `DIR`, from the sources of\nportable OpenSSH 10.3p1 to 10.5p1")
	fs.BoolVar(&o.boringssl, "boringssl", false, "also measure BoringSSL, of a crate: needs cmake, a C++ compiler and libclang,\nand takes minutes to build")
	fs.StringVar(&o.fakeboboliu, "fakeboboliu", "", "also measure the Go module github.com/fakeboboliu/umac v0.1.1 in `DIR`")
	fs.BoolVar(&o.tables, "tables", false, "do not measure; print all tables of all results, in Markdown")
	fs.BoolVar(&o.page, "page", false, "do not measure; write ../../assets/chart.svg,\nand the tables of ../../README.md and ../../docs/speed.md")
	return fs
}

// run runs the command line args and returns the exit status.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var o options
	fs := flags(&o)
	err := fs.Parse(args)
	switch {
	case err != nil:
	case fs.NArg() > 0:
		err = fmt.Errorf("unexpected argument %q", fs.Arg(0))
	case o.check && o.out == "":
		err = errors.New("-check needs -o results/NAME.json, for machine NAME")
	case (o.tables || o.page) && fs.NFlag() > 1:
		err = errors.New("-tables and -page allow no other flag")
	}
	if err != nil {
		code := exitUsage
		if errors.Is(err, flag.ErrHelp) {
			code, stderr = exitOK, stdout
		} else {
			printError(stderr, err)
		}
		fmt.Fprintf(stderr, "usage: go run -C internal/peers . [flags]\nFILE and DIR are relative to internal/peers. Exit status: 0 done, 1 something failed or a tag was wrong, 2 wrong usage.\n")
		fs.SetOutput(stderr)
		fs.PrintDefaults()
		return code
	}
	switch {
	case o.tables:
		err = printTables(stdout, "results")
	case o.page:
		err = writePage("results", "../../assets", "../..", "../..")
	default:
		err = measureAll(ctx, o, &check.Plan{Root: "../..", Quick: o.quick, Log: stderr}, rivals.Groups, stdout, stderr)
	}
	if err != nil {
		printError(stderr, err)
		return exitFailed
	}
	return exitOK
}

// printTables prints all tables of the files in results.
func printTables(w io.Writer, results string) error {
	all, err := report.ReadAll(results)
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, report.Page(all))
	return err
}

// writePage writes the chart to assets, and the tables of the documents of tree to the same documents
// in docs, from the files in results.
func writePage(results, assets, tree, docs string) error {
	all, err := report.ReadAll(results)
	if err != nil {
		return err
	}
	files := make(map[string]string)
	if pair := report.Named(all, inChart...); len(pair) == 2 {
		files[filepath.Join(assets, "chart.svg")] = report.Chart(pair[0], pair[1])
	}
	for _, name := range withTables {
		text, err := os.ReadFile(filepath.Join(tree, name))
		if err != nil {
			return err
		}
		if files[filepath.Join(docs, name)], err = report.Fill(string(text), all); err != nil {
			return fmt.Errorf("%w (%s)", err, name)
		}
	}
	for path, text := range files {
		err = errors.Join(err, os.WriteFile(path, []byte(text), 0o666))
	}
	return err
}

// unfinished is what a results file leaves out until a run has ended.
const unfinished = "This run did not end: not all was measured"

// measureAll runs the plan if the options say so, builds the peers, measures the groups and prints the
// tables. The file has what is done after each step, so that nothing is lost if one fails or the run is
// interrupted. If the plan has found faults or contenders were refused, it does the rest before it fails.
func measureAll(ctx context.Context, o options, plan *check.Plan, groups []rivals.Group, stdout, stderr io.Writer) error {
	if o.out != "" {
		// Report a wrong path now, not after minutes of measuring.
		if _, err := os.Stat(filepath.Dir(o.out)); err != nil {
			return fmt.Errorf("results: %w", err)
		}
	}
	if o.only != nil {
		if groups = rivals.Only(groups, o.only); len(groups) == 0 {
			return fmt.Errorf("-only %s: nothing matches", o.only)
		}
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "fastmac-peers-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b := &bench{stderr: stderr, rounds: 200, minTime: 2500 * time.Microsecond, self: self}
	if o.quick {
		b.rounds, b.minTime = 3, time.Millisecond
	}
	r := newResults(o)
	r.Rounds, r.MinTime, r.Statistic = b.rounds, b.minTime.String(), report.Quiet
	r.LeftOut = []string{unfinished}
	save := func() error {
		if o.out == "" {
			return nil
		}
		return r.Write(o.out)
	}
	if o.check {
		fmt.Fprintf(stderr, "fastmac: checking, then measuring: less than an hour in all\n")
		r.Check = new(check.Report)
		if err := plan.Run(ctx, r.Check, save); err != nil {
			return err
		}
	}

	fmt.Fprintln(stderr, "fastmac: building the peers; those in Rust may take a minute")
	built, err := rivals.Build(ctx, dir, groups, o.openssh, o.fakeboboliu, o.boringssl)
	if err != nil {
		return err
	}
	if ctx.Err() != nil {
		return errors.New("interrupted")
	}
	for _, line := range built.LeftOut {
		printError(stderr, errors.New(line))
	}
	built.Peers[rivals.GoPeer] = serve.Peer{Name: rivals.GoPeer, Argv: []string{self, serveArg}}
	b.peers, b.versions = built.Peers, built.Versions
	r.Versions = b.versions

	fmt.Fprintf(stderr, "fastmac: measuring takes about %v\n", b.estimateAll(groups).Round(time.Second))
	for _, g := range groups {
		measure := b.measure
		if g.Name == rivals.CPUGroup {
			measure = b.measureCPU
		}
		rows, err := measure(ctx, g)
		if ctx.Err() != nil {
			return errors.New("interrupted")
		} else if err != nil {
			return err
		}
		r.Rows = append(r.Rows, rows...)
		if len(rows) > 0 {
			if err := save(); err != nil {
				return err
			}
		}
	}
	r.LeftOut = slices.Concat(built.LeftOut, b.leftOut, b.refused)
	if len(r.Rows) == 0 {
		return fmt.Errorf("nothing was measured: %s", strings.Join(r.LeftOut, "; "))
	}

	if _, err := io.WriteString(stdout, report.Section(r)); err != nil {
		return err
	}
	if err := save(); err != nil {
		return err
	}
	faults := b.refused
	if r.Check != nil {
		if err := r.Check.Err(); err != nil {
			faults = append([]string{err.Error()}, faults...)
		}
	}
	if len(faults) > 0 {
		return errors.New(strings.Join(faults, "; "))
	}
	return nil
}

// printError prints err as one line with the prefix of package fastmac's errors.
func printError(stderr io.Writer, err error) {
	fmt.Fprintf(stderr, "fastmac: %s\n", strings.TrimPrefix(err.Error(), "fastmac: "))
}
