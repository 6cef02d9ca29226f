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

// SSHModes are what a connection negotiates, and the MAC of the tag that an Op returns. An
// AEAD cipher needs no MAC.
type SSHModes struct{ Cipher, MAC, TagMAC string }

// tag returns the tag of the last message that arrived.
func (m SSHModes) tag(arrived []byte) []byte {
	h := NewSSHMAC(m.TagMAC)
	h.Write(binary.BigEndian.AppendUint32(nil, SSHSequence))
	h.Write(arrived)
	return h.Sum(nil)
}

// SSH returns the Op that sends messages through SSH, both ends of which are in this
// process. The tag is that of the last message that arrived; there is none if anything
// fails. The first run connects.
func SSH(m SSHModes) Op {
	return m.op(func() (*sshChannel, error) { return dialSSH(m) }, func(c *sshChannel, msg []byte, n int) ([]byte, error) {
		arrived, err := c.transfer(msg, n)
		return m.tag(arrived), err
	})
}

// SSHMAC returns the Op that sends messages through SSH with the MAC of this name and the
// cipher aes128-ctr. The tag is what this MAC computes.
func SSHMAC(name string) Op { return SSH(SSHModes{ssh.CipherAES128CTR, name, name}) }

// Receive returns the Op that receives messages through SSH from a process that runs the
// Op of [Send] at the same time, and sends it the tag. The first run accepts a connection.
func Receive(l net.Listener, m SSHModes) Op {
	return m.op(func() (c *sshChannel, err error) {
		c = new(sshChannel)
		c.server, err = m.accept(l)
		return c, err
	}, func(c *sshChannel, msg []byte, n int) ([]byte, error) {
		arrived, err := c.receive(len(msg), n)
		if err != nil {
			return nil, err
		}
		tag := m.tag(arrived)
		_, err = c.server.Write(tag)
		return tag, err
	})
}

// Send returns the Op that sends messages through SSH to a process that runs the Op of
// [Receive] at the same time, and waits for its tag. The first run connects to addr.
func Send(addr string, m SSHModes) Op {
	return m.op(func() (c *sshChannel, err error) {
		c = new(sshChannel)
		c.client, err = m.connect(addr)
		return c, err
	}, func(c *sshChannel, msg []byte, n int) ([]byte, error) {
		for range n {
			if _, err := c.client.Write(msg); err != nil {
				return nil, err
			}
		}
		tag := make([]byte, NewSSHMAC(m.TagMAC).Size())
		_, err := io.ReadFull(c.client, tag)
		return tag, err
	})
}

// op returns the Op that connects once and then runs transfer. It reports errors and
// returns no tag then.
func (m SSHModes) op(connect func() (*sshChannel, error), transfer func(c *sshChannel, msg []byte, n int) ([]byte, error)) Op {
	connect = sync.OnceValues(connect)
	return func(msg []byte, n int) []byte {
		c, err := connect()
		var tag []byte
		if err == nil {
			tag, err = transfer(c, msg, n)
		}
		if err != nil {
			fmt.Fprintf(os.Stderr, "fastmac: SSH with %s %s: %v\n", m.Cipher, m.MAC, err)
			return nil
		}
		return tag
	}
}

// sshChannel is the ends of a channel from an SSH client to an SSH server that are in
// this process, over TCP on the loopback interface.
type sshChannel struct {
	client, server ssh.Channel
}

// transfer writes msg n times at the client and returns the last message that the
// server read, after it has read all of them.
func (c *sshChannel) transfer(msg []byte, n int) ([]byte, error) {
	var arrived []byte
	done := make(chan error, 1)
	go func() {
		var err error
		arrived, err = c.receive(len(msg), n)
		done <- err
	}()
	for range n {
		if _, err := c.client.Write(msg); err != nil {
			return nil, err
		}
	}
	err := <-done
	return arrived, err
}

// receive reads n messages of size bytes at the server and returns the last one.
func (c *sshChannel) receive(size, n int) ([]byte, error) {
	arrived := make([]byte, size)
	for range n {
		if _, err := io.ReadFull(c.server, arrived); err != nil {
			return nil, err
		}
	}
	return arrived, nil
}

func dialSSH(m SSHModes) (*sshChannel, error) {
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
		channel, err := m.accept(listener)
		server <- accepted{channel, err}
	}()
	client, err := m.connect(listener.Addr().String())
	if err != nil {
		return nil, err
	}
	other := <-server
	return &sshChannel{client, other.channel}, other.err
}

func (m SSHModes) config() ssh.Config {
	config := ssh.Config{Ciphers: []string{m.Cipher}}
	if m.MAC != "" {
		config.MACs = []string{m.MAC}
	}
	return config
}

var hostKey = sync.OnceValues(func() (ssh.Signer, error) {
	return ssh.NewSignerFromKey(ed25519.NewKeyFromSeed(bytes.Repeat([]byte{1}, ed25519.SeedSize)))
})

// connect opens a channel. It fails unless this cipher and MAC are negotiated.
func (m SSHModes) connect(addr string) (ssh.Channel, error) {
	key, err := hostKey()
	if err != nil {
		return nil, err
	}
	client, err := ssh.Dial("tcp", addr, &ssh.ClientConfig{Config: m.config(), HostKeyCallback: ssh.FixedHostKey(key.PublicKey())})
	if err != nil {
		return nil, err
	}
	algorithms := client.Conn.(ssh.AlgorithmsConnMetadata).Algorithms()
	for _, d := range []ssh.DirectionAlgorithms{algorithms.Read, algorithms.Write} {
		if d.Cipher != m.Cipher || d.MAC != m.MAC {
			client.Close()
			return nil, fmt.Errorf("negotiated %q with MAC %q", d.Cipher, d.MAC)
		}
	}
	channel, requests, err := client.OpenChannel("bytes", nil)
	if err != nil {
		return nil, err
	}
	go ssh.DiscardRequests(requests)
	return channel, nil
}

// accept serves one connection and returns its first channel.
func (m SSHModes) accept(listener net.Listener) (ssh.Channel, error) {
	key, err := hostKey()
	if err != nil {
		return nil, err
	}
	config := &ssh.ServerConfig{Config: m.config(), NoClientAuth: true}
	config.AddHostKey(key)
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
