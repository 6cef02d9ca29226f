// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"example.com/fastmac/internal/programs/oneway"
)

func TestMain(m *testing.M) { oneway.Main(m, main) }

// create returns a new folder of the program.
func create(t *testing.T) string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "telemetry")
	if out, err := oneway.Run(t, "", "create", folder); err != nil {
		t.Fatal(out, err)
	}
	return folder
}

// TestKilled kills the sender, the receiver, or both, again and again. No counter is used twice, and no
// packet is accepted twice, although each receiver gets all that was ever sent.
func TestKilled(t *testing.T) {
	folder, n := create(t), oneway.NewNetwork(t)
	n.Lose = 3
	r := oneway.Receive(t, "receive", folder, "127.0.0.1:0")
	s := n.Send(t, "send", folder, n.Address())
	for round := range 6 {
		s.Until(t, 30, r)
		if round%3 != 1 {
			s.Kill(t, r)
		}
		if round%3 != 0 {
			// What it gets at the end are packets that were lost, and others that it has had.
			r.Kill(t, n.Sent...)
			r.Start(t)
			r.Deliver(t, n.Sent...)
		}
		if round%3 != 1 {
			s = n.Send(t, "send", folder, n.Address())
		}
	}
	s.Until(t, 30, r)
	s.Kill(t, r)
	r.Kill(t)
	n.NoCounterTwice(t)
}

// TestOrderly ends both sides in order, by signals or at the end of the input. Nothing is skipped, and nothing
// is refused.
func TestOrderly(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no signals for other processes")
	}
	folder, n := create(t), oneway.NewNetwork(t)
	for round, signals := range [][2]os.Signal{{nil, os.Interrupt}, {os.Interrupt, syscall.SIGTERM}, {syscall.SIGTERM, os.Interrupt}, {nil, syscall.SIGTERM}} {
		r := oneway.Receive(t, "receive", folder, "127.0.0.1:0")
		s := n.Send(t, "send", folder, n.Address())
		s.Until(t, 10, r)
		for i := range 10 {
			if !r.Accepted[strconv.Itoa(10*round+i)] {
				t.Errorf("packet %d of round %d has another counter", i, round)
			}
		}
		if r.Refused != 0 || len(n.Sent) != 10*(round+1) {
			t.Errorf("round %d: %d packets were sent in all, and %d refused", round, len(n.Sent), r.Refused)
		}
		r.Deliver(t, n.Sent...)
		s.End(t, signals[0])
		r.End(t, signals[1])
	}
}

// TestWrongStore has the command twice with one store, an old one, the store of the other side, and none.
func TestWrongStore(t *testing.T) {
	folder, n := create(t), oneway.NewNetwork(t)
	r := oneway.Receive(t, "receive", folder, "127.0.0.1:0")
	fails := func(want string, args ...string) {
		t.Helper()
		if out, err := oneway.Run(t, "message\n", args...); err == nil || !strings.Contains(out, want) {
			t.Errorf("%q: %q, %v: want %q", args, out, err, want)
		}
	}
	fails("another process has the lock", "receive", folder, "127.0.0.1:0")
	r.Kill(t)
	write := func(name string, b []byte) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(folder, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	old := read(t, folder, "send")
	if out, err := oneway.Run(t, "message\n", "send", folder, n.Address()); err != nil {
		t.Error(out, err)
	}
	write("send", old)
	fails("it was restored", "send", folder, n.Address())
	write("send", read(t, folder, "receive"))
	fails("is not the file of its lock", "send", folder, n.Address())
	write("send.lock", read(t, folder, "receive.lock"))
	fails("another secret, configuration or direction", "send", folder, n.Address())
	if err := os.Remove(filepath.Join(folder, "send")); err != nil {
		t.Fatal(err)
	}
	fails("is missing", "send", folder, n.Address())
}

func read(t *testing.T, folder, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(folder, name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestArguments(t *testing.T) {
	folder := create(t)
	key := read(t, folder, "key")
	fails := func(args ...string) {
		t.Helper()
		if out, err := oneway.Run(t, "", args...); err == nil {
			t.Errorf("%q gives no error, but %q", args, out)
		}
	}
	for _, args := range [][]string{
		{}, {"send"}, {"send", folder}, {"send", folder, "127.0.0.1:x"}, {"receive", folder}, {"what", folder},
		{"what", folder, "127.0.0.1:0"}, {"receive", filepath.Join(folder, "no"), "127.0.0.1:0"}, {"create", folder},
	} {
		fails(args...)
	}
	if !slices.Equal(key, read(t, folder, "key")) {
		t.Error("create has replaced the secret")
	}
	if i, err := os.Stat(filepath.Join(folder, "key")); err != nil || runtime.GOOS != "windows" && i.Mode().Perm() != 0o600 {
		t.Errorf("the secret: %v, %v", i, err)
	}
	// A new store takes any secret, also what a crash has left of one.
	for _, bad := range [][]byte{key[:31], append(key, '\n')} {
		folder := create(t)
		if err := os.WriteFile(filepath.Join(folder, "key"), bad, 0o600); err != nil {
			t.Fatal(err)
		}
		fails("send", folder, "127.0.0.1:9")
	}
}
