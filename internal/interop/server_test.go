// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package interop

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"sync"
	"testing"

	"golang.org/x/crypto/ssh"
)

const sftpServer = "/usr/lib/openssh/sftp-server"

func needSSH(t *testing.T) { find(t, "openssh-client", "ssh") }

func needSFTP(t *testing.T) {
	needSSH(t)
	find(t, "openssh-sftp-server", sftpServer)
}

// A clientCommand is a program that connects to a server of x/crypto.
type clientCommand func(c *cell, port int) *exec.Cmd

// client returns the run of a peer: commands, one after the other, with the content
// as standard input and the file output as output, and then check.
func client(check func(t *testing.T, c *cell), commands ...clientCommand) func(*testing.T, *cell) {
	return func(t *testing.T, c *cell) {
		for _, name := range []string{"up", "down", "output"} {
			os.Remove(c.file(name))
		}
		for _, command := range commands {
			log, err := runClient(t, c, command)
			if err != nil {
				t.Fatalf("%v\n%s", err, log)
			}
			c.checkLog(t, log)
		}
		check(t, c)
	}
}

func checkOutputFile(t *testing.T, c *cell) {
	output, err := os.Open(c.file("output"))
	if err != nil {
		t.Fatal(err)
	}
	defer output.Close()
	c.checkOutput(t, output)
}

func checkBothFiles(t *testing.T, c *cell) {
	c.checkFile(t, "up")
	c.checkFile(t, "down")
}

// runClient runs command and returns its standard error. err is that of the command
// and that of the server.
func runClient(t *testing.T, c *cell, command clientCommand) (log string, err error) {
	t.Helper()
	input, err := os.Open(c.file("content"))
	if err != nil {
		t.Fatal(err)
	}
	defer input.Close()
	output, err := os.Create(c.file("output"))
	if err != nil {
		t.Fatal(err)
	}
	defer output.Close()
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- c.serve(t, listener) }()

	var stderr bytes.Buffer
	cmd := command(c, listener.Addr().(*net.TCPAddr).Port)
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = c.dir, input, output, &stderr
	err = cmd.Run()
	listener.Close() // for a client that did not connect
	return stderr.String(), errors.Join(err, <-served)
}

// sshOptions keep OpenSSH's programs from all files and agents of the user.
func sshOptions(c *cell, port int, args ...string) []string {
	options := []string{"-v", "-F", "none"}
	for _, o := range []string{
		"MACs=" + c.mac,
		"Ciphers=" + c.cipher,
		fmt.Sprintf("Port=%d", port),
		"User=interop",
		"UserKnownHostsFile=known_hosts",
		"GlobalKnownHostsFile=/dev/null",
		"StrictHostKeyChecking=yes",
		"UpdateHostKeys=no",
		"IdentityFile=identity",
		"IdentitiesOnly=yes",
		"IdentityAgent=none",
		"BatchMode=yes",
		"ControlPath=none",
		"ProxyCommand=none",
		"Compression=no",
	} {
		options = append(options, "-o", o)
	}
	return append(options, args...)
}

func sshCommand(c *cell, port int) *exec.Cmd {
	return exec.Command("ssh", sshOptions(c, port, "127.0.0.1", c.remoteCommand())...)
}

// With -O scp has scp as its peer, and not an SFTP server.

func scpUp(c *cell, port int) *exec.Cmd {
	return exec.Command("scp", sshOptions(c, port, "-O", "content", "127.0.0.1:up")...)
}

func scpDown(c *cell, port int) *exec.Cmd {
	return exec.Command("scp", sshOptions(c, port, "-O", "127.0.0.1:content", "down")...)
}

func sftpCommand(c *cell, port int) *exec.Cmd {
	return exec.Command("sftp", sshOptions(c, port, "-b", "batch", "127.0.0.1")...)
}

func asyncSSHCommand(c *cell, port int) *exec.Cmd {
	return asyncSSH("client", c, fmt.Sprint(port), c.remoteCommand())
}

// serve is a server of x/crypto for one connection. It returns when the client has
// gone, with the error that ended the handshake.
func (c *cell) serve(t *testing.T, listener net.Listener) error {
	raw, err := listener.Accept()
	if err != nil {
		return err
	}
	defer raw.Close()
	config := &ssh.ServerConfig{
		Config: c.config(),
		PublicKeyCallback: func(_ ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
			if !bytes.Equal(key.Marshal(), c.user.PublicKey().Marshal()) {
				return nil, errors.New("unknown key")
			}
			return nil, nil
		},
	}
	config.AddHostKey(countingSigner{c.host, c})
	conn, channels, requests, err := ssh.NewServerConn(wire{raw}, config)
	if err != nil {
		return fmt.Errorf("server: %w", err)
	}
	defer conn.Close()
	c.checkConn(t, conn.Conn)
	go ssh.DiscardRequests(requests)
	var sessions sync.WaitGroup
	for offer := range channels {
		channel, requests, err := offer.Accept()
		if err != nil {
			return err
		}
		sessions.Go(func() {
			if err := c.session(channel, requests); err != nil {
				t.Errorf("server: %v", err)
			}
		})
	}
	sessions.Wait()
	return nil
}

// A countingSigner signs once in every key exchange.
type countingSigner struct {
	ssh.Signer
	c *cell
}

func (s countingSigner) Sign(rand io.Reader, data []byte) (*ssh.Signature, error) {
	s.c.rekeyed.Add(1)
	return s.Signer.Sign(rand, data)
}

// session runs the command that the client asks for, or OpenSSH's SFTP server.
func (c *cell) session(channel ssh.Channel, requests <-chan *ssh.Request) error {
	defer channel.Close()
	for r := range requests {
		var request struct{ Command string }
		ssh.Unmarshal(r.Payload, &request)
		var cmd *exec.Cmd
		switch {
		case r.Type == "exec":
			cmd = exec.Command("/bin/sh", "-c", request.Command)
		case r.Type == "subsystem" && request.Command == "sftp":
			cmd = exec.Command(sftpServer)
		default: // such as env
			r.Reply(false, nil)
			continue
		}
		r.Reply(true, nil)
		go ssh.DiscardRequests(requests)

		cmd.Dir = c.dir
		cmd.Stdout, cmd.Stderr = channel, channel.Stderr()
		// Not cmd.Stdin: a client may end its input only when the command has
		// ended.
		stdin, err := cmd.StdinPipe()
		if err != nil {
			return err
		}
		go func() {
			io.Copy(stdin, channel)
			stdin.Close()
		}()
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("%q: %w", request.Command, err)
		}
		_, err = channel.SendRequest("exit-status", false, ssh.Marshal(struct{ Code uint32 }{0}))
		return err
	}
	return errors.New("a session without a command")
}
