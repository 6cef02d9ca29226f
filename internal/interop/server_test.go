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

	"example.com/fastmac/sshmac/sshtest"
	"golang.org/x/crypto/ssh"
)

const sftpServer = "/usr/lib/openssh/sftp-server"

func needSSH(t *testing.T) { sshtest.Find(t, "openssh-client", "ssh") }

func needSFTP(t *testing.T) {
	needSSH(t)
	sshtest.Find(t, "openssh-sftp-server", sftpServer)
}

// A clientCommand is a program that connects to a server of x/crypto.
type clientCommand func(t *testing.T, c *cell, port string) *exec.Cmd

func sshCommand(t *testing.T, c *cell, port string) *exec.Cmd {
	return c.Client(t, "ssh", port, c.Algorithms, "127.0.0.1", c.remoteCommand())
}

// With -O the peer of scp is scp, not an SFTP server.

func scpUp(t *testing.T, c *cell, port string) *exec.Cmd {
	return c.Client(t, "scp", port, c.Algorithms, "-O", "content", "127.0.0.1:up")
}

func scpDown(t *testing.T, c *cell, port string) *exec.Cmd {
	return c.Client(t, "scp", port, c.Algorithms, "-O", "127.0.0.1:content", "down")
}

func sftpCommand(t *testing.T, c *cell, port string) *exec.Cmd {
	batch := c.Write(t, "batch", []byte("put content up\nget content down\n"))
	return c.Client(t, "sftp", port, c.Algorithms, "-b", batch, "127.0.0.1")
}

func asyncSSHCommand(t *testing.T, c *cell, port string) *exec.Cmd {
	return asyncSSH(t, "client", c, port, c.remoteCommand())
}

// client returns the run of a peer: commands, one after the other, with the content
// as standard input and the file output as output, and then check.
func client(check func(t *testing.T, c *cell), commands ...clientCommand) func(*testing.T, *cell) {
	return func(t *testing.T, c *cell) {
		for _, command := range commands {
			log, err := runClient(t, c, command)
			if err != nil {
				t.Fatalf("%v\n%s", err, log)
			}
			c.CheckLog(t, log)
		}
		check(t, c)
	}
}

func checkOutputFile(t *testing.T, c *cell) {
	output, err := os.Open(c.File("output"))
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

// runClient runs command, with the content as standard input.
func runClient(t *testing.T, c *cell, command clientCommand) (log []byte, err error) {
	t.Helper()
	return runWith(t, c.file, c.File("output"),
		func(listener net.Listener) error { return c.serve(t, listener) },
		func(port string) *exec.Cmd { return command(t, c, port) })
}

// runWith runs command, from and to these files, with a server at the port. It returns the
// command's standard error. err is the command's error and that of serve.
func runWith(t *testing.T, inputFile, outputFile string, serve func(net.Listener) error, command func(port string) *exec.Cmd) (log []byte, err error) {
	t.Helper()
	input, err := os.Open(inputFile)
	if err != nil {
		t.Fatal(err)
	}
	defer input.Close()
	output, err := os.Create(outputFile)
	if err != nil {
		t.Fatal(err)
	}
	defer output.Close()
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- serve(listener) }()

	var stderr bytes.Buffer
	cmd := command(fmt.Sprint(listener.Addr().(*net.TCPAddr).Port))
	cmd.Stdin, cmd.Stdout, cmd.Stderr = input, output, &stderr
	err = cmd.Run()
	listener.Close() // for a client that did not connect
	return stderr.Bytes(), errors.Join(err, <-served)
}

// serve serves one connection with x/crypto. It returns when the client has gone, with
// the error that ended the handshake, if any.
func (c *cell) serve(t *testing.T, listener net.Listener) error {
	raw, err := listener.Accept()
	if err != nil {
		return err
	}
	defer raw.Close()
	config := c.ServerConfig(c.config())
	config.AddHostKey(countingSigner{c.Host, c}) // replaces c.Host
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

// session runs the command that the client requests, or OpenSSH's SFTP server.
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

		cmd.Dir = c.Path
		cmd.Stdout, cmd.Stderr = channel, channel.Stderr()
		// Not cmd.Stdin: cmd.Run would wait for its end, and a client may not
		// end its input before the command has ended.
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
