// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package llvm disassembles the assembly of the module for any CPU, with the programs of LLVM.
package llvm

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// Tools are the programs of one LLVM: the suffix of their names, and its version.
type Tools struct {
	suffix  string
	Version int
}

const oldest = 16 // the first LLVM with a model of Zen 4

// Find finds programs of one LLVM. It prefers names without a version.
func Find(programs ...string) (*Tools, error) {
	suffixes := []string{""}
	for v := 30; v >= oldest; v-- {
		suffixes = append(suffixes, fmt.Sprintf("-%d", v))
	}
	for _, suffix := range suffixes {
		version := 0
		for _, p := range programs {
			out, _ := exec.Command(p+suffix, "--version").Output()
			match := regexp.MustCompile(`LLVM version (\d+)`).FindSubmatch(out)
			if match == nil {
				version = 0
				break
			}
			version, _ = strconv.Atoi(string(match[1]))
		}
		if version >= oldest {
			return &Tools{suffix, version}, nil
		}
	}
	return nil, fmt.Errorf("no %s of LLVM %d or newer: install the package llvm-19, or another from llvm-%[2]d on", strings.Join(programs, " and "), oldest)
}

// Run returns what a program prints.
func (t *Tools) Run(stdin, program string, args ...string) (string, error) {
	cmd := exec.Command(program+t.suffix, args...)
	cmd.Stdin = strings.NewReader(stdin)
	return output(cmd)
}

func output(cmd *exec.Cmd) (string, error) {
	out, err := cmd.Output()
	if exit := new(exec.ExitError); errors.As(err, &exit) {
		err = fmt.Errorf("%s: %w: %s", filepath.Base(cmd.Path), err, exit.Stderr)
	}
	return string(out), err
}

// Link builds command linked, which has all assembly of the module, for Linux.
func Link(name, goarch string) error {
	cmd := exec.Command("go", "build", "-o", name, "example.com/fastmac/internal/assurance/linked")
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH="+goarch, "CGO_ENABLED=0")
	_, err := output(cmd)
	return err
}

// A Function is the disassembly of a function of assembly.
type Function struct {
	Name string // example.com/fastmac.nhAddAVX2
	Code []Instruction
}

// An Instruction is a line of a disassembly, in LLVM's default syntax for the CPU.
type Instruction struct {
	Address            uint64
	Mnemonic, Operands string // without the comment and names of symbols
}

// Disassemble returns the functions with the ABI of assembly whose names match, in the ELF file of
// this name.
func (t *Tools) Disassemble(name string, match *regexp.Regexp) ([]Function, error) {
	table, err := t.Run("", "llvm-objdump", "-t", name)
	if err != nil {
		return nil, err
	}
	var symbols []string
	for _, m := range regexp.MustCompile(`(?m) (\S+)\.abi0$`).FindAllStringSubmatch(table, -1) {
		if match.MatchString(m[1]) {
			symbols = append(symbols, m[1]+".abi0")
		}
	}
	if symbols == nil {
		return nil, fmt.Errorf("no function of assembly matches %s", match)
	}
	args := []string{"-d", "-z", "--no-show-raw-insn", "--disassemble-symbols=" + strings.Join(symbols, ",")}
	if strings.Contains(table, "aarch64") {
		args = append(args, "--mattr=+aes,+sha3,+rand")
	}
	listing, err := t.Run("", "llvm-objdump", append(args, name)...)
	return Parse(listing), err
}

var (
	title = regexp.MustCompile(`^[0-9a-f]+ <(.*)\.abi0>:$`)
	line  = regexp.MustCompile(`^\s*([0-9a-f]+):\s+(\S+)(.*)$`)
	// What follows the operands: a comment of x86 or of arm64, or the name of what is there. Numbers
	// of arm64 begin with # too, but without a space after it.
	remark = regexp.MustCompile(`\s+(# |//|<).*`)
)

// Parse returns the functions of a disassembly.
func Parse(listing string) (all []Function) {
	for l := range strings.Lines(listing) {
		l = strings.TrimRight(l, "\n")
		if m := title.FindStringSubmatch(l); m != nil {
			all = append(all, Function{Name: m[1]})
		} else if m := line.FindStringSubmatch(l); m != nil && all != nil {
			address, _ := strconv.ParseUint(m[1], 16, 64)
			f := &all[len(all)-1]
			f.Code = append(f.Code, Instruction{address, m[2], strings.TrimSpace(remark.ReplaceAllString(m[3], ""))})
		}
	}
	return all
}

var jump = regexp.MustCompile(`^(j\w+|bl?|b\.\w+|cbn?z|tbn?z)$`)

// Target returns where a jump goes, and its other operands with the comma after them.
func (i Instruction) Target() (to uint64, others string, ok bool) {
	if !jump.MatchString(i.Mnemonic) {
		return 0, "", false
	}
	at := strings.LastIndexByte(i.Operands, ' ') + 1
	to, err := strconv.ParseUint(i.Operands[at:], 0, 64)
	return to, i.Operands[:at], err == nil
}
