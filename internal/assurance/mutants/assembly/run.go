// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build linux && amd64

package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"
)

// An outcome is what the tests say about a mutant.
type outcome struct {
	How  string // survived, failed, crashed, timeOut, unreached, or of what survivors.go does
	Test string // that killed it, or why it has this outcome
}

const (
	survived  = "survived"
	failed    = "fail"         // a test fails, or panics
	crashed   = "crash"        // the process dies otherwise
	timeOut   = "time"         // it uses too much
	unreached = "not executed" // by any test
	wrong     = "wrong tags"   // that the known answers do not notice
)

// killed reports whether a test fails.
func (o outcome) killed() bool { return slices.Contains([]string{failed, crashed, timeOut}, o.How) }

// emulator is what comes before the path of a binary for arm64.
const emulator = "qemu-aarch64 -cpu max "

// A runner runs the tests on mutants, in its own copies of the binaries.
type runner struct {
	suite  *suite
	copies map[*binary]string
	kills  map[string]int // by name of function, package and test
}

func newRunner(p *suite, number int) (*runner, error) {
	r := &runner{suite: p, copies: make(map[*binary]string), kills: make(map[string]int)}
	for _, b := range p.binaries {
		image, err := os.ReadFile(b.path)
		if err != nil {
			return nil, err
		}
		r.copies[b] = fmt.Sprintf("%s.%d", b.path, number)
		if err := os.WriteFile(r.copies[b], image, 0o700); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// A group of tests runs in one process.
type group struct {
	*binary
	names []string
	cpu   time.Duration
}

// groups returns the tests that run on a mutant, and how many execute it. In all they take at most so
// much time of the CPU as most. Those that have killed mutants of the same function come first and
// alone, and before others the one that has killed most in the time that it takes. The others, of
// which the fastest are taken, are one group for each binary.
func (r *runner) groups(m *mutant, most time.Duration) (alone, others []*group, executing int) {
	var tests []*test
	score, cost := make(map[*test]float64), make(map[*test]time.Duration)
	for _, b := range r.suite.binaries {
		for _, t := range b.tests {
			if t.Reaches[m.number] {
				tests = append(tests, t)
				score[t] = float64(r.kills[m.function.Name+" "+b.pkg+" "+t.Name]) / float64(t.CPU+5*time.Millisecond)
				cost[t] = t.CPU
				if t.Idle {
					cost[t] += time.Hour // after all others
				}
			}
		}
	}
	slices.SortStableFunc(tests, func(a, b *test) int {
		return cmp.Or(cmp.Compare(score[b], score[a]), cmp.Compare(cost[a], cost[b]))
	})
	for _, t := range tests {
		if t.CPU > most {
			continue
		}
		most -= t.CPU
		if score[t] > 0 {
			alone = append(alone, &group{t.binary, []string{t.Name}, t.CPU})
			continue
		}
		k := slices.IndexFunc(others, func(g *group) bool { return g.binary == t.binary })
		if k < 0 {
			k = len(others)
			others = append(others, &group{binary: t.binary})
		}
		others[k].names = append(others[k].names, t.Name)
		others[k].cpu += t.CPU
	}
	return alone, others, len(tests)
}

// try runs tests that execute a mutant, until one fails.
func (r *runner) try(m *mutant, most time.Duration) (outcome, error) {
	alone, others, executing := r.groups(m, most)
	if executing == 0 {
		return outcome{How: unreached}, nil
	}
	for _, g := range append(alone, others...) {
		o, err := r.tryGroup(g, m)
		if err != nil || o.How != survived {
			r.kills[m.function.Name+" "+o.Test]++
			return o, err
		}
	}
	return outcome{How: survived}, nil
}

// How much time of the CPU tests take at most that run on all mutants, on those that are refused,
// and on those that are undecided.
const (
	fewTests  = 200 * time.Millisecond
	moreTests = 600 * time.Millisecond
	allTests  = time.Hour
)

// tryGroup patches the binary of a group, runs its tests and restores the binary.
func (r *runner) tryGroup(g *group, m *mutant) (o outcome, err error) {
	path := r.copies[g.binary]
	at := g.at[m.function.Name]
	original := at.Code[m.offset():][:len(m.after)]
	if err := overwrite(path, at.Offset+m.offset(), m.patch(original)); err != nil {
		return o, err
	}
	defer func() { err = errors.Join(err, overwrite(path, at.Offset+m.offset(), original)) }()
	command := path
	if r.suite.isEmulated() {
		command = emulator + path
	}
	state, out, err := run(g.dir, command, only(g.names...), 2+uint64(3*g.cpu/time.Second))
	if err != nil {
		return o, err
	}
	o.Test = g.pkg
	if name := failure.FindSubmatch(out); name != nil {
		o.Test += " " + string(name[1])
	} else if len(g.names) == 1 {
		o.Test += " " + g.names[0]
	}
	status := state.Sys().(syscall.WaitStatus)
	switch {
	case status.Signaled() && status.Signal() == syscall.SIGKILL:
		o.How = timeOut
	case status.Signaled() || strings.Contains(string(out), "fatal error:") || strings.Contains(string(out), "unexpected signal") || status.ExitStatus() == 2 && !strings.Contains(string(out), "--- FAIL"):
		o.How = crashed
	case status.ExitStatus() != 0:
		o.How = failed
	default:
		o.How = survived
	}
	return o, nil
}

// overwrite replaces bytes of a file. No process may start meanwhile: it would have the file open for
// writing until it executes its program.
func overwrite(path string, at int64, b []byte) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(b, at)
	return errors.Join(err, f.Close())
}

// each calls do for all mutants, for so many at a time as there are workers, until the end or an
// error.
func (s *session) each(mutants []*mutant, do func(m *mutant) error) error {
	var calls errgroup.Group
	var failed atomic.Bool
	calls.SetLimit(s.workers)
	for _, m := range mutants {
		if failed.Load() || time.Now().After(s.end) {
			break
		}
		calls.Go(func() error {
			err := do(m)
			failed.CompareAndSwap(false, err != nil)
			return err
		})
	}
	return calls.Wait()
}
