// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// The tests of this package answer two questions: do x/crypto's client and server work
// with these MACs, even when packets are damaged, connections abandoned and keys
// renewed, and does Register refuse what it must?
package sshmac

import (
	"bytes"
	"crypto/ed25519"
	"crypto/fips140"
	"encoding/binary"
	"errors"
	"hash"
	"io"
	"math/rand/v2"
	"net"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
)

// registered calls Register, or skips the test in FIPS 140 mode.
func registered(t *testing.T) {
	if fips140.Enabled() {
		t.Skip("FIPS 140 mode has no UMAC")
	}
	if err := Register(); err != nil {
		t.Fatal(err)
	}
}

// hook makes change the hashes of a MAC until the end of the test. It is called for one
// hash at a time: one for each direction of a key exchange at each end.
func hook(t *testing.T, mac string, change func(key []byte, h hash.Hash) hash.Hash) {
	var mu sync.Mutex
	entry := macModes[mac]
	newHash := entry.new
	entry.new = func(key []byte) hash.Hash {
		mu.Lock()
		defer mu.Unlock()
		return change(key, newHash(key))
	}
	t.Cleanup(func() { entry.new = newHash })
}

// only returns a configuration that negotiates one of the MACs, and no slow
// algorithms.
func only(macs ...string) ssh.Config {
	return ssh.Config{MACs: macs, Ciphers: []string{"aes128-ctr"}, KeyExchanges: []string{"curve25519-sha256"}}
}

var testHostKey = sync.OnceValue(func() ssh.Signer {
	signer, err := ssh.NewSignerFromKey(ed25519.NewKeyFromSeed([]byte("host key's seed that is 32 bytes")))
	if err != nil {
		panic(err)
	}
	return signer
})

// end is one end of an SSH connection, with a channel open.
type end struct {
	raw     net.Conn
	conn    ssh.Conn
	channel ssh.Channel
}

// dial connects as a client, and serve as a server, up to an open channel. If they
// return an error, raw is closed.
func dial(raw net.Conn, config *ssh.ClientConfig, extra []byte) (end, error) {
	conn, channels, requests, err := ssh.NewClientConn(raw, "", config)
	if err != nil {
		return end{}, err
	}
	go ssh.DiscardRequests(requests)
	go rejectAll(channels)
	channel, requests, err := conn.OpenChannel("data", extra)
	if err != nil {
		conn.Close()
		return end{}, err
	}
	go ssh.DiscardRequests(requests)
	return end{raw, conn, channel}, nil
}

func serve(raw net.Conn, config ssh.Config) (e end, extra []byte, err error) {
	serverConfig := &ssh.ServerConfig{Config: config, NoClientAuth: true}
	serverConfig.AddHostKey(testHostKey())
	conn, channels, requests, err := ssh.NewServerConn(raw, serverConfig)
	if err != nil {
		return end{}, nil, err
	}
	go ssh.DiscardRequests(requests)
	newChannel, ok := <-channels
	if !ok {
		return end{}, nil, conn.Wait()
	}
	go rejectAll(channels)
	channel, requests, err := newChannel.Accept()
	if err != nil {
		conn.Close()
		return end{}, nil, err
	}
	go ssh.DiscardRequests(requests)
	return end{raw, conn.Conn, channel}, newChannel.ExtraData(), nil
}

func rejectAll(channels <-chan ssh.NewChannel) {
	for c := range channels {
		c.Reject(ssh.Prohibited, "")
	}
}

func clientConfig(config ssh.Config) *ssh.ClientConfig {
	return &ssh.ClientConfig{Config: config, User: "test", HostKeyCallback: ssh.InsecureIgnoreHostKey()}
}

// content returns an endless stream of bytes, which depends on id.
func content(id uint64) *rand.ChaCha8 {
	var seed [32]byte
	binary.BigEndian.PutUint64(seed[:], id)
	return rand.NewChaCha8(seed)
}

// exchange sends the first n bytes of one content while it receives those of
// another. Its packets have up to 3000 bytes, so that some end within the first
// block of UMAC and others beyond it. After an error the connection is closed.
func (e end) exchange(out, in uint64, n int) error {
	sent := make(chan error, 1)
	go func() {
		source, sizes := content(out), rand.New(rand.NewPCG(out, 0))
		buf := make([]byte, 3000)
		for left := n; left > 0; {
			p := buf[:min(left, 1+sizes.IntN(len(buf)))]
			source.Read(p)
			if _, err := e.channel.Write(p); err != nil {
				sent <- err
				return
			}
			left -= len(p)
		}
		sent <- nil
	}()
	got, want := make([]byte, n), make([]byte, n)
	content(in).Read(want)
	_, err := io.ReadFull(e.channel, got)
	if err == nil && !bytes.Equal(got, want) {
		err = errors.New("the content received is not what was sent")
	}
	if err != nil {
		e.conn.Close() // so that the other goroutine does not wait for a window forever
	}
	return errors.Join(err, <-sent)
}

