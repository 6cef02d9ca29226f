// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Command mca prints how many cycles the inner loops of the assembly take on several CPUs according
// to the models of llvm-mca. Nothing is measured.
//
//	go run -C internal/assurance ./mca
//
// For amd64 and arm64 it builds a program with all assembly, disassembles the kernels and finds
// their loops (see [findLoops]). It needs LLVM 16 or newer.
package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"example.com/fastmac/internal/assurance/llvm"
	"example.com/fastmac/internal/assurance/program"
	"example.com/fastmac/internal/kernel/table"
)

// An architecture has a table of its own.
type architecture struct {
	goarch  string
	options []string // of llvm-mca
	cpus    []cpu
	kernels []kernel
	limits  string
}

// A cpu is a model of LLVM. Models give cycles even for instructions that the CPU lacks.
type cpu struct {
	name    string
	classes []string // of instructions, of those for which kernels of the table ask
}

var all = []string{"AVX2", "AVX512", "VAES", "SHA"}

var architectures = []architecture{
	{
		goarch:  "amd64",
		options: []string{"-mtriple=x86_64"},
		cpus: []cpu{
			{"haswell", []string{"AVX2"}}, {"skylake-avx512", []string{"AVX2", "AVX512"}}, {"icelake-server", all}, {"sapphirerapids", all}, {"alderlake", []string{"AVX2", "VAES", "SHA"}},
			{"znver2", []string{"AVX2", "SHA"}}, {"znver3", []string{"AVX2", "VAES", "SHA"}}, {"znver4", all},
		},
		kernels: kernelsAMD64,
		limits: `
Cycles of one core per KiB of the message, which is in the L1 cache, or per 16 of the 80 rounds
of a block of SHA-512 (of each message in lanes). "-": the CPU lacks the instructions. AES-GCM
has a key of 16 bytes. Loops of a kernel are told apart by the bytes of an iteration, or by their
order. What the model does not know:

- It always chooses the best port for each operation in time. CPUs take 5 to 40 % longer.
- With 512-bit vectors skylake-avx512 and icelake-server issue to port 1, which these CPUs then
  close to vectors: their figures are too low. For them, too, sapphirerapids is nearer.
- Zen 5 has no model of its own: LLVM 19 to 22 use Zen 4's, which halves 512-bit vectors.
- It has no caches, no loads that cross a line, no dependencies through memory, no branches
  that are mispredicted, and no clock that 512-bit instructions slow down.
- Zen 2's figures are too high: its model is bound by dispatch. In LLVM 19 it also waits 100
  cycles for VPERM2I128 and PCLMULQDQ from memory, which makes its figures meaningless.
`,
	},
	{
		goarch:  "arm64",
		options: []string{"-mtriple=aarch64", "-mattr=+aes,+sha3"},
		// Left out is apple-m1: LLVM's model of it is Cyclone's, of 2013.
		cpus: []cpu{
			{"neoverse-n1", []string{"AES", "PMULL", "SHA2"}},
			{"neoverse-v1", []string{"AES", "PMULL", "SHA2", "SHA512"}},
			{"neoverse-v2", []string{"AES", "PMULL", "SHA2", "SHA512"}},
		},
		kernels: kernelsARM64,
		limits: `
Cycles of one core per KiB of the message, which is in the L1 cache, or per block of SHA-2, of
which a pair has two; loop 2 of block and pair is the block of an outer hash. encryptBlocks and AES-GCM have a key of
16 bytes. gcmAesData is GMAC of crypto/cipher, for comparison. What the model
does not know, in addition to the list for amd64:

- LLVM 22 lets neoverse-n1 dispatch 3 operations per cycle and neoverse-v2 6. Arm's guides say 4
  and 8: where dispatch is the bound, these figures are too high.
- It executes AESE and the AESMC after it as two operations: its figures of AES are too high for
  CPUs that fuse them.
- Older versions of LLVM have other models of these CPUs, or use another CPU's model.
`,
	},
}

