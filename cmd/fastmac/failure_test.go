// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"
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
			for _, row := range d.report(t, exitFailed).Rows {
				if row.Result != resultFailed || !strings.Contains(row.Error, tt.want) {
					t.Errorf("%s, %s: %s %q", row.MAC, row.Peer, row.Result, row.Error)
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
	r := d.report(t, exitFailed)
	for i, row := range r.Rows {
		if row.passed() != (i > 0) {
			t.Errorf("row %d: %s %q", i, row.Result, row.Error)
		}
	}

	var table strings.Builder
	if err := r.writeTable(&table); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		r.Rows[0].Error,
		fmt.Sprintf("%d of %d rows passed", len(r.Rows)-1, len(r.Rows)),
	} {
		if !strings.Contains(table.String(), want) {
			t.Errorf("%q is not in the table:\n%s", want, &table)
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
	for _, row := range d.report(t, exitFailed).Rows {
		if row.Result != resultFailed || !strings.Contains(row.Error, "server: upload: ") || !strings.Contains(row.Error, "MAC failure") {
			t.Errorf("%s: %s %q", row.MAC, row.Result, row.Error)
		}
	}
}

// TestDemoStall connects to a server that never says a word.
func TestDemoStall(t *testing.T) {
	withoutSSH(t)
	silent, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	d := newTestDemo(t)
	d.stallLimit = 20 * time.Millisecond
	dial := d.dial
	d.dial = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return dial(ctx, network, silent.Addr().String())
	}
	for _, row := range d.report(t, exitFailed).Rows {
		if row.Error != "no progress for 20ms, after 0 bytes" {
			t.Errorf("%s: %q", row.MAC, row.Error)
		}
	}
}

// TestDemoWrongReport has one side claim something else than was asked for.
func TestDemoWrongReport(t *testing.T) {
	want := algorithms{testCipher, macNames[0]}
	r := &row{MAC: macNames[0]}
	for _, n := range []*negotiated{
		nil,
		{},
		{want, algorithms{}},
		{algorithms{testCipher, macNames[1]}, want},
		{want, algorithms{"aes256-ctr", macNames[0]}},
		{algorithms{"aes128-gcm@openssh.com", ""}, algorithms{"aes128-gcm@openssh.com", ""}},
	} {
		if err := r.checkNegotiated("client", n); err == nil {
			t.Errorf("%v is accepted", n)
		}
	}
	if err := r.checkNegotiated("client", &negotiated{want, want}); err != nil {
		t.Error(err)
	}

	ids, err := newIdentities()
	if err != nil {
		t.Fatal(err)
	}
	l, _, err := listen(0)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := newDemo(nil, nil).register(); err != nil {
		t.Fatal(err)
	}
	honest := (&goClient{l.Addr().String(), ids, new(net.Dialer).DialContext}).peer()
	liar := *honest
	liar.run = func(ctx context.Context, j job) (done, error) {
		d, err := honest.run(ctx, j)
		d.negotiated.ServerToClient.MAC = "hmac-sha1"
		return d, err
	}
	got := runRow(t.Context(), &server{listener: l, ids: ids}, &liar, macNames[0], 1000, time.Minute, func(int) {})
	const reason = "the client reports aes128-ctr umac-64@openssh.com up and aes128-ctr hmac-sha1 down, not aes128-ctr umac-64@openssh.com"
	if got.Result != resultFailed || got.Error != reason || got.agreed() != "they differ, see below" {
		t.Errorf("%s %q, %q", got.Result, got.Error, got.agreed())
	}
}

// TestServerStrangers has others at the port while the row runs.
func TestServerStrangers(t *testing.T) {
	withoutSSH(t)
	d := newTestDemo(t)
	dial := d.dial
	d.dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		silent, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		t.Cleanup(func() { silent.Close() })
		rude, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		io.WriteString(rude, "GET / HTTP/1.1\r\n\r\n")
		rude.Close()
		strangers, err := newIdentities()
		if err != nil {
			return nil, err
		}
		_, err = (&goClient{address, strangers, dial}).run(ctx, job{macNames[0], 1, func(int) {}})
		if err == nil {
			return nil, errors.New("a stranger got in")
		}
		return dial(ctx, network, address)
	}
	checkPassed(t, d.report(t, exitOK).Rows, "Go x/crypto v", "SSH-2.0-Go")
}
