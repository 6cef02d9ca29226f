// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Command gliderlabs is a server with github.com/gliderlabs/ssh and UMAC. It sends
// back what it receives.
//
// The programs beside this one answer the question: what must a program with another
// SSH library contain to use UMAC? They are examples to copy, tested against OpenSSH.
package main

import (
	"io"
	"log"
	"os"

	"example.com/fastmac/sshmac"
	"github.com/gliderlabs/ssh"
	gossh "golang.org/x/crypto/ssh"
)

func main() {
	if len(os.Args) != 4 {
		log.Fatal("usage: gliderlabs ADDRESS HOST_KEY AUTHORIZED_KEY")
	}
	server, err := newServer(os.Args[2], os.Args[3])
	if err != nil {
		log.Fatal(err)
	}
	server.Addr = os.Args[1]
	log.Fatal(server.ListenAndServe())
}

func newServer(hostKey, authorizedKey string) (*ssh.Server, error) {
	content, err := os.ReadFile(authorizedKey)
	if err != nil {
		return nil, err
	}
	authorized, _, _, _, err := ssh.ParseAuthorizedKey(content)
	if err != nil {
		return nil, err
	}
	var algorithms gossh.Config
	if _, err := sshmac.ConfigureServer(&algorithms); err != nil {
		log.Print(err) // algorithms is unchanged: the server has those of x/crypto
	}
	server := &ssh.Server{
		ServerConfigCallback: func(ssh.Context) *gossh.ServerConfig {
			return &gossh.ServerConfig{Config: algorithms}
		},
		PublicKeyHandler: func(_ ssh.Context, key ssh.PublicKey) bool { return ssh.KeysEqual(key, authorized) },
		Handler:          func(s ssh.Session) { io.Copy(s, s) },
	}
	return server, server.SetOption(ssh.HostKeyFile(hostKey))
}
