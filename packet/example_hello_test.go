// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package packet_test

import (
	"fmt"

	"example.com/fastmac"
	"example.com/fastmac/packet"
)

// A client and a server begin a session, and the client sends a packet. Here a channel is the
// network. The first byte of a datagram says what follows it.
func ExampleHelloServer() {
	const hello, opening = 'h', 'o'
	c := packet.Config{Secret: []byte("32 random bytes, not these here."), TagSize: fastmac.UMAC128Size}
	toServer, toClient := make(chan []byte, 2), make(chan []byte, 2)

	// The client says hello.
	h, err := packet.NewHelloClient(c, "client", "server")
	if err != nil {
		panic(err)
	}
	defer h.Destroy()
	toServer <- h.Hello([]byte{hello})

	// The server takes what comes. With many clients it has a HelloServer for each.
	var server packet.HelloServer
	var receiver *packet.UMACReceiver
	take := func(datagram []byte) {
		switch datagram[0] {
		case hello:
			if answer, err := server.Answer(nil, datagram[1:], c, "server", "client"); err == nil {
				toClient <- answer
			}
		case opening:
			if len(datagram) < 1+packet.OpeningSize {
				return
			}
			session, open, err := server.Begin(datagram[1:1+packet.OpeningSize], c)
			if err != nil {
				return // an old session, or too many wrong packets
			}
			r := receiver
			if !open {
				c := c
				c.Sender, c.Receiver = "client", "server"
				if r, err = packet.NewUMACReceiver(session.With(c)); err != nil {
					panic(err)
				}
			}
			msg, _, err := r.Open(datagram, nil)
			if err != nil {
				fmt.Println(err)
				return
			}
			if !open {
				if !server.Opened(session) {
					return
				}
				receiver = r // now make a sender too
			}
			fmt.Printf("%s\n", msg[1+packet.OpeningSize:])
		}
	}
	take(<-toServer)

	// The client has an answer. Its packets begin with an opening until it hears from the server.
	session, ok := h.Session(<-toClient)
	if !ok {
		panic("not the server's")
	}
	c.Sender, c.Receiver = "client", "server"
	s, err := packet.NewUMACSender(session.With(c))
	if err != nil {
		panic(err)
	}
	for _, text := range []string{"the session is open", "one more"} {
		p, err := s.Seal(append(session.Opening([]byte{opening}), text...), nil)
		if err != nil {
			panic(err)
		}
		toServer <- p
	}
	first := <-toServer
	take(first)
	take(<-toServer)
	take(first)
	// Output:
	// the session is open
	// one more
	// packet: accepted before
}
