// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package oneway tests programs that send packets one way: it runs them as processes, kills them, and
// is the network between them, which loses and repeats packets.
package oneway

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// asProgram is the variable that makes the test the program.
const asProgram = "FASTMAC_ONEWAY_PROGRAM"

// Main is TestMain of a program.
func Main(m *testing.M, program func()) {
	if os.Getenv(asProgram) == "" {
		os.Exit(m.Run())
	}
	program()
	os.Exit(0)
}

// command is the program, not started yet.
func command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), path, args...)
	// With -race a process would take a second to end.
	c.Env = append(os.Environ(), asProgram+"=1", "GORACE=atexit_sleep_ms=0")
	return c
}

// Run runs the program to its end, with lines as its input, and returns what it has written.
func Run(t *testing.T, lines string, args ...string) (string, error) {
	t.Helper()
	c := command(t, args...)
	c.Stdin = strings.NewReader(lines)
	b, err := c.CombinedOutput()
	return string(b), err
}

// A Network is between the sender and the receivers, and keeps all packets.
type Network struct {
	Sent [][]byte // what the sender has sent
	Lose int      // each packet of this number is lost at first; 0 if none is

	conn net.PacketConn
}

// NewNetwork returns a network without a sender.
func NewNetwork(t *testing.T) *Network {
	t.Helper()
	conn, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	conn.SetReadDeadline(time.Now().Add(5 * time.Minute)) // not to hang
	return &Network{conn: conn}
}

// Address is where the sender sends to.
func (n *Network) Address() string { return n.conn.LocalAddr().String() }

// take takes a packet.
func (n *Network) take(t *testing.T) []byte {
	t.Helper()
	b := make([]byte, 2000)
	k, _, err := n.conn.ReadFrom(b)
	if err != nil {
		t.Fatal(err)
	}
	return b[:k]
}

// carry gives a packet to the receivers, if it is not lost.
func (n *Network) carry(t *testing.T, p []byte, to []*Receiver) {
	t.Helper()
	if n.Sent = append(n.Sent, p); n.Lose != 0 && len(n.Sent)%n.Lose == 0 {
		return
	}
	for _, r := range to {
		r.Deliver(t, p)
	}
}

// Drain gives all packets to the receivers that an ended sender has sent.
func (n *Network) Drain(t *testing.T, to ...*Receiver) {
	t.Helper()
	last := []byte("the last one") // shorter than a packet
	if _, err := n.conn.WriteTo(last, n.conn.LocalAddr()); err != nil {
		t.Fatal(err)
	}
	for p := n.take(t); !bytes.Equal(p, last); p = n.take(t) {
		n.carry(t, p, to)
	}
}

// NoCounterTwice fails if two packets have the same counter. They have UMAC-128.
func (n *Network) NoCounterTwice(t *testing.T) {
	t.Helper()
	used := map[string]bool{}
	for _, p := range n.Sent {
		counter := string(p[len(p)-24 : len(p)-16]) // and the epoch
		if used[counter] {
			t.Errorf("a counter is used twice: %x", p)
		}
		used[counter] = true
	}
}

// A Sender is a process that sends each line of its input.
type Sender struct {
	network *Network
	process *exec.Cmd
	input   io.WriteCloser
	lines   int
}

// Send starts a sender.
func (n *Network) Send(t *testing.T, args ...string) *Sender {
	t.Helper()
	c := command(t, args...)
	c.Stderr = os.Stderr
	input, err := c.StdinPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	return &Sender{network: n, process: c, input: input}
}

func (s *Sender) lineOut(t *testing.T) {
	t.Helper()
	if _, err := fmt.Fprintln(s.input, "message", s.lines); err != nil {
		t.Fatal(err)
	}
	s.lines++
}

// Until sends packets until each receiver has accepted this many more.
func (s *Sender) Until(t *testing.T, more int, to ...*Receiver) {
	t.Helper()
	var want []int
	for _, r := range to {
		want = append(want, len(r.Accepted)+more)
	}
	for i := 0; i < len(to); {
		if len(to[i].Accepted) >= want[i] {
			i++
			continue
		}
		s.lineOut(t)
		s.network.carry(t, s.network.take(t), to)
	}
}

