// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Command goph is a client with github.com/melbahja/goph that insists on UMAC. It runs a
// command on the server and prints what that prints.
//
// goph is an example of a library that makes its own ssh.ClientConfig, and has no option
// for ciphers and MACs: sshmac.Register alone changes nothing. But it accepts an
// ssh.Client, so the program dials.
package main

import (
	"log"
	"os"

	"example.com/fastmac/sshmac"
	"github.com/melbahja/goph"
	"golang.org/x/crypto/ssh"
)

func main() {
	if len(os.Args) != 6 {
		log.Fatal("usage: goph ADDRESS USER IDENTITY KNOWN_HOSTS COMMAND")
	}
	client, err := connect(os.Args[1], os.Args[2], os.Args[3], os.Args[4])
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	out, err := client.Run(os.Args[5])
	os.Stdout.Write(out)
	if err != nil {
		log.Fatal(err)
	}
}

// connect is goph.NewConn with UMAC.
func connect(address, user, identity, knownHosts string) (*goph.Client, error) {
	auth, err := goph.Key(identity, "")
	if err != nil {
		return nil, err
	}
	hostKey, err := goph.KnownHosts(knownHosts)
	if err != nil {
		return nil, err
	}
	config := &ssh.ClientConfig{
		User:            user,
		Auth:            auth,
		HostKeyCallback: hostKey,
		Timeout:         goph.DefaultTimeout,
	}
	if err := sshmac.Register(); err != nil {
		return nil, err // without it x/crypto skips the names below
	}
	config.Ciphers = []string{ssh.CipherAES128CTR, ssh.CipherAES256CTR}
	config.MACs = []string{sshmac.UMAC128ETM, sshmac.UMAC64ETM}
	client, err := ssh.Dial("tcp", address, config)
	if err != nil {
		return nil, err
	}
	return &goph.Client{Client: client}, nil
}
