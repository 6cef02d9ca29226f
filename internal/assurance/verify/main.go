// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Command verify checks the assembly of the module for amd64 and arm64, as the linker has put it
// into binaries for Linux:
//
//	go run -C internal/assurance ./verify
//
// Its steps are
//
//  1. All instructions of all functions of assembly are decoded (packages x86 and arm64). For amd64
//     they must be those of the .s files: the decoder and the Go assembler check each other. A function
//     that jumps to another one must do nothing but choose a kernel in use, by its flag and the
//     length of a parameter.
//  2. Constant time. Secrets are followed through all paths of each function. No branch, address
//     or choice of the bytes that are read may depend on one. Which data are public is in
//     secrets/objects.go; all others are secret.
//  3. The model of each instruction is compared with this machine's CPU, which executes each
//     instruction of the kernels from its own bytes. Models of instructions that this CPU lacks
//     must be in models.txt, which lists those that were compared elsewhere. The CPU of arm64 is
//     qemu's, except on arm64. Steps 1 to 3 alone are -function '^$', and
//     for one architecture -arch.
//  4. Proofs that the kernels of UMAC are RFC 4418, those of SHA-2 are FIPS 180-4, those of AES
//     are FIPS 197 and those of GCM are NIST SP 800-38D, for all keys and messages of some sizes,
//     by executing the models with formulas (packages formula and proofs). Those with "all" for the
//     number of cases are by induction, for all numbers of rounds of a loop. How many decisions
//     always have the same result is compared with proofs/decisions.txt, or written there (-update).
//
// The steps have the models in common. These are executed with numbers, with what is known of a
// word in all executions, and with formulas.
//
// The tests of the packages execute all kernels with the models, on numbers, and compare the
// results with the standard library, package umacref and the vectors in testdata. They have
// kernels that leak, models that are wrong, and kernels that are broken or made to deceive, all
// of which must be noticed.
package main

import (
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"example.com/fastmac/internal/assurance/arm64"
	"example.com/fastmac/internal/assurance/machine"
	"example.com/fastmac/internal/assurance/program"
	"example.com/fastmac/internal/assurance/proofs"
	"example.com/fastmac/internal/assurance/secrets"
	"example.com/fastmac/internal/assurance/x86"
	"example.com/fastmac/internal/golden"
	"example.com/fastmac/internal/origin"
)

// allFunctions is a pattern that all of their names match.
const allFunctions = "."

func main() {
	trials := flag.Int("trials", 20_000, "`number` of comparisons with the CPU for each form of an instruction")
	file := flag.String("models", "", "write which models were compared with the CPU to a `file`")
	pattern := flag.String("function", allFunctions, "prove functions whose names match a `pattern`")
	arch := flag.String("arch", "", "do all for `amd64` or arm64 only")
	since := flag.String("changed", "", "prove functions that are not the same in a `revision`")
	flag.Parse()
	debug.SetGCPercent(400) // a quarter less time, for 3.6 GB of memory on two cores
	match, err := regexp.Compile(*pattern)
	some := *pattern != allFunctions || *arch != ""
	if err == nil && *arch != "" && !slices.ContainsFunc(program.Architectures, func(a *machine.Architecture) bool { return a.Name == *arch }) {
		err = fmt.Errorf("no assembly is for %s", *arch)
	}
	if update := flag.Lookup("update").Value.String() == "true"; err == nil && (some && *since != "" || update && (some || *since != "")) {
		err = errors.New("-changed and -update exclude each other, and each excludes -function and -arch")
	}
	var before *revision
	if err == nil && *since != "" {
		before, err = newRevision(*since)
	}
	if err == nil {
		err = verify(os.Stdout, *trials, *arch, match, before, *file)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "fastmac: %v\n", err)
		os.Exit(1)
	}
}

// verify does all steps for each architecture, or for one, except for architectures in which nothing has changed since
// a revision. Of the functions that match, it proves those that have changed since then, or all if before is nil.
func verify(w io.Writer, trials int, arch string, match *regexp.Regexp, before *revision, file string) error {
	decisions := ""
	results := fmt.Sprintf("Models compared with a CPU, %s, commit %s, %s, %s\ngo run -C internal/assurance ./verify -trials %d -models verify/models.txt\n",
		time.Now().UTC().Format(time.DateOnly), origin.Commit(), origin.CPU(), runtime.Version(), trials)
	if !arm64.Native {
		results += "Those of arm64 are compared with qemu-aarch64 -cpu max.\n"
	}
	results += "\n"
	for _, a := range program.Architectures {
		if arch != "" && a.Name != arch {
			continue
		}
		p, err := program.Linked(a)
		if err != nil {
			return err
		}
		if before.same(p) {
			fmt.Fprintf(w, "%s: no function differs from %s, and nothing that checks them: NOTHING IS PROVED\n\n", a.Name, before.name)
			continue
		}
		fmt.Fprintf(w, "%s\n\n", a.Name)
		if err := constantTime(w, p); err != nil {
			return err
		}
		compared, err := compareModels(w, p, trials)
		if err != nil {
			return err
		}
		results += compared
		named, err := proofs.All(w, p, 1, before.narrow(w, p, match))
		if err != nil {
			return err
		}
		decisions += named
		fmt.Fprintln(w)
	}
	if err := checkDecisions(decisions, arch == "" && match.String() == allFunctions && (before == nil || before.all != "")); err != nil {
		return err
	}
	if file == "" {
		return nil
	}
	return os.WriteFile(file, []byte(results), 0o644)
}

