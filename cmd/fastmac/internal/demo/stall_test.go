// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package demo

import (
	"context"
	"net"
	"testing"
	"time"
)

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
	for _, row := range d.report(t, false).Rows {
		if row.Error != "no progress for 20ms, after 0 bytes" {
			t.Errorf("%v: %q", row.suite, row.Error)
		}
	}
}
