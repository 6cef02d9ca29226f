// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/fastmac/packet"
)

// asCommand is the variable that makes this program the command: how long a client waits.
const asCommand = "SESSION_COMMAND"

func TestMain(m *testing.M) {
	d, err := time.ParseDuration(os.Getenv(asCommand))
	if err != nil {
		os.Exit(m.Run())
	}
	wait = d
	main()
	os.Exit(0)
}

// A process is one end.
type process struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines *bufio.Scanner
}

// start starts the command.
func start(t *testing.T, wait time.Duration, args ...string) *process {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &process{cmd: exec.CommandContext(t.Context(), program, args...)}
	// With -race a process would take a second to end.
	p.cmd.Env = append(os.Environ(), asCommand+"="+wait.String(), "GORACE=atexit_sleep_ms=0")
	p.cmd.Stderr = os.Stderr
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p.lines = bufio.NewScanner(out)
	return p
}

func (p *process) line(t *testing.T) string {
	t.Helper()
	if !p.lines.Scan() {
		t.Fatal("a process has ended: ", p.lines.Err(), p.cmd.Wait())
	}
	return p.lines.Text()
}

// startServer starts a server and returns its address.
func startServer(t *testing.T, secret string) (*process, *net.UDPAddr) {
	t.Helper()
	p := start(t, time.Hour, "server", secret, "127.0.0.1:0")
	address, ok := strings.CutPrefix(p.line(t), "listening on ")
	a, err := net.ResolveUDPAddr("udp4", address)
	if !ok || err != nil {
		t.Fatal("the server does not print its address: ", err)
	}
	return p, a
}

// say has a client send a message, and reports whether the echo came.
func (p *process) say(t *testing.T, message string) bool {
	t.Helper()
	if _, err := fmt.Fprintln(p.in, message); err != nil {
		t.Fatal(err)
	}
	switch line := p.line(t); line {
	case fmt.Sprintf("sent %q, got %q", message, message):
		return true
	case fmt.Sprintf("sent %q, got \"\"", message):
	default:
		t.Errorf("after %q: %s", message, line)
	}
	return false
}

// end kills a process and returns what it printed.
func (p *process) end() (lines []string) {
	p.cmd.Process.Kill()
	for p.lines.Scan() {
		lines = append(lines, p.lines.Text())
	}
	p.cmd.Wait()
	return lines
}

func newSecret(t *testing.T, size int) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(path, []byte(strings.Repeat("a secret, ", 7))[:size], 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func listenUDP(t *testing.T) *net.UDPConn {
	t.Helper()
	conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// A relay is between a client and a server. It keeps all datagrams, and loses every third one in each
// direction. To each new client it sends all that it has, before anything else.
type relay struct {
	front, back *net.UDPConn // of the client, and of the server

	mu       sync.Mutex
	client   *net.UDPAddr
	server   *net.UDPAddr
	toServer [][]byte
	toClient [][]byte
}

func newRelay(t *testing.T) *relay {
	r := &relay{front: listenUDP(t), back: listenUDP(t)}
	go r.run(r.front, func(b []byte, from *net.UDPAddr) {
		if r.client == nil || r.client.Port != from.Port {
			r.client = from
			r.flood()
		}
		if r.toServer = append(r.toServer, b); len(r.toServer)%3 != 0 {
			r.back.WriteTo(b, r.server)
		}
	})
	go r.run(r.back, func(b []byte, _ *net.UDPAddr) {
		if r.toClient = append(r.toClient, b); len(r.toClient)%3 != 0 {
			r.front.WriteTo(b, r.client)
		}
	})
	return r
}

// run gives take what arrives, until the test ends. Systems may say that nobody listens: there is
// a new server, or will be.
func (r *relay) run(conn *net.UDPConn, take func(b []byte, from *net.UDPAddr)) {
	for buffer := make([]byte, 2000); ; {
		n, from, err := conn.ReadFromUDP(buffer)
		if from == nil {
			return
		}
		if err == nil {
			r.mu.Lock()
			take(bytes.Clone(buffer[:n]), from)
			r.mu.Unlock()
		}
	}
}

// setServer changes the server.
func (r *relay) setServer(server *net.UDPAddr) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.server = server
}

// sent returns all that was sent so far.
func (r *relay) sent() (toServer, toClient [][]byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.toServer), slices.Clone(r.toClient)
}

