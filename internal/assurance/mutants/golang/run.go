// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A step is a package whose tests run, variables of the environment, and the flags of its test binary.
type step struct {
	dir   string
	env   []string
	flags []string
	bin   string
	limit int // seconds of CPU time; ten times as many, and five minutes, for a test that only waits
}

type runner struct {
	tags  string
	alone bool
	temp  string
	steps []step
}

// setSteps sets the steps, each a package, variables and flags.
func (r *runner) setSteps(args []string) {
	for _, arg := range args {
		words := strings.Fields(arg)
		first := 1
		for first < len(words) && !strings.HasPrefix(words[first], "-") {
			first++
		}
		r.steps = append(r.steps, step{dir: words[0], env: words[1:first], flags: words[first:]})
	}
}

// runAll tests mutants, package by package, and wipes, which need no copies of functions, all together.
func (r *runner) runAll(list []*mutant) error {
	temp, err := os.MkdirTemp("", "fastmac-mutants-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	r.temp = temp
	for len(list) > 0 {
		n := 1
		for n < len(list) && (list[n].kind == wipeRemoved || filepath.Dir(list[n].file) == filepath.Dir(list[0].file)) {
			n++
		}
		if err := r.run(list[:n]); err != nil {
			return err
		}
		list = list[n:]
	}
	return nil
}

// run tests mutants, and prints each when it is done.
func (r *runner) run(list []*mutant) error {
	var together, single []*mutant
	schemas := map[string]*schema{}
	for _, m := range list {
		s := schemas[m.file]
		if s == nil {
			var err error
			if s, err = newSchema(m.file); err != nil {
				return err
			}
			schemas[m.file] = s
		}
		switch {
		case m.status != covered:
			fmt.Println(m)
		case r.alone || !s.add(m):
			single = append(single, m)
		default:
			together = append(together, m)
			m.number = len(together)
		}
	}
	if err := r.build(schemas, together); err != nil {
		return err
	}
	if err := r.measure(); err != nil {
		return err
	}
	for _, m := range together {
		if m.status == covered {
			r.test(m)
		}
		fmt.Println(m)
	}
	for _, m := range single {
		s := schemas[m.file].source
		s = s[:m.offset] + m.text + s[m.offset+len(m.old):]
		if out, err := r.compile(map[string]string{m.file: s}); err != nil {
			log.Printf("%s:%d: %s", m.file, m.line, out)
			m.status = notViable
		} else {
			r.test(m)
		}
		fmt.Println(m)
	}
	return nil
}

// broken matches an error of the compiler in a copy.
var broken = regexp.MustCompile(`(?m)^\S*mutant(\d+)\.go:\d+`)

// build builds the tests, without the mutants that do not compile.
func (r *runner) build(schemas map[string]*schema, mutants []*mutant) error {
	for {
		sources := map[string]string{}
		for file, s := range schemas {
			sources[file] = s.print()
			sources[filepath.Join(filepath.Dir(file), "zz_mutant.go")] = s.chooser()
		}
		out, err := r.compile(sources)
		if err == nil {
			return nil
		}
		found := broken.FindAllStringSubmatch(out, -1)
		if found == nil {
			return fmt.Errorf("%w\n%s", err, out)
		}
		for _, match := range found {
			n, _ := strconv.Atoi(match[1])
			mutants[n-1].status = notViable
		}
	}
}

// measure sets the limit of each step: twice what it takes without a mutant, plus two seconds.
func (r *runner) measure() error {
	for i := range r.steps {
		st := &r.steps[i]
		st.limit = 600
		out, cpu, err := st.run(0)
		if err != nil {
			return fmt.Errorf("%s, no mutant: %w\n%s", st.dir, err, out)
		}
		st.limit = 2 + int(2*cpu.Seconds())
	}
	return nil
}

// compile builds the packages with these files in them, and the test binaries of all steps.
func (r *runner) compile(sources map[string]string) (string, error) {
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	dirs := map[string]bool{}
	for name, source := range sources {
		path, err := filepath.Abs(name)
		if err != nil {
			return "", err
		}
		dirs[filepath.Dir(name)] = true
		overlay.Replace[path] = filepath.Join(r.temp, fmt.Sprintf("%d_%s", len(overlay.Replace), filepath.Base(name)))
		if err := os.WriteFile(overlay.Replace[path], []byte(source), 0o600); err != nil {
			return "", err
		}
	}
	data, err := json.Marshal(overlay)
	if err != nil {
		return "", err
	}
	name := filepath.Join(r.temp, "overlay.json")
	if err := os.WriteFile(name, data, 0o600); err != nil {
		return "", err
	}
	common := []string{"-overlay", name, "-tags", r.tags}
	run := func(dir string, args ...string) (string, error) {
		cmd := exec.Command("go", slices.Concat(args, common, []string{"."})...)
		cmd.Dir = dir // it may be in a module of its own
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	for dir := range dirs {
		if out, err := run(dir, "build", "-gcflags=-e", "-o", os.DevNull); err != nil {
			return out, err
		}
	}
	built := map[string]string{} // the binary of a package
	for i := range r.steps {
		st := &r.steps[i]
		if st.bin = built[st.dir]; st.bin != "" {
			continue
		}
		st.bin = filepath.Join(r.temp, fmt.Sprintf("%d.test", i))
		built[st.dir] = st.bin
		if out, err := run(st.dir, "test", "-c", "-vet=off", "-o", st.bin); err != nil {
			return out, err
		}
	}
	return "", nil
}

// test runs the steps until one fails.
func (r *runner) test(m *mutant) {
	m.status = lived
	for i := range r.steps {
		st := &r.steps[i]
		out, _, err := st.run(m.number)
		if err == nil {
			continue
		}
		m.status = killed
		m.by = firstFailure(out)
		if m.by == "" && (strings.Contains(out, "SIGXCPU") || !strings.Contains(out, "panic")) ||
			strings.Contains(out, "panic: test timed out") {
			m.status = timedOut
		}
		return
	}
}

var failure = regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)`)

func firstFailure(out string) string {
	if at := failure.FindStringSubmatch(out); at != nil {
		return at[1]
	}
	return ""
}

// run runs the tests with a mutant, or without one if number is 0.
func (st *step) run(number int) (string, time.Duration, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", append([]string{"-c",
		fmt.Sprintf(`ulimit -t %d; ulimit -d 8000000; exec "$@"`, st.limit), "sh",
		st.bin, "-test.failfast", fmt.Sprintf("-test.timeout=%ds", max(10*st.limit, 300))}, st.flags...)...)
	cmd.Dir = st.dir
	cmd.Env = append(slices.Concat(os.Environ(), st.env), fmt.Sprintf("%s=%d", variable, number))
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	state := cmd.ProcessState
	if state == nil {
		return string(out), 0, err
	}
	return string(out), state.UserTime() + state.SystemTime(), err
}
