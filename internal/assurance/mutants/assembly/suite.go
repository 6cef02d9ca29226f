// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build linux && amd64

package main

import (
	"cmp"
	"debug/elf"
	"debug/gosym"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"example.com/fastmac/internal/assurance/arm64"
	"example.com/fastmac/internal/assurance/machine"
	"example.com/fastmac/internal/assurance/program"
)

// packages have assembly, or tests that call that of others. The first one that has a
// function is its home.
var packages = []string{"internal/kernel", "internal/aes", "internal/gcm", "internal/sha1", "internal/sha2", "internal/prefetch", ".", "aesgcm", "internal/conformance", "internal/memory"}

// A function of assembly, as in the binary that is its home.
type function struct {
	*machine.Function
	home         *binary
	file         string // .s
	instructions []*instruction
}

// An instruction of a function.
type instruction struct {
	*machine.Instruction
	function *function
	number   int // in the suite
	line     int // in the .s file
}

// offset returns where the instruction is in its function.
func (i *instruction) offset() int64 { return int64(i.Address - i.function.Code[0].Address) }

// A binary has the tests of a package.
type binary struct {
	pkg, dir, path string
	at             map[string]program.Compiled // by name of function
	tests          []*test
}

// A suite is all assembly of the module and its tests.
type suite struct {
	architecture *machine.Architecture
	root, dir    string // of the module, of the binaries
	binaries     []*binary
	functions    []*function
	instructions []*instruction
}

// load builds the tests of packages in a directory, and decodes the functions.
func load(a *machine.Architecture, dir string, packages []string) (*suite, error) {
	root, err := program.Root()
	if err != nil {
		return nil, err
	}
	p := &suite{architecture: a, root: root, dir: dir}
	for _, pkg := range packages {
		b := &binary{
			pkg: pkg, dir: filepath.Join(p.root, filepath.FromSlash(pkg)), at: make(map[string]program.Compiled),
			path: filepath.Join(dir, strings.ReplaceAll(strings.Trim(pkg, "."), "/", "-")+".test"),
		}
		if _, err := program.Output(a, "go", "test", "-C", b.dir, "-c", "-o", b.path, "."); err != nil {
			return nil, err
		}
		if err := p.read(b); err != nil {
			return nil, fmt.Errorf("%s: %w", b.path, err)
		}
		p.binaries = append(p.binaries, b)
	}
	slices.SortStableFunc(p.functions, func(a, b *function) int { return cmp.Compare(a.file, b.file) })
	for _, f := range p.functions {
		for _, i := range f.instructions {
			i.number = len(p.instructions)
			p.instructions = append(p.instructions, i)
		}
	}
	return p, nil
}

// isEmulated reports whether the tests run in qemu.
func (p *suite) isEmulated() bool { return p.architecture == arm64.Architecture }

// read finds the functions of assembly of the module in a binary, and decodes those that no
// binary before it has.
func (p *suite) read(b *binary) error {
	file, err := elf.Open(b.path)
	if err != nil {
		return err
	}
	defer file.Close()
	text, table := file.Section(".text"), file.Section(".gopclntab")
	if text == nil || table == nil {
		return errors.New("no code, or no table of lines")
	}
	data, err := table.Data()
	if err != nil {
		return err
	}
	lines, err := gosym.NewTable(nil, gosym.NewLineTable(data, text.Addr))
	if err != nil {
		return err
	}
	compiled, err := program.Assembly(file)
	if err != nil {
		return err
	}
	for _, c := range compiled {
		b.at[c.Name] = c
		if slices.ContainsFunc(p.functions, func(f *function) bool { return f.Name == c.Name }) {
			continue
		}
		decoded, err := c.Decode(p.architecture)
		if err != nil {
			return err
		}
		f := &function{Function: decoded, home: b}
		for _, x := range decoded.Code {
			i := &instruction{Instruction: x, function: f}
			f.file, i.line, _ = lines.PCToLine(x.Address)
			f.instructions = append(f.instructions, i)
		}
		p.functions = append(p.functions, f)
	}
	return nil
}
