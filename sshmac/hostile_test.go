// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sshmac

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"example.com/fastmac/internal/mactest"
	"golang.org/x/crypto/ssh"
)

// slow is the pause between bytes on a slow line. An hour of it is 360,000 bytes.
const slow = 10 * time.Millisecond

// connectRequests makes an SSH connection in memory, and returns the stream from the peer
// to the victim and the requests that the victim receives.
func connectRequests(t *testing.T, mac string, victimIsServer bool) (peer, victim ssh.Conn, out *memStream, requests <-chan *ssh.Request) {
	t.Helper()
	client, server := newMemConns()
	config := only(mac)
	accepted := make(chan *ssh.ServerConn)
	var serverRequests <-chan *ssh.Request
	go func() {
		serverConfig := &ssh.ServerConfig{Config: config, NoClientAuth: true}
		serverConfig.AddHostKey(testHostKey())
		conn, channels, requests, err := ssh.NewServerConn(server, serverConfig)
		if err != nil {
			t.Error(err) // the client fails too
			return
		}
		go rejectAll(channels)
		serverRequests = requests
		accepted <- conn
	}()
	conn, channels, clientRequests, err := ssh.NewClientConn(client, "", clientConfig(config))
	if err != nil {
		t.Fatal(err)
	}
	go rejectAll(channels)
	serverConn := <-accepted
	t.Cleanup(func() {
		conn.Close()
		serverConn.Close()
	})
	if victimIsServer {
		go ssh.DiscardRequests(clientRequests)
		return conn, serverConn, client.out, serverRequests
	}
	go ssh.DiscardRequests(serverRequests)
	return serverConn, conn, server.out, clientRequests
}

// A forgery is what a peer sends after its authentic packets: one with another length, or
// an authentic packet that is one byte too large.
type forgery struct {
	name      string
	authentic bool
	length    uint32
	errs      []string
}

var forgeries = []forgery{
	{"authentic, one byte too large", true, 0, tooLarge},
	{"empty", false, 0, tooSmall},
	{"smaller than its padding", false, 1, tooSmall},
	{"largest of RFC 4253", false, 35000, badMAC},
	{"largest", false, maxLength, badMAC},
	{"larger than the largest", false, maxLength + 1, tooLarge},
	{"2^31 bytes", false, 1 << 31, tooLarge},
	{"2^32-1 bytes", false, 1<<32 - 1, tooLarge},
}

// TestHostilePeer has a peer with the right keys that sends the smallest and the largest
// packets for an hour, on a line with 10 ms between bytes, and then a packet of another
// length, which is not authentic: that alone must be refused, and the memory in use must
// not grow.
func TestHostilePeer(t *testing.T) {
	registered(t)
	for i, f := range forgeries {
		for direction, victimIsServer := range []bool{false, true} {
			for j, m := range allModes() {
				// An hour takes a second of CPU time, so one mode has it.
				hour := f.length == maxLength && !testing.Short() && (j == 1+direction && victimIsServer || mactest.Long())
				if !hour && (i+j)%3 != 0 && !mactest.Long() {
					continue
				}
				t.Run(fmt.Sprintf("%s/%s/victimIsServer=%v", f.name, m.Name, victimIsServer), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) { f.test(t, m, victimIsServer, hour) })
				})
			}
		}
	}
}

