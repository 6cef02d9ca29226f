// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build linux && amd64

// Command assembly finds out whether the tests and proofs notice when the assembly is wrong. It
// changes one instruction at a time in the linked tests:
//
//	go run -C internal/assurance ./mutants/assembly -sample 1 -workers 2 -log mutants.jsonl -cover /tmp
//	go run -C internal/assurance ./mutants/assembly -arch arm64 -sample 1 -workers 2 -emulate 60
//
// Its steps are
//
//  1. The tests are linked, and the assembly is decoded (suite.go).
//  2. Each test runs with a trap at each instruction, to find which ones it executes (tests.go).
//  3. Mutants are made: each instruction is dropped, or one of -every, and some are altered
//     (mutants.go).
//  4. The tests that execute a mutant run, the fastest first (run.go).
//  5. Package proofs has a verdict on each survivor (survivors.go). Those that it refuses have
//     more tests, and those on which it cannot decide have all that execute them.
//
// A process runs for each mutant, for 10 to 50 ms. It prints the list of outcomes (report.go).
// One, with its date, is in results.txt.
//
// For arm64 steps 2 and 4 are left out: each mutant goes to the proofs, and those that hold to the
// tests of the source. Then the tests of its package run in qemu on some that the proofs refuse,
// taken at random, and on some that hold.
// results-arm64.txt is a list.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"example.com/fastmac"
	"example.com/fastmac/internal/assurance/machine"
	"example.com/fastmac/internal/assurance/program"
	"example.com/fastmac/internal/assurance/x86"
	"example.com/fastmac/internal/kernel"
	"example.com/fastmac/internal/origin"
)

func main() {
	s := new(session)
	arch := flag.String("arch", x86.Architecture.Name, "mutate the assembly for this `architecture`")
	flag.IntVar(&s.emulate, "emulate", 0, "run the tests of this `number` of mutants for arm64 in qemu")
	match := flag.String("function", ".", "mutate functions whose names match a `pattern`")
	flag.IntVar(&s.every, "every", 1, "drop one instruction of this `number`, at random")
	flag.IntVar(&s.sample, "sample", 2, "alter one instruction of each form in each function in this `number` of ways")
	flag.Uint64Var(&s.seed, "seed", 1, "`seed` of the random choices")
	flag.IntVar(&s.workers, "workers", 1, "test this `number` of mutants at a time")
	flag.DurationVar(&s.most, "time", 24*time.Hour, "start no mutant after this `time`")
	flag.StringVar(&s.logFile, "log", os.DevNull, "append outcomes to a `file`; mutants that it has are not tested again")
	flag.StringVar(&s.kept, "cover", "", "keep which tests execute which instructions in a `directory`")
	flag.BoolVar(&s.answers, "answers", false, "find out which mutants the known answers do not notice that compute wrong tags")
	flag.Parse()
	s.match = regexp.MustCompile(*match)
	k := slices.IndexFunc(program.Architectures, func(a *machine.Architecture) bool { return a.Name == *arch })
	var err error
	switch {
	case k < 0:
		err = fmt.Errorf("-arch: no assembly for %q", *arch)
	case s.answers && *arch != x86.Architecture.Name:
		err = errors.New("-answers: only for " + x86.Architecture.Name)
	case s.workers <= 0:
		err = errors.New("-workers: want at least 1")
	case s.every <= 0:
		err = errors.New("-every: want at least 1")
	default:
		err = s.run(os.Stdout, program.Architectures[k])
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "fastmac: %v\n", err)
		os.Exit(1)
	}
}

// A record is a line of the log. A later one replaces it.
type record struct {
	Key string
	outcome
}

// A session is a run of the command.
type session struct {
	match         *regexp.Regexp
	answers       bool
	every, sample int
	workers       int
	emulate       int
	seed          uint64
	most          time.Duration
	logFile, kept string

	*suite
	mutants  []*mutant
	outcomes map[*mutant]outcome
	runners  chan *runner // that are idle
	resumed  int          // outcomes of the log
	log      *os.File
	mu       sync.Mutex // of outcomes and log
	begin    time.Time
	end      time.Time
}

