// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Command mca prints how many cycles the inner loops of the assembly take on several
// CPUs, according to llvm-mca, which models CPUs that are not at hand.
//
//	go run -C internal/asm ./mca
//
// It builds the package for linux/amd64, disassembles the kernels and finds their loops,
// see [findLoops]. It needs LLVM 16 or newer.
package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
)

// cpus are LLVM's models, and whether the CPU has AVX-512 and VAES: the models themselves
// have cycles for instructions that the CPU lacks.
var cpus = []struct {
	name         string
	avx512, vaes bool
}{
	{"skylake-avx512", true, false}, {"icelake-server", true, true}, {"sapphirerapids", true, true}, {"alderlake", false, true},
	{"znver2", false, false}, {"znver3", false, true}, {"znver4", true, true},
}

const limits = `
Cycles of one core for each KiB of the message, which is in the L1 cache, or for 16 of the 80
rounds of a block of SHA-512 (of each message in lanes). "-": the CPU lacks the instructions. AES-GCM has a key of 16 bytes. Loops
of a kernel are told apart by the bytes of an iteration, or are in their order. What the model
does not know:

- It chooses the best port for each operation, and never too late. CPUs take 5 to 40 % more.
- With 512-bit vectors skylake-avx512 and icelake-server issue to port 1, which these CPUs
  close to vectors then: their figures are too low. sapphirerapids is nearer to them too.
- Zen 5 has no model of its own: LLVM 19 to 22 use Zen 4's, which halves 512-bit vectors.
- It has no caches, no loads that cross a line, no dependencies through memory, no branches
  that are mispredicted, and no clock that 512-bit instructions slow down.
- Zen 2's figures are too high: its model is bound by dispatch. In LLVM 19 it also waits 100
  cycles for VPERM2I128 and PCLMULQDQ from memory, so with that version they mean nothing.
`

func main() {
	if err := run(os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "fastmac: %v\n", err)
		os.Exit(1)
	}
}

// run prints the table. It fails if any kernel has no loop.
func run(w io.Writer) error {
	t, err := findTools()
	if err != nil {
		return err
	}
	code, err := t.disassemble()
	if err != nil {
		return err
	}
	wideAES := regexp.MustCompile(`(?m)^v(aes|pclmul).*%[yz]mm`)
	fmt.Fprintf(w, "llvm-mca, version %d\n\n", t.version)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(table, "kernel\tunit\t")
	for _, cpu := range cpus {
		fmt.Fprint(table, cpu.name, "\t")
	}
	for _, k := range kernels {
		loops, err := findLoops(code, k)
		if err != nil {
			return err
		}
		for _, l := range loops {
			fmt.Fprintf(table, "\n%s\t%s\t", l.name, k.unit)
			for _, cpu := range cpus {
				if strings.Contains(l.name, "AVX512") && !cpu.avx512 || wideAES.MatchString(l.code) && !cpu.vaes {
					fmt.Fprint(table, "-\t")
					continue
				}
				cycles, err := t.model(cpu.name, l)
				if err != nil {
					return fmt.Errorf("%s on %s: %w", l.name, cpu.name, err)
				}
				fmt.Fprintf(table, "%.1f\t", cycles/l.units)
			}
		}
	}
	fmt.Fprintln(table)
	table.Flush()
	_, err = io.WriteString(w, limits)
	return err
}

// tools are the programs of one LLVM: the suffix of their names, and its version.
type tools struct {
	suffix  string
	version int
}

const oldest = 16 // the first LLVM with a model of Zen 4

// findTools prefers the programs without a version in their names.
func findTools() (*tools, error) {
	suffixes := []string{""}
	for v := 30; v >= oldest; v-- {
		suffixes = append(suffixes, fmt.Sprintf("-%d", v))
	}
	for _, suffix := range suffixes {
		out, _ := exec.Command("llvm-mca"+suffix, "--version").Output()
		if match := regexp.MustCompile(`LLVM version (\d+)`).FindSubmatch(out); match != nil {
			version, _ := strconv.Atoi(string(match[1]))
			if _, err := exec.LookPath("llvm-objdump" + suffix); version >= oldest && err == nil {
				return &tools{suffix, version}, nil
			}
		}
	}
	return nil, fmt.Errorf("no llvm-mca and llvm-objdump of LLVM %d or newer: install the package llvm-19, or another from llvm-%[1]d on", oldest)
}

