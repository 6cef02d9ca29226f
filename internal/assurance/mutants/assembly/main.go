// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build linux && amd64

// Command mutate finds out whether the tests and proofs notice when the assembly is wrong. It
// changes one instruction at a time in the linked tests:
//
//	go run -C internal/assurance ./mutants/assembly -sample 1 -workers 2 -log mutants.jsonl -cover /tmp >../mutation/assembly.txt
//
// Its steps are
//
//  1. The tests are linked, and the assembly is disassembled (program.go).
//  2. Each test runs with a trap at each instruction, to find which ones it executes (tests.go).
//  3. Mutants are made: each instruction is dropped, and some are altered (mutants.go).
//  4. The tests that execute a mutant run, the fastest first (run.go).
//  5. Command verify has a verdict on each survivor (survivors.go). Those that it refuses have
//     more tests, and those on which it cannot decide have all that execute them.
//
// A process runs for each mutant, for 10 to 50 ms. The list of outcomes is in
// internal/assurance/mutants/golang/assembly.txt (report.go).
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"example.com/fastmac/internal/origin"
)

func main() {
	var o options
	match := flag.String("function", ".", "mutate functions whose names match a `pattern`")
	flag.IntVar(&o.sample, "sample", 2, "`number` of mutants for each form of an instruction in each function")
	flag.Uint64Var(&o.seed, "seed", 1, "`seed` of the random choice of mutants")
	flag.IntVar(&o.workers, "workers", 1, "`number` of mutants that are tested at a time")
	flag.DurationVar(&o.most, "time", 24*time.Hour, "start no more mutants after this `time`")
	flag.StringVar(&o.log, "log", os.DevNull, "`file` to which outcomes are added; mutants that it has are not tested again")
	flag.StringVar(&o.kept, "cover", "", "`directory` that keeps which tests execute which instructions")
	flag.Parse()
	o.match = regexp.MustCompile(*match)
	err := errors.New("-workers: want at least 1")
	if o.workers > 0 {
		err = mutate(os.Stdout, o)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "fastmac: %v\n", err)
		os.Exit(1)
	}
}

type options struct {
	match           *regexp.Regexp
	sample, workers int
	seed            uint64
	most            time.Duration
	log, kept       string
}

// A record is a line of the log. A later one replaces it.
type record struct{ Key, How, Test string }

// A session is a run of the command.
type session struct {
	*program
	options
	mutants  []*mutant
	outcomes map[*mutant]outcome
	runners  []*runner
	commit   string // that was built
	resumed  int    // outcomes of the log
	log      *os.File
	failed   error      // to write the log
	mu       sync.Mutex // of outcomes, log and failed
	begin    time.Time
	end      time.Time
}

func mutate(w io.Writer, o options) error {
	dir, err := os.MkdirTemp("/dev/shm", "fastmac-mutate-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	s := &session{options: o, outcomes: make(map[*mutant]outcome), commit: origin.Commit(), begin: time.Now(), end: time.Now().Add(o.most)}
	if s.program, err = load(dir, packages); err != nil {
		return err
	}
	if err := s.cover(o.kept, s.progress); err != nil {
		return err
	}
	s.mutants, err = s.program.mutants(func(i *instruction) bool { return o.match.MatchString(i.function.name) }, o.sample, o.seed)
	if err != nil {
		return err
	}
	if err := s.resume(); err != nil {
		return err
	}
	defer s.log.Close()
	for n := range o.workers {
		r, err := newRunner(s.program, n)
		if err != nil {
			return err
		}
		for m, o := range s.outcomes {
			r.kills[m.function.name+" "+o.test]++
		}
		s.runners = append(s.runners, r)
	}
	if err := errors.Join(s.decide(), s.failed); err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	s.report(out)
	return out.Flush()
}

func (s *session) progress(format string, a ...any) {
	fmt.Fprintf(os.Stderr, "%v "+format, append([]any{time.Since(s.begin).Round(time.Second)}, a...)...)
}

// resume reads the log. What had no verdict in time is asked again.
func (s *session) resume() (err error) {
	if s.log, err = os.OpenFile(s.options.log, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o644); err != nil {
		return err
	}
	known := make(map[string]outcome)
	lines := bufio.NewScanner(s.log)
	for lines.Scan() {
		var r record
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			return fmt.Errorf("%s: %w", s.options.log, err)
		}
		known[r.Key] = outcome{r.How, r.Test}
		if r.How == undecided && strings.HasPrefix(r.Test, noVerdict) {
			known[r.Key] = outcome{how: survived}
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("%s: %w", s.options.log, err)
	}
	for _, m := range s.mutants {
		if o, ok := known[m.key()]; ok {
			s.outcomes[m] = o
			s.resumed++
		}
	}
	return nil
}

// done records the outcome of a mutant.
func (s *session) done(m *mutant, o outcome) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.outcomes[m] = o
	line, _ := json.Marshal(record{m.key(), o.how, o.test})
	if _, err := s.log.Write(append(line, '\n')); err != nil && s.failed == nil {
		s.failed = err
	}
	if len(s.outcomes)%1000 == 0 {
		s.progress("%d of %d\n", len(s.outcomes), len(s.mutants))
	}
}

// with returns the mutants that have one of these outcomes, where "" is none.
func (s *session) with(how ...string) (all []*mutant) {
	for _, m := range s.mutants {
		if slices.Contains(how, s.outcomes[m].how) {
			all = append(all, m)
		}
	}
	return all
}

// decide finds the outcomes of all mutants: by the tests of the source, the fast tests, what the
// instruction is, command verify, and for those that it does not prove equivalent, more tests.
func (s *session) decide() error {
	rest := s.with("")
	s.progress("%d mutants, of which %d have no outcome\n", len(s.mutants), len(rest))
	if err := s.trySource(s.with("", survived)); err != nil {
		return err
	}
	if err := s.tryAll(s.end, s.runners, s.with(""), fewTests, s.done); err != nil {
		return err
	}
	for _, m := range s.with(survived, unreached) {
		if c := m.class(); c != "" {
			s.done(m, outcome{known, c})
		}
	}
	rest = s.with(survived, unreached)
	s.progress("%d survived the fast tests\n", len(rest))
	if err := s.verify(rest); err != nil {
		return err
	}
	for _, stage := range []struct {
		how  string
		most time.Duration
	}{{refused, moreTests}, {undecided, allTests}} {
		rest = s.with(stage.how)
		s.progress("%d are %s\n", len(rest), stage.how)
		done := func(m *mutant, o outcome) {
			if !o.killed() {
				o = outcome{stage.how + tested, s.outcomes[m].test}
			}
			s.done(m, o)
		}
		if err := s.tryAll(s.end, s.runners, rest, stage.most, done); err != nil {
			return err
		}
	}
	return nil
}
