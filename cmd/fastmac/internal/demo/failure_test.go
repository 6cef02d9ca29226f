// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package demo

import (
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
)

// TestDemoDamage changes one byte of the content between the MAC and the hash.
func TestDemoDamage(t *testing.T) {
	for _, tt := range []struct {
		name, want string
		damage     func() *tamperer
	}{
		{"up", "the server received other content", func() *tamperer { return &tamperer{read: &damage{at: testSize / 2}} }},
		{"down", "the client received other content", func() *tamperer { return &tamperer{write: &damage{at: testSize / 2}} }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := newTestDemo(t)
			d.tamper = func(rw io.ReadWriter) io.ReadWriter {
				damaging := tt.damage()
				damaging.ReadWriter = rw
				return damaging
			}
			for _, row := range d.report(t, false).Rows {
				if row.Result != resultFailed || !strings.Contains(row.Error, tt.want) {
					t.Errorf("%s, %s: %s %q", row.MAC, row.Client, row.Result, row.Error)
				}
			}
		})
	}
}

// TestDemoOneFailure has one row fail and the others run.
func TestDemoOneFailure(t *testing.T) {
	d := newTestDemo(t)
	var channels atomic.Int32
	d.tamper = func(rw io.ReadWriter) io.ReadWriter {
		if channels.Add(1) > 1 {
			return rw
		}
		return &tamperer{ReadWriter: rw, read: &damage{at: 7}}
	}
	r := d.report(t, false)
	for i, row := range r.Rows {
		if row.passed() != (i > 0) {
			t.Errorf("row %d: %s %q", i, row.Result, row.Error)
		}
	}

	table := r.String()
	for _, want := range []string{
		r.Rows[0].Error,
		fmt.Sprintf("%d of %d rows passed", len(r.Rows)-1, len(r.Rows)),
	} {
		if !strings.Contains(table, want) {
			t.Errorf("%q is not in the table:\n%s", want, table)
		}
	}
}

// A wireTap changes a byte of what is sent on a network connection.
type wireTap struct {
	net.Conn
	damage damage
}

func (w *wireTap) Write(p []byte) (int, error) {
	q := append([]byte(nil), p...)
	w.damage.apply(q)
	return w.Conn.Write(q)
}

// TestDemoWireDamage changes a byte of the ciphertext, which the MAC has to
// find.
func TestDemoWireDamage(t *testing.T) {
	withoutSSH(t)
	d := newTestDemo(t)
	dial := d.dial
	d.dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		// In the middle of a packet: 3 KB of handshake, then 32 KiB each.
		return &wireTap{conn, damage{at: 84_000}}, err
	}
	for _, row := range d.report(t, false).Rows {
		if row.Result != resultFailed || !strings.Contains(row.Error, "server: upload: ") || !strings.Contains(row.Error, "MAC failure") {
			t.Errorf("%s: %s %q", row.MAC, row.Result, row.Error)
		}
	}
}