func main() {
	if err := run(os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "fastmac: %v\n", err)
		os.Exit(1)
	}
}

// run prints the tables. It fails if any kernel has no loop.
func run(w io.Writer) error {
	t, err := llvm.Find("llvm-mca", "llvm-objdump")
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "llvm-mca, version %d\n", t.Version)
	for _, a := range architectures {
		if err := a.print(w, t); err != nil {
			return fmt.Errorf("%s: %w", a.goarch, err)
		}
	}
	return nil
}

func (a architecture) print(w io.Writer, t *llvm.Tools) error {
	code, err := a.disassemble(t)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "\n%s\n\n", a.goarch)
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(out, "kernel\tunit\t")
	for _, cpu := range a.cpus {
		fmt.Fprint(out, cpu.name, "\t")
	}
	for _, k := range a.kernels {
		loops, err := findLoops(code, k)
		if err != nil {
			return err
		}
		for _, l := range loops {
			classes, err := a.classes(l.function)
			if err != nil {
				return err
			}
			fmt.Fprintf(out, "\n%s\t%s\t", l.name, k.unit)
			for _, cpu := range a.cpus {
				if slices.ContainsFunc(classes, func(class string) bool { return !slices.Contains(cpu.classes, class) }) {
					fmt.Fprint(out, "-\t")
					continue
				}
				cycles, err := a.model(t, cpu.name, l)
				if err != nil {
					return fmt.Errorf("%s on %s: %w", l.name, cpu.name, err)
				}
				fmt.Fprintf(out, "%.1f\t", cycles/l.units)
			}
		}
	}
	fmt.Fprintln(out)
	out.Flush()
	_, err = io.WriteString(w, a.limits)
	return err
}

// classes returns those of instructions for which a function asks. The one of the standard library asks for none.
func (a architecture) classes(function string) ([]string, error) {
	own, ok := strings.CutPrefix(function, program.ModulePath)
	if !ok {
		return nil, nil
	}
	folder, name, _ := strings.Cut(own, ".")
	row, err := table.Find(a.goarch, cmp.Or(strings.TrimPrefix(folder, "/"), "."), name)
	if err != nil {
		return nil, err
	}
	return row.Classes, nil
}

