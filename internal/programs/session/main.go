// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Command session sends lines of text over UDP, and a server sends each of them back:
//
//	session server SECRETFILE ADDRESS
//	session client SECRETFILE ADDRESS
//
// Both ends have the same SECRETFILE, 32 random bytes. Either may start again at any time, and
// nothing is stored: a line may get lost then, and is never accepted twice.
//
//	session many SECRETFILE ADDRESS
//
// is a server for clients that say which one they are, with 32 bytes in SECRETFILE for each.
package main

import (
	"fmt"
	"log"
	"os"
	"time"

	"example.com/fastmac/packet"
)

var wait = time.Second // of a client, for an answer or an echo. Tests change it

func main() {
	log.SetFlags(0)
	roles := map[string]func(packet.Config, string) error{"server": server, "client": client, "many": many}
	if len(os.Args) != 4 || roles[os.Args[1]] == nil {
		log.Fatal("usage: session server|client|many SECRETFILE ADDRESS")
	}
	secret, err := os.ReadFile(os.Args[2])
	if n := len(secret); err == nil && n != 32 && (os.Args[1] != "many" || n == 0 || n%32 != 0) {
		err = fmt.Errorf("session: %s has %d bytes: want 32, and for many 32 for each client", os.Args[2], n)
	}
	if err == nil {
		err = roles[os.Args[1]](packet.Config{Secret: secret, TagSize: 16}, os.Args[3])
	}
	if err != nil {
		log.Fatal(err)
	}
}
