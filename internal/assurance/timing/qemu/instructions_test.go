// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build linux

package qemu

import (
	"fmt"
	"go/version"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"

	"example.com/fastmac/internal/golden"
)

// release is the release of Go whose compiler makes the numbers in all.txt.
const release = "go1.26"

// operations, as the probe takes them, are what a message takes on qemu's CPU max. Their numbers are
// in assembly.txt those of the instructions of this module's assembly, whatever the release of Go, and
// in all.txt those of all, with those that set up the arguments. They are exact: means of 16 calls,
// because consecutive nonces share pads. A call of a batch has 8 messages.
var operations = []string{
	"tag/64/16", "tag/64/64", "tag/64/256", "tag/64/1024", "tag/64/1500", "tag/64/16384",
	"tag/128/16", "tag/128/64", "tag/128/256", "tag/128/1024", "tag/128/1500", "tag/128/16384",
	"stream/64/16", "stream/64/64", "stream/64/1024",
	"stream/128/16", "stream/128/64", "stream/128/1024",
	"batch/64/64", "batch/128/64",
	"hmac/256/16", "hmac/256/32", "hmac/256/1024", "hmacnew/256/32",
	"hmac/512/16", "hmac/512/64", "hmac/512/1024", "hmacnew/512/32",
	"hmacbatch/256/32", "hmacbatch/256/1024",
	"hmacbatch/512/16", "hmacbatch/512/1024",
	"gmac/128/16", "gmac/128/64", "gmac/128/1024", "gmac/128/16384",
	"seal/128/64", "seal/128/1024",
	"seal/256/64", "seal/256/1024",
	"open/128/64", "open/128/1024",
	"open/256/64", "open/256/1024",
	"init.gmac/128/0",
}

// peers are logged for comparison.
var peers = []string{
	"crypto.gmac/128/16", "crypto.gmac/128/64", "crypto.gmac/128/256", "crypto.gmac/128/1024", "crypto.gmac/128/1500", "crypto.gmac/128/16384",
	"crypto.seal/128/64", "crypto.seal/128/1024", "crypto.seal/256/64", "crypto.seal/256/1024",
	"crypto.open/128/64", "crypto.open/128/1024", "crypto.open/256/64", "crypto.open/256/1024",
	"crypto.hmac/256/16", "crypto.hmac/256/32", "crypto.hmac/256/1024", "crypto.new/256/32",
	"crypto.hmac/512/16", "crypto.hmac/512/64", "crypto.hmac/512/1024",
	"verify/64/64", "tag/32/64", "tag/96/64", "init/64/16", "init/128/32", "hwrand/0/16", "hwrand/0/1024",
}

// TestInstructions counts instructions. A lower number fails too, because it should be in the file.
func TestInstructions(t *testing.T) {
	e := newEmulator(t)
	const rounds = 16
	both := slices.Concat(operations, peers)
	calls, err := e.run("max", "", 2, rounds, both...)
	if err != nil {
		t.Fatalf("fastmac: %v", err)
	}
	var out, assembly, all strings.Builder
	table := tabwriter.NewWriter(&out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(table, "operation/bits/size\tassembly\tall\t\n")
	for i, operation := range both {
		messages := float64(rounds)
		if strings.Contains(operation, "batch/") {
			messages *= 8
		}
		x, y := 0, 0
		for _, call := range calls[i] {
			a, b := e.count(call)
			x, y = x+a, y+b
		}
		fmt.Fprintf(table, "%s\t%v\t%v\t\n", operation, float64(x)/messages, float64(y)/messages)
		if i < len(operations) {
			fmt.Fprintln(&assembly, operation, float64(x)/messages)
			fmt.Fprintln(&all, operation, float64(y)/messages)
		}
	}
	table.Flush()
	t.Logf("%s\n%s", e.goVersion, &out)
	if err := golden.Check("testdata/assembly.txt", assembly.String()); err != nil {
		t.Error(err)
	}
	if version.Lang(e.goVersion) != release {
		t.Logf("the probe was built by %s: all instructions are not compared with those of %s", e.goVersion, release)
	} else if err := golden.Check("testdata/all.txt", all.String()); err != nil {
		t.Error(err)
	}
}

// count returns the numbers of instructions of this module's assembly, and of all but those of the
// probe that call the operation.
func (e *emulator) count(call []record) (assembly, all int) {
	for _, r := range call {
		if r.isAccess() {
			continue
		}
		f := e.function(r)
		if f.Name == "main.main" || f.Name == "main.start" || f.Name == "main.stop" {
			continue
		}
		all++
		if strings.HasPrefix(f.file, module) && strings.HasSuffix(f.file, ".s") {
			assembly++
		}
	}
	return assembly, all
}
