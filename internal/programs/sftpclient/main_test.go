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

	"example.com/fastmac/sshmac"
	"example.com/fastmac/sshmac/sshtest"
	"github.com/pkg/sftp"
)

// umac is what every connection must negotiate. With an AEAD cipher SSH uses no MAC.
var umac = sshtest.Algorithms{Cipher: "aes128-ctr", MAC: sshmac.UMAC128ETM}

// TestOpenSSHServer sends a file of 300 kB to OpenSSH's sshd and fetches it again.
func TestOpenSSHServer(t *testing.T) {
	dir := sshtest.NewDir(t)
	server := dir.Serve(t, umac, "Subsystem sftp internal-sftp", "ForceCommand internal-sftp")
	conn, err := connect(server.Address, dir.Login, dir.File("identity"), dir.KnownHosts(t, server.Address))
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
	umac.CheckLog(t, server.Log(t))
}
