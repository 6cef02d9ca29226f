// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"bytes"
	"crypto/rand"
	"net"
	"testing"

	"example.com/fastmac/internal/sshtest"
	"example.com/fastmac/sshmac"
)

// umac is what every connection must negotiate. With an AEAD cipher SSH uses no MAC.
var umac = sshtest.Algorithms{Cipher: "aes128-ctr", MAC: sshmac.UMAC128ETM}

// TestOpenSSHEcho sends 300 kB with OpenSSH's ssh and compares what returns.
func TestOpenSSHEcho(t *testing.T) {
	dir := sshtest.NewDir(t)
	server, err := newServer("", dir.File("host_key"), dir.File("authorized_keys"))
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go server.Serve(listener)
	defer server.Close()

	sent := make([]byte, 300_000)
	rand.Read(sent)
	if received := dir.Run(t, "ssh", listener.Addr().String(), umac, sent); !bytes.Equal(received, sent) {
		t.Errorf("%d bytes returned of %d, and not the same", len(received), len(sent))
	}
}
