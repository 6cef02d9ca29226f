// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"testing"

	"example.com/fastmac/internal/programs/openssh"
)

// TestOpenSSHSFTP sends a file of 300 kB with OpenSSH's sftp and fetches it again.
func TestOpenSSHSFTP(t *testing.T) {
	files := openssh.NewFiles(t)
	config, err := newConfig(files.HostKey, files.AuthorizedKeys)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go serve(listener, config)

	dir := t.TempDir()
	sent := make([]byte, 300_000)
	rand.Read(sent)
	if err := os.WriteFile(filepath.Join(dir, "sent"), sent, 0o600); err != nil {
		t.Fatal(err)
	}
	batch := fmt.Appendf(nil, "put %[1]s/sent %[1]s/stored\nget %[1]s/stored %[1]s/fetched\n", dir)
	files.Run(t, "sftp", listener.Addr().String(), batch, "-b", "-")
	for _, name := range []string{"stored", "fetched"} {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || !bytes.Equal(got, sent) {
			t.Errorf("%s: %d bytes of %d, equal: %v; %v", name, len(got), len(sent), bytes.Equal(got, sent), err)
		}
	}
}
