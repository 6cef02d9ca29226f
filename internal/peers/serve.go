// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

// This file is also the server of peers whose code comes from outside this
// module; it imports nothing but the standard library.

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// lastNonce is the nonce of the last message of every run. So each run, however
// long, has to end in a tag that is known beforehand. It is a variable lest the
// compiler know which bytes of the nonces are zeros: it would store the others one
// by one, and the load of such a nonce takes far longer.
var lastNonce uint64 = 1 << 40

func firstNonce(n int) uint64 { return lastNonce - uint64(n) + 1 }

// key is everyone's key; each algorithm takes as much from its start as it needs.
var key = func() (k [64]byte) {
	for i := range k {
		k[i] = byte(i)
	}
	return k
}()

// newMessage returns the message of size bytes. Shorter ones are its beginnings.
func newMessage(size int) []byte {
	m := make([]byte, size)
	for i := range m {
		m[i] = byte(i % 251)
	}
	return m
}

// An op computes the tag of msg n times, the last time under lastNonce if there
// is a nonce, and returns the last tag. The loop is its own so that no call
// through a func value is charged to each message.
type op func(msg []byte, n int) []byte

// serve is a peer's side of the protocol, which is lines of text: first the
// versions of what is measured and "ready"; then for each request "op size n"
// the time that n messages of size bytes took, in nanoseconds, and the last tag.
func serve(in io.Reader, out io.Writer, versions map[string]string, ops map[string]op) error {
	for _, name := range slices.Sorted(maps.Keys(versions)) {
		fmt.Fprintf(out, "version %s %s\n", name, versions[name])
	}
	if _, err := fmt.Fprintln(out, "ready"); err != nil {
		return err
	}
	msg := newMessage(1 << 20)
	requests := bufio.NewScanner(in)
	for requests.Scan() {
		f := strings.Fields(requests.Text())
		if len(f) != 3 {
			return fmt.Errorf("fastmac: request %q: want op, size and n", requests.Text())
		}
		size, errSize := strconv.Atoi(f[1])
		n, errN := strconv.Atoi(f[2])
		run, ok := ops[f[0]]
		if !ok || errSize != nil || errN != nil || size < 0 || n < 1 {
			return fmt.Errorf("fastmac: request %q: no such op or bad numbers", requests.Text())
		}
		if size > len(msg) {
			msg = newMessage(size)
		}
		runtime.GC() // of what earlier ops left
		start := time.Now()
		tag := run(msg[:size], n)
		elapsed := time.Since(start)
		if _, err := fmt.Fprintf(out, "%d %x\n", elapsed.Nanoseconds(), tag); err != nil {
			return err
		}
	}
	return requests.Err()
}
