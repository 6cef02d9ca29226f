// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Command valgrind checks with valgrind's memcheck that no branch and no address in the Go code
// of the module depends on a secret:
//
//	go run -C internal/assurance ./timing/valgrind
//
// It needs linux/amd64, valgrind, and gcc for cgo. It builds the program probe, which marks
// secrets as undefined and passes them to the functions of the module, and runs it in memcheck.
// Memcheck follows undefined bits through memory, registers and flags, and reports every branch
// and every address that depends on one, as in A. Langley's ctgrind (2010). The probe also has
// functions that leak, which must be reported.
//
// Memcheck does not report divisions, whose time depends on the operands on most CPUs. So the
// program is also disassembled, and any division not known to be of public numbers is a finding.
//
// Valgrind has no AVX-512, VAES and SHA instructions. So that the Go code around kernels with them runs too, some
// variants have kernels of the same contracts instead, see overlayFor. Memcheck sees only the code that the probe
// runs, with the lengths that it uses. A choice made by a conditional move is not a branch.
//
// In the end the command runs the probe outside valgrind, with counters in all functions of the packages that have
// secrets. One that was not called is a finding, unless public.txt says that it has none. TestBranches puts branches
// into all these functions, which memcheck must report.
package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"example.com/fastmac/internal/kernel"
)

// probePath is the package of the probe.
const probePath = "example.com/fastmac/internal/assurance/timing/valgrind/probe"

func main() {
	flag.Parse()
	if err := errors.Join(check(os.Stdout, variants), checkFunctions(os.Stdout, variants)); err != nil {
		fmt.Fprintf(os.Stderr, "fastmac: %v\n", err)
		os.Exit(1)
	}
}

// A variant is a way to build and to run the probe.
type variant struct {
	name    string
	kernels string // those expected to run, of NH, AES, SHA-256, SHA-512 and GCM, as fastmac.Hardware names them
	tags    string // besides valgrind
	overlay bool   // see overlayFor
	planted bool   // see TestBranches
	goamd64 string // v1 if empty
	godebug string
}

// The CPU that valgrind shows to programs has AVX2 and AES instructions, and no VAES and
// no VPCLMULQDQ, without which GCM has no AVX2 kernel. With an overlay its CPU has all features, but for those that GODEBUG
// takes away.
var variants = []variant{
	{name: "AVX2", kernels: "avx2/aesni/avx2/avx2/aesni", planted: true},
	{name: "AVX2, compiled for it", kernels: "avx2/aesni/avx2/avx2/aesni", goamd64: "v3"},
	{name: "without AVX2", kernels: "generic/aesni/stdlib/stdlib/aesni", godebug: "cpu.avx2=off"},
	{name: "FIPS 140 mode", kernels: "avx2/aesni/stdlib/stdlib/aesni", godebug: "fips140=on", planted: true},
	{name: "AVX-512, replaced", kernels: "avx512/aesni/avx512/avx512/avx512", overlay: true, planted: true},
	{name: "SHA and VAES, replaced", kernels: "avx2/aesni/sha/avx2/avx2", overlay: true, planted: true, godebug: "cpu.avx512f=off"},
	{name: "AVX-512 without SHA and AES, replaced", kernels: "avx512/stdlib/avx512lanes/avx512/none", overlay: true, godebug: "cpu.aes=off,cpu.sha=off,cpu.avxvnni=off"},
	{name: "portable", kernels: "generic/stdlib/stdlib/stdlib/stdlib", overlay: true, planted: true, tags: portableTag},
}