// Kill kills the sender while it sends, and gives what it has sent to the receivers.
func (s *Sender) Kill(t *testing.T, to ...*Receiver) {
	t.Helper()
	for range 10 {
		s.lineOut(t)
	}
	s.process.Process.Kill()
	s.process.Wait()
	s.network.Drain(t, to...)
}

// End ends the sender by a signal, or if that is nil the input of it. It must end well.
func (s *Sender) End(t *testing.T, signal os.Signal) {
	t.Helper()
	if signal == nil {
		s.input.Close()
	} else if err := s.process.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
	if err := s.process.Wait(); err != nil {
		t.Fatal(err)
	}
}

// A Receiver is a program that prints one line for each packet. It goes on as another process.
type Receiver struct {
	Accepted map[string]bool // the counters
	Refused  int             // packets

	args    []string
	process *exec.Cmd
	lines   *bufio.Scanner
	conn    net.Conn // to it
}

// Receive starts a receiver.
func Receive(t *testing.T, args ...string) *Receiver {
	t.Helper()
	r := &Receiver{Accepted: map[string]bool{}, args: args}
	r.Start(t)
	return r
}

// Start starts the receiver, which has ended.
func (r *Receiver) Start(t *testing.T) {
	t.Helper()
	r.process = command(t, r.args...)
	out, err := r.process.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	r.process.Stderr = r.process.Stdout
	if err := r.process.Start(); err != nil {
		t.Fatal(err)
	}
	r.lines = bufio.NewScanner(out)
	line := r.line(t)
	_, address, ok := strings.Cut(line, "listening on ")
	conn, err := net.Dial("udp4", address)
	if !ok || err != nil {
		t.Fatalf("the receiver does not print its address, but %q: %v", line, err)
	}
	t.Cleanup(func() { conn.Close() })
	r.conn = conn
}

func (r *Receiver) line(t *testing.T) string {
	t.Helper()
	if !r.lines.Scan() {
		t.Fatal("the receiver has ended: ", r.lines.Err(), r.process.Wait())
	}
	return r.lines.Text()
}

// read reads what the receiver prints about a packet, and fails if it has accepted it before.
func (r *Receiver) read(t *testing.T, line string) {
	t.Helper()
	if strings.Contains(line, "refused: ") {
		r.Refused++
		return
	}
	_, line, ok := strings.Cut(line, "packet ")
	counter, msg, _ := strings.Cut(line, ": ")
	if !ok || !strings.HasPrefix(msg, "message ") {
		t.Fatalf("the receiver prints %q", line)
	}
	if r.Accepted[counter] {
		t.Errorf("%s is accepted twice", counter)
	}
	r.Accepted[counter] = true
}

func (r *Receiver) write(t *testing.T, p []byte) {
	t.Helper()
	if _, err := r.conn.Write(p); err != nil {
		t.Fatal(err)
	}
}

// Deliver gives packets to the receiver, one after the other.
func (r *Receiver) Deliver(t *testing.T, packets ...[]byte) {
	t.Helper()
	for _, p := range packets {
		r.write(t, p)
		r.read(t, r.line(t))
	}
}

// Kill kills the receiver while it gets packets.
func (r *Receiver) Kill(t *testing.T, packets ...[]byte) {
	t.Helper()
	for _, p := range packets[max(0, len(packets)-10):] {
		r.write(t, p)
	}
	r.process.Process.Kill()
	r.rest(t)
	r.process.Wait()
}

// rest reads what an ending receiver prints. The last line may be cut off.
func (r *Receiver) rest(t *testing.T) {
	t.Helper()
	for r.lines.Scan() {
		if line := r.lines.Text(); strings.Contains(line, "refused: ") || strings.Contains(line, "message ") {
			r.read(t, line)
		}
	}
}

// End ends the receiver by a signal. It must end well.
func (r *Receiver) End(t *testing.T, signal os.Signal) {
	t.Helper()
	if err := r.process.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
	r.rest(t)
	if err := r.process.Wait(); err != nil {
		t.Fatal(err)
	}
}