// flood sends the client all that was ever sent, in both directions.
func (r *relay) flood() {
	for _, b := range slices.Concat(r.toClient, r.toServer) {
		r.front.WriteTo(b, r.client)
	}
}

// replay sends the server all that was ever sent, in both directions, and waits until it has read
// that: a server answers each hello with a right tag, also an old one.
func (r *relay) replay(t *testing.T, server *net.UDPAddr) {
	t.Helper()
	toServer, toClient := r.sent()
	conn := listenUDP(t)
	conn.SetReadDeadline(time.Now().Add(time.Minute)) // not to hang
	answer := func() {
		for buffer := make([]byte, 2000); ; { // others are echoes of packets that come late
			if n, err := conn.Read(buffer); err != nil {
				t.Fatal(err)
			} else if n == packet.HelloSize {
				return
			}
		}
	}
	for i, b := range slices.Concat(toServer, toClient) {
		conn.WriteTo(b, server)
		if i >= len(toServer) || len(b) != packet.HelloSize {
			conn.WriteTo(toServer[0], server) // the first that a client sent
		}
		answer()
	}
}

// TestRestarts starts the client, the server, or both, again and again. Each new one gets all that was
// ever sent, and so do those that run. No message is accepted twice, and messages get through.
func TestRestarts(t *testing.T) {
	secret, r := newSecret(t, 32), newRelay(t)
	var server, client *process
	var address *net.UDPAddr
	accepted, sent := map[string]bool{}, map[string]bool{}
	stop := func() {
		for _, line := range server.end() {
			if accepted[line] {
				t.Errorf("%q is accepted twice", line)
			}
			if !sent[line] {
				t.Errorf("%q is accepted, and was never sent", line)
			}
			accepted[line] = true
		}
	}
	through := 0
	for round := range 7 {
		if round%3 != 1 { // 0, 2, 3, 5, 6
			if server != nil {
				stop()
			}
			server, address = startServer(t, secret)
			r.replay(t, address)
			r.setServer(address)
		}
		if round%3 != 2 { // 0, 1, 3, 4, 6
			if client != nil {
				client.end()
			}
			client = start(t, 30*time.Millisecond, "client", secret, r.front.LocalAddr().String())
		}
		for good := 0; good < 2; {
			message := fmt.Sprintf("message %d of round %d", len(sent), round)
			sent[message] = true
			if client.say(t, message) {
				good++
				through++
			}
			r.replay(t, address)
			r.mu.Lock()
			r.flood()
			r.mu.Unlock()
		}
	}
	client.end()
	stop()
	toServer, toClient := r.sent()
	t.Logf("%d messages, %d accepted, %d echoes; %d datagrams to servers, %d to clients", len(sent), len(accepted), through, len(toServer), len(toClient))
	if len(accepted) < through {
		t.Errorf("%d echoes of %d messages", through, len(accepted))
	}

	used := map[string]bool{} // openings, and numbers of packets of clients
	opening, openings := "", 0
	for _, b := range toServer {
		n := len(b) - packet.OpeningSize
		if len(b) == packet.HelloSize {
			continue
		}
		if b[len(b)-24] == 0 { // of the first packets in a session
			b, opening = b[:n], string(b[n:])
			openings++
		}
		key := opening + string(b[len(b)-24:len(b)-16])
		if used[key] {
			t.Errorf("a counter is used twice: %x", b)
		}
		used[key] = true
	}
	if openings == 0 || openings == len(used) {
		t.Errorf("%d of %d packets have an opening", openings, len(used))
	}
}

