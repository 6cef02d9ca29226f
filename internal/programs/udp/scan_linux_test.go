// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"bytes"
	"crypto"
	"crypto/fips140"
	"crypto/rand"
	"crypto/sha512"
	"fmt"
	"io"
	"os"
	"runtime"
	"testing"

	"example.com/fastmac"
	"example.com/fastmac/internal/mactest"
)

// scanEnv is set in the processes of TestScan: "", or scanControl, which keeps what others clear.
const (
	scanEnv     = "FASTMAC_UDP_SCAN"
	scanControl = "control"
)

// TestScan looks for what HMAC makes of the key of hellos in the memory of processes in which hellos
// were sent, answered and refused. It does not look for the key itself: SumHMAC, for which a result
// is a tag and no secret, may leave it on the stack.
func TestScan(t *testing.T) {
	if fips140.Enabled() {
		t.Skip("crypto/hmac keeps keys")
	}
	var m master
	rand.Read(m[:])
	var peer peerSecrets
	m.peer(1, &peer)
	key := peer.hellos()
	pad := func(x byte) []byte {
		b := bytes.Repeat([]byte{x}, sha512.BlockSize)
		for i := range key {
			b[i] ^= key[i]
		}
		return b
	}
	var secrets mactest.Secrets
	kinds := map[string][]byte{
		"inner pad": pad(0x36), "outer pad": pad(0x5c),
		"states": mactest.Field(mactest.Must(fastmac.NewHMACKey(crypto.SHA512, key)), "states"),
	}
	for kind, b := range kinds {
		secrets.Add(kind, b)
	}
	for _, mode := range []string{"all cleared", scanControl} {
		found := secrets.ScanTest(t, m[:], 1, scanEnv+"="+mode, mactest.ScanDebug)[0]
		for kind := range kinds {
			if (found[kind] > 0) != (mode == scanControl) {
				t.Errorf("%s: %s found %d times", mode, kind, found[kind])
			}
		}
	}
}

// TestScanned is the process that is scanned. It keeps the master secret, as a server does.
func TestScanned(t *testing.T) {
	mode := os.Getenv(scanEnv)
	if mode == "" {
		t.Skip("runs in the processes of TestScan")
	}
	var m master
	if _, err := io.ReadFull(os.Stdin, m[:]); err != nil {
		t.Fatal(err)
	}
	e := newEnd(t, "umac64", m)
	scanned := make(chan struct{})
	for depth := range 50 {
		done := make(chan struct{})
		go func() { // its stack is small, grows at different calls, and stays for the scan
			deep(depth, func() { sayHello(t, e, depth%2 == 1) })
			close(done)
			<-scanned
		}()
		<-done
	}
	var kept []any
	if mode == scanControl {
		key := e.secrets(1).hellos()
		pads := make([]byte, 2*sha512.BlockSize)
		for i := range pads {
			pads[i] = 0x36 ^ byte(i/sha512.BlockSize)*(0x36^0x5c)
			if i%sha512.BlockSize < len(key) {
				pads[i] ^= key[i%sha512.BlockSize]
			}
		}
		kept = append(kept, pads, mactest.Must(fastmac.NewHMACKey(crypto.SHA512, key)))
	}
	runtime.GC()
	fmt.Print(mactest.ScanReady)
	io.Copy(io.Discard, os.Stdin)
	close(scanned)
	runtime.KeepAlive(kept)
}

// sayHello has a hello that the server refuses if wrong is set, and else a session.
func sayHello(t *testing.T, e *end, wrong bool) {
	var peer peerSecrets
	defer clear(peer[:])
	e.master.peer(1, &peer)
	c := newHelloClient(1, peer.hellos())
	defer c.destroy()
	if wrong {
		c.hello[headSize]++
	}
	answer := bytes.Clone(e.take(c.hello[:]))
	if _, ok := c.session(answer); ok == wrong {
		t.Errorf("an answer of %d bytes to a hello, wrong: %v", len(answer), wrong)
	}
}

func deep(n int, f func()) byte {
	var frame [64]byte
	if n == 0 {
		f()
		return 0
	}
	return deep(n-1, f) + frame[n%len(frame)]
}
