// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"fmt"
	"net"

	"example.com/fastmac/packet"
)

// server prints the messages of one client, and sends them back. A hello or a packet that is not
// good, or is from an earlier session, gets no answer.
func server(c packet.Config, address string) error {
	session, err := packet.NewUMACServer(c, "server", "client")
	if err != nil {
		return err
	}
	conn, err := net.ListenPacket("udp", address)
	if err != nil {
		return err
	}
	fmt.Println("listening on", conn.LocalAddr())
	buffer := make([]byte, 1<<16)
	for {
		n, from, err := conn.ReadFrom(buffer)
		if err != nil {
			return err
		}
		if answer, err := session.Answer(nil, buffer[:n]); err == nil { // it was a hello
			conn.WriteTo(answer, from)
			continue
		}
		text, _, err := session.Open(buffer[:n], nil)
		if err != nil {
			continue
		}
		fmt.Printf("%s\n", text)
		if echo, err := session.Seal(text, nil); err == nil { // an error: the session has ended meanwhile
			conn.WriteTo(echo, from)
		}
	}
}
