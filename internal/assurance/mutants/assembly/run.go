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
	"syscall"
	"time"
	"unsafe"
)

// An outcome is what the tests say about a mutant.
type outcome struct {
	how  string // survived, failed, crashed, timeOut, unreached
	test string // that killed it
}

const (
	survived  = "survived"
	failed    = "fail"         // a test fails, or panics
	crashed   = "crash"        // the process dies otherwise
	timeOut   = "time"         // it uses too much
	unreached = "not executed" // by any test
)

// killed reports whether a test fails.
func (o outcome) killed() bool { return slices.Contains([]string{failed, crashed, timeOut}, o.how) }

// A runner runs the tests on mutants, in its own copies of the binaries.
type runner struct {
	program *program
	copies  map[*binary]string
	kills   map[string]int // by name of function, package and test
}

func newRunner(p *program, number int) (*runner, error) {
	r := &runner{program: p, copies: make(map[*binary]string), kills: make(map[string]int)}
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
func (p *program) executing(i *instruction) (tests []*test) {
	for _, b := range p.binaries {
		for _, t := range b.tests {
			if t.reaches[i.first+i.index] {
				tests = append(tests, t)
			}
		}
	}
	return tests
}

// groups returns tests in groups, the fastest tests first. Tests that would need more CPU time
// than most in all are left out. Each group takes about as much time as all groups before it.
func groups(tests []*test, most time.Duration) (all []*group) {
	slices.SortStableFunc(tests, func(a, b *test) int {
		if a.idle != b.idle {
			return map[bool]int{false: -1, true: 1}[a.idle]
		}
		return int(a.cpu - b.cpu)
	})
	fits := 0
	for fits < len(tests) && tests[fits].cpu <= most {
		most -= tests[fits].cpu
		fits++
	}
	tests = tests[:fits]
	limit := 15 * time.Millisecond
	for len(tests) > 0 {
		var sum time.Duration
		n := 0
		for n < len(tests) && (n == 0 || sum+tests[n].cpu <= limit) {
			sum += tests[n].cpu
			n++
		}
		first := len(all)
		for _, t := range tests[:n] {
			k := slices.IndexFunc(all[first:], func(g *group) bool { return g.binary == t.binary })
			if k < 0 {
				k = len(all) - first
				all = append(all, &group{binary: t.binary})
			}
			all[first+k].names = append(all[first+k].names, t.name)
			all[first+k].cpu += t.cpu
		}
		tests = tests[n:]
		limit *= 3
	}
	return all
}

// try runs tests that execute a mutant, until one fails: first those that have killed mutants
// of the same function, then the fastest. In all they take at most so much time of the CPU as
// most.
func (r *runner) try(p *program, m *mutant, most time.Duration) (outcome, error) {
	tests := p.executing(m.instruction)
	if len(tests) == 0 {
		return outcome{how: unreached}, nil
	}
	var all []*group
	for _, t := range r.killers(m, tests) {
		if t.cpu <= most {
			most -= t.cpu
			all = append(all, &group{t.binary, []string{t.name}, t.cpu})
			tests = slices.DeleteFunc(tests, func(other *test) bool { return other == t })
		}
	}
	for _, g := range append(all, groups(tests, most)...) {
		o, err := r.tryGroup(g, m)
		if err != nil || o.how != survived {
			r.kills[m.function.name+" "+o.test]++
			return o, err
		}
	}
	return outcome{how: survived}, nil
}

// How much time of the CPU tests take at most that run on all mutants, on those that command
// verify refuses, and on those on which it cannot decide.
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
		if n := r.kills[m.function.name+" "+t.pkg+" "+t.name]; n > 0 {
			all = append(all, t)
			score[t] = float64(n) / float64(t.cpu+5*time.Millisecond)
		}
	}
	slices.SortStableFunc(all, func(a, b *test) int { return cmp.Compare(score[b], score[a]) })
	return all
}

// tryGroup patches the binary of a group, runs its tests and restores the binary.
func (r *runner) tryGroup(g *group, m *mutant) (o outcome, err error) {
	path := r.copies[g.binary]
	at := g.at[m.function.name].offset + int64(m.offset)
	original, err := exchange(path, at, len(m.bytes), func(b []byte) []byte { return m.patch(b) })
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
	o.test = g.pkg
	if name := failure.FindSubmatch(out); name != nil {
		o.test += " " + string(name[1])
	} else if len(g.names) == 1 {
		o.test += " " + g.names[0]
	}
	status := state.Sys().(syscall.WaitStatus)
	switch {
	case status.Signaled() && status.Signal() == syscall.SIGKILL:
		o.how = timeOut
	case status.Signaled() || strings.Contains(string(out), "fatal error:") || strings.Contains(string(out), "unexpected signal") || status.ExitStatus() == 2 && !strings.Contains(string(out), "--- FAIL"):
		o.how = crashed
	case status.ExitStatus() != 0:
		o.how = failed
	default:
		o.how = survived
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

// tryAll calls done with the outcome of each mutant, until the end or an error. The tests of
// each take at most so much time of the CPU as most.
func (p *program) tryAll(end time.Time, runners []*runner, all []*mutant, most time.Duration, done func(m *mutant, o outcome)) error {
	errs := make([]error, len(runners))
	var mu sync.Mutex
	next, stop := 0, false
	var wait sync.WaitGroup
	for w, r := range runners {
		wait.Go(func() {
			for errs[w] == nil && time.Now().Before(end) {
				mu.Lock()
				n := next
				next++
				ended := stop || n >= len(all)
				mu.Unlock()
				if ended {
					return
				}
				o, err := r.try(p, all[n], most)
				mu.Lock()
				if err == nil {
					done(all[n], o)
				} else {
					errs[w], stop = err, true
				}
				mu.Unlock()
			}
		})
	}
	wait.Wait()
	return errors.Join(errs...)
}
