// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"time"

	"example.com/fastmac/packet"
)

// client sends lines, and prints what comes back. A line is sent once, so it may get lost.
func client(c packet.Config, address string) error {
	conn, err := net.Dial("udp", address)
	if err != nil {
		return err
	}
	lines, alive := bufio.NewScanner(os.Stdin), false
	var session packet.HelloSession
	var send *packet.UMACSender
	var receive *packet.UMACReceiver
	for lines.Scan() {
		if !alive { // there is no session yet, or nothing came back in it
			hello, err := packet.NewHelloClient(c, "client", "server")
			if err != nil {
				return err
			}
			for ok := false; !ok; {
				conn.Write(hello.Hello(nil))
				ok = listen(conn, func(b []byte) (ok bool) { session, ok = hello.Session(b); return ok })
			}
			config, counters := session.With(c)
			if send, receive, err = packet.NewUMACPair(config, "client", "server", counters); err != nil {
				return err
			}
		}
		p, err := send.Seal(append(session.Opening(nil), lines.Bytes()...), nil)
		if err != nil {
			return err
		}
		conn.Write(p)
		var text []byte
		alive = listen(conn, func(b []byte) bool { text, _, err = receive.Open(b, nil); return err == nil })
		fmt.Printf("sent %q, got %q\n", lines.Bytes(), text)
	}
	return lines.Err()
}

// listen gives take what arrives, until take returns true or the time is over.
func listen(conn net.Conn, take func(datagram []byte) bool) bool {
	deadline, buffer := time.Now().Add(wait), make([]byte, 1<<16)
	conn.SetReadDeadline(deadline)
	for time.Now().Before(deadline) {
		if n, err := conn.Read(buffer); err == nil && take(buffer[:n]) { // an error: no server now
			return true
		}
	}
	return false
}
