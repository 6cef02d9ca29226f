// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

// This file, as serve.go, is also part of peers whose code comes from outside this
// module; it imports nothing but the standard library and x/crypto.

import (
	"bytes"
	"crypto/ed25519"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"
	"net"
	"os"
	"sync"
	_ "unsafe" // for go:linkname

	"golang.org/x/crypto/ssh"
)

// macMode has the layout of the type of this name in x/crypto/ssh; see
// sshmac.Register.
type macMode struct {
	keySize int
	etm     bool
	new     func(key []byte) hash.Hash
}

// macModes is x/crypto/ssh's own table of MACs.
//
//go:linkname macModes golang.org/x/crypto/ssh.macModes
var macModes map[string]*macMode

// sshSequence is the sequence number under which the tags of SSH ops are known. It
// is odd: UMAC-64 then takes the second half of a pad.
const sshSequence = 1

// sshMAC is the op of a MAC, by its name in the table. The tag is that which this
// MAC gives to the last message that arrived.
func sshMAC(name string) op { return sshOp(ssh.CipherAES128CTR, name, name) }

// sshAEAD is the op of a cipher that brings its own authentication. As it has no
// MAC, the tag that shows what arrived is one of hmac-sha2-256.
func sshAEAD(name string) op { return sshOp(name, "", ssh.HMACSHA256ETM) }

// sshOp sends messages through a connection of its own, which is made at the first
// run. If anything fails there is no tag.
func sshOp(cipher, mac, tagMAC string) op {
	connect := sync.OnceValues(func() (*sshConn, error) { return newSSHConn(cipher, mac) })
	return func(msg []byte, n int) []byte {
		c, err := connect()
		var arrived []byte
		if err == nil {
			arrived, err = c.transfer(msg, n)
		}
		if err != nil {
			fmt.Fprintf(os.Stderr, "fastmac: SSH with %s %s: %v\n", cipher, mac, err)
			return nil
		}
		m := macModes[tagMAC]
		h := m.new(key[:m.keySize])
		h.Write(binary.BigEndian.AppendUint32(nil, sshSequence))
		h.Write(arrived)
		return h.Sum(nil)
	}
}

// sshConn is the two ends of a channel from an SSH client to an SSH server, both in
// this process, over TCP on the loopback interface.
type sshConn struct {
	client, server ssh.Channel
}

// transfer writes msg n times at the one end and returns what came last at the
// other, once all of it is there.
func (c *sshConn) transfer(msg []byte, n int) ([]byte, error) {
	arrived := make([]byte, len(msg))
	done := make(chan error, 1)
	go func() {
		for range n {
			if _, err := io.ReadFull(c.server, arrived); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	for range n {
		if _, err := c.client.Write(msg); err != nil {
			return nil, err
		}
	}
	return arrived, <-done
}

// newSSHConn connects with this cipher and MAC, or fails. An AEAD has no MAC: "".
func newSSHConn(cipher, mac string) (*sshConn, error) {
	config := ssh.Config{Ciphers: []string{cipher}}
	if mac != "" {
		config.MACs = []string{mac}
	}
	hostKey, err := ssh.NewSignerFromKey(ed25519.NewKeyFromSeed(bytes.Repeat([]byte{1}, ed25519.SeedSize)))
	if err != nil {
		return nil, err
	}
	serverConfig := &ssh.ServerConfig{Config: config, NoClientAuth: true}
	serverConfig.AddHostKey(hostKey)
	clientConfig := &ssh.ClientConfig{Config: config, HostKeyCallback: ssh.FixedHostKey(hostKey.PublicKey())}

	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	defer listener.Close()
	accepted := make(chan ssh.Channel, 1)
	failed := make(chan error, 1)
	go func() {
		channel, err := acceptSSH(listener, serverConfig)
		if err != nil {
			failed <- err
			return
		}
		accepted <- channel
	}()
	client, err := ssh.Dial("tcp", listener.Addr().String(), clientConfig)
	if err != nil {
		return nil, err
	}
	algorithms := client.Conn.(ssh.AlgorithmsConnMetadata).Algorithms()
	for _, d := range []ssh.DirectionAlgorithms{algorithms.Read, algorithms.Write} {
		if d.Cipher != cipher || d.MAC != mac {
			return nil, fmt.Errorf("negotiated %q with MAC %q", d.Cipher, d.MAC)
		}
	}
	channel, requests, err := client.OpenChannel("bytes", nil)
	if err != nil {
		return nil, err
	}
	go ssh.DiscardRequests(requests)
	select {
	case err := <-failed:
		return nil, err
	case server := <-accepted:
		return &sshConn{channel, server}, nil
	}
}

// acceptSSH serves one connection and returns its first channel.
func acceptSSH(listener net.Listener, config *ssh.ServerConfig) (ssh.Channel, error) {
	raw, err := listener.Accept()
	if err != nil {
		return nil, err
	}
	_, channels, requests, err := ssh.NewServerConn(raw, config)
	if err != nil {
		return nil, errors.Join(err, raw.Close())
	}
	go ssh.DiscardRequests(requests)
	first, ok := <-channels
	if !ok {
		return nil, io.ErrUnexpectedEOF
	}
	channel, requests, err := first.Accept()
	if err != nil {
		return nil, err
	}
	go ssh.DiscardRequests(requests)
	return channel, nil
}
