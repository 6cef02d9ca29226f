// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build linux && amd64

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"example.com/fastmac/internal/assurance/program"
	"example.com/fastmac/internal/assurance/proofs"
	"example.com/fastmac/internal/assurance/x86"
)

// Outcomes of mutants that no fast test kills.
const (
	inSource  = "source"    // a test that reads the .s files fails
	known     = "class"     // equivalent, see class
	proved    = "proved"    // equivalent: all proofs hold
	refused   = "refused"   // by a proof, or by the check for constant time
	undecided = "undecided" // they say neither
	disputed  = "disputed"  // all proofs hold, and a test fails
	tested    = ", tested"  // at the end of an outcome: more tests do not kill it either

	noVerdict = "no verdict in " // begins what is said of a mutant that takes too long
)

// sourcePackage has the sourceTests, which read the .s files of the module whose folder of this
// name they are started in. They look for wipes of vector and mask registers, and for VZEROUPPER and
// wipes of the frame.
const sourcePackage = "internal/kernel"

var sourceTests = []struct {
	name     string
	looksFor *regexp.Regexp
}{
	{"TestVectorsWiped", regexp.MustCompile(`^(v?pxorq? xmm|kxorw|eor v)`)},
	{"TestUpperHalves", regexp.MustCompile(`^(vzeroupper|(movups|vmovdqu) [xy]mmword ptr \[rsp|vpxor ymm|pxor xmm)`)},
}

// trySource runs the tests of the source on copies of the .s files, of which one lacks the line of a
// mutant. A line that is altered is nothing that the tests look for either.
func (s *session) trySource(mutants []*mutant) error {
	source := filepath.Join(s.dir, "source")
	write := func(relative string, without int) error {
		content, err := os.ReadFile(filepath.Join(s.root, relative))
		if err != nil {
			return err
		}
		lines := strings.Split(string(content), "\n")
		if without > 0 {
			lines[without-1] = ""
		}
		name := filepath.Join(source, relative)
		return errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte(strings.Join(lines, "\n")), 0o600))
	}
	tests := filepath.Join(s.dir, "source.test")
	_, err := program.Output(x86.Architecture, "go", "test", "-C", filepath.Join(s.root, filepath.FromSlash(sourcePackage)), "-c", "-o", tests, ".")
	if err != nil {
		return err
	}
	passes := func(test string) (bool, error) {
		state, _, err := run(filepath.Join(source, filepath.FromSlash(sourcePackage)), tests, only(test), 10)
		return err == nil && state.Success(), err
	}
	err = fs.WalkDir(os.DirFS(s.root), ".", func(name string, _ fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(name, ".s") {
			err = write(name, 0)
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, test := range sourceTests {
		if ok, err := passes(test.name); !ok {
			return fmt.Errorf("%s fails on copies of the .s files, error %v", test.name, err)
		}
		for _, m := range mutants {
			if !test.looksFor.MatchString(m.Text) || time.Now().After(s.end) {
				continue
			}
			relative, err := filepath.Rel(s.root, m.function.file)
			err = errors.Join(err, write(relative, m.line))
			ok, failed := passes(test.name)
			if err == nil && failed == nil && !ok {
				err = s.done(m, outcome{inSource, test.name})
			}
			if err := errors.Join(err, failed, write(relative, 0)); err != nil {
				return err
			}
		}
	}
	return nil
}

// class returns why a mutant that no fast test kills is equivalent for what the instruction is,
// or "".
func (m *mutant) class() string {
	switch {
	case strings.HasPrefix(m.Text, "prefetch"):
		return "a prefetch, which changes no data"
	case m.Text == "mov rbp, rsp":
		return "the frame pointer, which only profilers and tracers read"
	case m.line == m.function.instructions[0].line && stackCheck.MatchString(m.Text):
		return "the check that the stack has room, which the Go assembler adds: there is room in the tests"
	}
	return ""
}

// stackCheck matches instructions of that check.
var stackCheck = regexp.MustCompile(`^(mov r14, qword ptr fs:|lea r12, ptr \[rsp-|cmp (rsp|r12), qword ptr \[r14|jbe |call |jmp )`)

// verdictTime is what a verdict may take.
const verdictTime = 2 * time.Minute

// judge has verdicts on mutants, from the proofs and the check for constant time.
func (s *session) judge(all []*mutant) error {
	if len(all) == 0 {
		return nil
	}
	linked, err := program.Linked(s.architecture)
	if err != nil {
		return err
	}
	judge := proofs.NewJudge(linked)
	return s.each(all, func(m *mutant) error {
		return s.done(m, verdict(judge.Verdict(m.function.Name, uint64(m.offset()), m.patch, verdictTime)))
	})
}

// verdict returns the outcome for what the judge says.
func verdict(said string) outcome {
	if said == proofs.Held {
		return outcome{How: proved}
	}
	if why, ok := strings.CutPrefix(said, proofs.Undecided); ok {
		return outcome{undecided, why}
	}
	return outcome{refused, said}
}
