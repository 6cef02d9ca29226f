// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Command udp sends authenticated packets from many peers to a server, over UDP on this machine,
// and measures what that costs. It is a program to copy from: sessions that begin with a hello
// (peers.go, server.go, client.go), one socket with batches and UDP_SEGMENT (socket.go), a receiver
// for each peer (macs.go).
//
// Each side is a process of its own, so its CPU time is that of this side, except that on
// loopback the kernel does the way of a packet to the receiver's buffer in the time of the
// sender. Packets come from random peers. Between the sender and the socket there is a network with
// faults (faults.go), and the server must count each of them, or the exit status is 1.
//
// With 100,000 peers UMAC's keys are some 380 MB for both sides together. A run sends for at
// most 60 seconds. Only Unix systems have all that is needed, and only Linux -gso.
//
//	go run -C internal/programs ./udp -mac umac128
//	go run -C internal/programs ./udp -packets 300000
//
// Without -mac all of them are compared, in five rounds in turn. none has no MAC, and its server
// accepts whatever arrives. aesgcm encrypts too.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
)

const (
	maxPeers    = 1_000_000
	maxPackets  = 1_000_000_000
	maxBatch    = 256
	maxReorder  = 100_000
	minSize     = 8
	maxSize     = 1448 // with the longest trailer, IP and UDP, a frame of Ethernet
	maxOverhead = 24
)

func main() {
	if err := run(os.Args[1:], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run is main. The two sides are this program with one of two arguments, which flags
// cannot be.
func run(args []string, in io.Reader, out io.Writer) error {
	if err := systemError(); err != nil {
		return err
	}
	if len(args) == 1 {
		switch args[0] {
		case "server":
			return serve(in, out)
		case "client":
			return send(in, out)
		}
	}
	c, compared, err := parse(args)
	if err != nil {
		return err
	}
	if compared {
		return compare(c, out)
	}
	return single(c, out)
}

// parse returns what the flags say, and whether all MACs are to be compared.
func parse(args []string) (c Setup, compared bool, err error) {
	f := flag.NewFlagSet("udp", flag.ContinueOnError)
	f.IntVar(&c.Peers, "peers", 100_000, "number of peers, each with its own key")
	f.IntVar(&c.Packets, "packets", 2_000_000, "packets to send, in each run")
	f.IntVar(&c.Size, "size", 1200, "bytes of a message")
	f.IntVar(&c.Batch, "batch", 64, "packets for a call of ReadBatch and WriteBatch")
	f.StringVar(&c.MAC, "mac", "", "none, aesgcm, umac64, umac128 or gmac; all in turn if it is not given")
	f.BoolVar(&c.GSO, "gso", false, "use UDP_SEGMENT and UDP_GRO (Linux)")
	f.Float64Var(&c.Loss, "loss", .01, "probability that a packet is lost")
	f.IntVar(&c.Reorder, "reorder", 500, "every tenth packet is late by up to so many packets")
	f.Float64Var(&c.Replay, "replay", .01, "probability that a packet comes once more")
	f.Float64Var(&c.Forge, "forge", .01, "probability that a changed copy of a packet comes too")
	f.Uint64Var(&c.Seed, "seed", 1, "seed of the faults and of the order of peers")
	f.BoolVar(&compared, "compare", false, "compare all MACs, whatever -mac says")
	if err := f.Parse(args); err != nil {
		return c, false, err
	}
	if f.NArg() > 0 {
		return c, false, fmt.Errorf("udp: argument %q: want only flags", f.Arg(0))
	}
	if c.MAC == "" {
		compared = true
	} else if !slices.Contains(macs, c.MAC) {
		return c, false, fmt.Errorf("udp: -mac %s: want one of %v", c.MAC, macs)
	}
	return c, compared, c.check()
}

// check returns an error if a number is not in its range.
func (c *Setup) check() error {
	for _, n := range []struct {
		name             string
		value, low, high int
	}{
		{"peers", c.Peers, 1, maxPeers},
		{"packets", c.Packets, 1, maxPackets},
		{"size", c.Size, minSize, maxSize},
		{"batch", c.Batch, 1, maxBatch},
		{"reorder", c.Reorder, 0, maxReorder},
	} {
		if n.value < n.low || n.value > n.high {
			return fmt.Errorf("udp: -%s %d: want %d to %d", n.name, n.value, n.low, n.high)
		}
	}
	for name, p := range map[string]float64{"loss": c.Loss, "replay": c.Replay, "forge": c.Forge} {
		if !(p >= 0 && p <= .5) { // also not a number
			return fmt.Errorf("udp: -%s %v: want 0 to 0.5", name, p)
		}
	}
	if c.GSO {
		return gsoError()
	}
	return nil
}
