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
	var session *packet.UMACClient
	for lines.Scan() {
		if !alive { // there is no session yet, or nothing came back in it
			if session, err = packet.NewUMACClient(c, "client", "server"); err != nil {
				return err
			}
			for ok := false; !ok; ok = listen(conn, session.Answer) {
				conn.Write(session.Hello(nil))
			}
		}
		p, err := session.Seal([]byte(lines.Text()), nil)
		if err != nil {
			return err
		}
		conn.Write(p)
		var text []byte
		alive = listen(conn, func(b []byte) bool { text, _, err = session.Open(b, nil); return err == nil })
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
