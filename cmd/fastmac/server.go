// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"syscall"
	"time"

	"golang.org/x/crypto/ssh"
)

// testCipher is not an AEAD: with those SSH uses no MAC at all.
const testCipher = ssh.CipherAES128CTR

// identities are the keys of one run: the server's and its only user's.
type identities struct {
	host, user ssh.Signer
	userKey    ed25519.PrivateKey // for OpenSSH's identity file
}

func newIdentities() (*identities, error) {
	_, hostKey, err := ed25519.GenerateKey(nil)
	if err != nil {
		return nil, err
	}
	_, userKey, err := ed25519.GenerateKey(nil)
	if err != nil {
		return nil, err
	}
	ids := &identities{userKey: userKey}
	if ids.host, err = ssh.NewSignerFromKey(hostKey); err != nil {
		return nil, err
	}
	if ids.user, err = ssh.NewSignerFromKey(userKey); err != nil {
		return nil, err
	}
	return ids, nil
}

// listen takes port on the loopback address, or a free one if that cannot be
// had; note tells why.
func listen(port int) (l *net.TCPListener, note, err error) {
	loopback := net.IPv4(127, 0, 0, 1)
	l, err = net.ListenTCP("tcp4", &net.TCPAddr{IP: loopback, Port: port})
	if err == nil || port == 0 {
		return l, nil, err
	}
	if errors.Is(err, syscall.EADDRINUSE) {
		note = fmt.Errorf("port %d on %v is busy; taking a free one instead", port, loopback)
	} else {
		note = fmt.Errorf("cannot use port %d on %v (%w); taking a free one instead", port, loopback, err)
	}
	l, err = net.ListenTCP("tcp4", &net.TCPAddr{IP: loopback})
	return l, note, err
}

// A server is the SSH server of a run, serving one row at a time.
type server struct {
	listener *net.TCPListener
	ids      *identities
	tamper   func(io.ReadWriter) io.ReadWriter // damages what goes through a channel; for tests
}

// A served is the server's view of a row.
type served struct {
	transfer      transfer
	negotiated    *negotiated
	clientVersion string
	err           error
}

// serve accepts connections that know mac alone, until ctx is done and the last
// of them has ended. The result is that of the one connection that logged in.
func (s *server) serve(ctx context.Context, mac string, size int64) served {
	config := &ssh.ServerConfig{
		Config: ssh.Config{Ciphers: []string{testCipher}, MACs: []string{mac}},
		PublicKeyCallback: func(_ ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
			if !bytes.Equal(key.Marshal(), s.ids.user.PublicKey().Marshal()) {
				return nil, errors.New("unknown key")
			}
			return nil, nil
		},
	}
	config.AddHostKey(s.ids.host)

	// A deadline in the past wakes Accept and leaves the port to the next row.
	if err := s.listener.SetDeadline(time.Time{}); err != nil {
		return served{err: err}
	}
	stop := context.AfterFunc(ctx, func() { s.listener.SetDeadline(time.Unix(1, 0)) })
	defer stop()

	var (
		mu     sync.Mutex
		result = served{err: errors.New("no connection")}
		conns  sync.WaitGroup
	)
	for {
		conn, err := s.listener.Accept()
		if err != nil {
			if ctx.Err() == nil {
				mu.Lock()
				result.err = err
				mu.Unlock()
			}
			break
		}
		conns.Go(func() {
			unhook := context.AfterFunc(ctx, func() { conn.Close() })
			defer unhook()
			defer conn.Close()
			s.handle(conn, config, size, func(r served) {
				mu.Lock()
				defer mu.Unlock()
				// Any program of this machine can connect; only the
				// row's client can log in.
				if result.negotiated == nil {
					result = r
				}
			})
		})
	}
	conns.Wait()
	return result
}

// handle serves one connection and reports on it. A success is reported before
// the client hears of it; a failure when the connection has ended and its error
// is known.
func (s *server) handle(conn net.Conn, config *ssh.ServerConfig, size int64, report func(served)) {
	sshConn, channels, requests, err := ssh.NewServerConn(conn, config)
	if err != nil {
		report(served{err: err})
		return
	}
	go ssh.DiscardRequests(requests)

	r := served{
		negotiated:    negotiatedBy(sshConn.Conn, false),
		clientVersion: string(sshConn.ClientVersion()),
		err:           errors.New("the client asked for no transfer"),
	}
	transferred := false
	for offer := range channels {
		if offer.ChannelType() != "session" || transferred {
			offer.Reject(ssh.Prohibited, "one session and nothing else")
			continue
		}
		channel, requests, err := offer.Accept()
		if err != nil {
			r.err = err
			continue
		}
		if s.awaitExec(requests, fmt.Sprintf("transfer %d", size)) {
			r.transfer, r.err = s.transfer(channel, size)
			transferred = true
			if r.err == nil {
				report(r)
			}
			status := struct{ Code uint32 }{}
			if r.err != nil {
				status.Code = 1
			}
			channel.SendRequest("exit-status", false, ssh.Marshal(status))
		}
		go ssh.DiscardRequests(requests)
		channel.Close()
	}
	if connErr := endOf(sshConn.Conn); r.err != nil {
		r.err = errors.Join(r.err, connErr)
		report(r)
	}
}

func (s *server) transfer(channel io.ReadWriter, size int64) (transfer, error) {
	if s.tamper != nil {
		channel = s.tamper(channel)
	}
	return serverTransfer(channel, size)
}

// awaitExec answers requests until the one that runs command.
func (s *server) awaitExec(requests <-chan *ssh.Request, command string) bool {
	for req := range requests {
		var exec struct{ Command string }
		ok := req.Type == "exec" && ssh.Unmarshal(req.Payload, &exec) == nil && exec.Command == command
		if req.WantReply {
			req.Reply(ok, nil)
		}
		if ok {
			return true
		}
	}
	return false
}
