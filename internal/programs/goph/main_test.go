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
)

// umac is what every connection must negotiate. With an AEAD cipher SSH uses no MAC.
var umac = sshtest.Algorithms{Cipher: "aes128-ctr", MAC: sshmac.UMAC128ETM}

// TestOpenSSHServer runs commands on, and uploads a file of 300 kB to, OpenSSH's sshd.
func TestOpenSSHServer(t *testing.T) {
	dir := sshtest.NewDir(t)
	server := dir.Serve(t, umac, "Subsystem sftp internal-sftp")
	client, err := connect(server.Address, dir.Login, dir.File("identity"), dir.KnownHosts(t, server.Address))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()

	// sshd writes its log to the standard error of the session too.
	if out, err := client.Run("echo hello"); err != nil || !bytes.HasSuffix(out, []byte("hello\n")) {
		t.Errorf("echo: %q, %v", out, err)
	}
	sent := make([]byte, 300_000)
	rand.Read(sent)
	local, remote := dir.Write(t, "sent", sent), filepath.Join(t.TempDir(), "stored")
	if err := client.Upload(local, remote); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(remote); err != nil || !bytes.Equal(got, sent) {
		t.Errorf("%d bytes of %d arrived, equal: %v; %v", len(got), len(sent), bytes.Equal(got, sent), err)
	}
	umac.CheckLog(t, server.Log(t))
}
