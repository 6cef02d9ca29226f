// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sshmac

import (
	"bytes"
	"crypto/rand"
	"testing"

	"example.com/fastmac/sshmac/sshtest"
	"golang.org/x/crypto/ssh"
)

// TestOpenSSHServer connects x/crypto's client to OpenSSH's sshd under each MAC
// and has it echo 300 kB.
func TestOpenSSHServer(t *testing.T) {
	registered(t)
	dir := sshtest.NewDir(t)
	dir.SSHD(t, sshtest.Algorithms{Cipher: "aes128-ctr", MAC: UMAC64}) // skips the test if there is none
	for _, mac := range MACs() {
		t.Run(mac, func(t *testing.T) {
			algorithms := sshtest.Algorithms{Cipher: "aes128-ctr", MAC: mac}
			var log bytes.Buffer
			sshd := dir.SSHD(t, algorithms, "ForceCommand exec cat")
			sshd.Stderr = &log
			raw := sshtest.Start(t, sshd)
			defer func() {
				raw.Close()
				sshd.Wait()
				algorithms.CheckLog(t, log.Bytes())
				if t.Failed() {
					t.Logf("sshd: %s", &log)
				}
			}()

			conn, channels, requests, err := ssh.NewClientConn(raw, "", dir.ClientConfig(algorithms.Config()))
			if err != nil {
				t.Fatal(err)
			}
			algorithms.CheckConn(t, conn)
			session, err := ssh.NewClient(conn, channels, requests).NewSession()
			if err != nil {
				t.Fatal(err)
			}
			sent := make([]byte, 300_000)
			rand.Read(sent)
			session.Stdin = bytes.NewReader(sent)
			received, err := session.Output("")
			if err != nil || !bytes.Equal(received, sent) {
				t.Errorf("%d bytes returned of %d, equal: %v; %v", len(received), len(sent), bytes.Equal(received, sent), err)
			}
			if err := conn.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}
