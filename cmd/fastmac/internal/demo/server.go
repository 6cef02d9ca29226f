// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package demo

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"io"
	"net"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"
)

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

// A server is the SSH server of a run, serving one row at a time.
type server struct {
	listener *net.TCPListener
	ids      *identities
	tamper   func(io.ReadWriter) io.ReadWriter // damages the content of a channel; for tests
}

// A serverResult is what the server saw of a row.
type serverResult struct {
	transfer   transfer
	negotiated *negotiated
	clientID   string // its SSH identification
	err        error
}

// serve accepts connections for a job, until ctx is done and the last of them
// has ended. The result is from the one connection that logged in.
func (s *server) serve(ctx context.Context, j *job) serverResult {
	algorithms, err := j.config()
	if err != nil {
		return serverResult{err: err}
	}
	config := &ssh.ServerConfig{
		Config: algorithms,
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
		return serverResult{err: err}
	}
	stop := context.AfterFunc(ctx, func() { s.listener.SetDeadline(time.Unix(1, 0)) })
	defer stop()

	var (
		mu     sync.Mutex
		result = serverResult{err: errors.New("no connection")}
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
			s.handle(conn, config, j, func(r serverResult) {
				mu.Lock()
				defer mu.Unlock()
				// Any program on this machine can connect, but only
				// the row's client can log in.
				if result.negotiated == nil {
					result = r
				}
			})
		})
	}
	conns.Wait()
	return result
}

// handle serves one connection and reports on it. It reports a success before the
// client knows, and a failure after the connection has ended, when its error is
// known.
func (s *server) handle(conn net.Conn, config *ssh.ServerConfig, j *job, report func(serverResult)) {
	sshConn, channels, requests, err := ssh.NewServerConn(conn, config)
	if err != nil {
		report(serverResult{err: err})
		return
	}
	go ssh.DiscardRequests(requests)

	r := serverResult{
		negotiated: negotiatedBy(sshConn.Conn, false),
		clientID:   string(sshConn.ClientVersion()),
		err:        errors.New("the client requested no transfer"),
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
		if s.awaitExec(requests, j.command()) {
			r.transfer, r.err = s.transfer(channel, j)
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
	if connErr := closeError(sshConn.Conn); r.err != nil {
		r.err = errors.Join(r.err, connErr)
		report(r)
	}
}

func (s *server) transfer(channel io.ReadWriter, j *job) (transfer, error) {
	if s.tamper != nil {
		channel = s.tamper(channel)
	}
	return j.serverTransfer(channel)
}

// awaitExec answers requests up to the one that runs command, and reports whether it
// came.
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
