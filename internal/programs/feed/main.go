// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Command feed sends to many receivers, who share the secret and only listen: Config.Receiver is empty. Each has a
// store of its own: kill anybody at any time, and no counter is used twice, and no receiver accepts a packet twice.
// Whoever has the secret can pretend to be the sender. If a receiver might, use signatures instead.
package main

import (
	"bufio"
	"crypto/rand"
	"errors"
	"log"
	"net"
	"os"
	"os/signal"
	"syscall"

	"example.com/fastmac/packet"
	"example.com/fastmac/packet/store"
)

const keySize = 32

func main() {
	if len(os.Args) < 4 {
		log.Fatal("usage: feed create DIR RECEIVER... | send DIR ADDRESS... | receive DIR RECEIVER ADDRESS")
	}
	command, dir, args := os.Args[1], os.Args[2], os.Args[3:]
	if command == "create" {
		must(0, os.Mkdir(dir, 0o700)) // an error if it is there: a new secret has new stores
		key := make([]byte, keySize)
		rand.Read(key)
		must(0, os.WriteFile(dir+"/key", key, 0o600))
		for _, name := range append(args, "send") {
			must(0, store.Create(dir+"/"+name))
		}
		return
	}
	key := must(os.ReadFile(dir + "/key"))
	if len(key) != keySize { // a part may be missing after a crash
		log.Fatalf("%s/key has %d bytes: want %d", dir, len(key), keySize)
	}
	c := packet.Config{Secret: key, Sender: "feed", TagSize: 16}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt, syscall.SIGTERM)
	if command == "send" {
		s, conn := must(packet.NewUMACSender(c, packet.Stored(must(store.Open(dir+"/send")), nil))), must(net.ListenPacket("udp", ":0"))
		go func() {
			for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
				p, err := s.Seal([]byte(lines.Text()), nil)
				if err != nil {
					log.Print("not sent: ", errors.Join(err, s.StoreErr()))
					continue
				}
				for _, address := range args {
					conn.WriteTo(p, must(net.ResolveUDPAddr("udp", address))) // after an error this packet is lost
				}
			}
			stop <- os.Interrupt
		}()
		<-stop
		must(0, s.Stop()) // so that the next start skips no counters
		return
	}
	f, conn := must(store.Open(dir+"/"+args[0])), must(net.ListenPacket("udp", args[len(args)-1]))
	r := must(packet.NewUMACReceiver(c, packet.Stored(nil, f)))
	log.Print("listening on ", conn.LocalAddr())
	go func() { <-stop; conn.Close() }()
	buffer := make([]byte, 1<<16)
	for n, _, err := conn.ReadFrom(buffer); err == nil; n, _, err = conn.ReadFrom(buffer) {
		if msg, counter, err := r.Open(buffer[:n], nil); err != nil {
			log.Print("refused: ", errors.Join(err, r.StoreErr()))
		} else {
			log.Printf("packet %d: %s", counter, msg)
		}
	}
	must(0, r.Stop()) // nothing is refused after the next start
}

func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}
