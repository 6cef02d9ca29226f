// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.com/fastmac/internal/measure"
)

// profiled measures the candidates in turn, each for about that time. It returns the functions in which each spent
// its time, from a profile. An interrupt for a sample makes one slice of hundreds longer, which is
// not the least then. In less time than is between two samples there is no profile.
func profiled(ctx context.Context, all []*candidate, each time.Duration) (ran []string, err error) {
	var cells []*measure.Cell
	for i, c := range all {
		labels, choose := pprof.WithLabels(ctx, pprof.Labels("candidate", strconv.Itoa(i))), c.Before
		c.Before = func() {
			pprof.SetGoroutineLabels(labels)
			choose()
		}
		cells = append(cells, &c.Cell)
	}
	defer pprof.SetGoroutineLabels(ctx)
	folder, err := os.MkdirTemp("", "compare-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	f, err := os.Create(filepath.Join(folder, "cpu"))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if err := pprof.StartCPUProfile(f); err != nil {
		return nil, err
	}
	err = measure.InTurn(ctx, cells, slice, each*time.Duration(len(all)), func(time.Duration) {})
	pprof.StopCPUProfile()
	if err != nil {
		return nil, err
	}
	if each < 10*time.Millisecond {
		return make([]string, len(all)), nil // pprof, which Go does not bring with it, takes longest to build
	}
	cmd := exec.CommandContext(ctx, "go", "tool", "pprof", "-traces", f.Name())
	cmd.Env = append(os.Environ(), "GOOS=", "GOARCH=") // it is built if it is not there
	out, err := cmd.CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, bytes.TrimSpace(out))
	}
	return leaves(string(out), len(all)), nil
}

var (
	labelled = regexp.MustCompile(`(?m)^ +candidate: +(\d+)$`)
	leaf     = regexp.MustCompile(`(?m)^ +([\d.]+)(ms|s)   (\S+)`)
)

// leaves returns, for each of n candidates, the functions that have at least a fifth of its samples in
// the traces of pprof, the one with most first, without those of the Go runtime.
func leaves(traces string, n int) []string {
	samples := make([]map[string]float64, n)
	for trace := range strings.SplitSeq(traces, "-----------+") {
		label, top := labelled.FindStringSubmatch(trace), leaf.FindStringSubmatch(trace)
		if label == nil || top == nil {
			continue
		}
		i, _ := strconv.Atoi(label[1])
		value, _ := strconv.ParseFloat(top[1], 64)
		if top[2] == "s" {
			value *= 1000
		}
		if samples[i] == nil {
			samples[i] = make(map[string]float64)
		}
		samples[i][path.Base(top[3])] += value
	}
	ran := make([]string, n)
	for i, functions := range samples {
		all := 0.0
		for _, value := range functions {
			all += value
		}
		var names []string
		for name, value := range functions {
			if value >= all/5 && !strings.HasPrefix(name, "runtime.") {
				names = append(names, name)
			}
		}
		slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(functions[b], functions[a]), strings.Compare(a, b)) })
		ran[i] = strings.Join(names, ", ")
	}
	return ran
}
