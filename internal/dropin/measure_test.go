// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package dropin

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var measure = flag.Int("measure", 0, "rounds of benchmarks of the modules, before and after the change")

// nsPerOp is a line of a benchmark.
var nsPerOp = regexp.MustCompile(`(?m)^Benchmark(\S+)\s+\d+\s+([\d.]+) ns/op`)

// TestMeasure runs the benchmarks of modules, and ours, before and after the change in turn, and prints
// the quietest round of each.
func TestMeasure(t *testing.T) {
	rounds := *measure
	if rounds == 0 && os.Getenv("FASTMAC_TEST_LONG") != "" {
		rounds = 1 // that they run
	}
	if rounds == 0 {
		t.Skip("downloads modules of other people: needs -measure, or FASTMAC_TEST_LONG=1 for one round")
	}
	ours := named(t, "measure.invalid")
	for _, m := range modules {
		if m.lines > 0 {
			ours.with = append(ours.with, m.path)
		}
	}
	least := make(map[string][2]float64)
	for _, m := range modules {
		if m.benchmarks == nil {
			continue
		}
		if m.path == ours.path {
			m = ours
		}
		w := []tree{newTree(t, m), newTree(t, m)}
		w[1].move(t, m)
		var env []string
		if m.server != nil {
			env = m.server(t, w[0].main)
		}
		for _, folder := range slices.Sorted(maps.Keys(m.benchmarks)) {
			var programs [2]string
			for i := range w {
				programs[i] = filepath.Join(t.TempDir(), "measure.test")
				goRun(t, w[i].main, nil, "test", "-mod=mod", "-c", "-trimpath", "-o", programs[i], folder)
			}
			for range rounds {
				for i, name := range programs {
					cmd := exec.Command(name, "-test.run=^$", "-test.bench="+m.benchmarks[folder], "-test.benchtime=20ms", "-test.cpu=1")
					cmd.Dir, cmd.Env = filepath.Join(w[i].main, folder), append(cmd.Environ(), env...)
					out, err := cmd.CombinedOutput()
					lines := nsPerOp.FindAllSubmatch(out, -1)
					if err != nil || len(lines) == 0 {
						t.Fatalf("%v: %v\n%s", cmd, err, out)
					}
					for _, line := range lines {
						ns, err := strconv.ParseFloat(string(line[2]), 64)
						if err != nil {
							t.Fatal(err)
						}
						row := fmt.Sprintf("| `%s` | %s |", m.path, line[1])
						times := least[row]
						if times[i] == 0 || ns < times[i] {
							times[i] = ns
						}
						least[row] = times
					}
				}
			}
		}
	}
	var b strings.Builder
	for _, row := range slices.Sorted(maps.Keys(least)) {
		times := least[row]
		fmt.Fprintf(&b, "%s %.2f | %.2f | %.0f %% |\n", row, times[0]/1000, times[1]/1000, 100*times[1]/times[0])
	}
	t.Logf("%s, %d rounds, µs:\n%s", runtime.Version(), rounds, &b)
}
