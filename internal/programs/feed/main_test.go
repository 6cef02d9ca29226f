// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"testing"

	"example.com/fastmac/internal/programs/oneway"
)

func TestMain(m *testing.M) { oneway.Main(m, main) }

// TestKilled kills the sender and the receivers, again and again. No counter is used twice, and no
// receiver accepts a packet twice, although each new one gets all that was ever sent.
func TestKilled(t *testing.T) {
	folder, n := filepath.Join(t.TempDir(), "feed"), oneway.NewNetwork(t)
	if out, err := oneway.Run(t, "", "create", folder, "a", "b"); err != nil {
		t.Fatal(out, err)
	}
	n.Lose = 3
	a := oneway.Receive(t, "receive", folder, "a", "127.0.0.1:0")
	b := oneway.Receive(t, "receive", folder, "b", "127.0.0.1:0")
	s := n.Send(t, "send", folder, n.Address())
	for round := range 8 {
		s.Until(t, 20, a, b)
		if round&1 != 0 {
			s.Kill(t, a, b)
			s = n.Send(t, "send", folder, n.Address())
		}
		for i, r := range []*oneway.Receiver{a, b} {
			if round>>(i+1)&1 != 0 {
				r.Kill(t, n.Sent...)
				r.Start(t)
			}
			r.Deliver(t, n.Sent...)
		}
	}
	s.Kill(t, a, b)
	a.Kill(t)
	b.Kill(t)
	n.NoCounterTwice(t)
}

// TestOrderly ends the sender and the receiver by signals. Nothing is skipped, and nothing is refused.
func TestOrderly(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no signals for other processes")
	}
	folder, n := filepath.Join(t.TempDir(), "feed"), oneway.NewNetwork(t)
	if out, err := oneway.Run(t, "", "create", folder, "a"); err != nil {
		t.Fatal(out, err)
	}
	for round, signal := range []os.Signal{os.Interrupt, syscall.SIGTERM, os.Interrupt} {
		r := oneway.Receive(t, "receive", folder, "a", "127.0.0.1:0")
		s := n.Send(t, "send", folder, n.Address())
		s.Until(t, 10, r)
		if !r.Accepted[strconv.Itoa(10*round)] || r.Refused != 0 {
			t.Errorf("round %d: %d are refused, and %v accepted", round, r.Refused, r.Accepted)
		}
		s.End(t, signal)
		r.End(t, signal)
	}
}

// TestAddresses has a sender with two addresses, which get the same packet.
func TestAddresses(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "feed")
	if out, err := oneway.Run(t, "", "create", folder, "a"); err != nil {
		t.Fatal(out, err)
	}
	a, b := oneway.NewNetwork(t), oneway.NewNetwork(t)
	if out, err := oneway.Run(t, "1\n2\n", "send", folder, a.Address(), b.Address()); err != nil {
		t.Fatal(out, err)
	}
	a.Drain(t)
	b.Drain(t)
	if len(a.Sent) != 2 || len(b.Sent) != 2 || string(a.Sent[0]) != string(b.Sent[0]) || string(a.Sent[1]) != string(b.Sent[1]) {
		t.Errorf("the addresses get %x and %x", a.Sent, b.Sent)
	}
}

func TestArguments(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "feed")
	if out, err := oneway.Run(t, "", "create", folder, "a"); err != nil {
		t.Fatal(out, err)
	}
	for _, args := range [][]string{
		{}, {"create", folder}, {"create", folder, "a"}, {"create", folder + "2", "a", "a"}, {"create", folder + "3", "send"},
		{"send", folder}, {"receive", folder, "a"}, {"receive", folder, "b", "127.0.0.1:0"}, {"receive", folder + "4", "a", "127.0.0.1:0"},
	} {
		if out, err := oneway.Run(t, "", args...); err == nil {
			t.Errorf("%q gives no error, but %q", args, out)
		}
	}
	if err := os.Truncate(filepath.Join(folder, "key"), 31); err != nil {
		t.Fatal(err)
	}
	if out, err := oneway.Run(t, "", "send", folder, "127.0.0.1:9"); err == nil {
		t.Errorf("a part of the secret gives no error, but %q", out)
	}
}
