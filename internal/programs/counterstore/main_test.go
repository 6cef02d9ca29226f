// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"bufio"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"example.com/fastmac/packet/store"
)

// asCommand is the variable that makes this program the command.
const asCommand = "COUNTERSTORE_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) == "" {
		os.Exit(m.Run())
	}
	main()
	os.Exit(0)
}

// start starts the command as a process.
func start(t *testing.T, args ...string) (cmd *exec.Cmd, lines *bufio.Scanner) {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd = exec.CommandContext(t.Context(), program, args...)
	// With -race a process would take a second to end.
	cmd.Env = append(os.Environ(), asCommand+"=1", "GORACE=atexit_sleep_ms=0")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, bufio.NewScanner(out)
}

// A network is between the sender and the receiver, and keeps all packets.
type network struct {
	conn     net.PacketConn
	port     string
	lines    *bufio.Scanner
	receiver *exec.Cmd
	to       net.Addr // the receiver

	sent     [][]byte
	accepted map[string]bool // the counters
}

func newNetwork(t *testing.T) *network {
	t.Helper()
	conn, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	conn.SetReadDeadline(time.Now().Add(5 * time.Minute)) // not to hang
	return &network{conn: conn, port: strconv.Itoa(conn.LocalAddr().(*net.UDPAddr).Port), accepted: map[string]bool{}}
}

// receive starts a receiver.
func (n *network) receive(t *testing.T, folder string, count int) {
	t.Helper()
	n.receiver, n.lines = start(t, "receive", folder, strconv.Itoa(count))
	port, ok := strings.CutPrefix(n.line(t), "port ")
	to, err := net.ResolveUDPAddr("udp4", "127.0.0.1:"+port)
	if !ok || err != nil {
		t.Fatal("the receiver does not print its port: ", err)
	}
	n.to = to
}

func (n *network) line(t *testing.T) string {
	t.Helper()
	if !n.lines.Scan() {
		t.Fatal("the receiver has ended: ", n.lines.Err(), n.receiver.Wait())
	}
	return n.lines.Text()
}

// take takes a packet of the sender.
func (n *network) take(t *testing.T) []byte {
	t.Helper()
	b := make([]byte, 2000)
	k, _, err := n.conn.ReadFrom(b)
	if err != nil {
		t.Fatal(err)
	}
	n.sent = append(n.sent, b[:k])
	return b[:k]
}

// deliver gives a packet to the receiver, and reports whether it is accepted, which must be the first time.
func (n *network) deliver(t *testing.T, p []byte) bool {
	t.Helper()
	if _, err := n.conn.WriteTo(p, n.to); err != nil {
		t.Fatal(err)
	}
	line := n.line(t)
	if strings.HasPrefix(line, "refused: ") {
		return false
	}
	counter, _, _ := strings.Cut(line, " ")
	if n.accepted[counter] {
		t.Errorf("%q is accepted twice", line)
	}
	n.accepted[counter] = true
	return true
}

func newFolder(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	if err := run([]string{"init", folder}, io.Discard); err != nil {
		t.Fatal(err)
	}
	return folder
}

func kill(cmd *exec.Cmd) {
	cmd.Process.Kill()
	cmd.Wait()
}

// TestKilled kills the sender, the receiver, or both, again and again. No counter is used twice, and no
// packet is accepted twice, although each receiver gets all that was ever sent.
func TestKilled(t *testing.T) {
	folder, n := newFolder(t), newNetwork(t)
	n.receive(t, folder, 1<<30)
	sender, _ := start(t, "send", folder, n.port, "4000000000")
	for round := range 6 {
		// Those that were sent before the kill may come first, and those of a new sender are refused until
		// the receiver has stored more.
		for good := 0; good < 30; {
			if n.deliver(t, n.take(t)) {
				good++
			}
		}
		if round%3 != 1 {
			kill(sender)
		}
		if round%3 != 0 {
			kill(n.receiver)
			n.receive(t, folder, 1<<30)
			for _, p := range n.sent {
				n.deliver(t, p)
			}
		}
		if round%3 != 1 {
			sender, _ = start(t, "send", folder, n.port, "4000000000")
		}
	}
	kill(sender)
	kill(n.receiver)
	used := map[string]bool{}
	for _, p := range n.sent {
		counter := string(p[len(p)-24 : len(p)-16]) // and the epoch
		if used[counter] {
			t.Errorf("a counter is used twice: %x", p)
		}
		used[counter] = true
	}
}

// TestOrderly ends both sides in order, three times. Nothing is skipped, and nothing is refused.
func TestOrderly(t *testing.T) {
	folder, n := newFolder(t), newNetwork(t)
	for round := range 3 {
		n.receive(t, folder, 10)
		if err := run([]string{"send", folder, n.port, "10"}, io.Discard); err != nil {
			t.Fatal(err)
		}
		for i := range 10 {
			if !n.deliver(t, n.take(t)) || !n.accepted[strconv.Itoa(10*round+i)] {
				t.Errorf("packet %d of round %d is refused, or has another counter", i, round)
			}
		}
		if err := n.receiver.Wait(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestWrongStore has the command twice with one store, the store of the other side, and none.
func TestWrongStore(t *testing.T) {
	folder, n := newFolder(t), newNetwork(t)
	n.receive(t, folder, 10)
	if err := run([]string{"receive", folder}, io.Discard); !errors.Is(err, store.ErrLocked) {
		t.Errorf("the second process: %v", err)
	}
	kill(n.receiver)
	send := func() error { return run([]string{"send", folder, n.port, "10"}, io.Discard) }
	if err := send(); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "send"), mustRead(t, filepath.Join(folder, "receive")), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := send(); err == nil || !strings.Contains(err.Error(), "another secret, configuration or direction") {
		t.Errorf("the sender with the receiver's store: %v", err)
	}
	if err := os.Remove(filepath.Join(folder, "send")); err != nil {
		t.Fatal(err)
	}
	if err := send(); err == nil || !strings.Contains(err.Error(), "is missing") {
		t.Errorf("the sender without its store: %v", err)
	}
}

func mustRead(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestArguments(t *testing.T) {
	folder := newFolder(t)
	for _, args := range [][]string{
		{}, {"send"}, {"send", folder}, {"send", folder, "70000", "1"}, {"send", folder, "x", "1"}, {"send", folder, "1", "-1"},
		{"receive", folder, "1", "1"}, {"init", folder, "1"}, {"what", folder}, {"receive", filepath.Join(folder, "no")},
	} {
		if err := run(args, io.Discard); err == nil {
			t.Errorf("%q gives no error", args)
		}
	}
	key := mustRead(t, filepath.Join(folder, "key"))
	if err := run([]string{"init", folder}, io.Discard); err == nil {
		t.Error("init replaces what is there")
	}
	if !slices.Equal(key, mustRead(t, filepath.Join(folder, "key"))) {
		t.Error("init has replaced the secret")
	}
	if err := os.WriteFile(filepath.Join(folder, "key"), key[:31], 0o600); err != nil {
		t.Fatal(err)
	}
	if err := run([]string{"receive", folder}, io.Discard); err == nil {
		t.Error("a short secret gives no error")
	}
}
