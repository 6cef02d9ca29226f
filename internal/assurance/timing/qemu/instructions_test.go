// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build linux

package qemu

import (
	"fmt"
	"go/version"
	"strings"
	"testing"
	"text/tabwriter"
)

// release is the release of Go whose compiler makes the numbers of all instructions.
const release = "go1.26"

// counts are the instructions that a message takes on qemu's CPU max: those of this module's
// assembly, whatever the release of Go, and all, with those that set up the arguments. They are
// exact: means of 16 calls, because consecutive nonces share pads. A call of a batch has 8 messages.
var counts = []struct {
	operation     string // as the probe takes it
	assembly, all float64
}{
	{"tag/64/16", 181, 266},
	{"tag/64/64", 187, 272},
	{"tag/64/256", 256, 341},
	{"tag/64/1024", 532, 617},
	{"tag/64/1500", 868, 953},
	{"tag/64/16384", 6210, 6617},
	{"tag/128/16", 208, 295},
	{"tag/128/64", 214, 301},
	{"tag/128/256", 334, 421},
	{"tag/128/1024", 814, 901},
	{"tag/128/1500", 1386, 1473},
	{"tag/128/16384", 11083, 11520},
	{"stream/64/16", 168, 349},
	{"stream/64/64", 235, 486},
	{"stream/64/1024", 580, 836},
	{"stream/128/16", 195, 378},
	{"stream/128/64", 271, 524},
	{"stream/128/1024", 871, 1129},
	{"batch/64/64", 158.375, 225.125},
	{"batch/128/64", 184.5, 255.25},
	{"hmac/512/16", 1011, 1175},
	{"hmac/512/64", 1020, 1184},
	{"hmac/512/1024", 4869, 5095},
	{"hmacbatch/512/16", 960.5, 1099.5},
	{"hmacbatch/512/1024", 4641.5, 4835},
	{"gmac/128/16", 130, 234},
	{"gmac/128/64", 175, 279},
	{"gmac/128/1024", 827, 931},
	{"gmac/128/16384", 11267, 11371},
	{"seal/128/64", 433, 616},
	{"seal/128/1024", 2557, 2740},
	{"seal/256/64", 508, 691},
	{"seal/256/1024", 3128, 3311},
	{"open/128/64", 434, 781},
	{"open/128/1024", 2558, 2905},
	{"open/256/64", 509, 856},
	{"open/256/1024", 3129, 3476},
	{"init.gmac/128/0", 712, 928},
}

// peers are logged for comparison.
var peers = []string{
	"crypto.gmac/128/16", "crypto.gmac/128/64", "crypto.gmac/128/256", "crypto.gmac/128/1024", "crypto.gmac/128/1500", "crypto.gmac/128/16384",
	"crypto.seal/128/64", "crypto.seal/128/1024", "crypto.seal/256/64", "crypto.seal/256/1024",
	"crypto.open/128/64", "crypto.open/128/1024", "crypto.open/256/64", "crypto.open/256/1024",
	"crypto.hmac/512/16", "crypto.hmac/512/64", "crypto.hmac/512/1024",
	"verify/64/64", "tag/32/64", "tag/96/64", "init/64/16", "init/128/32", "hwrand/0/16", "hwrand/0/1024",
}

// TestInstructions counts instructions. A count lower than in the table fails too, because it should
// replace it.
func TestInstructions(t *testing.T) {
	e := newEmulator(t)
	const rounds = 16
	var operations []string
	for _, c := range counts {
		operations = append(operations, c.operation)
	}
	calls, err := e.run("max", "", 2, rounds, append(operations, peers...)...)
	if err != nil {
		t.Fatalf("fastmac: %v", err)
	}
	sameGo := version.Lang(e.goVersion) == release
	if !sameGo {
		t.Logf("the probe was built by %s: only instructions of assembly are compared, others are from %s", e.goVersion, release)
	}
	var out strings.Builder
	table := tabwriter.NewWriter(&out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(table, "operation/bits/size\tassembly\tall\t\n")
	for i, operation := range append(operations, peers...) {
		messages := float64(rounds)
		if strings.Contains(operation, "batch/") {
			messages *= 8
		}
		var assembly, all int
		for _, call := range calls[i] {
			x, y := e.count(call)
			assembly, all = assembly+x, all+y
		}
		x, y := float64(assembly)/messages, float64(all)/messages
		fmt.Fprintf(table, "%s\t%v\t%v\t\n", operation, x, y)
		if i < len(counts) && (x != counts[i].assembly || sameGo && y != counts[i].all) {
			t.Errorf("%s takes %v instructions of assembly and %v in all, and not %v and %v. If that is meant, even if it is less, make the row\n\t{%[1]q, %[2]v, %[3]v},",
				operation, x, y, counts[i].assembly, counts[i].all)
		}
	}
	table.Flush()
	t.Logf("%s\n%s", e.goVersion, &out)
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
