// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Command fastmac shows the MACs of package fastmac at work. Run it without
// arguments for what it can do.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
)

const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitInterrupted = 130 // 128 + SIGINT, as shells report it
)

const usage = `fastmac shows the MACs of package fastmac at work.

usage:
  fastmac demo [--size N] [--port N] [--json]
      Starts an SSH server on 127.0.0.1 and moves data up and down with every
      MAC of package sshmac: with Go's SSH client and, if it is installed, with
      OpenSSH's. Checks the content and what both sides say they negotiated.
        --size N  bytes each way: a number, or one with KiB, MiB or GiB
                  (default 64MiB)
        --port N  port of the server; 0 takes a free one (default 0)
        --json    the result as JSON on standard output
      Exit status: 0 every row passed, 1 a row failed, 2 wrong usage,
      130 interrupted.

  fastmac hardware [--json]
      Which kernel computes each layer on this machine, and whether AES runs
      on the CPU's AES instructions, as it must to be constant time.

  fastmac patch-ssh [-C DIR] [-o DIR] [--check | --revert]
      For programs that cannot use sshmac.Register: gives x/crypto/ssh a public
      RegisterMAC. Copies the golang.org/x/crypto that go.mod has, adds one file,
      builds and tests it, and adds a replace line to go.mod. If a vendor folder
      is in use, adds the file there instead.
        -C DIR    your module (default .)
        -o DIR    where the copy goes (default third_party/golang.org/x/crypto)
        --check   only tells whether that is done and fits go.mod
        --revert  undoes it, if nothing was changed in the copy
      Exit status: 0 done, or in place; 1 failed, or not in place; 2 wrong usage,
      130 interrupted.

  fastmac help
      This text.
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), endingSignals()...)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run is main without the process: it returns the exit status.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	name := "help"
	if len(args) > 0 {
		name, args = args[0], args[1:]
	}
	switch name {
	case "demo":
		return newDemo(stdout, stderr).main(ctx, args)
	case "hardware":
		return hardware(args, stdout, stderr)
	case "patch-ssh":
		return patchSSH(ctx, args, stdout, stderr)
	case "help", "-h", "-help", "--help":
		return printUsage(stdout, stderr)
	}
	return usageError(stderr, fmt.Errorf("unknown command %q", name))
}

func printUsage(stdout, stderr io.Writer) int {
	if _, err := io.WriteString(stdout, usage); err != nil {
		complain(stderr, err)
		return exitFailed
	}
	return exitOK
}

func usageError(stderr io.Writer, err error) int {
	complain(stderr, err)
	fmt.Fprintln(stderr, `Run "fastmac help" for usage.`)
	return exitUsage
}

// complain prints err as one line with the prefix that errors of package
// fastmac already have.
func complain(stderr io.Writer, err error) {
	fmt.Fprintf(stderr, "fastmac: %s\n", strings.TrimPrefix(err.Error(), "fastmac: "))
}

// newFlagSet returns a flag set that leaves all printing to the caller.
func newFlagSet(name string) *flag.FlagSet {
	fs := flag.NewFlagSet(name, flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	return fs
}

// parseFlags parses args and refuses what is left over.
func parseFlags(fs *flag.FlagSet, args []string) error {
	if err := fs.Parse(args); errors.Is(err, flag.ErrHelp) {
		return err
	} else if err != nil {
		return fmt.Errorf("%s: %w", fs.Name(), err)
	}
	if fs.NArg() > 0 {
		return fmt.Errorf("%s: unexpected argument %q", fs.Name(), fs.Arg(0))
	}
	return nil
}

func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
