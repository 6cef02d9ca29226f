// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Command probe calls the functions of the module on secrets, which it marks as undefined for
// valgrind's memcheck. Command valgrind builds it with the tag valgrind, and reads what memcheck
// reports. With the argument unmarked nothing is secret: that is to see which functions it calls.
//
// Secrets are keys, messages, plaintexts, the state of random generators, and tags until they are
// returned, including those passed to a verification. Lengths, nonces, ciphertexts, returned tags
// and the result of a verification are public.
package main

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"

	"example.com/fastmac"
	"example.com/fastmac/internal/kernel"
)

// counts is what the probe prints, as JSON.
var counts struct {
	Features   kernel.Report
	Operations []string // their names
	Results    int      // results of which each byte depended on secrets
	Decisions  int      // results of verifications
}

var unmarked = slices.Contains(os.Args[1:], "unmarked")

// current is the name of the operation that runs.
var current string

// An operation calls functions of the module.
type operation struct {
	name string
	run  func()
}

func main() {
	if !unmarked && request(runningOnValgrind, 0, 0, 0, 0, 0) == 0 {
		fail("the probe does not run in valgrind, or was built without the tag valgrind")
	}
	fastmac.Hardware() // chooses all kernels
	counts.Features = kernel.NewReport()
	operations := slices.Concat(macOperations(), umacOperations, hmacOperations(), pbkdf2Operations(), hkdfOperations(), manyOperations(), packetOperations())
	if fastmac.RequireGCM() == nil {
		operations = append(operations, gcmOperations...)
	}
	if fastmac.RequireAES() == nil {
		operations = append(operations, randomOperations...)
	}
	for _, o := range operations {
		current = o.name
		counts.Operations = append(counts.Operations, o.name)
		o.run()
	}
	leak()
	json.NewEncoder(os.Stdout).Encode(counts)
}

// leak calls the functions that leak, which memcheck must report in every run.
func leak() {
	p := secret(64)
	leakBranch(p)
	leakIndex(p)
	leakEqual(p)
}

var table [256]byte

//go:noinline
func leakBranch(p []byte) byte {
	if p[0] < 128 {
		return table[1]
	}
	return 2
}

//go:noinline
func leakIndex(p []byte) byte { return table[p[0]] }

//go:noinline
func leakEqual(p []byte) bool { return bytes.Equal(p, table[:len(p)]) }
