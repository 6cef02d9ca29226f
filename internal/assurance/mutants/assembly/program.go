// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build linux && amd64

package main

import (
	"debug/elf"
	"debug/gosym"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"example.com/fastmac/internal/assurance/objdump"
)

const modulePath = "example.com/fastmac"

// packages have assembly, or tests that call that of others. The first one that has a
// function is its home.
var packages = []string{"internal/kernel", "internal/aes", "internal/gcm", "internal/sha512", ".", "aesgcm", "internal/conformance", "internal/memory"}

// A function of assembly.
type function struct {
	name  string
	home  *binary
	file  string // .s
	code  []*instruction
	first int // number of its first instruction in the program
}

// An instruction, as in the binary that is the home of its function.
type instruction struct {
	*function
	index  int
	offset int // in the function
	bytes  []byte
	text   string // of objdump, in Intel's syntax
	line   int    // in the .s file
}

func (i *instruction) mnemonic() string {
	name, _, _ := strings.Cut(i.text, " ")
	return name
}

// A binary has the tests of a package.
type binary struct {
	pkg, dir, path string
	at             map[string]place // by name of function
	tests          []*test
}

// A place of a function.
type place struct {
	objdump.Function
	offset int64 // in the file
}

// A program is all assembly of the module and its tests.
type program struct {
	root, dir    string // of the module, of the binaries
	binaries     []*binary
	functions    []*function
	instructions []*instruction
}

// load builds the tests of packages in a directory, and disassembles the functions.
func load(dir string, packages []string) (*program, error) {
	root, err := output("go", "list", "-m", "-f", "{{.Dir}}", modulePath)
	if err != nil {
		return nil, err
	}
	p := &program{root: strings.TrimSpace(root), dir: dir}
	for _, pkg := range packages {
		b := &binary{
			pkg: pkg, dir: filepath.Join(p.root, filepath.FromSlash(pkg)), at: make(map[string]place),
			path: filepath.Join(dir, strings.ReplaceAll(strings.Trim(pkg, "."), "/", "-")+".test"),
		}
		if _, err := output("go", "test", "-C", b.dir, "-c", "-o", b.path, "."); err != nil {
			return nil, err
		}
		if err := p.read(b); err != nil {
			return nil, fmt.Errorf("%s: %w", b.path, err)
		}
		p.binaries = append(p.binaries, b)
	}
	slices.SortStableFunc(p.functions, func(a, b *function) int { return strings.Compare(a.file, b.file) })
	for _, f := range p.functions {
		f.first = len(p.instructions)
		p.instructions = append(p.instructions, f.code...)
	}
	return p, nil
}

// read finds the functions of assembly of the module in a binary, and disassembles those that
// no binary before it has.
func (p *program) read(b *binary) error {
	file, err := elf.Open(b.path)
	if err != nil {
		return err
	}
	defer file.Close()
	functions, err := objdump.Functions(file, modulePath)
	if err != nil {
		return err
	}
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
	for _, o := range functions {
		b.at[o.Name] = place{o, int64(o.Address - text.Addr + text.Offset)}
		if slices.ContainsFunc(p.functions, func(f *function) bool { return f.name == o.Name }) {
			continue
		}
		f := &function{name: o.Name, home: b}
		if err := f.disassemble(lines); err != nil {
			return fmt.Errorf("%s: %w", o.Name, err)
		}
		p.functions = append(p.functions, f)
	}
	return nil
}

// disassemble sets the code of a function.
func (f *function) disassemble(lines *gosym.Table) error {
	at := f.home.at[f.name]
	all, err := at.Disassemble(f.home.path)
	if err != nil {
		return err
	}
	for _, o := range all {
		i := &instruction{function: f, index: len(f.code), offset: int(o.Address - at.Address), bytes: o.Bytes, text: clean(o.Text)}
		if lines != nil {
			f.file, i.line, _ = lines.PCToLine(o.Address)
		}
		f.code = append(f.code, i)
	}
	return nil
}

// clean returns the text of an instruction, without the comment and names of symbols.
func clean(s string) string {
	s, _, _ = strings.Cut(s, "#")
	s, _, _ = strings.Cut(s, "<")
	return strings.Join(strings.Fields(s), " ")
}

// output returns what a command prints.
func output(name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return string(out), err
}
