// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime/debug"

	"golang.org/x/crypto/ssh"
)

// algorithms are those of one direction.
type algorithms struct {
	Cipher string `json:"cipher"`
	MAC    string `json:"mac"`
}

func (a algorithms) String() string { return a.Cipher + " " + a.MAC }

// negotiated is what one end reports for the two directions.
type negotiated struct {
	ClientToServer algorithms `json:"client_to_server"`
	ServerToClient algorithms `json:"server_to_client"`
}

func (n *negotiated) String() string {
	switch {
	case n == nil:
		return "nothing"
	case n.ClientToServer == n.ServerToClient:
		return n.ClientToServer.String()
	}
	return fmt.Sprintf("%v up and %v down", n.ClientToServer, n.ServerToClient)
}

// negotiatedBy returns what x/crypto/ssh reports about its end of a connection.
func negotiatedBy(conn ssh.Conn, isClient bool) *negotiated {
	c, ok := conn.(ssh.AlgorithmsConnMetadata)
	if !ok {
		return nil
	}
	a := c.Algorithms()
	up, down := a.Read, a.Write
	if isClient {
		up, down = down, up
	}
	return &negotiated{algorithms{up.Cipher, up.MAC}, algorithms{down.Cipher, down.MAC}}
}

// endOf closes conn and returns the error that had ended it before, which a
// channel hides behind an EOF: a MAC that did not fit, for one.
func endOf(conn ssh.Conn) error {
	conn.Close()
	err := conn.Wait()
	if err == nil || errors.Is(err, io.EOF) || errors.Is(err, net.ErrClosed) {
		return nil
	}
	return fmt.Errorf("connection: %w", err)
}

// A job is a row's work for the client.
type job struct {
	mac   string
	size  int64
	moved func(int) // to be called with the size of each step
}

func (j job) command() string { return fmt.Sprintf("transfer %d", j.size) }

// A done is a client's view of a row.
type done struct {
	transfer   transfer
	negotiated *negotiated
}

// A peer is an SSH client that the demo drives.
type peer struct {
	name    string // short, for the table
	version string // in full
	broken  error  // why it cannot be used; all its rows fail with it
	run     func(context.Context, job) (done, error)
}

// goClient is x/crypto/ssh's client.
type goClient struct {
	address string
	ids     *identities
	dial    func(ctx context.Context, network, address string) (net.Conn, error)
}

func (c *goClient) peer() *peer {
	version := cryptoVersion()
	return &peer{name: "Go x/crypto " + version, version: "golang.org/x/crypto " + version, run: c.run}
}

// cryptoVersion returns the version of the x/crypto that is linked in.
func cryptoVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, dep := range info.Deps {
			if dep.Path == "golang.org/x/crypto" {
				if dep.Replace != nil {
					dep = dep.Replace
				}
				return dep.Version
			}
		}
	}
	return "of unknown version"
}

func (c *goClient) run(ctx context.Context, j job) (done, error) {
	var d done
	conn, err := c.dial(ctx, "tcp", c.address)
	if err != nil {
		return d, err
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()

	sshConn, channels, requests, err := ssh.NewClientConn(conn, c.address, &ssh.ClientConfig{
		Config:            ssh.Config{Ciphers: []string{testCipher}, MACs: []string{j.mac}},
		User:              userName,
		Auth:              []ssh.AuthMethod{ssh.PublicKeys(c.ids.user)},
		HostKeyCallback:   ssh.FixedHostKey(c.ids.host.PublicKey()),
		HostKeyAlgorithms: []string{ssh.KeyAlgoED25519},
	})
	if err != nil {
		return d, err
	}
	d.negotiated = negotiatedBy(sshConn, true)
	client := ssh.NewClient(sshConn, channels, requests)
	d.transfer, err = c.session(client, j)
	if connErr := endOf(client); err != nil {
		err = errors.Join(err, connErr)
	}
	return d, err
}

func (c *goClient) session(client *ssh.Client, j job) (t transfer, err error) {
	session, err := client.NewSession()
	if err != nil {
		return t, fmt.Errorf("session: %w", err)
	}
	defer session.Close()
	w, err := session.StdinPipe()
	if err != nil {
		return t, err
	}
	r, err := session.StdoutPipe()
	if err != nil {
		return t, err
	}
	if err := session.Start(j.command()); err != nil {
		return t, fmt.Errorf("exec: %w", err)
	}
	if t, err = clientTransfer(w, r, j.size, j.moved); err != nil {
		return t, err
	}
	if err := session.Wait(); err != nil {
		return t, fmt.Errorf("end of session: %w", err)
	}
	return t, nil
}
