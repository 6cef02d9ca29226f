// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Command sftpclient is a client with golang.org/x/crypto/ssh and
// github.com/pkg/sftp that insists on UMAC. It copies its standard input to a file on
// the server.
package main

import (
	"io"
	"log"
	"os"
	"time"

	"example.com/fastmac/sshmac"
	"github.com/pkg/sftp"
	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"
)

func main() {
	if len(os.Args) != 6 {
		log.Fatal("usage: sftpclient ADDRESS USER IDENTITY KNOWN_HOSTS FILE")
	}
	conn, err := connect(os.Args[1], os.Args[2], os.Args[3], os.Args[4])
	if err != nil {
		log.Fatal(err)
	}
	defer conn.Close()
	if err := upload(conn, os.Args[5], os.Stdin); err != nil {
		log.Fatal(err)
	}
}

func connect(address, user, identity, knownHosts string) (*ssh.Client, error) {
	content, err := os.ReadFile(identity)
	if err != nil {
		return nil, err
	}
	signer, err := ssh.ParsePrivateKey(content)
	if err != nil {
		return nil, err
	}
	hostKey, err := knownhosts.New(knownHosts)
	if err != nil {
		return nil, err
	}
	config := &ssh.ClientConfig{
		User:            user,
		Auth:            []ssh.AuthMethod{ssh.PublicKeys(signer)},
		HostKeyCallback: hostKey,
		Timeout:         20 * time.Second,
	}
	if err := sshmac.Register(); err != nil {
		return nil, err // without it x/crypto skips the names below
	}
	config.Ciphers = []string{ssh.CipherAES128CTR, ssh.CipherAES256CTR}
	config.MACs = []string{sshmac.UMAC128ETM, sshmac.UMAC64ETM}
	return ssh.Dial("tcp", address, config)
}

func upload(conn *ssh.Client, name string, content io.Reader) error {
	client, err := sftp.NewClient(conn)
	if err != nil {
		return err
	}
	defer client.Close()
	file, err := client.Create(name)
	if err != nil {
		return err
	}
	if _, err := io.Copy(file, content); err != nil {
		file.Close()
		return err
	}
	return file.Close()
}
