// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package packet_test

import (
	"bytes"
	"fmt"

	"example.com/fastmac"
	"example.com/fastmac/packet"
)

// A client and a server begin a session, and the client sends packets. Here a channel is the network.
func ExampleUMACServer() {
	c := packet.Config{Secret: []byte("32 random bytes, not these here."), TagSize: fastmac.UMAC128Size}
	toServer, toClient := make(chan []byte, 3), make(chan []byte, 3)
	server, err := packet.NewUMACServer(c, "server", "client") // with many clients, one for each
	if err != nil {
		panic(err)
	}
	serve := func(datagram []byte) {
		if answer, err := server.Answer(nil, datagram); err == nil {
			toClient <- answer
			return
		}
		msg, _, err := server.Open(datagram, nil)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s\n", msg)
		echo, err := server.Seal(msg, nil)
		if err != nil {
			panic(err)
		}
		toClient <- echo
	}

	client, err := packet.NewUMACClient(c, "client", "server")
	if err != nil {
		panic(err)
	}
	toServer <- client.Hello(nil)
	serve(<-toServer)
	if !client.Answer(<-toClient) {
		panic("not the server's")
	}
	for _, text := range []string{"the session is open", "one more"} {
		p, err := client.Seal([]byte(text), nil)
		if err != nil {
			panic(err)
		}
		toServer <- p
	}
	first := <-toServer
	serve(bytes.Clone(first)) // the echo is sealed where the message was
	serve(<-toServer)
	serve(bytes.Clone(first))
	if _, _, err := client.Open(<-toClient, nil); err != nil {
		panic(err)
	}
	server.Close()
	serve(first)
	// Output:
	// the session is open
	// one more
	// packet: accepted before
	// packet: the tag is wrong, or the packet is too short
}
