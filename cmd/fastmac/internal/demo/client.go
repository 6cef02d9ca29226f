// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package demo

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

func (a algorithms) String() string { return suite{cipher: a.Cipher, mac: a.MAC}.String() }

// negotiated is what one side reports for the two directions.
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

// negotiatedBy returns what x/crypto/ssh reports about its side of a connection.
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

// closeError closes conn and returns the error that had already ended it, if any, such
// as a wrong MAC. A channel reports only EOF in that case.
func closeError(conn ssh.Conn) error {
	conn.Close()
	err := conn.Wait()
	if err == nil || errors.Is(err, io.EOF) || errors.Is(err, net.ErrClosed) {
		return nil
	}
	return fmt.Errorf("connection: %w", err)
}

// A client is an SSH client that the demo runs.
type client struct {
	name    string // short, for the table
	version string // in full
	skips   func(suite) bool
	// run does a job. It calls moved with the size of each step.
	run func(ctx context.Context, j *job, moved func(int)) (clientResult, error)
}

// A clientResult is what a client saw of a row.
type clientResult struct {
	transfer   transfer
	negotiated *negotiated
}

// goClient is x/crypto/ssh's client.
type goClient struct {
	address string
	ids     *identities
	dial    func(ctx context.Context, network, address string) (net.Conn, error)
}

func (c *goClient) client() *client {
	version := CryptoVersion()
	return &client{
		name:    "Go x/crypto " + version,
		version: "golang.org/x/crypto " + version,
		skips:   func(s suite) bool { return s.server != "" },
		run:     c.run,
	}
}

// CryptoVersion returns the version of x/crypto in this program.
func CryptoVersion() string {
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

func (c *goClient) run(ctx context.Context, j *job, moved func(int)) (clientResult, error) {
	var result clientResult
	config, err := j.config()
	if err != nil {
		return result, err
	}
	conn, err := c.dial(ctx, "tcp", c.address)
	if err != nil {
		return result, err
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()

	sshConn, channels, requests, err := ssh.NewClientConn(conn, c.address, &ssh.ClientConfig{
		Config:            config,
		User:              userName,
		Auth:              []ssh.AuthMethod{ssh.PublicKeys(c.ids.user)},
		HostKeyCallback:   ssh.FixedHostKey(c.ids.host.PublicKey()),
		HostKeyAlgorithms: []string{ssh.KeyAlgoED25519},
	})
	if err != nil {
		return result, err
	}
	result.negotiated = negotiatedBy(sshConn, true)
	client := ssh.NewClient(sshConn, channels, requests)
	result.transfer, err = c.session(client, j, moved)
	if connErr := closeError(client); err != nil {
		err = errors.Join(err, connErr)
	}
	return result, err
}

func (c *goClient) session(client *ssh.Client, j *job, moved func(int)) (t transfer, err error) {
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
	if t, err = j.clientTransfer(w, r, moved); err != nil {
		return t, err
	}
	if err := session.Wait(); err != nil {
		return t, fmt.Errorf("end of session: %w", err)
	}
	return t, nil
}
