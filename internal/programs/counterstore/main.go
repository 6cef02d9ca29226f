// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Command counterstore sends packets under a key that stays the same over restarts: the ranges of
// counters are stored. It is a program to copy from (store.go). Where both ends can talk before
// they begin, a new session needs no store and is better: see the program udp beside this one.
//
//	counterstore init FOLDER                  makes a secret, and stores for a sender and a receiver
//	counterstore receive FOLDER [COUNT]       receives on 127.0.0.1 and prints its port, and counters
//	counterstore send FOLDER PORT COUNT       sends packets to 127.0.0.1
//
// Kill it at any time, and start it again. Two machines have the same file "key", and each has
// the store of its side only.
package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"

	"example.com/fastmac"
	"example.com/fastmac/packet"
)

const secretSize = 32

// errLocked: another process has the store.
var errLocked = errors.New("another process has the lock")

const usage = "usage: counterstore init FOLDER | receive FOLDER [COUNT] | send FOLDER PORT COUNT"

func main() {
	if err := run(os.Args[1:], os.Stdout, nil); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run is main. before is for tests.
func run(args []string, out io.Writer, before func(step string) error) error {
	if len(args) < 2 {
		return errors.New(usage)
	}
	command, folder, numbers := args[0], args[1], []uint64{}
	for _, arg := range args[2:] {
		n, err := strconv.ParseUint(arg, 10, 32)
		if err != nil {
			return fmt.Errorf("counterstore: %q: want a number; %s", arg, usage)
		}
		numbers = append(numbers, n)
	}
	switch {
	case command == "init" && len(numbers) == 0:
		return initialize(folder)
	case command == "receive" && len(numbers) <= 1:
		return receive(folder, append(numbers, 1<<32)[0], out, before)
	case command == "send" && len(numbers) == 2 && numbers[0] < 1<<16:
		return send(folder, uint16(numbers[0]), numbers[1], out, before)
	}
	return errors.New(usage)
}

// initialize makes a secret and its stores. The secret comes first: a store without its secret is
// useless, a secret without a store is refused.
func initialize(folder string) error {
	secret := make([]byte, secretSize)
	rand.Read(secret)
	defer clear(secret)
	f, err := os.OpenFile(filepath.Join(folder, "key"), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("counterstore: %w", err)
	}
	defer f.Close()
	if _, err := f.Write(secret); err != nil {
		return fmt.Errorf("counterstore: %w", err)
	}
	if err := f.Sync(); err != nil {
		return fmt.Errorf("counterstore: %w", err)
	}
	for _, role := range []string{"send", "receive"} {
		if err := createStore(filepath.Join(folder, role), role, config(secret)); err != nil {
			return err
		}
	}
	return nil
}

// config returns the configuration of the packets.
func config(secret []byte) packet.Config {
	return packet.Config{Secret: secret, Sender: "sender", Receiver: "receiver", TagSize: fastmac.UMAC128Size}
}

// open returns the configuration of the packets, whose Secret the caller clears, and a store.
func open(folder, role string, before func(step string) error) (c packet.Config, s *store, err error) {
	path := filepath.Join(folder, "key")
	secret, err := os.ReadFile(path)
	if err != nil {
		return c, nil, fmt.Errorf("counterstore: %w", err)
	}
	c = config(secret)
	if len(c.Secret) != secretSize {
		return c, nil, fmt.Errorf("counterstore: %s has %d bytes: want %d", path, len(c.Secret), secretSize)
	}
	if s, err = openStore(filepath.Join(folder, role), role, c); err != nil {
		return c, nil, err
	}
	s.before = before
	return c, s, nil
}

// send sends packets. If the store fails, it goes on to the end of its range, and tries again
// with each packet.
func send(folder string, port uint16, count uint64, out io.Writer, before func(step string) error) error {
	c, store, err := open(folder, "send", before)
	defer clear(c.Secret)
	if err != nil {
		return err
	}
	defer store.close()
	conn, err := net.DialUDP("udp4", nil, &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: int(port)})
	if err != nil {
		return fmt.Errorf("counterstore: %w", err)
	}
	defer conn.Close()
	s, err := packet.NewUMACSender(c, packet.Stored(store, nil))
	if err != nil {
		return err
	}
	defer s.Destroy()
	var buffer [100]byte
	for i := range count {
		p, err := s.Seal(fmt.Appendf(buffer[:0], "message %d", i), nil)
		if err != nil {
			return fmt.Errorf("counterstore: after %d packets: %w", i, errors.Join(err, s.StoreErr()))
		}
		if _, err := conn.Write(p); err != nil {
			return fmt.Errorf("counterstore: %w", err)
		}
	}
	return s.Stop() // gives back what is left
}

// receive opens packets, and prints their counters. If the store fails, it refuses packets
// beyond its range.
func receive(folder string, count uint64, out io.Writer, before func(step string) error) error {
	c, store, err := open(folder, "receive", before)
	defer clear(c.Secret)
	if err != nil {
		return err
	}
	defer store.close()
	conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return fmt.Errorf("counterstore: %w", err)
	}
	defer conn.Close()
	r, err := packet.NewUMACReceiver(c, packet.Stored(nil, store))
	if err != nil {
		return err
	}
	defer r.Destroy()
	fmt.Fprintln(out, "port", conn.LocalAddr().(*net.UDPAddr).Port)
	buffer := make([]byte, 1<<16)
	for got := uint64(0); got < count; {
		k, _, err := conn.ReadFrom(buffer)
		if err != nil {
			return fmt.Errorf("counterstore: %w", err)
		}
		msg, counter, err := r.Open(buffer[:k], nil)
		if err != nil {
			fmt.Fprintln(out, "refused:", errors.Join(err, r.StoreErr()))
			continue
		}
		got++
		fmt.Fprintf(out, "%d %s\n", counter, msg)
	}
	return r.Stop()
}
