// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package demo moves data between an SSH server and SSH clients under every MAC of
// package sshmac.
package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"time"

	"example.com/fastmac/cmd/fastmac/internal/hardware"
	"example.com/fastmac/sshmac"
)

// Options are those of the demo command.
type Options struct {
	Size Size // in each direction
	Port int  // of the server; 0 is any free port
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
		register:   sshmac.Register,
		stallLimit: 30 * time.Second,
		probeLimit: 10 * time.Second,
		dial:       new(net.Dialer).DialContext,
	}
}

func (d *demo) run(ctx context.Context) (*Report, error) {
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
	address := listener.Addr().(*net.TCPAddr)

	goClient := (&goClient{address.String(), ids, d.dial}).client()
	clients := []*client{goClient}
	r := &Report{
		Server:    goClient.version,
		Address:   address.String(),
		Hardware:  hardware.New(),
		GoVersion: runtime.Version(),
		Cipher:    testCipher,
		Size:      d.Size,
	}

	openSSH, sshClient, err := newOpenSSH(ctx, d.probeLimit, address, ids)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err == nil:
		defer func() {
			if err := openSSH.cleanUp(); err != nil {
				d.warn(err)
			}
		}()
		r.OpenSSH.Version = sshClient.version
		clients = append(clients, sshClient)
	default:
		d.warn(err)
		r.OpenSSH.Error = err.Error()
		r.OpenSSH.Missing = errors.Is(err, errNoOpenSSH)
	}

	if err := d.runRows(ctx, r, &server{listener, ids, d.tamper}, clients); err != nil {
		return nil, err
	}
	r.Passed = r.Err() == nil
	return r, nil
}

func (d *demo) warn(err error) { fmt.Fprintf(d.stderr, "fastmac: %v\n", err) }

// runRows runs every MAC with every client, even if the row before failed.
func (d *demo) runRows(ctx context.Context, r *Report, s *server, clients []*client) error {
	modes := sshmac.Modes()
	show := newDisplay(d.stderr, len(modes)*len(clients))
	defer show.clear()
	for _, mode := range modes {
		for _, c := range clients {
			show.begin(len(r.Rows), mode.Name, c.name, 2*int64(d.Size))
			row := runRow(ctx, s, c, mode.Name, int64(d.Size), d.stallLimit, show.add)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			r.Rows = append(r.Rows, row)
			if row.passed() {
				show.finish(fmt.Sprintf("ok, %.1f MB/s", row.MBps))
			} else {
				show.finish("failed")
			}
		}
	}
	return nil
}
