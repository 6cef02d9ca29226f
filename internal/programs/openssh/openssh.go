// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package openssh runs OpenSSH against the programs beside it, in their tests.
package openssh

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/pem"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"sync"
	"testing"
	"time"

	"example.com/fastmac/sshmac"
	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"
)

// What every connection has to negotiate.
const (
	MAC    = sshmac.UMAC128ETM
	Cipher = ssh.CipherAES128CTR // no AEAD: with those SSH uses no MAC
)

// limit is for one run of a client.
const limit = time.Minute

// Files are the keys of a test, as OpenSSH and the programs read them.
type Files struct {
	HostKey        string // private, of the server
	Identity       string // private, of the user
	AuthorizedKeys string // the user's public key

	dir  string
	host ssh.PublicKey
}

// NewFiles makes keys. The files are gone when the test ends.
func NewFiles(t testing.TB) *Files {
	t.Helper()
	f := &Files{dir: t.TempDir()}
	newKey := func(name string) (file string, public ssh.PublicKey) {
		_, key, err := ed25519.GenerateKey(nil)
		if err != nil {
			t.Fatal(err)
		}
		block, err := ssh.MarshalPrivateKey(key, name)
		if err != nil {
			t.Fatal(err)
		}
		if public, err = ssh.NewPublicKey(key.Public()); err != nil {
			t.Fatal(err)
		}
		return f.write(t, name, pem.EncodeToMemory(block)), public
	}
	f.HostKey, f.host = newKey("host_key")
	var public ssh.PublicKey
	f.Identity, public = newKey("identity")
	f.AuthorizedKeys = f.write(t, "authorized_keys", ssh.MarshalAuthorizedKey(public))
	return f
}

// KnownHosts returns a file that knows the server at address by its host key.
func (f *Files) KnownHosts(t testing.TB, address string) string {
	t.Helper()
	return f.write(t, "known_hosts", []byte(knownhosts.Line([]string{address}, f.host)+"\n"))
}

func (f *Files) write(t testing.TB, name string, content []byte) string {
	t.Helper()
	name = filepath.Join(f.dir, name)
	if err := os.WriteFile(name, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// Run runs ssh or sftp against the server at address and returns what it prints.
// It fails the test unless the connection had MAC and Cipher.
func (f *Files) Run(t testing.TB, program, address string, stdin []byte, args ...string) []byte {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		t.Skipf("needs %s: install the package openssh-client", program)
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	// The options keep it from all files, agents and sockets of the user.
	cmd := exec.CommandContext(ctx, program, append([]string{
		"-F", "none", "-v",
		"-o", "MACs=" + MAC,
		"-o", "Ciphers=" + Cipher,
		"-o", "Port=" + port,
		"-o", "User=fastmac",
		"-o", "UserKnownHostsFile=" + f.KnownHosts(t, address),
		"-o", "GlobalKnownHostsFile=" + os.DevNull,
		"-o", "StrictHostKeyChecking=yes",
		"-o", "UpdateHostKeys=no",
		"-o", "IdentityFile=" + f.Identity,
		"-o", "IdentitiesOnly=yes",
		"-o", "IdentityAgent=none",
		"-o", "PreferredAuthentications=publickey",
		"-o", "BatchMode=yes",
		"-o", "ControlPath=none",
		"-o", "RequestTTY=no",
		"-o", "EscapeChar=none",
	}, append(args, host)...)...)
	cmd.Stdin = bytes.NewReader(stdin)
	var log bytes.Buffer
	cmd.Stderr = &log
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", program, err, log.Bytes())
	}
	CheckLog(t, log.Bytes())
	return out
}

var kexLine = regexp.MustCompile(`debug1: kex: \S+ cipher: (\S+) MAC: (\S+)`)

// CheckLog fails the test unless the log of OpenSSH's client or server, at its
// level DEBUG, has key exchanges, all of them for MAC and Cipher.
func CheckLog(t testing.TB, log []byte) {
	t.Helper()
	lines := kexLine.FindAllSubmatch(log, -1)
	if len(lines) < 2 { // one for each direction
		t.Errorf("OpenSSH logged no key exchange:\n%s", log)
	}
	for _, line := range lines {
		if cipher, mac := string(line[1]), string(line[2]); cipher != Cipher || mac != MAC {
			t.Errorf("negotiated %s with %s, want %s with %s", cipher, mac, Cipher, MAC)
		}
	}
	t.Logf("%d directions of connections with %s and %s", len(lines), Cipher, MAC)
}

// A Server is OpenSSH's sshd, which knows MAC, Cipher and sftp alone.
type Server struct {
	Address string
	User    string // who may log in, with Files.Identity
	log     string
}

// Log returns what the server has logged so far.
func (s *Server) Log(t testing.TB) []byte {
	t.Helper()
	log, err := os.ReadFile(s.log)
	if err != nil {
		t.Fatal(err)
	}
	return log
}

// Serve starts a Server on the loopback address. It stops when the test ends.
func (f *Files) Serve(t testing.TB) *Server {
	t.Helper()
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
	config := f.write(t, "sshd_config", fmt.Appendf(nil, `
HostKey %s
AuthorizedKeysFile %s
StrictModes no
UsePAM no
PasswordAuthentication no
PermitRootLogin yes
MACs %s
Ciphers %s
Subsystem sftp internal-sftp
ForceCommand internal-sftp
LogLevel DEBUG
`, f.HostKey, f.AuthorizedKeys, MAC, Cipher))
	if out, err := exec.Command(sshd, "-t", "-f", config).CombinedOutput(); bytes.Contains(out, []byte("Missing privilege separation directory")) {
		t.Skipf("needs the folder that the service of openssh-server makes when it starts: %s", out)
	} else if err != nil {
		t.Fatalf("sshd -t: %v\n%s", err, out)
	}

	s := &Server{User: me.Username, log: f.write(t, "sshd.log", nil)}
	log, err := os.OpenFile(s.log, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.Address = listener.Addr().String()
	var running sync.WaitGroup
	t.Cleanup(func() {
		listener.Close()
		running.Wait()
		log.Close()
		if t.Failed() {
			t.Logf("sshd: %s", s.Log(t))
		}
	})
	// sshd serves one connection on its standard input: no port has to be free
	// by the time it starts.
	serve := func(conn net.Conn) {
		socket, err := conn.(*net.TCPConn).File()
		conn.Close()
		if err != nil {
			t.Error(err)
			return
		}
		cmd := exec.CommandContext(t.Context(), sshd, "-i", "-e", "-f", config)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = socket, socket, log
		err = cmd.Start()
		socket.Close()
		if err != nil {
			t.Error(err)
			return
		}
		cmd.Wait() // it fails for clients that just close the connection
	}
	running.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			running.Go(func() { serve(conn) })
		}
	})
	return s
}
