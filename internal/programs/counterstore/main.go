// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Command counterstore sends packets one way, under a key that stays the same over restarts: package
// store keeps the counters. Where both ends can talk before they begin, a new session needs no
// store and is better: see the program udp beside this one.
//
//	counterstore init FOLDER                  makes a secret, and stores for a sender and a receiver
//	counterstore receive FOLDER [COUNT]       receives on 127.0.0.1 and prints its port, and counters
//	counterstore send FOLDER PORT COUNT       sends packets to 127.0.0.1
//
// Kill it at any time, and start it again: no counter is used twice, and no packet is accepted twice.
// On two machines both have the same file "key", and each has the store of its side only.
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
	"example.com/fastmac/packet/store"
)

const secretSize = 32

const usage = "usage: counterstore init FOLDER | receive FOLDER [COUNT] | send FOLDER PORT COUNT"

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run is main.
func run(args []string, out io.Writer) error {
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
		return receive(folder, append(numbers, 1<<32)[0], out)
	case command == "send" && len(numbers) == 2 && numbers[0] < 1<<16:
		return send(folder, uint16(numbers[0]), numbers[1])
	}
	return errors.New(usage)
}

// initialize makes a secret and its stores. If it fails, make a new folder.
func initialize(folder string) error {
	f, err := os.OpenFile(filepath.Join(folder, "key"), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("counterstore: %w", err)
	}
	defer f.Close()
	secret := make([]byte, secretSize)
	rand.Read(secret)
	defer clear(secret)
	_, err = f.Write(secret)
	if err := errors.Join(err, f.Sync()); err != nil {
		return fmt.Errorf("counterstore: %w", err)
	}
	// Create syncs the folder too.
	return errors.Join(store.Create(filepath.Join(folder, "send")), store.Create(filepath.Join(folder, "receive")))
}

// open returns the configuration of the packets, whose Secret the caller clears, and a store.
func open(folder, role string) (c packet.Config, f *store.File, err error) {
	path := filepath.Join(folder, "key")
	c = packet.Config{Sender: "sender", Receiver: "receiver", TagSize: fastmac.UMAC128Size}
	if c.Secret, err = os.ReadFile(path); err != nil {
		return c, nil, fmt.Errorf("counterstore: %w", err)
	}
	if len(c.Secret) != secretSize {
		return c, nil, fmt.Errorf("counterstore: %s has %d bytes: want %d", path, len(c.Secret), secretSize)
	}
	f, err = store.Open(filepath.Join(folder, role))
	return c, f, err
}

func send(folder string, port uint16, count uint64) error {
	c, f, err := open(folder, "send")
	defer clear(c.Secret)
	if err != nil {
		return err
	}
	defer f.Close()
	conn, err := net.DialUDP("udp4", nil, &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: int(port)})
	if err != nil {
		return fmt.Errorf("counterstore: %w", err)
	}
	defer conn.Close()
	s, err := packet.NewUMACSender(c, packet.Stored(f, nil))
	if err != nil {
		return err
	}
	defer s.Destroy()
	var buffer [100]byte
	for i := range count {
		p, err := s.Seal(fmt.Appendf(buffer[:0], "message %d", i), nil)
		if err != nil {
			return fmt.Errorf("counterstore: after %d packets: %w", i, err)
		}
		if _, err := conn.Write(p); err != nil {
			return fmt.Errorf("counterstore: %w", err)
		}
	}
	// An orderly end gives back what is left.
	return s.Stop()
}

func receive(folder string, count uint64, out io.Writer) error {
	c, f, err := open(folder, "receive")
	defer clear(c.Secret)
	if err != nil {
		return err
	}
	defer f.Close()
	conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return fmt.Errorf("counterstore: %w", err)
	}
	defer conn.Close()
	r, err := packet.NewUMACReceiver(c, packet.Stored(nil, f))
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
			// After a jump of the counters, packets are refused until more are stored.
			fmt.Fprintln(out, "refused:", err)
			if err := r.StoreErr(); err != nil {
				fmt.Fprintln(os.Stderr, err)
			}
			continue
		}
		got++
		fmt.Fprintf(out, "%d %s\n", counter, msg)
	}
	return r.Stop()
}
