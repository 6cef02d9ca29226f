// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"example.com/fastmac"
	"example.com/fastmac/sshmac"
	"example.com/fastmac/sshmac/sshtest"
)

// umac is what every connection must negotiate. With an AEAD cipher SSH uses no MAC.
var umac = sshtest.Algorithms{Cipher: "aes128-ctr", MAC: sshmac.UMAC128ETM}

// TestOpenSSHSFTP sends a file of 300 kB with OpenSSH's sftp and fetches it again.
func TestOpenSSHSFTP(t *testing.T) {
	dir := sshtest.NewDir(t)
	config, err := newConfig(dir.File("host_key"), dir.File("authorized_keys"))
	if err != nil {
		t.Fatal(err)
	}
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer tcp.Close()
	listener := &limitedListener{Listener: tcp}
	go serve(listener, config)

	sent := make([]byte, 300_000)
	rand.Read(sent)
	dir.Write(t, "sent", sent)
	batch := fmt.Appendf(nil, "put %[1]s/sent %[1]s/stored\nget %[1]s/stored %[1]s/fetched\n", dir.Path)
	dir.Run(t, "sftp", listener.Addr().String(), umac, batch, "-b", "-")
	for _, name := range []string{"stored", "fetched"} {
		if got, err := os.ReadFile(dir.File(name)); err != nil || !bytes.Equal(got, sent) {
			t.Errorf("%s: %d bytes of %d, equal: %v; %v", name, len(got), len(sent), bytes.Equal(got, sent), err)
		}
	}
	if listener.unlimited.Load() != 1 {
		t.Error("whoever has logged in has no more time than to log in")
	}
	if fastmac.RequireGCM() == nil {
		dir.CheckRefused(t, listener.Addr().String(), sshtest.Algorithms{Cipher: "chacha20-poly1305@openssh.com"})
	}
}

// TestLogin has a client that says nothing, and is not waited for.
func TestLogin(t *testing.T) {
	defer func(old time.Duration) { loginTime = old }(loginTime)
	loginTime = time.Millisecond
	dir := sshtest.NewDir(t)
	config, err := newConfig(dir.File("host_key"), dir.File("authorized_keys"))
	if err != nil {
		t.Fatal(err)
	}
	client, server := net.Pipe()
	defer client.Close()
	go io.Copy(io.Discard, client)
	if err := handle(server, config); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error(err)
	}
}

// A limitedListener counts the connections whose last deadline is none.
type limitedListener struct {
	net.Listener
	unlimited atomic.Int32
}

type limitedConn struct {
	net.Conn
	listener *limitedListener
}

func (l *limitedListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	return limitedConn{c, l}, err
}

func (c limitedConn) SetDeadline(t time.Time) error {
	if t.IsZero() {
		c.listener.unlimited.Add(1)
	}
	return c.Conn.SetDeadline(t)
}
