// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build linux && amd64

package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"
)

func main() {
	var o options
	match := flag.String("function", ".", "mutate functions whose names match a `pattern`")
	flag.IntVar(&o.sample, "sample", 2, "alter the instructions of each form in each function in so `many` ways")
	flag.Uint64Var(&o.seed, "seed", 1, "of the `choice` of what is altered")
	flag.IntVar(&o.workers, "workers", 1, "so many `mutants` at a time")
	flag.DurationVar(&o.most, "time", 24*time.Hour, "try no more mutants after so `long`")
	flag.StringVar(&o.log, "log", os.DevNull, "a `file` of outcomes, for going on later")
	flag.StringVar(&o.kept, "cover", "", "a `directory` for which tests execute what, for going on later")
	out := flag.String("o", "", "write the report to a `file`")
	flag.Parse()
	o.match = regexp.MustCompile(*match)
	w := os.Stdout
	if *out != "" {
		f, err := os.Create(*out)
		if err != nil {
			fail(err)
		}
		w = f
	}
	if err := mutate(w, o); err != nil {
		fail(err)
	}
	if err := w.Close(); err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintf(os.Stderr, "fastmac: %v\n", err)
	os.Exit(1)
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
	log      *os.File
	begin    time.Time
	end      time.Time
}

func mutate(w *os.File, o options) error {
	dir, err := os.MkdirTemp("/dev/shm", "fastmac-mutate-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	s := &session{options: o, outcomes: make(map[*mutant]outcome), begin: time.Now(), end: time.Now().Add(o.most)}
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
		s.runners = append(s.runners, r)
	}
	if err := s.decide(); err != nil {
		return err
	}
	return s.report(w)
}

func (s *session) progress(format string, a ...any) {
	fmt.Fprintf(os.Stderr, "%v "+format, append([]any{time.Since(s.begin).Round(time.Second)}, a...)...)
}

// resume reads the log.
func (s *session) resume() (err error) {
	if s.log, err = os.OpenFile(s.options.log, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o644); err != nil {
		return err
	}
	known := make(map[string]outcome)
	for lines := bufio.NewScanner(s.log); lines.Scan(); {
		var r record
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			return err
		}
		known[r.Key] = outcome{r.How, r.Test}
	}
	for _, m := range s.mutants {
		if o, ok := known[m.key()]; ok {
			s.outcomes[m] = o
		}
	}
	return nil
}

// done has the outcome of a mutant.
func (s *session) done(m *mutant, o outcome) {
	s.outcomes[m] = o
	line, _ := json.Marshal(record{m.key(), o.how, o.test})
	s.log.Write(append(line, '\n'))
	if len(s.outcomes)%1000 == 0 {
		s.progress("%d of %d\n", len(s.outcomes), len(s.mutants))
	}
}

// with returns the mutants that have an outcome, or with "" none.
func (s *session) with(how string) (all []*mutant) {
	for _, m := range s.mutants {
		if s.outcomes[m].how == how {
			all = append(all, m)
		}
	}
	return all
}

// decide finds the outcomes of all mutants: by the fast tests, what the instruction is, the
// tests of the source, the proofs, and all other tests.
func (s *session) decide() error {
	rest := s.with("")
	s.progress("%d mutants, of which %d have no outcome\n", len(s.mutants), len(rest))
	for _, dropped := range []bool{true, false} {
		some := slices.DeleteFunc(slices.Clone(rest), func(m *mutant) bool { return (m.kind == drop) != dropped })
		if err := s.tryAll(s.end, s.runners, some, func(r *runner, m *mutant) (outcome, error) { return r.try(s.program, m, false) }, s.done); err != nil {
			return err
		}
	}
	for _, how := range []string{survived, unreached} {
		for _, m := range s.with(how) {
			if c := m.class(); c != "" {
				s.done(m, outcome{known, c})
			}
		}
	}
	rest = append(s.with(survived), s.with(unproved)...)
	s.progress("%d survived the fast tests\n", len(rest))
	if err := s.trySource(rest); err != nil {
		return err
	}
	rest = append(s.with(survived), s.with(unreached)...)
	s.progress("%d survived the tests of the source\n", len(rest))
	for _, m := range s.with(unproved) { // of the log
		s.done(m, m.argue(s.outcomes[m].test))
	}
	refused, err := s.proveAll(rest)
	if err != nil {
		return err
	}
	rest = s.with(survived)
	s.progress("%d are not proved\n", len(rest))
	return s.tryAll(s.end, s.runners, rest, func(r *runner, m *mutant) (outcome, error) {
		if o, err := r.try(s.program, m, true); err != nil || o.how != survived {
			return o, err
		}
		if o, err := r.tryArgument(s.program, m); err != nil || o.how == known {
			return o, err
		}
		return m.argue(refused[m]), nil
	}, s.done)
}

// proveAll proves as many of the mutants as it can. It returns why the others were refused.
func (s *session) proveAll(all []*mutant) (refused map[*mutant]string, err error) {
	refused = make(map[*mutant]string)
	for _, step := range []int{1, manySizes} {
		some := slices.DeleteFunc(slices.Clone(all), func(m *mutant) bool { return m.step() != step || strings.HasSuffix(m.file, "gcm_amd64.s") })
		why := ""
		if step > 1 {
			why = fmt.Sprintf("the proofs of the function hold for one of %d sizes, and no secret leaks (command verify)", step)
		}
		verdicts, err := s.prove(s.end, some, step, s.progress)
		if err != nil {
			return nil, err
		}
		for n, m := range some[:len(verdicts)] {
			if refused[m] = verdicts[n]; verdicts[n] == "held" {
				s.done(m, outcome{proved, why})
			}
		}
	}
	return refused, nil
}

// manySizes is of how many sizes one is proved, where the proofs are of thousands.
const manySizes = 61

func (m *mutant) step() int {
	for _, prefix := range []string{"nhAdd", "tagOnly", "tagNext", "tagEach"} {
		if strings.HasPrefix(m.function.name, prefix) {
			return manySizes
		}
	}
	return 1
}
