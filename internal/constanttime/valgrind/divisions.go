// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"fmt"
	"os/exec"
	"regexp"
	"strings"
)

// Memcheck does not report divisions, whose time depends on the operands on most CPUs. So they
// are read from the disassembly of the probe: of the Go code of the module, and of the
// packages of the standard library that it calls with secrets. Those of the assembly are in
// internal/asm/verify.

// disassembled matches the functions that are disassembled.
const disassembled = `^example\.com/fastmac[/.]|^crypto/(internal/fips140/)?(aes|cipher|hmac|sha512|subtle)[/.]`

// publicDivisions are the functions and files of divisions of public numbers.
var publicDivisions = map[string]string{
	"example.com/fastmac.(*chunkQueue).put parallel.go":           "the number of a chunk, by the number of slots",
	"example.com/fastmac.(*chunkQueue).work parallel.go":          "the same",
	"crypto/internal/fips140/aes.expandKeyGeneric aes_generic.go": "the number of a word, by the size of a key",
}

var division = regexp.MustCompile(`^  (\S+\.go):(\d+)\t+0x[0-9a-f]+\t+[0-9a-f]+\t+I?DIV[BWLQ]? `)

// divisions returns how many divisions of public numbers the Go code has, and the others as
// findings.
func divisions(program string) (public int, findings []string, err error) {
	text, err := exec.Command("go", "tool", "objdump", "-s", disassembled, program).Output()
	if err != nil {
		return 0, nil, fmt.Errorf("go tool objdump: %w", err)
	}
	function := ""
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "TEXT "); ok {
			function, _, _ = strings.Cut(rest, "(SB)")
		} else if m := division.FindStringSubmatch(line); m != nil {
			if publicDivisions[function+" "+m[1]] != "" {
				public++
			} else {
				findings = append(findings, fmt.Sprintf("a division that is not known to be of public numbers: %s, %s:%s", function, m[1], m[2]))
			}
		}
	}
	if public == 0 { // the control: there are some
		findings = append(findings, "no divisions of public numbers in the disassembly")
	}
	return public, findings, nil
}
