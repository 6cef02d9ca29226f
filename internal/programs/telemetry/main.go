// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Command telemetry sends packets one way, from a device to a server, under a secret that stays the same.
// Stores keep the counters: kill either end at any time, and no counter is used, and no packet accepted, twice.
// On two machines both have a copy of key. Each has only the store of its end, send or receive, with its lock.
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
	if len(os.Args) < 3 {
		log.Fatal("usage: telemetry create DIR | send DIR ADDRESS | receive DIR ADDRESS")
	}
	command, dir, address := os.Args[1], os.Args[2], os.Args[len(os.Args)-1]
	if command == "create" {
		must(0, os.Mkdir(dir, 0o700)) // an error if it is there: a new secret has new stores
		key := make([]byte, keySize)
		rand.Read(key)
		must(0, errors.Join(os.WriteFile(dir+"/key", key, 0o600), store.Create(dir+"/send"), store.Create(dir+"/receive")))
		return
	}
	key := must(os.ReadFile(dir + "/key"))
	if len(key) != keySize { // a part may be missing after a crash
		log.Fatalf("%s/key has %d bytes: want %d", dir, len(key), keySize)
	}
	c := packet.Config{Secret: key, Sender: "meter 17", Receiver: "server", TagSize: 16}
	f, stop := must(store.Open(dir+"/"+command)), make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt, syscall.SIGTERM)
	if command == "send" {
		s, conn := must(packet.NewUMACSender(c, packet.Stored(f, nil))), must(net.Dial("udp", address))
		go func() {
			for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
				if p, err := s.Seal([]byte(lines.Text()), nil); err != nil {
					log.Print("not sent: ", errors.Join(err, s.StoreErr()))
				} else {
					conn.Write(p) // after an error this packet is lost
				}
			}
			stop <- os.Interrupt
		}()
		<-stop
		must(0, s.Stop()) // so that the next start skips no counters
		return
	}
	r, conn := must(packet.NewUMACReceiver(c, packet.Stored(nil, f))), must(net.ListenPacket("udp", address))
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
