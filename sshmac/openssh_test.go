// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sshmac

import (
	"bytes"
	"crypto/ed25519"
	"crypto/fips140"
	"crypto/rand"
	"encoding/pem"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"testing"

	"golang.org/x/crypto/ssh"
)

// TestOpenSSHServer connects x/crypto's client to OpenSSH's sshd under each MAC
// and has it echo 300 kB.
func TestOpenSSHServer(t *testing.T) {
	sshd, err := exec.LookPath("sshd")
	if err != nil {
		sshd = "/usr/sbin/sshd" // often not in the PATH of users
	}
	if _, err := os.Stat(sshd); err != nil {
		t.Skip("needs sshd: install the package openssh-server")
	}
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	if fips140.Enabled() {
		t.Skip("FIPS 140 mode has no UMAC")
	}
	if err := Register(); err != nil {
		t.Fatal(err)
	}

	dir := t.TempDir()
	write := func(name string, content []byte) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, content, 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	newKey := func() (ssh.Signer, []byte) {
		_, key, err := ed25519.GenerateKey(rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		signer, err := ssh.NewSignerFromKey(key)
		if err != nil {
			t.Fatal(err)
		}
		block, err := ssh.MarshalPrivateKey(key, "")
		if err != nil {
			t.Fatal(err)
		}
		return signer, pem.EncodeToMemory(block)
	}
	host, hostPEM := newKey()
	client, _ := newKey()
	hostFile := write("host", hostPEM)
	authorized := write("authorized", ssh.MarshalAuthorizedKey(client.PublicKey()))

	check := exec.Command(sshd, "-t", "-f", write("sshd_config", nil), "-h", hostFile)
	if out, err := check.CombinedOutput(); bytes.Contains(out, []byte("Missing privilege separation directory")) {
		t.Skipf("needs the folder that the service of openssh-server makes when it starts: %s", out)
	} else if err != nil {
		t.Fatalf("sshd -t: %v\n%s", err, out)
	}

	for _, mac := range MACs() {
		t.Run(mac, func(t *testing.T) {
			config := write("sshd_config", fmt.Appendf(nil, `
HostKey %s
AuthorizedKeysFile %s
StrictModes no
UsePAM no
PasswordAuthentication no
PermitRootLogin yes
Ciphers aes128-ctr
MACs %s
ForceCommand exec cat
`, hostFile, authorized, mac))

			// sshd serves one connection on its standard input, so it needs
			// no port of its own.
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer listener.Close()
			raw, err := net.Dial("tcp", listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			accepted, err := listener.Accept()
			if err != nil {
				t.Fatal(err)
			}
			socket, err := accepted.(*net.TCPConn).File()
			if err != nil {
				t.Fatal(err)
			}
			accepted.Close()
			var log bytes.Buffer
			cmd := exec.Command(sshd, "-i", "-e", "-f", config)
			cmd.Stdin, cmd.Stdout, cmd.Stderr = socket, socket, &log
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			socket.Close()
			defer func() {
				raw.Close()
				cmd.Wait()
				if t.Failed() {
					t.Logf("sshd: %s", log.String())
				}
			}()

			conn, channels, requests, err := ssh.NewClientConn(raw, "", &ssh.ClientConfig{
				Config:          ssh.Config{MACs: []string{mac}, Ciphers: []string{"aes128-ctr"}},
				User:            me.Username,
				Auth:            []ssh.AuthMethod{ssh.PublicKeys(client)},
				HostKeyCallback: ssh.FixedHostKey(host.PublicKey()),
			})
			if err != nil {
				t.Fatal(err)
			}
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
			checkNegotiated(t, conn, "aes128-ctr", mac)
			if err := conn.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}
