// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"example.com/fastmac/packet"
)

// killAt is the variable that makes this program the command, which kills itself before the
// step of this number.
const killAt = "COUNTERSTORE_KILL_AT"

func TestMain(m *testing.M) {
	at, err := strconv.Atoi(os.Getenv(killAt))
	if err != nil {
		os.Exit(m.Run())
	}
	err = run(os.Args[1:], os.Stdout, func(string) error {
		if at--; at >= 0 {
			return nil
		}
		self, err := os.FindProcess(os.Getpid())
		if err != nil {
			return err
		}
		self.Kill()
		select {} // until it is dead
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// command returns the program, as a process that kills itself before a step.
func command(t *testing.T, at int, args ...string) *exec.Cmd {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program, args...)
	// With -race a process would take a second to end.
	cmd.Env = append(os.Environ(), killAt+"="+strconv.Itoa(at), "GORACE=atexit_sleep_ms=0")
	cmd.Stderr = os.Stderr
	return cmd
}

// sink is a socket that takes packets, and knows their counters.
type sink struct {
	conn *net.UDPConn
	port string
	seen map[uint64]bool
	last uint64
}

func newSink(t *testing.T) *sink {
	t.Helper()
	conn, err := net.ListenUDP("udp4", net.UDPAddrFromAddrPort(netip.MustParseAddrPort("127.0.0.1:0")))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return &sink{conn, fmt.Sprint(conn.LocalAddr().(*net.UDPAddr).Port), map[uint64]bool{}, 0}
}

// drain reads all packets that a sender has sent, which has ended, and returns how many. Each
// counter must be new. There are never more than 150, for which the smallest buffers have room.
func (s *sink) drain(t *testing.T) (n int) {
	t.Helper()
	s.conn.SetReadDeadline(time.Now().Add(time.Minute)) // not to hang, if they have no room
	end := []byte("this is the last one")
	if _, err := s.conn.WriteTo(end, s.conn.LocalAddr()); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 2000)
	for ; ; n++ {
		k, _, err := s.conn.ReadFrom(b)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Equal(b[:k], end) {
			return n
		}
		counter := binary.BigEndian.Uint64(b[k-24:])
		if s.seen[counter] {
			t.Errorf("the counter %d has been used twice", counter)
		}
		s.seen[counter] = true
		s.last = max(s.last, counter)
	}
}

func newFolder(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	if err := run([]string{"init", folder}, io.Discard, nil); err != nil {
		t.Fatal(err)
	}
	return folder
}

// TestKilled kills a sender before each step of each of its writes, always with the same store.
// The memory of the kernel outlives a process, so this does not test the syncs: TestOrder does.
func TestKilled(t *testing.T) {
	folder, sink := newFolder(t), newSink(t)
	killed := 0
	for at := 0; ; at++ {
		err := command(t, at, "send", folder, sink.port, "100").Run()
		n := sink.drain(t)
		if err == nil {
			if n != 100 {
				t.Errorf("%d packets, want 100", n)
			}
			break
		}
		if !strings.Contains(err.Error(), "kill") && !strings.Contains(err.Error(), "exit status 1") {
			t.Fatal(err)
		}
		if at < len(steps) && n > 0 {
			t.Errorf("killed at step %d, before a range is stored: %d packets", at, n)
		}
		killed++
	}
	// A write at the start, and two at the end.
	if killed != 3*len(steps) {
		t.Errorf("killed at %d steps, want %d", killed, 3*len(steps))
	}
	s := sink.last
	if err := run([]string{"send", folder, sink.port, "1"}, io.Discard, nil); err != nil {
		t.Fatal(err)
	}
	if sink.drain(t); sink.last != s+1 {
		t.Errorf("after an orderly end the counter is %d, want %d", sink.last, s+1)
	}
}

var errFull = errors.New("no space left")

// TestStoreFull has a store whose writes fail from a step on: the first one, when nothing is sent, or
// those at the end.
func TestStoreFull(t *testing.T) {
	folder, sink := newFolder(t), newSink(t)
	for full := range 3 * len(steps) {
		done := 0
		err := run([]string{"send", folder, sink.port, "150"}, io.Discard, func(string) error {
			if done++; done > full {
				return errFull
			}
			return nil
		})
		if n := sink.drain(t); !errors.Is(err, errFull) || n != 0 && full < len(steps) || n != 150 && full >= len(steps) {
			t.Errorf("full at step %d: %d packets, error %v", full, n, err)
		}
	}
	if err := run([]string{"send", folder, sink.port, "150"}, io.Discard, nil); err != nil {
		t.Error(err)
	}
	if n := sink.drain(t); n != 150 {
		t.Errorf("%d packets, want 150", n)
	}
}

// receiver is a process of the command, and its output.
type receiver struct {
	cmd   *exec.Cmd
	lines *bufio.Scanner
	port  string
}

func startReceiver(t *testing.T, folder string, count int) *receiver {
	t.Helper()
	cmd := command(t, 1<<30, "receive", folder, strconv.Itoa(count))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	r := &receiver{cmd: cmd, lines: bufio.NewScanner(out)}
	port, ok := strings.CutPrefix(r.line(t), "port ")
	if !ok {
		t.Fatal("the receiver does not print its port")
	}
	r.port = port
	return r
}

func (r *receiver) line(t *testing.T) string {
	t.Helper()
	if !r.lines.Scan() {
		t.Fatal("the receiver has ended: ", r.lines.Err(), r.cmd.Wait())
	}
	return r.lines.Text()
}

// TestSecondProcess starts the command twice with one store.
func TestSecondProcess(t *testing.T) {
	folder := newFolder(t)
	r := startReceiver(t, folder, 1)
	var out strings.Builder
	if err := run([]string{"receive", folder}, &out, nil); !errors.Is(err, errLocked) {
		t.Errorf("the second process: %v", err)
	}
	if err := command(t, 1<<30, "receive", folder).Run(); err == nil {
		t.Error("the second process starts")
	}
	r.cmd.Process.Kill()
	r.cmd.Wait()
	// The system has released the lock.
	r = startReceiver(t, folder, 1)
	r.cmd.Process.Kill()
	r.cmd.Wait()
}

// TestBothSides sends to a receiver that is killed, and to the next one. What the first has had
// is refused by the second.
func TestBothSides(t *testing.T) {
	folder := newFolder(t)
	r := startReceiver(t, folder, 1000)
	if err := run([]string{"send", folder, r.port, "40"}, io.Discard, nil); err != nil {
		t.Fatal(err)
	}
	for i := range 40 {
		if line, want := r.line(t), fmt.Sprintf("%d message %[1]d", i); line != want {
			t.Errorf("received %q, want %q", line, want)
		}
	}
	r.cmd.Process.Kill()
	r.cmd.Wait()

	r = startReceiver(t, folder, 10)
	old, err := packet.NewUMACSender(config(mustRead(t, filepath.Join(folder, "key"))), packet.Stored(&store{path: filepath.Join(t.TempDir(), "old"), end: 39}, nil))
	if err != nil {
		t.Fatal(err)
	}
	replay, err := old.Seal([]byte("message 39"), nil)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("udp4", "127.0.0.1:"+r.port)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Write(replay); err != nil {
		t.Fatal(err)
	}
	if line := r.line(t); line != "refused: "+packet.ErrOld.Error() {
		t.Errorf("an old packet: %q", line)
	}
	// The receiver refuses the rest of its step, as it may have had it.
	if err := run([]string{"send", folder, r.port, "120"}, io.Discard, nil); err != nil {
		t.Fatal(err)
	}
	refused := 0
	for line := r.line(t); strings.HasPrefix(line, "refused"); line = r.line(t) {
		refused++
	}
	if refused > 64+1 { // Ahead, and the replayed one
		t.Errorf("%d packets refused, at most %d should be", refused, 64+1)
	}
	for range 9 {
		r.line(t)
	}
	if err := r.cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// TestCopiedStore has the store of the receiver in the place of the sender's: its counters are lower.
func TestCopiedStore(t *testing.T) {
	folder, sink := newFolder(t), newSink(t)
	if err := run([]string{"send", folder, sink.port, "10"}, io.Discard, nil); err != nil {
		t.Fatal(err)
	}
	sink.drain(t)
	if err := os.WriteFile(filepath.Join(folder, "send"), mustRead(t, filepath.Join(folder, "receive")), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := run([]string{"send", folder, sink.port, "10"}, io.Discard, nil); err == nil {
		t.Error("the sender takes the receiver's store")
	}
	sink.drain(t)
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
		if err := run(args, io.Discard, nil); err == nil {
			t.Errorf("%q gives no error", args)
		}
	}
	key := mustRead(t, filepath.Join(folder, "key"))
	if err := run([]string{"init", folder}, io.Discard, nil); err == nil {
		t.Error("init replaces what is there")
	}
	if !slices.Equal(key, mustRead(t, filepath.Join(folder, "key"))) {
		t.Error("init has replaced the secret")
	}
	if err := os.WriteFile(filepath.Join(folder, "key"), key[:31], 0o600); err != nil {
		t.Fatal(err)
	}
	if err := run([]string{"receive", folder}, io.Discard, nil); err == nil {
		t.Error("a short secret gives no error")
	}
}
