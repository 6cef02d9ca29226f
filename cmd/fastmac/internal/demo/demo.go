// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package demo moves data between an SSH server and SSH clients under every MAC of
// package sshmac, and under others to compare with.
package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"slices"
	"time"

	"example.com/fastmac/cmd/fastmac/internal/hardware"
	"example.com/fastmac/cmd/fastmac/internal/terminal"
)

// Options are those of the demo command.
type Options struct {
	Size    Size     // in each direction
	Port    int      // of the server; 0 is any free port
	MACs    []string // of MACs; none for the default
	Ciphers []string // of Ciphers
	Style   terminal.Style
}

// Check returns an error if the MACs and ciphers make no rows.
func (o Options) Check() error {
	_, err := suites(o.Ciphers, o.MACs)
	return err
}

// Run runs the demo and shows its progress on stderr. The rows that fail are in the
// report: an error means that there is none. When Run returns, it has left nothing
// else behind.
func Run(ctx context.Context, o Options, stderr io.Writer) (*Report, error) {
	return newDemo(o, stderr).run(ctx)
}

// A demo is one run. Its fields after stderr are for tests to change.
type demo struct {
	Options
	stderr io.Writer

	register   func() error
	stallLimit time.Duration // for a row without progress
	probeLimit time.Duration // for ssh -V
	dial       func(ctx context.Context, network, address string) (net.Conn, error)
	tamper     func(io.ReadWriter) io.ReadWriter
}

func newDemo(o Options, stderr io.Writer) *demo {
	return &demo{
		Options:    o,
		stderr:     stderr,
		register:   register,
		stallLimit: 30 * time.Second,
		probeLimit: 10 * time.Second,
		dial:       new(net.Dialer).DialContext,
	}
}

func (d *demo) run(ctx context.Context) (*Report, error) {
	rows, err := suites(d.Ciphers, d.MACs)
	if err != nil {
		return nil, err
	}
	if err := d.register(); err != nil {
		return nil, err
	}
	ids, err := newIdentities()
	if err != nil {
		return nil, err
	}
	listener, err := net.ListenTCP("tcp4", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: d.Port})
	if err != nil {
		return nil, fmt.Errorf("no port for the server: %w", err)
	}
	defer listener.Close()
	fmt.Fprintf(d.stderr, "fastmac: %v each way for each row\n", &d.Size)
	address := listener.Addr().(*net.TCPAddr)

	goClient := (&goClient{address.String(), ids, d.dial}).client()
	clients := []*client{goClient}
	r := &Report{
		Server:    goClient.version,
		Address:   address.String(),
		Hardware:  hardware.New(),
		GoVersion: runtime.Version(),
		Size:      d.Size,
		style:     d.Style,
	}

	openSSH, sshClients, err := newOpenSSH(ctx, d.probeLimit, address, ids)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err == nil:
		defer func() {
			if err := openSSH.cleanUp(); err != nil {
				fmt.Fprintf(d.stderr, "fastmac: %v\n", err)
			}
		}()
		r.OpenSSH.Version = sshClients[0].version
		clients = append(clients, sshClients...)
	default:
		r.OpenSSH.Error = err.Error()
		r.OpenSSH.Missing = errors.Is(err, errNoOpenSSH)
	}

	if err := d.runRows(ctx, r, &server{listener, ids, d.tamper}, clients, rows); err != nil {
		return nil, err
	}
	r.Passed = r.Err() == nil
	return r, nil
}

// runRows runs every row with every client, even if the row before failed.
func (d *demo) runRows(ctx context.Context, r *Report, s *server, clients []*client, rows []suite) error {
	show := newDisplay(d.stderr)
	defer show.clear()
	for _, c := range clients {
		for _, suite := range rows {
			if !c.skips(suite) {
				show.rows++
			}
		}
	}
	if err := d.warmUp(ctx, s, clients[0], rows); err != nil {
		return err
	}
	for _, c := range clients {
		for _, suite := range rows {
			if c.skips(suite) {
				continue
			}
			show.begin(len(r.Rows), suite, c.name, 2*int64(d.Size))
			row := runRow(ctx, s, c, newJob(suite, int64(d.Size)), d.stallLimit, show.add)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			r.Rows = append(r.Rows, row)
			show.finish(row)
		}
	}
	return nil
}

// warmUpSize is what is moved before the first row.
const warmUpSize = 4 << 20

// warmUp runs a row that is not reported, so that the first one does not pay for what is done
// once: making the content, growing the heap, finding the keys. If it fails, so does that one.
func (d *demo) warmUp(ctx context.Context, s *server, c *client, rows []suite) error {
	if i := slices.IndexFunc(rows, func(suite suite) bool { return !c.skips(suite) }); i >= 0 {
		runRow(ctx, s, c, newJob(rows[i], min(warmUpSize, int64(d.Size))), d.stallLimit, func(int) {})
	}
	return ctx.Err()
}