func (f forgery) test(t *testing.T, m Mode, victimIsServer, hour bool) {
	peer, victim, out, requests := connectRequests(t, m.Name, victimIsServer)
	// What a packet has besides its length and the payload of the request: length of the
	// padding, type, empty name, whether a reply is wanted, least padding.
	const frame = 1 + 1 + 4 + 1 + 4
	largest := maxLength - frame
	if !m.ETM {
		largest -= 4 // the length is padded too, to a multiple of 16
	}

	sent := 0
	received := make(chan *ssh.Request)
	go func() {
		for r := range requests {
			received <- r
		}
		close(received)
	}()
	send := func(size int) {
		payload := make([]byte, size)
		content(uint64(sent)).Read(payload)
		if _, _, err := peer.SendRequest("", false, payload); err != nil {
			t.Fatal(err)
		}
		r, ok := <-received
		if !ok {
			t.Fatalf("request %d of %d bytes: the connection ends with %q", sent, size, victim.Wait())
		}
		if r.Type != "" || r.WantReply || !bytes.Equal(r.Payload, payload) {
			t.Errorf("request %d is not the one sent", sent)
		}
		sent++
	}

	if hour {
		out.pause = slow
	}
	start := time.Now()
	var heap []uint64
	if hour {
		for _, size := range []int{largest, 32 << 10, 35000 - frame} {
			for range 100 {
				send(0)
			}
			send(size)
			heap = append(heap, heapInUse())
		}
		for time.Since(start) < time.Hour {
			send(0)
		}
		heap = append(heap, heapInUse())
	}
	for _, size := range []int{0, 1, largest} {
		send(size)
	}
	out.fault = func(p []byte) ([]byte, bool) {
		if f.authentic {
			return p, false
		}
		p = bytes.Clone(p)
		size := uint32(len(p) - m.New(make([]byte, m.KeySize)).Size() - 4)
		setLength(size, f.length)(0, p)
		return append(p, make([]byte, maxLength)...), true
	}
	payload := []byte{}
	if f.authentic {
		payload = make([]byte, largest+1)
	}
	peer.SendRequest("", false, payload)
	out.Close()
	err := victim.Wait()
	if !slices.Contains(f.errs, err.Error()) {
		t.Errorf("the connection ends with %q, want one of %q", err, f.errs)
	}
	if err := peer.Wait(); err != io.EOF {
		t.Errorf("at the peer the connection ends with %q", err)
	}
	if r, ok := <-received; ok {
		t.Errorf("a request with %d bytes is received that was not sent", len(r.Payload))
	}
	if hour {
		heap = append(heap, heapInUse())
		t.Logf("%d requests in %v; heap in use: %d bytes", sent, time.Since(start), heap)
		// The first is after the largest packet, so all buffers are there.
		if most := slices.Max(heap); most > heap[0]+128<<10 {
			t.Errorf("heap in use grew from %d to %d bytes", heap[0], most)
		}
	}
}

// TestHostileHandshake has a peer that does not get as far as keys: one byte at a time, it
// sends versions without an end, and packets of wrong lengths and contents.
func TestHostileHandshake(t *testing.T) {
	registered(t)
	packet := func(length uint32, rest ...byte) string {
		return "SSH-2.0-Go\r\n" + string(append(binary.BigEndian.AppendUint32(nil, length), rest...))
	}
	const kexInit, channelData = 20, 94
	full := func(kind byte) string {
		return packet(maxLength, append([]byte{4, kind}, make([]byte, maxLength-2)...)...)
	}
	for i, tt := range []struct {
		name, sent string
		errs       []string // the end of one of them
	}{
		{"version without an end", strings.Repeat("SSH-2.0-", 100), []string{"ssh: overflow reading version string"}},
		// Releases of x/crypto without a limit wait for more.
		{"an hour of lines", strings.Repeat(strings.Repeat("x", 249)+"\n", 360_000/250), []string{"ssh: overflow reading version string", "EOF"}},
		{"length 0", packet(0, 4, kexInit), tooSmall},
		{"length 1", packet(1, 4, kexInit), tooSmall},
		{"length beyond the limit", packet(maxLength+1, 4, kexInit), tooLarge},
		{"length 2^32-1", packet(1<<32-1, 4, kexInit), tooLarge},
		{"smallest packet", packet(2, 0, kexInit), []string{"ssh: short read"}},
		{"largest KEXINIT", full(kexInit), []string{"ssh: parse error in message type 20"}},
		{"largest of another type", full(channelData), []string{"ssh: first packet should be msgKexInit"}},
		{"largest, cut", full(kexInit)[:maxLength], endInPacket},
	} {
		long := len(tt.sent) > 100_000
		if long && testing.Short() {
			continue
		}
		for _, victimIsServer := range []bool{false, true} {
			if long && !mactest.Long() && victimIsServer == (i%2 == 0) {
				continue
			}
			synctest.Test(t, func(t *testing.T) {
				client, server := newMemConns()
				peer, victim := client, server
				if !victimIsServer {
					peer, victim = server, client
				}
				var before uint64
				if long {
					before = heapInUse()
				}
				peer.out.pause = slow
				peer.Write([]byte(tt.sent))
				peer.out.Close()
				result := make(chan error)
				go func() {
					var err error
					if victimIsServer {
						_, _, err = serve(victim, only(UMAC64ETM))
					} else {
						_, err = dial(victim, clientConfig(only(UMAC64ETM)), nil)
					}
					result <- err
				}()
				err := <-result
				if err == nil || !slices.ContainsFunc(tt.errs, func(e string) bool { return strings.HasSuffix(err.Error(), e) }) {
					t.Errorf("%s, victimIsServer=%v: the connection ends with %q, want one of %q", tt.name, victimIsServer, err, tt.errs)
				}
				if long {
					if after := heapInUse(); after > before+2*maxLength {
						t.Errorf("%s, victimIsServer=%v: heap in use grew from %d to %d bytes", tt.name, victimIsServer, before, after)
					}
				}
			})
		}
	}
}
