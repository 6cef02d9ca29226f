// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Command probe runs operations of the module, each between the functions start and stop, where a
// plugin of qemu traces it. The tests of package qemu start it:
//
//	probe SECRETS ROUNDS OPERATION/BITS/SIZE...
//
// An operation runs ROUNDS times, and then ROUNDS times traced, with consecutive nonces. BITS is the
// size of its tags, or of AES keys in gmac, seal and open, SIZE that of its messages. SECRETS, one digit, chooses keys and messages, and
// nothing else: they are at the same addresses in each run.
package main

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"

	"example.com/fastmac/internal/mactest"
)

// start and stop are where a trace begins and ends.
//
//go:noinline
func start() {}

//go:noinline
func stop() {}

func main() {
	debug.SetGCPercent(-1)
	runtime.MemProfileRate = 0
	if len(os.Args) < 3 {
		fail("want SECRETS ROUNDS OPERATION/BITS/SIZE..., and got %q", os.Args)
	}
	fillSecrets(number(os.Args[1]))
	rounds := number(os.Args[2])
	// Allocate everything first, so that what the runtime allocates for its threads moves nothing.
	var calls []func()
	for _, arg := range os.Args[3:] {
		f := strings.Split(arg, "/")
		if len(f) != 3 || operations[f[0]] == nil {
			fail("unknown operation %q", arg)
		}
		calls = append(calls, operations[f[0]](number(f[1])/8, number(f[2])))
	}
	for _, call := range calls {
		for round := range 2 * rounds {
			setNonces(uint64(round))
			if round < rounds {
				call()
				continue
			}
			runtime.Gosched() // a goroutine that has run for 10 ms would be interrupted
			start()
			call()
			stop()
		}
	}
}

const (
	maxMessage = 1 << 14
	batchSize  = 8
)

// What is secret is in variables, so that its addresses are always the same.
var (
	key     [32]byte
	message [maxMessage + batchSize*32]byte
	wrong   int // the byte of a tag that is wrong, modulo its size
)

// fillSecrets sets the secrets: with 0 or 1 all bits are that, otherwise they are random.
func fillSecrets(secrets int) {
	rng := rand.NewChaCha8([32]byte{byte(secrets)})
	for _, p := range [][]byte{key[:], message[:]} {
		rng.Read(p)
		for i := range p {
			if secrets < 2 {
				p[i] = -byte(secrets) // 0 or 0xff
			}
		}
	}
	wrong = 5 * secrets // reaches each byte of 8
}

// The nonces of a message, and of a batch. Both count up.
var (
	nonce       [12]byte
	batchNonces [batchSize][12]byte
)

func setNonces(round uint64) {
	binary.BigEndian.PutUint64(nonce[4:], round)
	for i := range batchNonces {
		binary.BigEndian.PutUint64(batchNonces[i][4:], round*batchSize+uint64(i))
	}
}

func number(s string) int { return mactest.Must(strconv.Atoi(s)) }

func fail(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "fastmac: "+format+"\n", args...)
	os.Exit(1)
}