// disassemble returns the assembly of all packages, and the function compared with it.
func (a architecture) disassemble(t *llvm.Tools) ([]llvm.Function, error) {
	dir, err := os.MkdirTemp("", "fastmac-mca-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, "linked")
	if err := llvm.Link(name, a.goarch); err != nil {
		return nil, err
	}
	return t.Disassemble(name, regexp.MustCompile(`^example\.com/fastmac|\.gcmAesData$`))
}

// model returns the cycles of an iteration of a loop.
func (a architecture) model(t *llvm.Tools, cpu string, l loop) (float64, error) {
	const iterations = 50
	out, err := t.Run(l.code, "llvm-mca", append([]string{"-mcpu=" + cpu, fmt.Sprint("-iterations=", iterations), "-all-views=false", "-summary-view"}, a.options...)...)
	match := regexp.MustCompile(`Total Cycles: +(\d+)`).FindStringSubmatch(out)
	if err != nil || match == nil {
		return 0, cmp.Or(err, fmt.Errorf("llvm-mca printed %q, want total cycles", out))
	}
	cycles, err := strconv.ParseFloat(match[1], 64)
	return cycles / iterations, err
}

// A kernel is a group of functions whose innermost loops are modelled: those with instructions of
// one kind, of which a unit of the message needs a fixed number. An instruction on a vector counts
// once for each lane of 128 bits.
type kernel struct {
	functions string // regular expression for their names without example.com/fastmac
	unit      string
	mark      string // one instruction, or several with spaces between them
	perUnit   int
	// iterations says that there is a loop for two iterations and one for four, which multiply
	// perUnit.
	iterations bool
	// inner is how many times a loop within a loop is executed. If it is not 0, the outer loops
	// are modelled.
	inner int
}

var kernelsAMD64 = []kernel{
	// 256 32-bit words are 128 products, 2 in a lane, for each iteration.
	{`\.nhPolyAVX\w+`, "KiB", "vpmuludq", 64, true, 0},
	{`\.nhPoly128AVX\w+`, "KiB", "vpmuludq", 64 * 4, false, 0},
	// Rounds have two sums of three rotations each. Words of the schedule have two of two;
	// AVX2 shifts instead, and shuffles bytes for one. There are two words in a lane.
	{`/internal/sha2\.(block|iterate)(512\w+|256AVX2)`, "16 rounds", "rorxq rorxl", 16 * 6, false, 0},
	{`/internal/sha2\.(lanes|iterateLanes)512AVX512`, "16 rounds", "vprorq", 16 * (6 + 4) / 2, false, 0},
	// There are four in a lane. The iteration has the same loop, and one of a single round. Kernels with
	// SHA instructions are missing: llvm-mca 16 crashes.
	{`/internal/sha2\.lanes256AVX512`, "16 rounds", "vprord", 16 * (6 + 4) / 4, false, 0},
	// With AVX2 the last rounds of a block, which make no words, are a loop of their own. Each round has a constant.
	{`/internal/sha2\.lanes512AVX2`, "16 rounds", "vpbroadcastq", 16 / 2, false, 0},
	{`/internal/sha2\.lanes256AVX2`, "16 rounds", "vpbroadcastd", 16 / 4, false, 0},
	// The bytes of each block are reversed.
	{`/internal/gcm\.(hash|gmac)AESNI`, "KiB", "pshufb", 64, false, 0},
	{`/internal/gcm\.(hash|gmac)AVX\w+`, "KiB", "vpshufb", 64, false, 0},
	// AES-128 has nine rounds before the last one.
	{`/internal/gcm\.(seal|open)AESNI`, "KiB", "aesenc", 64 * 9, false, 0},
	{`/internal/gcm\.(seal|open)AVX\w+`, "KiB", "vaesenc", 64 * 9, false, 0},
}

var kernelsARM64 = []kernel{
	// 256 32-bit words are 128 products, 2 in an instruction, for each iteration.
	{`\.nhPolyNEON`, "KiB", "umull umull2 umlal umlal2", 64, true, 0},
	// AES-128 has nine rounds before the last one.
	{`/internal/aes\.encryptBlocks`, "KiB", "aesmc", 64 * 9, false, 9},
	// 64 rounds and 80.
	{`/internal/sha2\.(block|pair|iterate|iteratePair)256SHA2`, "block", "sha256h", 16, false, 0},
	{`/internal/sha2\.(block|pair|iterate|iteratePair)512SHA512`, "block", "sha512h", 40, false, 0},
	// The bytes of each block are reversed.
	{`/internal/gcm\.(hash|gmac)ARMv8`, "KiB", "tbl rev64", 64, false, 0},
	{`/internal/gcm\.(seal|open)ARMv8`, "KiB", "aesmc", 64 * 9, false, 0},
	{`crypto/internal/fips140/aes/gcm\.gcmAesData`, "KiB", "rev64", 64, false, 0},
}

// count returns the marks in code.
func (k kernel) count(code []llvm.Instruction) (n int) {
	marks := strings.Fields(k.mark)
	for _, i := range code {
		if slices.Contains(marks, i.Mnemonic) {
			_, register, _ := strings.Cut(i.Operands[strings.LastIndexByte(i.Operands, ' ')+1:], "%")
			n += max(1, map[string]int{"y": 2, "z": 4}[register[:min(1, len(register))]])
		}
	}
	return n
}

// A loop is what an iteration of a loop executes, as assembler source.
type loop struct {
	name, code string
	function   string  // with its package
	units      float64 // in an iteration
}

// A span is the instructions from first to last, a jump back to first.
type span struct{ first, last int }

func (s span) inside(outer span) bool {
	return s != outer && outer.first <= s.first && s.last <= outer.last
}

// executed returns the instructions that an iteration of s executes. A jump forward within s
// is taken: what is skipped is the rare case, or the last rounds of longer AES keys.
func (k kernel) executed(code []llvm.Instruction, s span) (all []llvm.Instruction) {
	at := make(map[uint64]int) // address: index in all
	for i := s.first; i <= s.last; i++ {
		at[code[i].Address] = len(all)
		all = append(all, code[i])
		to, _, isJump := code[i].Target()
		start, isLoop := at[to]
		switch {
		case isJump && to > code[i].Address && to <= code[s.last].Address:
			for code[i+1].Address < to {
				i++
			}
		case isJump && isLoop && i < s.last && k.inner > 0:
			body := slices.Clone(all[start:])
			for range k.inner - 1 {
				all = append(all, body...)
			}
		}
	}
	return all
}

// findLoops returns the loops of the functions of k. There must be at least one.
func findLoops(functions []llvm.Function, k kernel) (all []loop, err error) {
	name := regexp.MustCompile(`^(?:example\.com/fastmac)?(` + k.functions + `)$`)
	for _, f := range functions {
		m := name.FindStringSubmatch(f.Name)
		if m == nil {
			continue
		}
		loops, err := k.loops(m[1], f.Code)
		if err != nil {
			return nil, err
		}
		for i := range loops {
			loops[i].function = f.Name
		}
		all = append(all, loops...)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("no function %s", k.functions)
	}
	return all, nil
}

// loops returns the innermost loops of a function that have marks, or the outermost ones.
func (k kernel) loops(function string, code []llvm.Instruction) (loops []loop, err error) {
	var all, found []span
	for last, i := range code {
		target, _, isJump := i.Target()
		first := slices.IndexFunc(code[:last+1], func(to llvm.Instruction) bool { return isJump && to.Address == target })
		// 0 is no loop: the function starts again after its stack has grown.
		if first > 0 && k.count(code[first:last]) > 0 {
			all = append(all, span{first, last})
		}
	}
	for _, s := range all {
		if !slices.ContainsFunc(all, func(o span) bool { return k.inner == 0 && o.inside(s) || k.inner > 0 && s.inside(o) }) {
			found = append(found, s)
		}
	}
	if k.iterations { // the first block of a run has a small loop
		found = slices.DeleteFunc(found, func(s span) bool { return k.count(k.executed(code, s)) < k.perUnit })
	}
	if len(found) == 0 || k.iterations && len(found) != 2 {
		return nil, fmt.Errorf("%s: %d loops with %s, want 1 or more, or one for 2 iterations and one for 4", function, len(found), k.mark)
	}
	if k.iterations {
		slices.SortFunc(found, func(a, b span) int {
			return cmp.Compare(k.count(k.executed(code, a)), k.count(k.executed(code, b)))
		})
	}
	for i, s := range found {
		l, body, perUnit := loop{name: strings.TrimPrefix(path.Base(function), ".")}, k.executed(code, s), k.perUnit
		count := k.count(body)
		switch {
		case k.iterations:
			perUnit *= 2 * (i + 1)
			l.name += fmt.Sprintf(", %d iterations", 2*(i+1))
		case k.unit == "KiB":
			count *= 64
			l.name += fmt.Sprintf(", %d bytes", 16*count/perUnit)
		case len(found) > 1:
			l.name += fmt.Sprintf(", loop %d", i+1)
		}
		if count%perUnit != 0 {
			return nil, fmt.Errorf("%s: %d of %s in a loop, want a multiple of %d", function, count, k.mark, perUnit)
		}
		l.units = float64(k.count(body)) / float64(perUnit)
		for _, i := range body {
			if _, others, isJump := i.Target(); isJump {
				i.Operands = others + "other"
			}
			l.code += strings.TrimSpace(i.Mnemonic+"\t"+i.Operands) + "\n"
		}
		loops = append(loops, l)
	}
	return loops, nil
}
