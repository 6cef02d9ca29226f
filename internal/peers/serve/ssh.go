// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package serve

import (
	"bytes"
	"crypto/ed25519"
	"encoding/binary"
	"fmt"
	"hash"
	"io"
	"net"
	"os"
	"sync"
	_ "unsafe" // for go:linkname

	"golang.org/x/crypto/ssh"
)

// macMode has the layout of the type of this name in x/crypto/ssh.
type macMode struct {
	keySize int
	etm     bool
	new     func(key []byte) hash.Hash
}

// macModes is x/crypto/ssh's own table of MACs. x/crypto has no other way to add
// one.
//
//go:linkname macModes golang.org/x/crypto/ssh.macModes
var macModes map[string]*macMode

// RegisterSSHMAC adds an encrypt-then-MAC mode to those that x/crypto/ssh
// negotiates.
func RegisterSSHMAC(name string, keySize int, new func(key []byte) hash.Hash) {
	macModes[name] = &macMode{keySize, true, new}
}

// NewSSHMAC returns the MAC of this name under Key.
func NewSSHMAC(name string) hash.Hash {
	m := macModes[name]
	return m.new(Key[:m.keySize])
}

// SSHSequence is the sequence number of the last message's tag. It is odd because
// UMAC-64 then uses the second half of a pad.
const SSHSequence = 1

// SSHMAC returns the Op that sends messages through SSH with the MAC of this name
// and the cipher aes128-ctr. The tag is what this MAC computes for the last message
// that arrived.
func SSHMAC(name string) Op { return SSH(ssh.CipherAES128CTR, name, name) }

// SSH returns the Op that sends messages through SSH with this cipher and MAC. An
// AEAD cipher needs no MAC. The tag is what tagMAC computes for the last message
// that arrived; there is none if anything fails. The first run connects.
func SSH(cipher, mac, tagMAC string) Op {
	connect := sync.OnceValues(func() (*sshChannel, error) { return dialSSH(cipher, mac) })
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
		h := NewSSHMAC(tagMAC)
		h.Write(binary.BigEndian.AppendUint32(nil, SSHSequence))
		h.Write(arrived)
		return h.Sum(nil)
	}
}

// sshChannel is both ends of a channel from an SSH client to an SSH server, in this
// process, over TCP on the loopback interface.
type sshChannel struct {
	client, server ssh.Channel
}

// transfer writes msg n times at the client and returns the last message that the
// server read, after it has read all of them.
func (c *sshChannel) transfer(msg []byte, n int) ([]byte, error) {
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

// dialSSH fails unless this cipher and MAC are negotiated.
func dialSSH(cipher, mac string) (*sshChannel, error) {
	config := ssh.Config{Ciphers: []string{cipher}}
	if mac != "" {
		config.MACs = []string{mac}
	}
	hostKey, err := ssh.NewSignerFromKey(ed25519.NewKeyFromSeed(bytes.Repeat([]byte{1}, ed25519.SeedSize)))
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	defer listener.Close()

	type accepted struct {
		channel ssh.Channel
		err     error
	}
	server := make(chan accepted, 1)
	go func() {
		config := &ssh.ServerConfig{Config: config, NoClientAuth: true}
		config.AddHostKey(hostKey)
		channel, err := acceptSSH(listener, config)
		server <- accepted{channel, err}
	}()
	client, err := ssh.Dial("tcp", listener.Addr().String(),
		&ssh.ClientConfig{Config: config, HostKeyCallback: ssh.FixedHostKey(hostKey.PublicKey())})
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
	other := <-server
	return &sshChannel{channel, other.channel}, other.err
}

// acceptSSH serves one connection and returns its first channel.
func acceptSSH(listener net.Listener, config *ssh.ServerConfig) (ssh.Channel, error) {
	raw, err := listener.Accept()
	if err != nil {
		return nil, err
	}
	_, channels, requests, err := ssh.NewServerConn(raw, config)
	if err != nil {
		raw.Close()
		return nil, err
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
