// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build linux && amd64

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Outcomes of mutants that no test kills which executes them.
const (
	inSource = "source" // a test that reads the .s files fails
	proved   = "proved" // it leaks nothing, and computes the same
	known    = "class"  // see class
	argued   = "argued" // see reasons
	unproved = "survived all tests"
)

// sourceTests read the .s files in the directory they are started in. They look for wipes of
// vector registers, and for VZEROUPPER and wipes of the frame.
var sourceTests = map[string]*regexp.Regexp{
	"TestVectorsWiped": regexp.MustCompile(`^v?pxorq? xmm`),
	"TestUpperHalves":  regexp.MustCompile(`^(vzeroupper|(movups|vmovdqu) [XY]MMWORD PTR \[rsp)`),
}

// trySource runs the tests of the source on a module whose .s files lack the lines of mutants, of
// one in each function at a time. A line that is altered is nothing that the tests look for
// either. They check functions one by one, and name those in which they find something.
func (s *session) trySource(all []*mutant) error {
	for test, looksFor := range sourceTests {
		left := slices.DeleteFunc(slices.Clone(all), func(m *mutant) bool { return !looksFor.MatchString(m.instruction.text) })
		for len(left) > 0 && time.Now().Before(s.end) {
			batch := make(map[*function]*mutant)
			left = slices.DeleteFunc(left, func(m *mutant) bool {
				first := batch[m.function] == nil
				if first {
					batch[m.function] = m
				}
				return first
			})
			if err := s.writeSource(batch); err != nil {
				return err
			}
			root := slices.IndexFunc(s.binaries, func(b *binary) bool { return b.pkg == "." })
			_, out, err := run(filepath.Join(s.dir, "source"), s.binaries[root].path, only(test), 10)
			if err != nil {
				return err
			}
			for f, m := range batch {
				if regexp.MustCompile(`·` + f.name + `\b`).Match(out) {
					s.done(m, outcome{inSource, test})
				}
			}
		}
	}
	return nil
}

// writeSource writes the .s files without the lines of mutants.
func (s *session) writeSource(batch map[*function]*mutant) error {
	written := make(map[string]bool)
	for _, f := range s.functions {
		if written[f.file] {
			continue
		}
		written[f.file] = true
		relative, err := filepath.Rel(s.root, f.file)
		if err != nil {
			return err
		}
		text, err := os.ReadFile(f.file)
		if err != nil {
			return err
		}
		lines := strings.Split(string(text), "\n")
		for _, m := range batch {
			if m.file == f.file {
				lines[m.line-1] = ""
			}
		}
		name := filepath.Join(s.dir, "source", relative)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(name, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// class returns why a mutant is equivalent that is so for what the instruction is, or "".
func (m *mutant) class() string {
	text := m.instruction.text
	switch first := m.code[0]; {
	case strings.HasPrefix(text, "prefetch"):
		return "a prefetch, which changes no data"
	case m.line == first.line && first.prologue():
		return "the check that the stack has room, which the Go assembler adds: there is room in the tests"
	}
	return ""
}

// prologue reports whether an instruction is one that the Go assembler puts before the source.
func (i *instruction) prologue() bool {
	return strings.HasPrefix(i.text, "cmp rsp,") || strings.HasPrefix(i.text, "lea r12,[rsp-") || strings.HasPrefix(i.text, "push rbp") || strings.HasPrefix(i.text, "mov r14,")
}

var argument = regexp.MustCompile(`^mov (r\w+|e\w+),.WORD PTR \[rsp\+0x[0-9a-f]+\]$`)

// tryArgument returns whether a mutant drops the load of an argument that is in the register
// already: Go's own calling convention has it there, and the wrapper that calls the assembly
// leaves it. A test must fail if another argument is loaded.
func (r *runner) tryArgument(p *program, m *mutant) (outcome, error) {
	if m.kind != drop || !argument.MatchString(m.instruction.text) {
		return outcome{how: survived}, nil
	}
	other := &mutant{instruction: m.instruction, kind: "offset", bytes: slices.Clone(m.instruction.bytes)}
	other.bytes[parse(other.bytes).disp] ^= 0x18
	o, err := r.try(p, other, true)
	if err != nil || o.how == survived {
		return o, err
	}
	return outcome{known, "the load of an argument that the wrapper of Go has left in the same register; a test fails if another is loaded"}, nil
}

// A reason is an argument for mutants that no proof is about.
type reason struct {
	function, text, why string
}

// argue returns the outcome of a mutant that is in reasons, or that it is not proved.
func (m *mutant) argue(verdict string) outcome {
	for _, r := range reasons {
		if regexp.MustCompile(r.function).MatchString(m.function.name) && regexp.MustCompile(r.text).MatchString(m.kind+": "+m.instruction.text+" -> "+m.text) {
			return outcome{argued, r.why}
		}
	}
	return outcome{unproved, verdict}
}

// A request is what command verify reads and writes for a mutant.
type request struct {
	Function string
	Offset   int
	Old, New string
	Verdict  string
}

// prove asks command verify which mutants compute what the standards say, at one of so many
// sizes as step. It returns what it says, which is "held" or why not, for those that it has
// tried at the end.
func (p *program) prove(end time.Time, all []*mutant, step int, progress func(format string, a ...any)) (verdicts []string, err error) {
	binary := filepath.Join(p.dir, "verify")
	if _, err := output("go", "build", "-C", filepath.Join(p.root, "internal", "asm"), "-o", binary, "./verify"); err != nil {
		return nil, err
	}
	for len(verdicts) < len(all) && time.Now().Before(end) {
		ctx, cancel := context.WithDeadline(context.Background(), end)
		defer cancel()
		cmd := exec.CommandContext(ctx, binary, "-mutants", fmt.Sprint(step))
		cmd.Dir = filepath.Join(p.root, "internal", "asm")
		in, err := cmd.StdinPipe()
		if err != nil {
			return nil, err
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			return nil, err
		}
		cmd.Stderr = os.Stderr
		if err := cmd.Start(); err != nil {
			return nil, err
		}
		rest := all[len(verdicts):]
		go func() {
			encoder := json.NewEncoder(in)
			for _, m := range rest {
				encoder.Encode(request{Function: m.function.name, Offset: m.offset, Old: fmt.Sprintf("%x", m.instruction.bytes), New: fmt.Sprintf("%x", m.bytes)})
			}
			in.Close()
		}()
		before := len(verdicts)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			var r request
			if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
				return nil, err
			}
			verdicts = append(verdicts, r.Verdict)
			if len(verdicts)%100 == 0 {
				progress("%d of %d proofs\n", len(verdicts), len(all))
			}
		}
		cmd.Wait() // it ends early at a mutant that takes too long
		if len(verdicts) == before && ctx.Err() == nil {
			return nil, fmt.Errorf("verify: no verdict for %v", rest[0])
		}
	}
	return verdicts, nil
}
