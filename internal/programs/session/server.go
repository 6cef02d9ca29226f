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
	conn, err := net.ListenPacket("udp", address)
	if err != nil {
		return err
	}
	fmt.Println("listening on", conn.LocalAddr())
	var hello packet.HelloServer
	var send *packet.UMACSender
	var receive *packet.UMACReceiver
	buffer := make([]byte, 1<<16)
	for {
		n, from, err := conn.ReadFrom(buffer)
		if err != nil {
			return err
		}
		if n == packet.HelloSize { // packets have more bytes: an opening, and 24 after the message
			if answer, err := hello.Answer(nil, buffer[:n], c, "server", "client"); err == nil {
				conn.WriteTo(answer, from)
			}
			continue
		}
		session, open, err := hello.Begin(buffer[:min(n, packet.OpeningSize)], c)
		if err != nil {
			continue
		}
		s, r := send, receive
		if !open {
			config, counters := session.With(c)
			if s, r, err = packet.NewUMACPair(config, "server", "client", counters); err != nil {
				return err
			}
		}
		message, _, err := r.Open(buffer[:n], nil)
		if err != nil || !open && !hello.Opened(session) {
			continue
		}
		send, receive = s, r // only now: nothing is sealed before Opened
		text := message[packet.OpeningSize:]
		fmt.Printf("%s\n", text)
		echo, err := send.Seal(text, nil)
		if err != nil {
			return err
		}
		conn.WriteTo(echo, from)
	}
}
