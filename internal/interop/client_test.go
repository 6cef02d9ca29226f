// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package interop

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"testing"

	"example.com/fastmac/sshmac"
	"golang.org/x/crypto/ssh"
)

func needSSHD(t *testing.T) {
	path := findSSHD(t)
	s := newSite(t)
	s.write(t, "sshd_config", nil)
	check := exec.Command(path, "-t", "-f", s.file("sshd_config"), "-h", s.file("host"))
	if out, err := check.CombinedOutput(); bytes.Contains(out, []byte("Missing privilege separation directory")) {
		t.Skipf("needs the folder that the service of openssh-server makes when it starts: %s", out)
	} else if err != nil {
		t.Fatalf("sshd -t: %v\n%s", err, out)
	}
}

// findSSHD also looks where it is when it is not in the PATH of users.
func findSSHD(t *testing.T) string { return find(t, "openssh-server", "sshd", "/usr/sbin/sshd") }

// A serverCommand is a program that serves one SSH connection on its standard input.
type serverCommand func(t *testing.T, c *cell) *exec.Cmd

// server returns the run of a peer: a client of x/crypto has command run
// c.remoteCommand.
func server(command serverCommand) func(*testing.T, *cell) {
	return func(t *testing.T, c *cell) {
		log, err := runServer(t, c, command, c.fetch)
		if err != nil {
			t.Fatalf("%v\n%s", err, log)
		}
		c.checkLog(t, log)
	}
}

// runServer connects a client of x/crypto to command, for talk, and returns the
// standard error of command. err is that of the client.
func runServer(t *testing.T, c *cell, command serverCommand, talk func(*testing.T, *ssh.Client) error) (log string, err error) {
	t.Helper()
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	raw, err := net.Dial("tcp4", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	accepted, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer accepted.Close()
	socket, err := accepted.(*net.TCPConn).File()
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()

	var stderr bytes.Buffer
	cmd := command(t, c)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = socket, socket, &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	// The only other ends of the connection are here.
	accepted.Close()
	socket.Close()
	client, err := c.connect(t, raw)
	if err == nil {
		err = talk(t, client)
		client.Close()
	}
	raw.Close()
	cmd.Wait() // its status tells only how the connection ended
	return stderr.String(), err
}

// connect makes a client of x/crypto.
func (c *cell) connect(t *testing.T, raw net.Conn) (*ssh.Client, error) {
	t.Helper()
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	known := ssh.FixedHostKey(c.host.PublicKey())
	conn, channels, requests, err := ssh.NewClientConn(wire{raw}, "", &ssh.ClientConfig{
		Config: c.config(),
		User:   me.Username,
		Auth:   []ssh.AuthMethod{ssh.PublicKeys(c.user)},
		HostKeyCallback: func(host string, remote net.Addr, key ssh.PublicKey) error {
			c.rekeyed.Add(1) // x/crypto calls it in every key exchange
			return known(host, remote, key)
		},
	})
	if err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	c.checkConn(t, conn)
	return ssh.NewClient(conn, channels, requests), nil
}

// fetch has the server run c.remoteCommand.
func (c *cell) fetch(t *testing.T, client *ssh.Client) error {
	t.Helper()
	session, err := client.NewSession()
	if err != nil {
		return fmt.Errorf("client: %w", err)
	}
	input, err := os.Open(c.file("content"))
	if err != nil {
		t.Fatal(err)
	}
	defer input.Close()
	session.Stdin = input
	output, err := session.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var remoteErr bytes.Buffer
	session.Stderr = &remoteErr
	if err := session.Start(c.remoteCommand()); err != nil {
		return fmt.Errorf("client: %w", err)
	}
	c.checkOutput(t, output)
	if err := session.Wait(); err != nil {
		client.Close()
		return errors.Join(fmt.Errorf("client: %w; %s", err, &remoteErr), client.Wait())
	}
	return nil
}

// TestSequenceNumbers goes on until all but the highest byte of the sequence numbers
// have been in use, in both directions. In TestMatrix they stay below 256: with
// OpenSSH's strict key exchange they start anew with new keys.
func TestSequenceNumbers(t *testing.T) {
	needSSHD(t)
	n := 1<<16 + 1<<8
	if testing.Short() {
		n = 1<<8 + 1<<4
	}
	s := newSite(t)
	for _, m := range sshmac.Modes() {
		t.Run(m.Name, func(t *testing.T) {
			c := &cell{row: row{m.Name, "aes128-ctr"}, site: s}
			log, err := runServer(t, c, sshdCommand, func(t *testing.T, client *ssh.Client) error {
				for range n {
					// A packet for the request, and one for the refusal.
					if ok, _, err := client.SendRequest("none@example.com", true, nil); ok || err != nil {
						return fmt.Errorf("reply %v, %v", ok, err)
					}
				}
				return nil
			})
			if err != nil {
				t.Fatalf("%v\n%s", err, log[max(0, len(log)-1000):])
			}
			if kexes := c.rekeyed.Load(); kexes != 1 {
				t.Errorf("%d key exchanges, want one", kexes)
			}
			c.checkLog(t, log)
		})
	}
}

// sshdCommand runs sshd for one connection, with nothing of the system's
// configuration.
func sshdCommand(t *testing.T, c *cell) *exec.Cmd {
	c.write(t, "sshd_config", fmt.Appendf(nil, `
HostKey %s
AuthorizedKeysFile %s
StrictModes no
UsePAM no
PasswordAuthentication no
PermitRootLogin yes
LogLevel DEBUG1
Ciphers %s
MACs %s
`, c.file("host"), c.file("authorized"), c.cipher, c.mac))
	return exec.Command(findSSHD(t), "-i", "-e", "-f", c.file("sshd_config"))
}

func asyncSSHDCommand(t *testing.T, c *cell) *exec.Cmd {
	cmd := asyncSSH("server", c)
	cmd.Dir = c.dir
	return cmd
}
