// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Command peers measures package fastmac beside its peers on the same messages
// and prints a table.
//
//	go run -C internal/peers . -o results.json
//	go run -C internal/peers . -chart results.json > chart.svg
//	go run -C internal/peers . -bars results.json > bars.svg
//	go run -C internal/peers . -markdown results.json > table.md
//
// Each peer loops in a process of its own language, and all take turns. What it
// takes to add one: a program that speaks the protocol of serve.go, a line in
// build.go that makes it, its contenders in plan.go, and, if its algorithm is a
// new one, tags in known.json.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2

	// serveArg is the argument that makes this program the Go peer.
	serveArg = "-serve"
)

const usage = `usage: go run -C internal/peers . [flags]
  -o FILE             write the results to FILE as well (JSON)
  -quick              a short run, for a look whether everything works
  -fakeboboliu DIR    measure the module github.com/fakeboboliu/umac in DIR too
  -openssh DIR        measure umac.c of OpenSSH's sources in DIR too
  -markdown FILE      measure nothing; print the table of results FILE as Markdown
  -chart FILE         measure nothing; print throughput by size of results FILE as SVG
  -bars FILE          measure nothing; print HMAC and SSH of results FILE as SVG
FILE and DIR are relative to internal/peers.
Exit status: 0 done, 1 something failed or computed a wrong tag, 2 wrong usage.
`

func main() {
	if len(os.Args) == 2 && os.Args[1] == serveArg {
		if err := serve(os.Stdin, os.Stdout, goVersions(), goOps()); err != nil {
			complain(os.Stderr, err)
			os.Exit(exitFailed)
		}
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := mainWith(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

type options struct {
	out, fakeboboliu, openssh, markdown, chart, bars string

	quick bool
}

// mainWith is main without the process: it returns the exit status.
func mainWith(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, err := parse(args)
	if errors.Is(err, flag.ErrHelp) {
		io.WriteString(stdout, usage)
		return exitOK
	} else if err != nil {
		complain(stderr, err)
		io.WriteString(stderr, usage)
		return exitUsage
	}
	switch {
	case o.markdown != "":
		err = render(stdout, o.markdown, markdown)
	case o.chart != "":
		err = render(stdout, o.chart, chart)
	case o.bars != "":
		err = render(stdout, o.bars, bars)
	default:
		err = measureAll(ctx, o, args, groups, stdout, stderr)
	}
	if err != nil {
		complain(stderr, err)
		return exitFailed
	}
	return exitOK
}

func parse(args []string) (o options, err error) {
	fs := flag.NewFlagSet("peers", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.StringVar(&o.out, "o", "", "")
	fs.BoolVar(&o.quick, "quick", false, "")
	fs.StringVar(&o.fakeboboliu, "fakeboboliu", "", "")
	fs.StringVar(&o.openssh, "openssh", "", "")
	fs.StringVar(&o.markdown, "markdown", "", "")
	fs.StringVar(&o.chart, "chart", "", "")
	fs.StringVar(&o.bars, "bars", "", "")
	if err := fs.Parse(args); err != nil {
		return o, err
	}
	if fs.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q", fs.Arg(0))
	}
	if (o.markdown != "" || o.chart != "" || o.bars != "") && fs.NFlag() > 1 {
		return o, errors.New("-markdown, -chart and -bars measure nothing and go with no other flag")
	}
	return o, nil
}

func render(w io.Writer, path string, as func(*results) string) error {
	r, err := readResults(path)
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, as(r))
	return err
}

// measureAll builds the peers, measures the groups and prints the table. If
// contenders were refused it still does the rest before it says so.
func measureAll(ctx context.Context, o options, args []string, groups []group, stdout, stderr io.Writer) error {
	stderr = &lockedWriter{w: stderr}
	if o.out != "" {
		// A mistyped path should not show after minutes of measuring.
		if _, err := os.Stat(filepath.Dir(o.out)); err != nil {
			return fmt.Errorf("results: %w", err)
		}
	}
	known, err := loadKnown(knownJSON)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "fastmac-peers-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)

	r := newResults(ctx, args)
	made, err := newBuilder(ctx, dir)
	if err != nil {
		return err
	}
	fmt.Fprintln(stderr, "fastmac: building the peers; those in Rust may take a minute")
	made.buildC()
	made.buildRust()
	if o.openssh != "" {
		made.buildOpenSSH(o.openssh)
	} else {
		made.leaveOut("OpenSSH", errors.New("no -openssh"))
	}
	if o.fakeboboliu != "" {
		made.buildFakeboboliu(o.fakeboboliu)
	} else {
		made.leaveOut("fakeboboliu", errors.New("no -fakeboboliu"))
	}
	if ctx.Err() != nil {
		return errors.New("interrupted")
	}
	for _, line := range made.leftOut {
		complain(stderr, errors.New(line))
	}

	b := &bench{
		peers: made.peers, known: known, versions: made.versions, stderr: stderr,
		rounds: 10, minTime: 50 * time.Millisecond,
	}
	if o.quick {
		b.rounds, b.minTime = 3, time.Millisecond
	}
	for _, g := range groups {
		rows, err := b.measure(ctx, g)
		if ctx.Err() != nil {
			return errors.New("interrupted")
		} else if err != nil {
			return err
		}
		r.Rows = append(r.Rows, rows...)
	}
	r.Rounds, r.MinTime = b.rounds, b.minTime.String()
	r.Versions = maps.Clone(b.versions)
	r.LeftOut = append(made.leftOut, b.refused...)

	if _, err := io.WriteString(stdout, text(r)); err != nil {
		return err
	}
	if o.out != "" {
		if err := r.write(o.out); err != nil {
			return err
		}
	}
	if len(b.refused) > 0 {
		return errors.New(strings.Join(b.refused, "; "))
	}
	return nil
}

// complain prints err as one line with the prefix that errors of package fastmac
// already have.
func complain(stderr io.Writer, err error) {
	fmt.Fprintf(stderr, "fastmac: %s\n", strings.TrimPrefix(err.Error(), "fastmac: "))
}
