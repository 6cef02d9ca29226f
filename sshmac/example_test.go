// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sshmac_test

import (
	"fmt"
	"log"
	"strings"

	"example.com/fastmac/sshmac"
	"golang.org/x/crypto/ssh"
)

// With this server OpenSSH's ssh, with nothing configured, uses aes128-ctr and UMAC, or aes128-gcm,
// in place of chacha20-poly1305.
func ExampleConfigureServer() {
	config := &ssh.ServerConfig{}
	omitted, err := sshmac.ConfigureServer(&config.Config)
	if err != nil {
		log.Print(err) // config is unchanged
	}
	if len(omitted) > 0 {
		log.Printf("not offered: %s", omitted)
	}
}

// A client that uses UMAC with servers that have it, and can still connect to others.
func ExampleConfigure() {
	config := &ssh.ClientConfig{User: "me"}
	if err := sshmac.Configure(&config.Config); err != nil {
		log.Print(err) // config is unchanged
	}
	conn, err := ssh.Dial("tcp", "host.example:22", config)
	if err != nil {
		log.Fatal(err)
	}
	defer conn.Close()
	// With x/crypto v0.39.0 or newer, this is what was negotiated:
	//
	//	algorithms := conn.Conn.(ssh.AlgorithmsConnMetadata).Algorithms()
	//	fmt.Println(algorithms.Write.Cipher, algorithms.Write.MAC)
}

// A server that does not call ConfigureServer: its program has called RegisterMAC, which fastmac
// patch-ssh adds to x/crypto.
func ExampleServerCiphers() {
	config := &ssh.ServerConfig{}
	config.Ciphers = sshmac.ServerCiphers()
	config.MACs = sshmac.MACs()
}

// A client that connects only to servers with UMAC.
func ExampleRegister_client() {
	if err := sshmac.Register(); err != nil {
		log.Fatal(err)
	}
	config := &ssh.ClientConfig{}
	config.Ciphers = []string{"aes128-ctr", "aes256-ctr"}
	config.MACs = []string{sshmac.UMAC128ETM, sshmac.UMAC64ETM, sshmac.UMAC128, sshmac.UMAC64}
}

// The first three ciphers need a MAC.
func ExampleCiphers() {
	fmt.Println(sshmac.Ciphers()[:3])
	// Output:
	// [aes128-ctr aes192-ctr aes256-ctr]
}

func ExampleMACs() {
	fmt.Println(strings.Join(sshmac.MACs()[:8], "\n"))
	// Output:
	// umac-64-etm@openssh.com
	// umac-128-etm@openssh.com
	// hmac-sha2-256-etm@openssh.com
	// hmac-sha2-512-etm@openssh.com
	// umac-64@openssh.com
	// umac-128@openssh.com
	// hmac-sha2-256
	// hmac-sha2-512
}

// Prints the names, the sizes of key and tag in bytes, and which modes are encrypt-then-MAC.
func ExampleModes() {
	for _, m := range sshmac.Modes() {
		fmt.Println(m.Name, m.KeySize, m.New(make([]byte, m.KeySize)).Size(), m.ETM)
	}
	// Output:
	// umac-64@openssh.com 16 8 false
	// umac-128@openssh.com 16 16 false
	// umac-64-etm@openssh.com 16 8 true
	// umac-128-etm@openssh.com 16 16 true
}
