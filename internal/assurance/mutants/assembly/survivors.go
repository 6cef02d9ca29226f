// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build linux && amd64

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// Outcomes of mutants that no fast test kills.
const (
	inSource  = "source"    // a test that reads the .s files fails
	known     = "class"     // equivalent, see class
	proved    = "proved"    // equivalent: command verify has all its proofs
	refused   = "refused"   // by command verify
	undecided = "undecided" // it says neither
	tested    = ", tested"  // at the end of an outcome: more tests do not kill it either

	noVerdict = "no verdict in " // begins what command verify says of a mutant that takes too long
)

// sourcePackage has the sourceTests, which read the .s files of the module whose folder of this
// name they are started in. They look for wipes of vector registers, and for VZEROUPPER and
// wipes of the frame.
const sourcePackage = "internal/kernel"

var sourceTests = map[string]*regexp.Regexp{
	"TestVectorsWiped": regexp.MustCompile(`^v?pxorq? xmm`),
	"TestUpperHalves":  regexp.MustCompile(`^(vzeroupper|(movups|vmovdqu) [XY]MMWORD PTR \[rsp|vpxor ymm|pxor xmm)`),
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
			tests := slices.IndexFunc(s.binaries, func(b *binary) bool { return b.pkg == sourcePackage })
			_, out, err := run(filepath.Join(s.dir, "source", filepath.FromSlash(sourcePackage)), s.binaries[tests].path, only(test), 10)
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

// class returns why a mutant that no fast test kills is equivalent for what the instruction is,
// or "".
func (m *mutant) class() string {
	text := m.instruction.text
	switch {
	case strings.HasPrefix(text, "prefetch"):
		return "a prefetch, which changes no data"
	case text == "mov rbp,rsp":
		return "the frame pointer, which only profilers and tracers read"
	case m.line == m.code[0].line && stackCheck.MatchString(text):
		return "the check that the stack has room, which the Go assembler adds: there is room in the tests"
	}
	return ""
}

// stackCheck matches instructions of that check.
var stackCheck = regexp.MustCompile(`^(mov r14,QWORD PTR fs:|lea r12,\[rsp-|cmp (rsp|r12),QWORD PTR \[r14|jbe |call |jmp )`)

// A request is what command verify reads and writes for a mutant.
type request struct {
	Function string
	Offset   int
	Old, New string
	Verdict  string
}

// verifyTime is what command verify may take for a mutant.
const verifyTime = 2 * time.Minute

// verify asks command verify for its verdicts on mutants, until the end. It runs a process of it
// for each worker.
func (s *session) verify(all []*mutant) error {
	binary := filepath.Join(s.dir, "verify")
	if _, err := output("go", "build", "-C", filepath.Join(s.root, "internal", "asm"), "-o", binary, "./verify"); err != nil {
		return err
	}
	errs := make([]error, s.workers)
	var wait sync.WaitGroup
	for w := range s.workers {
		part := all[w*len(all)/s.workers : (w+1)*len(all)/s.workers]
		wait.Go(func() {
			for len(part) > 0 && errs[w] == nil && time.Now().Before(s.end) {
				part, errs[w] = s.verifySome(binary, part)
			}
		})
	}
	wait.Wait()
	return errors.Join(errs...)
}

// verifySome starts command verify, and returns the mutants on which it has no verdict: it ends
// at a mutant that takes too long.
func (s *session) verifySome(binary string, all []*mutant) ([]*mutant, error) {
	ctx, cancel := context.WithDeadline(context.Background(), s.end)
	defer cancel()
	var in bytes.Buffer
	for _, m := range all {
		json.NewEncoder(&in).Encode(m.request())
	}
	cmd := exec.CommandContext(ctx, binary, "-mutants", fmt.Sprint(verifyTime))
	cmd.Dir, cmd.Stdin, cmd.Stderr = filepath.Join(s.root, "internal", "asm"), &in, os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	rest, err := s.verdicts(out, all)
	if err != nil {
		cancel()
	}
	if ended := cmd.Wait(); err == nil && len(rest) == len(all) && ctx.Err() == nil {
		err = fmt.Errorf("no verdict on %v: %w", all[0], ended)
	}
	if err != nil {
		return nil, fmt.Errorf("verify: %w", err)
	}
	return rest, nil
}

func (m *mutant) request() request {
	return request{m.function.name, m.offset, fmt.Sprintf("%x", m.instruction.bytes), fmt.Sprintf("%x", m.bytes), ""}
}

// verdicts reads the verdicts on mutants, in turn, and returns those without one.
func (s *session) verdicts(out io.Reader, all []*mutant) ([]*mutant, error) {
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		var r request
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			return nil, err
		}
		said := r.Verdict
		if r.Verdict = ""; len(all) == 0 || r != all[0].request() {
			return nil, fmt.Errorf("a verdict on another mutant: %s", lines.Bytes())
		}
		s.done(all[0], verdict(said))
		all = all[1:]
	}
	return all, lines.Err()
}

// verdict returns the outcome for what command verify says.
func verdict(said string) outcome {
	if said == "held" {
		return outcome{how: proved}
	}
	if why, ok := strings.CutPrefix(said, "undecided: "); ok {
		return outcome{undecided, why}
	}
	return outcome{refused, said}
}
