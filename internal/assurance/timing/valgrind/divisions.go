// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strings"
)

// disassembled matches the functions whose divisions are judged: the Go code of the module, and of
// the packages of the standard library that it passes secrets to. Command verify judges assembly.
const disassembled = `^example\.com/fastmac[/.]|^crypto/(internal/fips140/)?(aes|cipher|hmac|sha512|subtle)[/.]`

// A place is a function, and the source file that some of its instructions come from.
type place struct{ function, file string }

// publicDivisions is the number of divisions in each place, all of public numbers, as compiled by
// Go 1.26 with GOAMD64=v1, with assembly and without.
var publicDivisions = map[place]int{
	{"crypto/internal/fips140/aes.expandKeyGeneric", "aes_generic.go"}: 1, // the number of a word, by the size of a key
	{"example.com/fastmac/packet.(*supply).pace", "supply.go"}:         1, // times and numbers of packets
}

// divisions returns how many divisions of public numbers the Go code of a program has, and the
// others as findings.
func divisions(program string) (public int, findings []string, err error) {
	listing, err := exec.Command("go", "tool", "objdump", "-s", disassembled, program).Output()
	if err != nil {
		return 0, nil, fmt.Errorf("go tool objdump: %w", err)
	}
	public, findings = judgeDivisions(string(listing))
	return public, findings, nil
}

var division = regexp.MustCompile(`^  (\S+\.go):(\d+)\t+0x[0-9a-f]+\t+[0-9a-f]+\t+(?:I?DIV[BWLQ]?|V?DIV[SP][SD]) `)

// judgeDivisions finds the divisions in a disassembly. A place with more or fewer than the known
// number is a finding: if fewer were accepted, nothing would show that divisions are found at all.
func judgeDivisions(listing string) (public int, findings []string) {
	lines := make(map[place][]string)
	for at := range publicDivisions {
		lines[at] = nil
	}
	function := ""
	for line := range strings.Lines(listing) {
		if rest, ok := strings.CutPrefix(line, "TEXT "); ok {
			function, _, _ = strings.Cut(rest, "(SB)")
		} else if m := division.FindStringSubmatch(line); m != nil {
			at := place{function, m[1]}
			lines[at] = append(lines[at], m[2])
		}
	}
	for at, found := range lines {
		if known := publicDivisions[at]; len(found) == known {
			public += known
		} else {
			findings = append(findings, fmt.Sprintf("%s, %s: divisions in lines %v, want %d, of public numbers", at.function, at.file, found, known))
		}
	}
	slices.Sort(findings)
	return public, findings
}
