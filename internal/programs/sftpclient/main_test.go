// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"bytes"
	"crypto/rand"
	"os"
	"path/filepath"
	"testing"

	"example.com/fastmac/internal/programs/openssh"
	"github.com/pkg/sftp"
)

// TestOpenSSHServer sends a file of 300 kB to OpenSSH's sshd and fetches it again.
func TestOpenSSHServer(t *testing.T) {
	files := openssh.NewFiles(t)
	server := files.Serve(t)
	conn, err := connect(server.Address, server.User, files.Identity, files.KnownHosts(t, server.Address))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()

	stored := filepath.Join(t.TempDir(), "stored")
	sent := make([]byte, 300_000)
	rand.Read(sent)
	if err := upload(conn, stored, bytes.NewReader(sent)); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(stored); err != nil || !bytes.Equal(got, sent) {
		t.Errorf("%d bytes of %d arrived, equal: %v; %v", len(got), len(sent), bytes.Equal(got, sent), err)
	}

	client, err := sftp.NewClient(conn)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	file, err := client.Open(stored)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var fetched bytes.Buffer
	if _, err := file.WriteTo(&fetched); err != nil || !bytes.Equal(fetched.Bytes(), sent) {
		t.Errorf("%d bytes of %d returned, equal: %v; %v", fetched.Len(), len(sent), bytes.Equal(fetched.Bytes(), sent), err)
	}
	openssh.CheckLog(t, server.Log(t))
}
