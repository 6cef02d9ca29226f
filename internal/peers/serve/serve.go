// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package serve implements the protocol between the program that measures and the
// peers that it measures, both ends of it. All peers written in Go import this
// package; rivals/c/peer.h and rivals/rust/src/lib.rs are the same in C and Rust.
//
// A peer reads requests from its standard input and answers on its standard
// output, in lines of text. It begins with the versions of what it measures, each
// as "version NAME VERSION", and "ready". To each request, "OP SIZE N", it replies
// with the nanoseconds that N messages of SIZE bytes took, and the last tag in
// hexadecimal.
package serve

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"runtime"
	"slices"
	"time"
)

// LastNonce is the nonce of the last message of every run, so that a run of any
// length ends in a tag that is known beforehand. It is a variable because a
// compiler that knows which bytes of the nonces are zero stores the others one by
// one, and loading such a nonce is far slower.
var LastNonce uint64 = 1 << 40

// FirstNonce returns the nonce of the first of n messages.
func FirstNonce(n int) uint64 { return LastNonce - uint64(n) + 1 }

// Key is the key of every peer. Each algorithm uses as many of its first bytes as
// it needs.
var Key = func() (k [64]byte) {
	for i := range k {
		k[i] = byte(i)
	}
	return k
}()

// Message returns the message of size bytes. Shorter messages are prefixes of
// longer ones.
func Message(size int) []byte {
	m := make([]byte, size)
	for i := range m {
		m[i] = byte(i % 251)
	}
	return m
}

// An Op computes the tag of msg n times and returns the last tag. If there is a
// nonce, the last one is LastNonce. The loop is inside the Op so that messages do
// not pay for a call through a func value.
type Op func(msg []byte, n int) []byte

// Serve answers requests for ops until in ends.
func Serve(in io.Reader, out io.Writer, versions map[string]string, ops map[string]Op) error {
	begin := time.Now()
	return ServeClock(in, out, versions, ops, func() time.Duration { return time.Since(begin) })
}

// ServeClock is Serve with a clock of its own, such as the CPU time of this process.
func ServeClock(in io.Reader, out io.Writer, versions map[string]string, ops map[string]Op, clock func() time.Duration) error {
	for _, name := range slices.Sorted(maps.Keys(versions)) {
		fmt.Fprintf(out, "version %s %s\n", name, versions[name])
	}
	if _, err := fmt.Fprintln(out, "ready"); err != nil {
		return err
	}
	msg := Message(1 << 20)
	requests := bufio.NewScanner(in)
	for requests.Scan() {
		var name string
		var size, n int
		if _, err := fmt.Sscanf(requests.Text()+"\n", "%s %d %d\n", &name, &size, &n); err != nil || size < 0 || n < 1 {
			return fmt.Errorf("fastmac: request %q: want op, size and number of messages", requests.Text())
		}
		op, ok := ops[name]
		if !ok {
			return fmt.Errorf("fastmac: request %q: no such op", requests.Text())
		}
		if size > len(msg) {
			msg = Message(size)
		}
		runtime.GC() // collects what earlier ops left
		start := clock()
		tag := op(msg[:size], n)
		elapsed := clock() - start
		if _, err := fmt.Fprintf(out, "%d %x\n", elapsed.Nanoseconds(), tag); err != nil {
			return err
		}
	}
	return requests.Err()
}
