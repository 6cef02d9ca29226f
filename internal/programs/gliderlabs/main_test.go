// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"bytes"
	"crypto/rand"
	"net"
	"testing"

	"example.com/fastmac"
	"example.com/fastmac/sshmac"
	"example.com/fastmac/sshmac/sshtest"
)

// clients have one cipher each. The second has an AEAD cipher, with which SSH uses no MAC.
var clients = []sshtest.Algorithms{
	{Cipher: "aes128-ctr", MAC: sshmac.UMAC128ETM},
	{Cipher: "aes256-gcm@openssh.com"},
}

// TestOpenSSHEcho sends 300 kB with OpenSSH's ssh and compares what returns.
func TestOpenSSHEcho(t *testing.T) {
	dir := sshtest.NewDir(t)
	server, err := newServer(dir.File("host_key"), dir.File("authorized_keys"))
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
	for _, algorithms := range clients {
		if received := dir.Run(t, "ssh", listener.Addr().String(), algorithms, sent); !bytes.Equal(received, sent) {
			t.Errorf("%v: %d bytes returned of %d, and not the same", algorithms, len(received), len(sent))
		}
	}
	if fastmac.RequireGCM() == nil {
		dir.CheckRefused(t, listener.Addr().String(), sshtest.Algorithms{Cipher: "chacha20-poly1305@openssh.com"})
	}
}
