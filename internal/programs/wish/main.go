// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Command wish is a server with github.com/charmbracelet/wish and UMAC. It sends back
// what it receives.
package main

import (
	"io"
	"log"
	"os"

	"example.com/fastmac/sshmac"
	"github.com/charmbracelet/ssh"
	"github.com/charmbracelet/wish"
	gossh "golang.org/x/crypto/ssh"
)

func main() {
	if len(os.Args) != 4 {
		log.Fatal("usage: wish ADDRESS HOST_KEY AUTHORIZED_KEYS")
	}
	server, err := newServer(os.Args[1], os.Args[2], os.Args[3])
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(server.ListenAndServe())
}

func newServer(address, hostKey, authorizedKeys string) (*ssh.Server, error) {
	return wish.NewServer(
		wish.WithAddress(address),
		wish.WithHostKeyPath(hostKey),
		wish.WithAuthorizedKeys(authorizedKeys),
		wish.WithMiddleware(echo),
		withAlgorithms,
	)
}

// withAlgorithms is an option for wish.NewServer, as wish has none for ciphers and MACs.
func withAlgorithms(server *ssh.Server) error {
	var algorithms gossh.Config
	if _, err := sshmac.ConfigureServer(&algorithms); err != nil {
		log.Print(err) // algorithms is unchanged: the server has those of x/crypto
	}
	server.ServerConfigCallback = func(ssh.Context) *gossh.ServerConfig {
		return &gossh.ServerConfig{Config: algorithms}
	}
	return nil
}

func echo(next ssh.Handler) ssh.Handler {
	return func(s ssh.Session) {
		io.Copy(s, s)
		next(s)
	}
}