// anyTest is a pattern of the names of all tests.
const anyTest = "^(Test|Fuzz|Example)"

// kernels returns those that tests use, as FASTMAC_TEST_KERNELS has them.
func kernels(a *machine.Architecture) string {
	if a != x86.Architecture {
		return "NH=neon,AES=armv8,SHA-512=sha512,GCM=armv8" // in qemu -cpu max
	}
	fastmac.Hardware() // chooses them
	var names []string
	for l := range kernel.Layer(kernel.Layers) {
		names = append(names, l.String()+"="+kernel.Active(l))
	}
	return strings.Join(names, ",")
}

// run writes the report on all mutants.
func (s *session) run(w io.Writer, a *machine.Architecture) error {
	dir, err := os.MkdirTemp("/dev/shm", "fastmac-mutants-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	commit := origin.Commit() // that is built
	s.begin = time.Now()
	s.end = s.begin.Add(s.most)
	from, tests := packages, anyTest
	if s.answers {
		from, tests = []string{sourcePackage}, only("TestAnswers")
	} else if err := os.Setenv("FASTMAC_TEST_KERNELS", kernels(a)); err != nil { // tests fail if the known answers refuse a mutant
		return err
	}
	if s.suite, err = load(a, dir, from); err != nil {
		return err
	}
	if !s.isEmulated() {
		if err := s.cover(s.kept, tests, s.progress); err != nil {
			return err
		}
	}
	s.mutants = s.suite.mutants(s.match, s.every, s.sample, s.seed)
	if err := s.resume(); err != nil {
		return err
	}
	defer s.log.Close()
	s.runners = make(chan *runner, s.workers)
	for n := range s.workers {
		r, err := newRunner(s.suite, n)
		if err != nil {
			return err
		}
		s.runners <- r
	}
	decide := s.decide
	switch {
	case s.isEmulated():
		decide = s.decideEmulated
	case s.answers:
		decide = s.decideAnswers
	}
	if err := decide(); err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	s.report(out, commit)
	return out.Flush()
}

func (s *session) progress(format string, a ...any) {
	fmt.Fprintf(os.Stderr, "%v "+format, append([]any{time.Since(s.begin).Round(time.Second)}, a...)...)
}

// resume reads the log. What had no verdict in time is asked again.
func (s *session) resume() (err error) {
	s.outcomes = make(map[*mutant]outcome)
	if s.log, err = os.OpenFile(s.logFile, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o644); err != nil {
		return err
	}
	keys := make(map[string]*mutant)
	for _, m := range s.mutants {
		keys[m.key()] = m
	}
	for lines := json.NewDecoder(s.log); ; {
		var r record
		switch err := lines.Decode(&r); {
		case err == io.EOF:
			s.resumed = len(s.outcomes)
			return nil
		case err != nil:
			return fmt.Errorf("%s: %w", s.logFile, err)
		}
		if r.How == undecided && strings.HasPrefix(r.Test, noVerdict) {
			r.outcome = outcome{How: survived}
		}
		if m := keys[r.Key]; m != nil {
			s.outcomes[m] = r.outcome
		}
	}
}

// done records the outcome of a mutant.
func (s *session) done(m *mutant, o outcome) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.outcomes[m] = o
	if len(s.outcomes)%1000 == 0 {
		s.progress("%d of %d\n", len(s.outcomes), len(s.mutants))
	}
	return json.NewEncoder(s.log).Encode(record{m.key(), o})
}

// with returns the mutants that have one of these outcomes, where "" is none.
func (s *session) with(how ...string) (found []*mutant) {
	for _, m := range s.mutants {
		if slices.Contains(how, s.outcomes[m].How) {
			found = append(found, m)
		}
	}
	return found
}

