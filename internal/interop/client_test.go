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
	"testing"

	"example.com/fastmac/sshmac"
	"example.com/fastmac/sshmac/sshtest"
	"golang.org/x/crypto/ssh"
)

// needSSHD skips the test where SSHD does.
func needSSHD(t *testing.T) {
	sshtest.NewDir(t).SSHD(t, sshtest.Algorithms{Cipher: "aes128-ctr", MAC: sshmac.UMAC64})
}

// A serverCommand is a program that serves one SSH connection on its standard input.
type serverCommand func(t *testing.T, c *cell) *exec.Cmd

func sshdCommand(t *testing.T, c *cell) *exec.Cmd { return c.SSHD(t, c.Algorithms) }

func asyncSSHDCommand(t *testing.T, c *cell) *exec.Cmd { return asyncSSH(t, "server", c) }

// server returns the run of a peer: a client of x/crypto makes command run
// c.remoteCommand.
func server(command serverCommand) func(*testing.T, *cell) {
	return func(t *testing.T, c *cell) {
		log, err := runServer(t, c, command, c.fetch)
		if err != nil {
			t.Fatalf("%v\n%s", err, log)
		}
		c.CheckLog(t, log)
	}
}

// runServer connects a client of x/crypto to command, calls talk, and returns the
// standard error of command. err is the client's.
func runServer(t *testing.T, c *cell, command serverCommand, talk func(*testing.T, *ssh.Client) error) (log []byte, err error) {
	t.Helper()
	var stderr bytes.Buffer
	cmd := command(t, c)
	cmd.Stderr = &stderr
	raw := sshtest.Start(t, cmd)
	client, err := c.connect(t, raw)
	if err == nil {
		err = talk(t, client)
		client.Close()
	}
	raw.Close()
	cmd.Wait() // its status only says how the connection ended
	return stderr.Bytes(), err
}

// connect makes a client of x/crypto.
func (c *cell) connect(t *testing.T, raw net.Conn) (*ssh.Client, error) {
	t.Helper()
	config := c.ClientConfig(c.config())
	known := config.HostKeyCallback
	config.HostKeyCallback = func(host string, remote net.Addr, key ssh.PublicKey) error {
		c.rekeyed.Add(1) // x/crypto calls it in every key exchange
		return known(host, remote, key)
	}
	conn, channels, requests, err := ssh.NewClientConn(wire{raw}, "", config)
	if err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	c.checkConn(t, conn)
	return ssh.NewClient(conn, channels, requests), nil
}

// fetch makes the server run c.remoteCommand.
func (c *cell) fetch(t *testing.T, client *ssh.Client) error {
	t.Helper()
	session, err := client.NewSession()
	if err != nil {
		return fmt.Errorf("client: %w", err)
	}
	input, err := os.Open(c.file)
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

// TestSequenceNumbers sends packets until all bytes of the sequence numbers except
// the highest have been in use, in both directions. In TestMatrix they stay below
// 256: with OpenSSH's strict key exchange they start again at 0 with new keys.
func TestSequenceNumbers(t *testing.T) {
	needSSHD(t)
	n := 1<<16 + 1<<8
	if testing.Short() {
		n = 1<<8 + 1<<4
	}
	for _, mac := range macs {
		t.Run(mac, func(t *testing.T) {
			t.Parallel()
			c := newCell(t, sshtest.Algorithms{Cipher: "aes128-ctr", MAC: mac}, content{})
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
			c.CheckLog(t, log)
		})
	}
}