// checkDecisions compares decisions with decisions.txt, of which they are all or some lines.
func checkDecisions(decisions string, all bool) error {
	root, err := program.Root()
	if err != nil {
		return err
	}
	name := filepath.Join(root, "internal/assurance/proofs/decisions.txt")
	if all {
		return golden.Check(name, decisions)
	}
	expected, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	for line := range strings.Lines(decisions) {
		if !strings.Contains("\n"+string(expected), "\n"+line) {
			return fmt.Errorf("decisions.txt has another line than %q: if that is meant, prove all functions with -update", strings.TrimSpace(line))
		}
	}
	return nil
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
	for _, c := range p.Choices {
		if c.Above >= 0 {
			fmt.Fprintf(w, "%s only jumps: to %s for more than %d bytes, else to the next kernel in use\n", c.Name, c.Best, c.Above)
		} else {
			fmt.Fprintf(w, "%s only jumps: to %s, else to the next kernel in use\n", c.Name, c.Best)
		}
	}
	for _, f := range found {
		fmt.Fprintln(w, f)
	}
	if len(found) > 0 {
		return errors.New("a kernel may leak secrets")
	}
	return nil
}

//go:embed models.txt
var models string

// compareModels compares the models with the CPU, and fails if they differ, or if one was compared
// neither now nor in the committed results. It returns the results.
func compareModels(w io.Writer, p *program.Program, trials int) (results string, err error) {
	done, why, err := compared(p, trials)
	if err != nil {
		return "", err
	}
	forms, times, elsewhere := make(map[string]int), 0, make(map[string]int)
	for _, c := range done {
		class := fmt.Sprint(c.Classes)
		line := fmt.Sprintf("%s %s: %s: ", p.Name, class, c.Name)
		if c.Times > 0 {
			forms[class]++
			times += c.Times
			results += fmt.Sprintf("%s%d times\n", line, c.Times)
			continue
		}
		elsewhere[class]++
		if !strings.Contains(models, "\n"+line) {
			return "", fmt.Errorf("the model of %s was never compared: not on this CPU, and not in models.txt", c.Name)
		}
	}
	fmt.Fprintf(w, "\nModels: %d comparisons with %s, no difference\n", times, cpuName(p))
	for _, class := range slices.Sorted(maps.Keys(forms)) {
		fmt.Fprintf(w, "%4d forms of %s\n", forms[class], class)
	}
	heading, _, _ := strings.Cut(models, "\n")
	for _, class := range slices.Sorted(maps.Keys(elsewhere)) {
		fmt.Fprintf(w, "%4d forms of %s: NOT COMPARED %s. %s\n", elsewhere[class], class, why, heading)
	}
	fmt.Fprintln(w)
	return results, nil
}

// cpuName names the CPU with which the models of p are compared.
func cpuName(p *program.Program) string {
	if p.Architecture == arm64.Architecture && !arm64.Native {
		return "qemu-aarch64 -cpu max"
	}
	return "the CPU"
}

// compared compares the models of an architecture with its CPU, which elsewhere than on arm64 is qemu's
// for arm64. It also returns why some are not compared.
func compared(p *program.Program, trials int) (done []machine.Comparison, why string, err error) {
	why = "on this CPU, which lacks them"
	if p.Architecture != arm64.Architecture {
		if runtime.GOOS != "linux" || runtime.GOARCH != p.Name {
			why = "here: it needs Linux on amd64"
		}
		s, err := x86.NewSilicon()
		if err != nil {
			return nil, "", err
		}
		done, err = machine.Compare(s, x86.Forms(p.Functions), machine.AsItIs, trials)
		return done, why, err
	}
	forms := arm64.Forms(p.Functions)
	done, err = arm64.Compare(forms, machine.AsItIs, trials)
	if errors.Is(err, arm64.ErrMissing) {
		why = "here: " + err.Error()
		done, err = nil, nil
		for _, f := range forms {
			done = append(done, machine.Comparison{Form: f})
		}
	}
	return done, why, err
}
