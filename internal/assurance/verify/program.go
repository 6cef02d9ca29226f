// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"bytes"
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"example.com/fastmac/internal/assurance/objdump"
)

// A program is a linked binary: what the CPU executes, after avo, the Go assembler and the
// linker.
type program struct {
	functions []*function // that are in .s files
	data      []section
	symbols   []elf.Symbol // of data
}

// A section is memory that the linker has initialized.
type section struct {
	address uint64
	bytes   []byte
}

// A function is the code of one function of assembly.
type function struct {
	pkg, name string // example.com/fastmac, nhAddAVX2
	code      []*instruction
	at        map[uint64]int // address: index in code
}

const modulePath = "example.com/fastmac"

// load builds package linked for linux/amd64 and returns its assembly. A function of a .s file
// of the module that is not in the binary is an error, and so is one that is in no .s file.
func load() (*program, error) {
	dir, err := os.MkdirTemp("", "fastmac-verify-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	binary := filepath.Join(dir, "linked")
	if _, err := output("go", "build", "-o", binary, modulePath+"/internal/assurance/linked"); err != nil {
		return nil, err
	}
	sources, err := readSources()
	if err != nil {
		return nil, err
	}
	p, err := read(binary)
	if err != nil {
		return nil, err
	}
	var missing []string
	for _, s := range sources {
		if !slices.ContainsFunc(p.functions, func(f *function) bool { return f.pkg == s.pkg && f.name == s.name }) {
			missing = append(missing, s.name)
		}
	}
	if missing != nil {
		return nil, fmt.Errorf("not in the binary: %s: call them in package linked", strings.Join(missing, ", "))
	}
	for _, f := range p.functions {
		i := slices.IndexFunc(sources, func(s source) bool { return f.pkg == s.pkg && f.name == s.name })
		if i < 0 {
			return nil, fmt.Errorf("%s is in no .s file", f.name)
		}
		if err := sources[i].compare(p, f); err != nil {
			return nil, fmt.Errorf("%s: %w", f.name, err)
		}
	}
	return p, nil
}

// read disassembles the functions of the module in a binary that have the ABI of assembly.
func read(binary string) (*program, error) {
	file, err := elf.Open(binary)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	symbols, err := file.Symbols()
	if err != nil {
		return nil, err
	}
	p := new(program)
	for _, s := range file.Sections {
		if s.Flags&elf.SHF_ALLOC != 0 && s.Flags&elf.SHF_EXECINSTR == 0 && s.Type == elf.SHT_PROGBITS {
			b, err := s.Data()
			if err != nil {
				return nil, err
			}
			p.data = append(p.data, section{s.Addr, b})
		}
	}
	for _, s := range symbols {
		if elf.ST_TYPE(s.Info) == elf.STT_OBJECT {
			p.symbols = append(p.symbols, s)
		}
	}
	functions, err := objdump.Functions(file, modulePath)
	if err != nil {
		return nil, err
	}
	for _, o := range functions {
		code, err := o.Disassemble(binary)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", o.Name, err)
		}
		f, err := newFunction(o, code)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", o.Name, err)
		}
		p.functions = append(p.functions, f)
	}
	slices.SortFunc(p.functions, func(a, b *function) int { return strings.Compare(a.pkg+"."+a.name, b.pkg+"."+b.name) })
	return p, nil
}

// newFunction parses the instructions of a function.
func newFunction(o objdump.Function, code []objdump.Instruction) (*function, error) {
	f := &function{pkg: o.Package, name: o.Name, at: make(map[uint64]int)}
	for _, line := range code {
		i, err := parse(line.Address, line.Bytes, line.Text)
		if err != nil {
			return nil, fmt.Errorf("%#x: %q: %w", line.Address, line.Text, err)
		}
		f.at[i.address] = len(f.code)
		f.code = append(f.code, i)
	}
	for _, i := range f.code {
		if _, ok := f.at[i.target]; i.jumps() && !ok {
			return nil, fmt.Errorf("%v jumps out of the function", i)
		}
	}
	return f, nil
}

// successors returns the indices of the instructions that can follow instruction n. A call,
// which compare has found to be of the runtime for a larger stack, returns to the next one.
func (f *function) successors(n int) (next []int) {
	i := f.code[n]
	switch i.mnemonic {
	case "ret", "int3":
		return nil
	case "jmp":
		return []int{f.at[i.target]}
	}
	if i.jumps() {
		next = append(next, f.at[i.target])
	}
	return append(next, n+1)
}

// graph returns the number of basic blocks of f. All instructions must be reached from the
// first one, except for those that only fill space.
func (f *function) graph() (blocks int, err error) {
	reached, begins := make([]bool, len(f.code)), make([]bool, len(f.code))
	begins[0] = true
	for work := []int{0}; len(work) > 0; {
		n := work[len(work)-1]
		work = work[:len(work)-1]
		if reached[n] {
			continue
		}
		reached[n] = true
		next := f.successors(n)
		work = append(work, next...)
		if i := f.code[n]; i.jumps() {
			for _, to := range next {
				begins[to] = true
			}
		}
	}
	for n, i := range f.code {
		if !reached[n] && i.mnemonic != "nop" && i.mnemonic != "int3" {
			return 0, fmt.Errorf("%s: %v cannot be reached", f.name, i)
		}
		if begins[n] {
			blocks++
		}
	}
	return blocks, nil
}

// at returns initialized memory from an address on.
func (p *program) at(address uint64) []byte {
	if p == nil {
		return nil
	}
	for _, s := range p.data {
		if s.address <= address && address < s.address+uint64(len(s.bytes)) {
			return s.bytes[address-s.address:]
		}
	}
	return nil
}

// symbol returns the name of the datum at an address, and the offset in it.
func (p *program) symbol(address uint64) (name string, offset uint64) {
	for _, s := range p.symbols {
		if s.Value <= address && address < s.Value+s.Size {
			return s.Name, address - s.Value
		}
	}
	return "", 0
}

// output returns what a command prints. What it builds is for linux/amd64.
func output(name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Env = environment()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, stderr.String())
	}
	return string(out), err
}

// environment is that of commands: whatever the machine, they are about linux/amd64.
func environment() []string {
	return append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "GOAMD64=v1", "CGO_ENABLED=0")
}
