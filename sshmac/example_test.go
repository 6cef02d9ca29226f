// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sshmac_test

import (
	"fmt"
	"log"
	"slices"

	"example.com/fastmac/sshmac"
	"golang.org/x/crypto/ssh"
)

// A client that uses UMAC with servers that have it, and is shut out by none.
func ExampleConfigure() {
	config := &ssh.ClientConfig{User: "me"}
	if err := sshmac.Configure(&config.Config); err != nil {
		log.Print(err) // config is unchanged: it has the MACs of x/crypto
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

// A server that uses UMAC with clients that have it, and an HMAC with all others.
func ExampleRegister_server() {
	config := &ssh.ServerConfig{}
	if err := sshmac.Register(); err != nil {
		log.Print(err) // clients then negotiate hmac-sha2-256, which is in MACs
	}
	config.Ciphers = sshmac.Ciphers()
	config.MACs = sshmac.MACs()
}

// A client that insists on UMAC: without it, it does not connect.
func ExampleRegister_client() {
	if err := sshmac.Register(); err != nil {
		log.Fatal(err)
	}
	config := &ssh.ClientConfig{}
	config.Ciphers = []string{"aes128-ctr", "aes256-ctr"}
	config.MACs = []string{sshmac.UMAC128ETM, sshmac.UMAC64ETM}
}

// After these, x/crypto's other defaults follow.
func ExampleMACs() {
	for _, name := range sshmac.MACs()[:8] {
		fmt.Println(name)
	}
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

func ExampleModes() {
	for _, m := range sshmac.Modes() {
		fmt.Println(m.Name, m.KeySize, m.New(make([]byte, m.KeySize)).Size())
	}
	// Output:
	// umac-64@openssh.com 16 8
	// umac-128@openssh.com 16 16
	// umac-64-etm@openssh.com 16 8
	// umac-128-etm@openssh.com 16 16
}

// The ciphers that need a MAC come first.
func ExampleCiphers() {
	fmt.Println(sshmac.Ciphers()[0])
	// Output: aes128-ctr
}

// A configuration without the modes that are not encrypt-then-MAC.
func Example_names() {
	config := &ssh.ClientConfig{}
	config.MACs = slices.DeleteFunc(sshmac.MACs(), func(name string) bool {
		return name == sshmac.UMAC64 || name == sshmac.UMAC128
	})
	fmt.Println(config.MACs[0])
	// Output: umac-64-etm@openssh.com
}