// check runs the probe in the variants and prints a table. It fails if there is a finding.
func check(w io.Writer, variants []variant) error {
	folder, err := os.MkdirTemp("", "fastmac-valgrind-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "variant\tNH/AES/SHA-256/SHA-512/GCM\toperations\tsecret results\tverifications\tfindings\texpected\tof the runtime\tCPU time")
	var findings []string
	hits := make(map[string]int) // of expected reports, by what they are
	public := 0                  // divisions
	for _, v := range variants {
		program := filepath.Join(folder, fmt.Sprint("probe", v.tags, v.goamd64, v.overlay))
		if _, err := os.Stat(program); err != nil {
			if err := v.build("", program); err != nil {
				return err
			}
			if v.goamd64 == "" { // go tool objdump does not know all instructions of v3
				n, others, err := divisions(program)
				if err != nil {
					return err
				}
				public += n
				findings = append(findings, others...)
			}
		}
		run, err := v.run(program)
		if err != nil {
			return fmt.Errorf("%s: %w", v.name, err)
		}
		if run.kernels() != v.kernels || run.Features.Wrong != "" {
			return fmt.Errorf("%s: kernels %s ran, want %s; wrong were %q", v.name, run.kernels(), v.kernels, run.Features.Wrong)
		}
		j := judge(run.reports, v)
		for _, f := range j.findings {
			findings = append(findings, v.name+": "+f)
		}
		total := 0
		for what, n := range j.expected {
			hits[what] += n
			total += n
		}
		fmt.Fprintf(table, "%s\t%s\t%d\t%d\t%d\t%d\t%d\t%d\t%.1f s\n", v.name, v.kernels, len(run.Operations), run.Results,
			run.Decisions, len(j.findings), total, j.runtime, run.cpu.Seconds())
	}
	table.Flush()
	fmt.Fprintln(w, "\nexpected reports:")
	for _, e := range expected {
		if hits[e.what] > 0 { // otherwise no variant expects it, or it is a finding
			fmt.Fprintf(w, "%6d  %s\n", hits[e.what], e.what)
		}
	}
	fmt.Fprintf(w, "%6d  divisions of public numbers, in the disassembly\n", public)
	if len(findings) > 0 {
		return errors.New(strings.Join(findings, "\n"))
	}
	return nil
}

// build builds the probe. Module is the folder of its module, or empty for the working directory.
func (v variant) build(module, program string) error {
	if !v.overlay {
		return v.buildWith(module, program, nil)
	}
	root, err := rootOf(module)
	if err != nil {
		return err
	}
	o, err := overlayFor(root, v.tags)
	if err != nil {
		return err
	}
	return v.buildWith(module, program, o)
}

// buildWith builds the probe with an overlay, and more flags.
func (v variant) buildWith(module, program string, o overlay, flags ...string) error {
	// checklinkname: see request_valgrind.go in the probe. nodwarf5: valgrind 3.19 does not read
	// all of DWARF 5.
	args := []string{"build", "-trimpath=false", "-o", program, "-tags", strings.Trim("valgrind,"+v.tags, ","), "-ldflags=-checklinkname=0"}
	args = append(args, flags...)
	if o != nil {
		folder, err := os.MkdirTemp("", "fastmac-overlay-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(folder)
		name, err := o.write(folder)
		if err != nil {
			return err
		}
		args = append(args, "-overlay", name)
	}
	cmd := exec.Command("go", append(args, probePath)...)
	cmd.Dir = module
	cmd.Env = append(os.Environ(), "GOEXPERIMENT=nodwarf5", "CGO_ENABLED=1", "GOAMD64="+cmp.Or(v.goamd64, "v1"), "GOFIPS140=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w: %s", err, out)
	}
	return nil
}

// A run is what the probe printed, and what memcheck reported.
type run struct {
	Features   kernel.Report
	Operations []string
	Results    int
	Decisions  int

	reports []report
	cpu     time.Duration
}

// kernels returns the kernels that ran.
func (r *run) kernels() string {
	return strings.Join([]string{r.Features.NH, r.Features.AES, r.Features.SHA256, r.Features.SHA512, r.Features.GCM}, "/")
}

// run runs the probe in memcheck.
func (v variant) run(program string) (*run, error) {
	file := program + ".log"
	defer os.Remove(file)
	// Not XML, with which valgrind 3.19 always searches for leaks at the end. What it knows of
	// the runtime's memory is not enough for that, and it may crash.
	// It runs one thread at a time, and by default the others seldom: helpers of WriteParallel would
	// not get to a chunk before the caller.
	cmd := exec.Command("valgrind", "--tool=memcheck", "--fair-sched=yes", "--leak-check=no", "--error-limit=no", "--num-callers=60", "--fullpath-after=",
		"--log-file="+file, "-q", program)
	// The less the runtime does on its own, the fewer reports there are about it.
	debug := strings.Trim("asyncpreemptoff=1,"+v.godebug, ",")
	cmd.Env = append(os.Environ(), "GODEBUG="+debug, "GOMAXPROCS=1", "GOGC=off")
	var out, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("valgrind: %w: %s", err, &stderr)
	}
	r := &run{cpu: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}
	if err := json.Unmarshal(out.Bytes(), r); err != nil {
		return nil, fmt.Errorf("the probe printed %q: %w", &out, err)
	}
	log, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	r.reports = parse(string(log))
	return r, nil
}
