// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package packet

import (
	"bytes"
	"crypto"
	"crypto/hkdf"
	"crypto/sha512"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"testing"

	"example.com/fastmac"
	"example.com/fastmac/internal/mactest"
	"example.com/fastmac/packet/internal/packetref"
)

// helloScanEnv is set in the processes of TestHelloScan, to one of these.
const (
	helloScanEnv  = "FASTMAC_TEST_HELLO_SCANNED"
	helloScanned  = "hellos"
	helloScanKept = "control" // keeps what others clear
)

// helloSecrets are what hellos compute of a secret.
func helloSecrets(secret []byte) (pieces []scanPiece) {
	ref := packetref.Hello{Secret: secret, Client: testClient, Server: testServer}
	okm := ref.OKM()
	prk := mactest.Must(hkdf.Extract(sha512.New, secret, nil))
	add := func(kind string, b []byte) { pieces = append(pieces, scanPiece{kind, b}) }
	add("Secret", secret)
	for _, key := range []scanPiece{{"PRK", prk}, {"key of hellos", okm[:32]}, {"key of answers", okm[32:]}} {
		add(key.kind, key.bytes)
		states := mactest.Field(mactest.Must(fastmac.NewHMACKey(crypto.SHA512, key.bytes)), "states")
		add(key.kind+", chaining values", states[:sha512.Size])
		add(key.kind+", chaining values", states[sha512.Size:])
		for _, x := range []byte{0x36, 0x5c} {
			pad := bytes.Repeat([]byte{x}, sha512.BlockSize)
			for i := range key.bytes {
				pad[i] ^= key.bytes[i]
			}
			add(key.kind+", padded", pad[:len(key.bytes)])
		}
	}
	return pieces
}

// TestHelloScan looks in the memory of processes in which hellos were sent, answered and refused.
// No secret may be there when the clients have an answer or are destroyed.
func TestHelloScan(t *testing.T) {
	if fipsMode() {
		t.Skip("FIPS 140 mode: crypto/hmac keeps copies of the key")
	}
	secret := mactest.Random(rand.NewChaCha8([32]byte{4, 5, 6}), 32)
	secrets, kinds := new(mactest.Secrets), make(map[string]bool)
	for _, p := range helloSecrets(secret) {
		kinds[p.kind] = true
		secrets.Add(p.kind, "", p.bytes)
	}
	masked := bytes.Clone(secret)
	for i := range masked {
		masked[i] ^= scanMask
	}
	for _, mode := range []string{helloScanned, helloScanKept} {
		found := secrets.ScanTest(t, masked, 1, helloScanEnv+"="+mode, mactest.ScanDebug)[0]
		for kind := range kinds {
			if (len(found[kind]) > 0) != (mode == helloScanKept) {
				t.Errorf("%s: %s: %v", mode, kind, found[kind])
			}
		}
	}
}

// scannedHellos is TestScanned in the process that TestHelloScan scans, and nothing in others.
func scannedHellos(t *testing.T) bool {
	mode := os.Getenv(helloScanEnv)
	if mode == "" {
		return false
	}
	secret := make([]byte, 32)
	if _, err := io.ReadFull(os.Stdin, secret); err != nil {
		t.Fatal(err)
	}
	for i := range secret {
		secret[i] ^= scanMask
	}
	c := Config{Secret: secret, TagSize: 16}
	server := new(HelloServer)
	scanned := make(chan struct{})
	var kept []any
	for depth := range 90 {
		done := make(chan struct{})
		go func() { // its stack is small, grows at different calls, and stays for the scan
			deep(depth, func() { kept = append(kept, sayHello(t, server, c, depth%3)) })
			close(done)
			<-scanned
		}()
		<-done
	}
	if mode == helloScanKept {
		kept = append(kept, helloSecrets(bytes.Clone(secret)))
	}
	clear(secret)
	runtime.GC()
	mactest.AwaitScan()
	close(scanned)
	runtime.KeepAlive(kept)
	return true
}

// sayHello has a session, or a hello or an answer that is refused.
func sayHello(t *testing.T, server *HelloServer, c Config, wrong int) *HelloClient {
	h := mactest.Must(NewHelloClient(c, testClient, testServer))
	hello := h.Hello(nil)
	if wrong == 1 {
		hello[20]++
	}
	answer, err := server.Answer(nil, hello, c, testServer, testClient)
	if (err != nil) != (wrong == 1) {
		t.Errorf("answer: %v", err)
	}
	if wrong == 2 {
		answer[20]++
	}
	if _, ok := h.Session(answer); ok != (wrong == 0) {
		t.Errorf("session: %v", ok)
	}
	if wrong != 0 {
		h.Destroy()
	}
	return h
}