// disassemble returns the disassembly of the assembly of all packages. The root package has
// all of them.
func (t *tools) disassemble() (string, error) {
	root, err := output("", "go", "list", "-m", "-f", "{{.Dir}}", "example.com/fastmac")
	if err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp("", "fastmac-mca-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	built := filepath.Join(dir, "fastmac.test")
	if _, err := output("", "go", "test", "-C", strings.TrimSpace(root), "-c", "-o", built, "."); err != nil {
		return "", err
	}
	table, err := output("", "llvm-objdump"+t.suffix, "-t", built)
	if err != nil {
		return "", err
	}
	symbols := regexp.MustCompile(`example\.com/fastmac\S+\.abi0`).FindAllString(table, -1)
	return output("", "llvm-objdump"+t.suffix, "-d", "--no-show-raw-insn", "--disassemble-symbols="+strings.Join(symbols, ","), built)
}

// model returns the cycles of an iteration of a loop.
func (t *tools) model(cpu string, l loop) (float64, error) {
	const iterations = 50
	out, err := output(l.code, "llvm-mca"+t.suffix, "-mtriple=x86_64", "-mcpu="+cpu, fmt.Sprint("-iterations=", iterations), "-all-views=false", "-summary-view")
	match := regexp.MustCompile(`Total Cycles: +(\d+)`).FindStringSubmatch(out)
	if err != nil || match == nil {
		return 0, cmp.Or(err, fmt.Errorf("llvm-mca printed %q, want total cycles", out))
	}
	cycles, err := strconv.ParseFloat(match[1], 64)
	return cycles / iterations, err
}

// output returns what a command prints. What it builds is for linux/amd64.
func output(stdin, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Stdin = strings.NewReader(stdin)
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0")
	out, err := cmd.Output()
	if exit := new(exec.ExitError); errors.As(err, &exit) {
		err = fmt.Errorf("%s: %w: %s", name, err, exit.Stderr)
	}
	return string(out), err
}

// A kernel is functions whose innermost loops are modelled: those that have instructions of
// one kind, of which a unit of the message needs a fixed number. A vector counts as many as
// it has lanes of 128 bits.
type kernel struct {
	functions string // regular expression for their names without example.com/fastmac
	unit      string
	mark      string
	perUnit   int
	// iterations: there is a loop for two iterations and one for four. Their number
	// multiplies perUnit.
	iterations bool
}

var kernels = []kernel{
	// 256 32-bit words are 128 products, 2 in a lane, for each iteration.
	{`\.nhPoly\w+`, "KiB", "vpmuludq", 64, true},
	// Rounds have two sums of three rotations each. Words of the schedule have two of two;
	// AVX2 shifts instead, and shuffles bytes for one. There are two words in a lane.
	{`/internal/sha512\.block\w+`, "16 rounds", "rorxq", 16 * 6, false},
	{`/internal/sha512\.lanesAVX512`, "16 rounds", "vprorq", 16 * (6 + 4) / 2, false},
	{`/internal/sha512\.lanesAVX2`, "16 rounds", "vpsrlq", 16 * (6 + 5) / 2, false},
	// The bytes of each block are reversed.
	{`/internal/gcm\.(hash|gmac)AESNI`, "KiB", "pshufb", 64, false},
	{`/internal/gcm\.(hash|gmac)AVX\w+`, "KiB", "vpshufb", 64, false},
	// AES-128 has nine rounds before the last one.
	{`/internal/gcm\.(seal|open)AESNI`, "KiB", "aesenc", 64 * 9, false},
	{`/internal/gcm\.(seal|open)AVX\w+`, "KiB", "vaesenc", 64 * 9, false},
}

// count returns the marks in code.
func (k kernel) count(code []instruction) (n int) {
	for _, i := range code {
		if i.mnemonic == k.mark {
			n += max(1, map[byte]int{'y': 2, 'z': 4}[i.text[strings.LastIndexByte(i.text, '%')+1]])
		}
	}
	return n
}

// A loop is what an iteration of a loop executes, as source of an assembler.
type loop struct {
	name, code string
	units      float64 // in an iteration
}

// An instruction is a line of a disassembly.
type instruction struct {
	address, target int64 // target of a jump, else -1
	mnemonic, text  string
}

// parse returns the instructions of a function, from the lines of a disassembly.
func parse(lines string) (all []instruction) {
	line := regexp.MustCompile(`(?m)^\s*([0-9a-f]+):\s+(\S+)([^<#\n]*)`)
	for _, m := range line.FindAllStringSubmatch(lines, -1) {
		i := instruction{target: -1, mnemonic: m[2], text: strings.TrimSpace(m[2] + m[3])}
		i.address, _ = strconv.ParseInt(m[1], 16, 64)
		if strings.HasPrefix(m[2], "j") {
			i.target, _ = strconv.ParseInt(strings.TrimSpace(m[3]), 0, 64)
			i.text = m[2] + " other"
		}
		all = append(all, i)
	}
	return all
}

// A span is the instructions from first to last, a jump back to first.
type span struct{ first, last int }

func (s span) inside(outer span) bool {
	return s != outer && outer.first <= s.first && s.last <= outer.last
}

// executed returns the instructions that an iteration of s executes. A jump forward within s
// is taken: what is skipped is the rare case, or the last rounds of longer AES keys.
func executed(code []instruction, s span) (all []instruction) {
	for i := s.first; i <= s.last; i++ {
		all = append(all, code[i])
		if to := code[i].target; to > code[i].address && to <= code[s.last].address {
			for code[i+1].address < to {
				i++
			}
		}
	}
	return all
}

// findLoops returns the loops of the functions of k, of which there must be one at least.
func findLoops(disassembly string, k kernel) (all []loop, err error) {
	functions := regexp.MustCompile(`(?s)<example\.com/fastmac(` + k.functions + `)\.abi0>:\n(.*?)(?:\n\n|$)`)
	for _, m := range functions.FindAllStringSubmatch(disassembly, -1) {
		loops, err := k.loops(m[1], parse(m[len(m)-1]))
		if err != nil {
			return nil, err
		}
		all = append(all, loops...)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("no function %s", k.functions)
	}
	return all, nil
}

// loops returns the innermost loops of a function that have marks.
func (k kernel) loops(function string, code []instruction) (loops []loop, err error) {
	var all, found []span
	for last, i := range code {
		first := slices.IndexFunc(code[:last+1], func(to instruction) bool { return to.address == i.target })
		// 0 is no loop: the function starts again after its stack has grown.
		if first > 0 && k.count(code[first:last]) > 0 {
			all = append(all, span{first, last})
		}
	}
	for _, s := range all {
		if !slices.ContainsFunc(all, func(o span) bool { return o.inside(s) }) {
			found = append(found, s)
		}
	}
	if k.iterations { // the first block of a run has a small loop
		found = slices.DeleteFunc(found, func(s span) bool { return k.count(executed(code, s)) < k.perUnit })
	}
	if len(found) == 0 || k.iterations && len(found) != 2 {
		return nil, fmt.Errorf("%s: %d loops with %s, want 1 or more, or one for 2 iterations and one for 4", function, len(found), k.mark)
	}
	if k.iterations {
		slices.SortFunc(found, func(a, b span) int {
			return cmp.Compare(k.count(executed(code, a)), k.count(executed(code, b)))
		})
	}
	for i, s := range found {
		l, body, perUnit := loop{name: strings.TrimPrefix(path.Base(function), ".")}, executed(code, s), k.perUnit
		count := k.count(body)
		switch {
		case k.iterations:
			perUnit *= 2 * (i + 1)
			l.name += fmt.Sprintf(", %d iterations", 2*(i+1))
		case k.unit == "KiB":
			count *= 16
			l.name += fmt.Sprintf(", %d bytes", 64*count/perUnit)
		case len(found) > 1:
			l.name += fmt.Sprintf(", loop %d", i+1)
		}
		if count%perUnit != 0 {
			return nil, fmt.Errorf("%s: %d of %s in a loop, want a multiple of %d", function, count, k.mark, perUnit)
		}
		l.units = float64(k.count(body)) / float64(perUnit)
		for _, i := range body {
			l.code += i.text + "\n"
		}
		loops = append(loops, l)
	}
	return loops, nil
}
