// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Command verify checks the assembly of the module, as the linker has put it into a binary for
// linux/amd64:
//
//	go run -C internal/assurance ./verify
//
// It needs objdump, of GNU binutils. Its steps are
//
//  1. All instructions of all functions of assembly, from objdump. They must be those of the .s
//     files: the disassembler and the Go assembler check each other (program.go, compare.go).
//  2. Constant time. It follows secrets through all paths of each function. No branch, address
//     or choice of the bytes that are read may depend on one (taint.go, flow.go). Which data
//     are public is in objects.go; all others are secret.
//  3. A model of each instruction (scalar.go, vector.go), compared with this machine's CPU if
//     it has all instructions: each instruction of the kernels is executed with its own bytes
//     (models.go).
//  4. Proofs that kernels of UMAC are RFC 4418, those of SHA-512 are FIPS 180-4, those of AES
//     are FIPS 197 and those of GCM are NIST SP 800-38D, for all keys and messages of some
//     sizes (prove.go), by executing the models with formulas (symbolic.go). For GCM these are
//     polynomials over its field (field.go).
//
// The tests also execute all kernels with the models, on numbers, and compare the results with
// the standard library, package umacref and the vectors in testdata. They have kernels that
// leak, models that are wrong and kernels that are broken, all of which must be noticed.
//
// The steps have the models in common. Models are executed with numbers (concrete.go), with
// what is known of a word in all executions (taint.go), and with formulas.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"runtime/debug"
	"text/tabwriter"

	"example.com/fastmac/internal/assurance/program"
	"example.com/fastmac/internal/assurance/proofs"
	"example.com/fastmac/internal/assurance/secrets"
	"example.com/fastmac/internal/assurance/x86"
)

func main() {
	trials := flag.Int("trials", 20_000, "`number` of comparisons with the CPU for each form of an instruction")
	match := flag.String("function", ".", "check functions whose names match a `pattern`")
	flag.Parse()
	debug.SetGCPercent(400) // a quarter less time, for 1.4 GB of memory on two cores
	if err := verify(os.Stdout, *trials, regexp.MustCompile(*match)); err != nil {
		fmt.Fprintf(os.Stderr, "fastmac: %v\n", err)
		os.Exit(1)
	}
}

// verify does all steps.
func verify(w io.Writer, trials int, match *regexp.Regexp) error {
	p, err := program.Linked()
	if err != nil {
		return err
	}
	if err := constantTime(w, p); err != nil {
		return err
	}
	if err := compareModels(w, p, trials); err != nil {
		return err
	}
	return proofs.All(w, p, 1, match)
}

// constantTime prints all functions, and fails if there is a finding.
func constantTime(w io.Writer, p *program.Program) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "function\tinstructions\tblocks\tbranches\tmemory operands\tfindings\t")
	var found []secrets.Finding
	var instructions, blocks, branches, operands int
	for _, f := range p.Functions {
		graph, err := f.Graph()
		if err != nil {
			return err
		}
		here := secrets.Leaks(f, secrets.NewSignature(p.Declared[f.Pkg+"."+f.Name]))
		found = append(found, here...)
		var b, o int
		for _, i := range f.Code {
			if i.Branches() {
				b++
			}
			if i.MemoryOperand() != nil && i.Mnemonic != "lea" {
				o++
			}
		}
		fmt.Fprintf(table, "%s\t%d\t%d\t%d\t%d\t%d\t\n", f.Name, len(f.Code), graph, b, o, len(here))
		instructions, blocks, branches, operands = instructions+len(f.Code), blocks+graph, branches+b, operands+o
	}
	fmt.Fprintf(table, "%d\t%d\t%d\t%d\t%d\t%d\t\n", len(p.Functions), instructions, blocks, branches, operands, len(found))
	table.Flush()
	for _, f := range found {
		fmt.Fprintln(w, f)
	}
	if len(found) > 0 {
		return errors.New("a kernel may leak secrets")
	}
	return nil
}

// compareModels compares the models with the CPU, and fails if they differ.
func compareModels(w io.Writer, p *program.Program, trials int) error {
	s, err := x86.NewSilicon()
	if err != nil {
		return err
	}
	if s == nil {
		fmt.Fprintln(w, "\nModels: not compared, this CPU lacks instructions of the kernels")
		return nil
	}
	all := x86.Forms(p.Functions)
	instructions, comparisons, err := x86.CompareForms(s, x86.AsTheyAre, all, trials)
	if err == nil {
		fmt.Fprintf(w, "\nModels: %d forms of instructions, %d instructions, %d comparisons with the CPU, no difference\n\n", len(all), instructions, comparisons)
	}
	return err
}
