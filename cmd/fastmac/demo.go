// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"runtime"
	"time"

	"example.com/fastmac/sshmac"
)

// A demo is one run of the demo command. Its fields after the flags are there
// for tests to change.
type demo struct {
	stdout, stderr io.Writer

	size   byteSize
	port   int
	asJSON bool

	register   func() error
	stallLimit time.Duration // for a row without progress
	probeLimit time.Duration // for ssh -V
	dial       func(ctx context.Context, network, address string) (net.Conn, error)
	tamper     func(io.ReadWriter) io.ReadWriter
}

func newDemo(stdout, stderr io.Writer) *demo {
	return &demo{
		stdout:     stdout,
		stderr:     stderr,
		size:       64 << 20,
		register:   sshmac.Register,
		stallLimit: 30 * time.Second,
		probeLimit: 10 * time.Second,
		dial:       new(net.Dialer).DialContext,
	}
}

func (d *demo) parse(args []string) error {
	fs := newFlagSet("demo")
	fs.Var(&d.size, "size", "")
	fs.IntVar(&d.port, "port", 0, "")
	fs.BoolVar(&d.asJSON, "json", false, "")
	if err := parseFlags(fs, args); err != nil {
		return err
	}
	if d.port < 0 || d.port > 65535 {
		return fmt.Errorf("demo: --port is %d, and has to be from 0 to 65535", d.port)
	}
	return nil
}

// main runs the demo and returns the exit status.
func (d *demo) main(ctx context.Context, args []string) int {
	if err := d.parse(args); errors.Is(err, flag.ErrHelp) {
		return printUsage(d.stdout, d.stderr)
	} else if err != nil {
		return usageError(d.stderr, err)
	}
	r, err := d.run(ctx)
	switch {
	case ctx.Err() != nil:
		complain(d.stderr, errors.New("interrupted"))
		return exitInterrupted
	case err != nil:
		complain(d.stderr, err)
		return exitFailed
	}
	if d.asJSON {
		err = writeJSON(d.stdout, r)
	} else {
		err = r.writeTable(d.stdout)
	}
	if err != nil {
		complain(d.stderr, fmt.Errorf("the result cannot be written: %w", err))
		return exitFailed
	}
	if !r.Passed {
		return exitFailed
	}
	return exitOK
}

// run runs all rows. When it returns, nothing that it made is left but the
// report.
func (d *demo) run(ctx context.Context) (*report, error) {
	if err := d.register(); err != nil {
		return nil, err
	}
	ids, err := newIdentities()
	if err != nil {
		return nil, err
	}
	listener, note, err := listen(d.port)
	if note != nil {
		complain(d.stderr, note)
	}
	if err != nil {
		return nil, err
	}
	defer listener.Close()
	address := listener.Addr().(*net.TCPAddr)

	goPeer := (&goClient{address.String(), ids, d.dial}).peer()
	peers := []*peer{goPeer}
	r := &report{
		Server:    goPeer.version,
		Address:   address.String(),
		Hardware:  newHardwareReport(),
		GoVersion: runtime.Version(),
		Cipher:    testCipher,
		Size:      int64(d.size),
	}

	openSSH, sshPeer, err := findOpenSSH(ctx, d.probeLimit)
	if err == nil {
		openSSH.server = address
		defer func() {
			if err := openSSH.cleanUp(); err != nil {
				complain(d.stderr, err)
			}
		}()
		err = openSSH.prepare(ids)
		sshPeer.broken = err
		r.OpenSSH.Version = sshPeer.version
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		complain(d.stderr, err)
		r.OpenSSH = openSSHReport{Error: err.Error()}
	}
	if sshPeer != nil {
		peers = append(peers, sshPeer)
	}

	d.rows(ctx, r, &server{listener, ids, d.tamper}, peers)
	r.conclude()
	return r, nil
}

// rows runs every MAC with every peer, whatever became of the row before.
func (d *demo) rows(ctx context.Context, r *report, s *server, peers []*peer) {
	modes := sshmac.Modes()
	show := newDisplay(d.stderr, len(modes)*len(peers))
	defer show.clear()
	for _, mode := range modes {
		for _, p := range peers {
			show.begin(len(r.Rows), mode.Name, p.name, 2*int64(d.size))
			row := runRow(ctx, s, p, mode.Name, int64(d.size), d.stallLimit, show.add)
			if ctx.Err() != nil {
				return
			}
			r.Rows = append(r.Rows, row)
			if row.passed() {
				show.finish(fmt.Sprintf("ok, %.1f MB/s", row.MBps))
			} else {
				show.finish("failed: " + row.Error)
			}
		}
	}
}