// decide finds the outcomes of all mutants: by the tests of the source, the fast tests, what the
// instruction is, the proofs, and for those that are not proved equivalent, more tests.
func (s *session) decide() error {
	s.progress("%d mutants, of which %d have no outcome\n", len(s.mutants), len(s.with("")))
	if err := s.trySource(s.with("", survived)); err != nil {
		return err
	}
	if err := s.try("", fewTests); err != nil {
		return err
	}
	for _, m := range s.with(survived, unreached) {
		if c := m.class(); c != "" {
			if err := s.done(m, outcome{known, c}); err != nil {
				return err
			}
		}
	}
	rest := s.with(survived, unreached)
	s.progress("%d survived the fast tests\n", len(rest))
	if err := s.judge(rest); err != nil {
		return err
	}
	s.progress("%d are %s, %d are %s\n", len(s.with(refused)), refused, len(s.with(undecided)), undecided)
	return errors.Join(s.try(refused, moreTests), s.try(undecided, allTests))
}

// decideAnswers finds out which mutants the known answers notice, and which of the others compute wrong tags.
func (s *session) decideAnswers() error {
	if err := s.try("", allTests); err != nil {
		return err
	}
	return s.each(s.with(survived, unreached), func(m *mutant) error {
		r := <-s.runners
		o, err := r.tryGroup(&group{binary: s.binaries[0], names: []string{"TestTags"}, cpu: time.Second}, m)
		s.runners <- r
		if err != nil {
			return err
		}
		if o.killed() {
			return s.done(m, outcome{wrong, o.How})
		}
		return s.done(m, outcome{How: survived})
	})
}

// decideEmulated finds the outcomes of all mutants for arm64 by the proofs, and of some by the tests,
// which run in qemu: half of these are refused by the proofs, as far as there are so many.
func (s *session) decideEmulated() error {
	s.progress("%d mutants, of which %d have no outcome\n", len(s.mutants), len(s.with("")))
	if err := s.judge(s.with("", survived)); err != nil {
		return err
	}
	if err := s.trySource(s.with(proved)); err != nil {
		return err
	}
	var some []*mutant
	rng := rand.New(rand.NewPCG(s.seed, 1))
	for _, how := range []string{refused, proved} {
		all := s.with(how)
		rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		some = append(some, all[:min(len(all), s.emulate/2)]...)
	}
	s.progress("%d are %s, %d are %s; %d have tests in qemu\n", len(s.with(refused)), refused, len(s.with(proved)), proved, len(some))
	passes := make(map[*binary]bool)
	for _, m := range some {
		if passes[m.function.home] {
			continue
		}
		same := &mutant{instruction: m.instruction, after: m.Bytes}
		if o, err := s.emulated(same); err != nil || o.How != survived {
			return fmt.Errorf("without a mutant: %s by %s, error %v", o.How, o.Test, err)
		}
		passes[m.function.home] = true
	}
	return s.each(some, func(m *mutant) error {
		o, err := s.emulated(m)
		if err != nil {
			return err
		}
		s.mu.Lock()
		switch before := s.outcomes[m]; {
		case !o.killed():
			o = outcome{before.How + tested, before.Test}
		case before.How == proved:
			o.How = disputed
		}
		s.mu.Unlock()
		return s.done(m, o)
	})
}

// emulated runs the tests of its package on a mutant, in qemu, or the quick ones of the root.
func (s *session) emulated(m *mutant) (outcome, error) {
	r := <-s.runners
	defer func() { s.runners <- r }()
	tests := ".*"
	if m.function.home.pkg == "." {
		tests = quickTests
	}
	return r.tryGroup(&group{binary: m.function.home, names: []string{tests}, cpu: emulatedTime}, m)
}

// quickTests is the pattern of tests of the root that run in qemu: all of them take minutes, and all of
// another package seconds. emulatedTime is more than they take.
const (
	quickTests   = ".*(Vectors|Batch|HMAC|GMAC|UMAC|AES|Block|Sum|Lanes|Run|Seal|Encrypt|Stretch|Words|Expand).*"
	emulatedTime = time.Minute
)

// try runs the tests on the mutants that have an outcome. Those that had none get the new one. The
// others are killed, or keep theirs.
func (s *session) try(how string, most time.Duration) error {
	return s.each(s.with(how), func(m *mutant) error {
		r := <-s.runners
		o, err := r.try(m, most)
		s.runners <- r
		if err != nil {
			return err
		}
		if how != "" && !o.killed() {
			s.mu.Lock()
			o = outcome{how + tested, s.outcomes[m].Test}
			s.mu.Unlock()
		}
		return s.done(m, o)
	})
}
