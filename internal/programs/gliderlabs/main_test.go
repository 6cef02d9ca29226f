// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"bytes"
	"crypto/rand"
	"net"
	"testing"

	"example.com/fastmac/internal/programs/openssh"
)

// TestOpenSSHEcho sends 300 kB with OpenSSH's ssh and compares what returns.
func TestOpenSSHEcho(t *testing.T) {
	files := openssh.NewFiles(t)
	server, err := newServer(files.HostKey, files.AuthorizedKeys)
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
	if received := files.Run(t, "ssh", listener.Addr().String(), sent); !bytes.Equal(received, sent) {
		t.Errorf("%d bytes returned of %d, and not the same", len(received), len(sent))
	}
}
