// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Command sftpserver is a server with golang.org/x/crypto/ssh, github.com/pkg/sftp
// and UMAC. Its user can read and write all files that the process can.
package main

import (
	"bytes"
	"errors"
	"io"
	"log"
	"net"
	"os"
	"time"

	"example.com/fastmac/sshmac"
	"github.com/pkg/sftp"
	"golang.org/x/crypto/ssh"
)

func main() {
	if len(os.Args) != 4 {
		log.Fatal("usage: sftpserver ADDRESS HOST_KEY AUTHORIZED_KEY")
	}
	config, err := newConfig(os.Args[2], os.Args[3])
	if err != nil {
		log.Fatal(err)
	}
	listener, err := net.Listen("tcp", os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(serve(listener, config))
}

func newConfig(hostKey, authorizedKey string) (*ssh.ServerConfig, error) {
	content, err := os.ReadFile(hostKey)
	if err != nil {
		return nil, err
	}
	host, err := ssh.ParsePrivateKey(content)
	if err != nil {
		return nil, err
	}
	if content, err = os.ReadFile(authorizedKey); err != nil {
		return nil, err
	}
	authorized, _, _, _, err := ssh.ParseAuthorizedKey(content)
	if err != nil {
		return nil, err
	}

	config := &ssh.ServerConfig{
		PublicKeyCallback: func(_ ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
			if !bytes.Equal(key.Marshal(), authorized.Marshal()) {
				return nil, errors.New("unknown key")
			}
			return nil, nil
		},
	}
	config.AddHostKey(host)
	if _, err := sshmac.ConfigureServer(&config.Config); err != nil {
		log.Print(err) // config.Config is unchanged: the server has the algorithms of x/crypto
	}
	return config, nil
}

func serve(listener net.Listener, config *ssh.ServerConfig) error {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return err
		}
		go func() {
			defer conn.Close()
			if err := handle(conn, config); err != nil {
				log.Print(err)
			}
		}()
	}
}

// loginTime is how long a client has for the handshake, as OpenSSH's LoginGraceTime: without a limit
// everyone could keep connections that never log in. Tests change it.
var loginTime = 2 * time.Minute

// handle serves a connection.
func handle(conn net.Conn, config *ssh.ServerConfig) error {
	if err := conn.SetDeadline(time.Now().Add(loginTime)); err != nil {
		return err
	}
	_, channels, requests, err := ssh.NewServerConn(conn, config)
	if err != nil {
		return err
	}
	if err := conn.SetDeadline(time.Time{}); err != nil {
		return err
	}
	go ssh.DiscardRequests(requests)
	for offer := range channels {
		if offer.ChannelType() != "session" {
			offer.Reject(ssh.UnknownChannelType, "sessions only")
			continue
		}
		channel, requests, err := offer.Accept()
		if err != nil {
			return err
		}
		go func() {
			defer channel.Close()
			if err := session(channel, requests); err != nil {
				log.Print(err)
			}
		}()
	}
	return nil
}

// session waits for the request for sftp and serves it.
func session(channel ssh.Channel, requests <-chan *ssh.Request) error {
	for request := range requests {
		var subsystem struct{ Name string }
		ok := request.Type == "subsystem" && ssh.Unmarshal(request.Payload, &subsystem) == nil && subsystem.Name == "sftp"
		request.Reply(ok, nil)
		if !ok {
			continue
		}
		go ssh.DiscardRequests(requests)
		server, err := sftp.NewServer(channel)
		if err != nil {
			return err
		}
		if err := server.Serve(); err != io.EOF {
			return err
		}
		return nil
	}
	return nil
}