// TestEchoes has no relay: each line comes back, and the client ends with its input.
func TestEchoes(t *testing.T) {
	secret := newSecret(t, 32)
	server, address := startServer(t, secret)
	for range 3 { // the server goes on
		client := start(t, time.Hour, "client", secret, address.String())
		for _, message := range []string{"one", "", "9 bytes..", strings.Repeat("long", 2000)} {
			if !client.say(t, message) {
				t.Errorf("%q does not come back", message)
			}
		}
		client.in.Close()
		if err := client.cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	if n := len(server.end()); n != 12 {
		t.Errorf("the server has accepted %d messages", n)
	}
}

// TestForged has somebody without the secret, who repeats a hello and sees the answer.
func TestForged(t *testing.T) {
	secret, r := newSecret(t, 32), newRelay(t)
	server, address := startServer(t, secret)
	r.setServer(address)
	client := start(t, 30*time.Millisecond, "client", secret, r.front.LocalAddr().String())
	for i := 0; !client.say(t, fmt.Sprintf("message %d", i)); i++ {
	}
	client.end()
	toServer, _ := r.sent()
	conn := listenUDP(t)
	conn.SetReadDeadline(time.Now().Add(time.Minute)) // not to hang
	answer := func() []byte {
		conn.WriteTo(toServer[0], address)
		b := make([]byte, 2000)
		n, err := conn.Read(b)
		if err != nil || n != packet.HelloSize {
			t.Fatalf("no answer: %d bytes, %v", n, err)
		}
		return b[1:17]
	}
	random := answer()
	for _, half := range [][]byte{make([]byte, 16), random, bytes.Repeat([]byte{1}, 16)} {
		for size := range 60 {
			conn.WriteTo(slices.Concat(make([]byte, size), half, make([]byte, 8), random), address)
			conn.WriteTo(random[:size%16], address)
			if !bytes.Equal(random, answer()) {
				t.Error("a session has opened")
			}
		}
	}
	client = start(t, 30*time.Millisecond, "client", secret, r.front.LocalAddr().String())
	for i := 0; !client.say(t, fmt.Sprintf("later message %d", i)); i++ {
	}
	client.end()
	server.end()
}

// TestMany has clients of one server, which they reach from one socket. What has another client's number is lost.
func TestMany(t *testing.T) {
	const clients, messages = 3, 5
	secrets := make([]byte, 32*clients)
	rand.Read(secrets)
	path := filepath.Join(t.TempDir(), "secrets")
	if err := os.WriteFile(path, secrets, 0o600); err != nil {
		t.Fatal(err)
	}
	p := start(t, time.Hour, "many", path, "127.0.0.1:0")
	address, _ := strings.CutPrefix(p.line(t), "listening on ")
	server, err := net.ResolveUDPAddr("udp4", address)
	if err != nil {
		t.Fatal(err)
	}
	conn := listenUDP(t)
	conn.SetReadDeadline(time.Now().Add(time.Minute)) // not to hang
	send := func(number int, b []byte) {
		conn.WriteTo(append(binary.BigEndian.AppendUint32(nil, uint32(number)), b...), server)
	}
	var all [clients]*packet.UMACClient
	receive := func(take func(b []byte) bool) {
		t.Helper()
		b := make([]byte, 2000)
		n, err := conn.Read(b)
		if err != nil || !take(b[:n]) {
			t.Fatalf("%x, %v", b[:n], err)
		}
	}
	for i := range all {
		c := packet.Config{Secret: secrets[32*i:][:32], TagSize: 16}
		if all[i], err = packet.NewUMACClient(c, "client", "server"); err != nil {
			t.Fatal(err)
		}
		for _, wrong := range []int{(i + 1) % clients, clients, -1} {
			send(wrong, all[i].Hello(nil))
		}
		conn.WriteTo([]byte{0, 0}, server)
		send(i, all[i].Hello(nil))
		receive(all[i].Answer)
	}
	for m := range messages {
		for i, k := range all {
			b, err := k.Seal(fmt.Appendf(nil, "%d of %d", m, i), nil)
			if err != nil {
				t.Fatal(err)
			}
			send((i+1)%clients, b)
			send(i, b)
			receive(func(b []byte) bool {
				text, _, err := k.Open(b, nil)
				return err == nil && string(text) == fmt.Sprintf("%d of %d", m, i)
			})
		}
	}
	if n := len(p.end()); n != clients*messages {
		t.Errorf("the server has accepted %d messages", n)
	}
}

func TestArguments(t *testing.T) {
	secret := newSecret(t, 32)
	for _, args := range [][]string{
		{}, {"server", secret}, {"what", secret, "127.0.0.1:0"}, {"client", secret, "127.0.0.1:0", "x"},
		{"server", newSecret(t, 31), "127.0.0.1:0"}, {"server", newSecret(t, 64), "127.0.0.1:0"}, {"many", newSecret(t, 0), "127.0.0.1:0"}, {"many", newSecret(t, 63), "127.0.0.1:0"}, {"client", newSecret(t, 33), "127.0.0.1:1"}, {"server", secret + "no", "127.0.0.1:0"},
		{"server", secret, "127.0.0.1"}, {"client", secret, "127.0.0.1"},
	} {
		p := start(t, time.Hour, args...)
		p.in.Close()
		if err := p.cmd.Wait(); err == nil {
			t.Errorf("%q gives no error", args)
		}
	}
}
