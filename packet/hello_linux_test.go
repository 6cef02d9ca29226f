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
	add("Secret of packets", okm[96:])
	for _, key := range []scanPiece{{"PRK", prk}, {"key of hellos", okm[:32]}, {"key of answers", okm[32:64]}, {"key of openings", okm[64:96]}} {
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
// No secret may be there when the clients have
// an answer or are destroyed, and the server is.
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
	server := mactest.Must(NewUMACServer(c, testServer, testClient))
	scanned := make(chan struct{})
	var kept []any
	for depth := range 90 {
		done := make(chan struct{})
		go func() { // its stack is small, grows at different calls, and stays for the scan
			deep(depth, func() { kept = append(kept, sayHello(t, server, c, depth%4)) })
			close(done)
			<-scanned
		}()
		<-done
	}
	if mode == helloScanKept {
		kept = append(kept, helloSecrets(bytes.Clone(secret)))
	}
	clear(secret)
	server.Destroy()
	for range 2 { // sessions that others have replaced
		runtime.GC()
		last, done := new([64]byte), make(chan struct{})
		runtime.SetFinalizer(last, func(*[64]byte) { close(done) })
		last = nil
		runtime.GC()
		<-done
	}
	mactest.AwaitScan()
	close(scanned)
	runtime.KeepAlive(kept)
	return true
}

// sayHello has a session, or a hello, an answer or an opening that is refused.
func sayHello(t *testing.T, server *UMACServer, c Config, wrong int) *UMACClient {
	k := mactest.Must(NewUMACClient(c, testClient, testServer))
	hello := k.Hello(nil)
	if wrong == 1 {
		hello[20]++
	}
	answer, err := server.Answer(nil, hello)
	if (err != nil) != (wrong == 1) {
		t.Errorf("answer: %v", err)
	}
	if wrong == 2 {
		answer[20]++
	}
	if ok := k.Answer(answer); ok != (wrong == 0 || wrong == 3) {
		t.Errorf("answer: %v", ok)
	} else if !ok {
		k.Destroy()
		return k
	}
	packet := mactest.Must(k.Seal(nil, nil))
	if wrong == 3 {
		packet[len(packet)-1]++
	}
	if _, _, err := server.Open(packet, nil); (err != nil) != (wrong == 3) {
		t.Error(err)
	}
	return k
}
