// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package objdump disassembles machine code of amd64 with objdump of GNU binutils. It is a second
// opinion on package x86, for tests.
package objdump

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// ErrMissing is the error where there is no objdump.
var ErrMissing = errors.New("no objdump: install the package binutils")

// An Instruction is a line of a disassembly.
type Instruction struct {
	Address uint64
	Bytes   []byte
	Text    string // in Intel's syntax, with the comment
}

// Bytes returns the instructions that code at an address is, and lines that are none: their
// text has "(bad)" or ".byte".
func Bytes(code []byte, address uint64) ([]Instruction, error) {
	dir, err := os.MkdirTemp("", "fastmac-objdump-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, "code")
	if err := os.WriteFile(name, code, 0o600); err != nil {
		return nil, err
	}
	return run(address, address+uint64(len(code)), "-D", "-b", "binary", "-m", "i386:x86-64", fmt.Sprintf("--adjust-vma=%#x", address), name)
}

// run returns what objdump prints. There must be no gap from the address to the end.
func run(address, end uint64, args ...string) ([]Instruction, error) {
	// Lines are not broken, and zeros are not left out.
	cmd := exec.Command("objdump", append([]string{"-w", "-z", "-M", "intel", "--insn-width=16"}, args...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return nil, ErrMissing
	case err != nil:
		return nil, fmt.Errorf("%v: %w: %s", cmd, err, &stderr)
	}
	var instructions []Instruction
	for line := range strings.Lines(string(out)) {
		i, ok := parse(line)
		if !ok {
			continue // a title
		}
		if i.Address != address {
			return nil, fmt.Errorf("the disassembly has no instruction at %#x", address)
		}
		instructions = append(instructions, i)
		address += uint64(len(i.Bytes))
	}
	if address != end {
		return nil, fmt.Errorf("the disassembly ends at %#x, want %#x", address, end)
	}
	return instructions, nil
}

// parse returns the instruction of a line: the address, a colon, and after tabs bytes and text.
func parse(line string) (i Instruction, ok bool) {
	at, rest, _ := strings.Cut(line, ":\t")
	digits, text, _ := strings.Cut(rest, "\t")
	address, err := strconv.ParseUint(strings.TrimLeft(at, " "), 16, 64)
	if err != nil {
		return Instruction{}, false
	}
	code := make([]byte, 0, 16) // the longest has 15
	for d := range strings.FieldsSeq(digits) {
		b, err := strconv.ParseUint(d, 16, 8)
		if err != nil {
			return Instruction{}, false
		}
		code = append(code, byte(b))
	}
	return Instruction{address, code, strings.TrimRight(text, " \n")}, len(code) > 0
}
