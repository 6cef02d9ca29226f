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
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
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
)

// killed reports whether a test fails.
func (o outcome) killed() bool { return slices.Contains([]string{failed, crashed, timeOut}, o.How) }

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

// executing returns the tests that execute an instruction.
func (p *suite) executing(i *instruction) (tests []*test) {
	for _, b := range p.binaries {
		for _, t := range b.tests {
			if t.Reaches[i.number] {
				tests = append(tests, t)
			}
		}
	}
	return tests
}

// groups returns one group for each binary, of the fastest tests. Tests that would need more CPU
// time than most in all are left out.
func groups(tests []*test, most time.Duration) (found []*group) {
	slices.SortStableFunc(tests, func(a, b *test) int {
		if a.Idle != b.Idle {
			return map[bool]int{false: -1, true: 1}[a.Idle]
		}
		return cmp.Compare(a.CPU, b.CPU)
	})
	for _, t := range tests {
		if most -= t.CPU; most < 0 {
			break
		}
		k := slices.IndexFunc(found, func(g *group) bool { return g.binary == t.binary })
		if k < 0 {
			k = len(found)
			found = append(found, &group{binary: t.binary})
		}
		found[k].names = append(found[k].names, t.Name)
		found[k].cpu += t.CPU
	}
	return found
}

// try runs tests that execute a mutant, until one fails: first those that have killed mutants
// of the same function, then the fastest. In all they take at most so much time of the CPU as
// most.
func (r *runner) try(m *mutant, most time.Duration) (outcome, error) {
	tests := r.suite.executing(m.instruction)
	if len(tests) == 0 {
		return outcome{How: unreached}, nil
	}
	var all []*group
	for _, t := range r.killers(m, tests) {
		if t.CPU <= most {
			most -= t.CPU
			all = append(all, &group{t.binary, []string{t.Name}, t.CPU})
			tests = slices.DeleteFunc(tests, func(other *test) bool { return other == t })
		}
	}
	for _, g := range append(all, groups(tests, most)...) {
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

// killers returns those of the tests that have killed other mutants of the same function. The
// one that has killed most, in the time that it takes, comes first.
func (r *runner) killers(m *mutant, tests []*test) (all []*test) {
	score := make(map[*test]float64)
	for _, t := range tests {
		if n := r.kills[m.function.Name+" "+t.pkg+" "+t.Name]; n > 0 {
			all = append(all, t)
			score[t] = float64(n) / float64(t.CPU+5*time.Millisecond)
		}
	}
	slices.SortStableFunc(all, func(a, b *test) int { return cmp.Compare(score[b], score[a]) })
	return all
}

// tryGroup patches the binary of a group, runs its tests and restores the binary.
func (r *runner) tryGroup(g *group, m *mutant) (o outcome, err error) {
	path := r.copies[g.binary]
	at := g.at[m.function.Name].Offset + m.offset()
	original, err := exchange(path, at, len(m.after), m.patch)
	if err != nil {
		return o, err
	}
	defer func() {
		if _, e := exchange(path, at, len(original), func([]byte) []byte { return original }); err == nil {
			err = e
		}
	}()
	state, out, err := run(g.dir, path, only(g.names...), 2+uint64(3*g.cpu/time.Second))
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

// exchange replaces n bytes of a file and returns those that were there. No process may start
// meanwhile: it would have the file open for writing until it executes its program.
func exchange(path string, at int64, n int, change func([]byte) []byte) ([]byte, error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	old := make([]byte, n)
	if _, err := f.ReadAt(old, at); err != nil {
		return nil, err
	}
	_, err = f.WriteAt(change(slices.Clone(old)), at)
	return old, err
}

// limitCPU sets the time of the CPU after which a process is killed.
func limitCPU(pid int, seconds uint64) error {
	limit := syscall.Rlimit{Cur: seconds, Max: seconds}
	_, _, e := syscall.RawSyscall6(syscall.SYS_PRLIMIT64, uintptr(pid), syscall.RLIMIT_CPU, uintptr(unsafe.Pointer(&limit)), 0, 0, 0)
	if e != 0 && e != syscall.ESRCH {
		return e
	}
	return nil
}

// each calls do for all mutants, until the end or an error. So many calls run at a time as there are
// workers, whose number each has.
func (s *session) each(all []*mutant, do func(worker int, m *mutant) error) error {
	next := make(chan *mutant)
	errs := make([]error, s.workers)
	var failed atomic.Bool
	var wait sync.WaitGroup
	for w := range errs {
		wait.Go(func() {
			for m := range next {
				if failed.Load() || time.Now().After(s.end) {
					continue
				}
				if err := do(w, m); err != nil {
					errs[w] = err
					failed.Store(true)
				}
			}
		})
	}
	for _, m := range all {
		next <- m
	}
	close(next)
	wait.Wait()
	return errors.Join(errs...)
}
