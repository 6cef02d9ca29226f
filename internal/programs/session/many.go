// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"encoding/binary"
	"fmt"
	"net"
	"runtime"

	"example.com/fastmac/packet"
)

// many is a server for many clients, whose secrets are side by side in c.Secret. What they send begins with four bytes:
// the number of the client. With a wrong number another secret is tried, so nothing is accepted.
func many(c packet.Config, address string) error {
	var clients []*packet.UMACServer
	for secrets := c.Secret; len(secrets) > 0; secrets = secrets[32:] {
		c.Secret = secrets[:32]
		s, err := packet.NewUMACServer(c, "server", "client")
		if err != nil {
			return err
		}
		clients = append(clients, s)
	}
	conn, err := net.ListenPacket("udp", address)
	if err != nil {
		return err
	}
	fmt.Println("listening on", conn.LocalAddr())
	for range runtime.NumCPU() {
		go serve(conn, clients)
	}
	return serve(conn, clients)
}

// serve runs in each goroutine.
func serve(conn net.PacketConn, clients []*packet.UMACServer) error {
	for buffer := make([]byte, 1<<16); ; {
		n, from, err := conn.ReadFrom(buffer)
		if err != nil {
			return err
		}
		number := binary.BigEndian.Uint32(buffer)
		if n < 4 || number >= uint32(len(clients)) {
			continue
		}
		session, datagram := clients[number], buffer[4:n]
		if answer, err := session.Answer(nil, datagram); err == nil { // it was a hello
			conn.WriteTo(answer, from)
			continue
		}
		text, _, err := session.Open(datagram, nil)
		if err != nil {
			continue
		}
		fmt.Printf("%d: %s\n", number, text)
		if echo, err := session.Seal(text, nil); err == nil {
			conn.WriteTo(echo, from)
		}
	}
}
