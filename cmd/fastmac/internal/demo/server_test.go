// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package demo

import (
	"context"
	"errors"
	"io"
	"net"
	"testing"
)

// newServer returns a server on any free port, and registers the MACs.
func newServer(t *testing.T) *server {
	t.Helper()
	if err := register(); err != nil {
		t.Fatal(err)
	}
	ids, err := newIdentities()
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.ListenTCP("tcp4", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return &server{listener: l, ids: ids}
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
		_, err = (&goClient{address, strangers, dial}).run(ctx, newJob(suite{cipher: "aes128-ctr", mac: noMAC}, 1), func(int) {})
		if err == nil {
			return nil, errors.New("a stranger got in")
		}
		return dial(ctx, network, address)
	}
	checkPassed(t, d.report(t, true).Rows, rowNames, "Go x/crypto ", "SSH-2.0-Go")
}