// both makes the two ends exchange the contents id and id+1.
func both(client, server end, id uint64, n int) error {
	answer := make(chan error, 1)
	go func() { answer <- server.exchange(id+1, id, n) }()
	return errors.Join(client.exchange(id, id+1, n), <-answer)
}

// memStream is one direction of a connection in memory. In a bubble of package
// synctest, a goroutine that waits for it is blocked durably, unlike one that waits
// for the network: so a connection that hangs, or leaves a goroutine behind, fails
// its test at once.
type memStream struct {
	mu     sync.Mutex
	more   *sync.Cond
	data   []byte
	closed bool

	// fault, if set, returns what is sent in place of a packet, and whether the
	// stream ends after it. x/crypto passes a packet of up to 4096 bytes, tag
	// included, in one Write.
	fault func(packet []byte) (wire []byte, end bool)

	// pause, if set, makes Read return one byte, after this time. It is not Write that
	// waits: x/crypto calls that with a lock held, for which other goroutines would wait
	// without being blocked durably.
	pause time.Duration
}

func newMemStream() *memStream {
	s := &memStream{}
	s.more = sync.NewCond(&s.mu)
	return s
}

func (s *memStream) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return 0, io.ErrClosedPipe
	}
	wire := p
	if s.fault != nil {
		wire, s.closed = s.fault(p)
	}
	s.data = append(s.data, wire...)
	s.more.Broadcast()
	return len(p), nil
}

func (s *memStream) Read(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.data) == 0 && !s.closed {
		s.more.Wait()
	}
	if len(s.data) == 0 {
		return 0, io.EOF
	}
	if s.pause > 0 {
		p = p[:1]
		s.mu.Unlock()
		time.Sleep(s.pause)
		s.mu.Lock()
	}
	n := copy(p, s.data)
	s.data = s.data[n:]
	return n, nil
}

func (s *memStream) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.more.Broadcast()
}

// memConn is one end of a connection in memory.
type memConn struct {
	net.Conn // for the addresses
	in, out  *memStream
}

func newMemConns() (client, server *memConn) {
	a, b := net.Pipe()
	up, down := newMemStream(), newMemStream()
	return &memConn{a, down, up}, &memConn{b, up, down}
}

func (c *memConn) Read(p []byte) (int, error)  { return c.in.Read(p) }
func (c *memConn) Write(p []byte) (int, error) { return c.out.Write(p) }
func (c *memConn) Close() error {
	c.in.Close()
	c.out.Close()
	return nil
}

// connectMem makes an SSH connection in memory, with the same algorithms at both
// ends. They are closed at the end of the test.
func connectMem(t *testing.T, config *ssh.ClientConfig) (client, server end) {
	t.Helper()
	clientRaw, serverRaw := newMemConns()
	serverErr := make(chan error, 1)
	go func() {
		var err error
		server, _, err = serve(serverRaw, config.Config)
		serverErr <- err
	}()
	client, err := dial(clientRaw, config, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := <-serverErr; err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		client.conn.Close()
		server.conn.Close()
	})
	return client, server
}

// private returns a pointer to a private variable of a connection of x/crypto: the
// field that the path leads to. It fails the test if this release does not have it.
func private[T any](t *testing.T, conn ssh.Conn, path ...string) *T {
	t.Helper()
	v := reflect.ValueOf(conn)
	for _, name := range path {
		for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface { // which one differs by release
			v = v.Elem()
		}
		if v.Kind() == reflect.Struct {
			v = v.FieldByName(name)
		}
		if !v.IsValid() {
			t.Fatalf("this release of x/crypto/ssh has no field %s of %T, which the test needs", strings.Join(path, "."), conn)
		}
	}
	if v.Type() != reflect.TypeFor[T]() {
		t.Fatalf("this release of x/crypto/ssh has a field %s of type %v, the test needs %v", strings.Join(path, "."), v.Type(), reflect.TypeFor[T]())
	}
	return (*T)(v.Addr().UnsafePointer())
}

// heapInUse returns the bytes of live objects. Two collections also empty the pools.
func heapInUse() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// checkHeap compares the heap in use before and after n connections or key
// exchanges. The hashes of each take several KiB.
func checkHeap(t *testing.T, heap [2]uint64, n int) {
	t.Helper()
	t.Logf("heap in use: %d bytes, and %d after %d more", heap[0], heap[1], n)
	if heap[1] > heap[0]+256<<10+uint64(n)<<10 {
		t.Errorf("heap in use grew from %d to %d bytes over %d more", heap[0], heap[1], n)
	}
}
