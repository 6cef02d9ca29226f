// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"bytes"
	"encoding/xml"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the expected tables and chart anew")

const sample = "testdata/results.json"

func readSample(t *testing.T) *results {
	t.Helper()
	r, err := readResults(sample)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestRender(t *testing.T) {
	for file, as := range map[string]func(*results) string{
		"testdata/table.txt": text,
		"testdata/table.md":  markdown,
		"testdata/chart.svg": chart,
		"testdata/bars.svg":  bars,
	} {
		got := as(readSample(t))
		if again := as(readSample(t)); again != got {
			t.Errorf("%s: two runs differ", file)
		}
		if *update {
			if err := os.WriteFile(file, []byte(got), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s has changed; if that is meant, run go test -update and look at it. Now:\n%s", file, got)
		}
		r := readSample(t)
		for _, fact := range []string{r.CPU, r.Go, r.Commit, r.Command} {
			if !strings.Contains(got, fact) {
				t.Errorf("%s does not state %q", file, fact)
			}
		}
	}
}

// TestRenderGaps renders results in which peers are missing.
func TestRenderGaps(t *testing.T) {
	full := readSample(t)
	for name, keep := range map[string]func(row) bool{
		"no GMAC":   func(r row) bool { return r.Alg != "gmac" },
		"no stdlib": func(r row) bool { return !strings.HasPrefix(r.Impl, "crypto/") },
		"no C":      func(r row) bool { return r.contender().peer() == goPeer },
		"only read": func(r row) bool { return r.Group == "read" },
		"one row":   func(r row) bool { return r == full.Rows[0] },
		"one size":  func(r row) bool { return r.Size == 64 },
	} {
		r := *full
		r.Rows = nil
		for _, row := range full.Rows {
			if keep(row) {
				r.Rows = append(r.Rows, row)
			}
		}
		r.Command = `-o "<&>"`
		for _, as := range []func(*results) string{text, markdown, chart, bars} {
			if got := as(&r); strings.Contains(got, "NaN") || strings.Contains(got, "Inf") {
				t.Errorf("%s: %s", name, got)
			}
		}
		wellFormed(t, chart(&r))
		wellFormed(t, bars(&r))
	}
}

func wellFormed(t *testing.T, svg string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(svg))
	for {
		if _, err := d.Token(); err == io.EOF {
			return
		} else if err != nil {
			t.Errorf("chart: %v\n%s", err, svg)
			return
		}
	}
}

func TestResultsFile(t *testing.T) {
	r := readSample(t)
	path := filepath.Join(t.TempDir(), "results.json")
	if err := r.write(path); err != nil {
		t.Fatal(err)
	}
	again, err := readResults(path)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(r, again) {
		t.Errorf("written %+v, read %+v", r, again)
	}
	got, _ := os.ReadFile(path)
	want, _ := os.ReadFile(sample)
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not as it would be written:\n%s", sample, got)
	}
	if err := r.write(filepath.Join(path, "x")); err == nil || !strings.HasPrefix(err.Error(), "fastmac: ") {
		t.Errorf("write to a bad path: error %v", err)
	}

	for _, bad := range []string{
		"", "[]", "{}", `{"rows":[]}`,
		`{"rows":[{"group":"message","size":16,"ns":0}]}`,
		`{"rows":[{"group":"message","size":0,"ns":1}]}`,
		`{"rows":[{"group":"message","size":16,"ns":"x"}]}`,
	} {
		if err := os.WriteFile(path, []byte(bad), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := readResults(path); err == nil || !strings.HasPrefix(err.Error(), "fastmac: results ") {
			t.Errorf("results %q: error %v", bad, err)
		}
	}
}

func TestSpreadOut(t *testing.T) {
	for _, test := range []struct{ want, at []float64 }{
		{nil, nil},
		{[]float64{5}, []float64{5}},
		{[]float64{30, 10}, []float64{30, 10}},
		{[]float64{12, 8}, []float64{15, 5}},
		{[]float64{10, 10, 10}, []float64{0, 10, 20}},
		{[]float64{0, 11, 12, 40}, []float64{-2.333, 7.667, 17.667, 40}},
	} {
		at := spreadOut(test.want, 10)
		got, want := fmt.Sprintf("%.3f", at), fmt.Sprintf("%.3f", test.at)
		if got != want {
			t.Errorf("%v: %s, want %s", test.want, got, want)
		}
	}
}

func TestNumbers(t *testing.T) {
	for v, want := range map[float64]string{0.004: "0.00", 1.234: "1.23", 9.994: "9.99", 9.996: "10.0", 99.94: "99.9", 99.96: "100", 123456.7: "123457"} {
		if got := number(v); got != want {
			t.Errorf("number(%v) = %s, want %s", v, got, want)
		}
	}
	for v, want := range map[float64]string{0.0123: "0.012", 0.0994: "0.099", 0.0996: "0.10", 0.5: "0.50"} {
		if got := ratio(v); got != want {
			t.Errorf("ratio(%v) = %s, want %s", v, got, want)
		}
	}
	for q, want := range map[float64]float64{0: 1, 0.25: 1.75, 0.5: 2.5, 1: 4} {
		if got := quantile([]float64{1, 2, 3, 4}, q); got != want {
			t.Errorf("quantile %v: %v, want %v", q, got, want)
		}
	}
	if got := quantile([]float64{1, 2, 9}, 0.5); got != 2 {
		t.Errorf("median of three: %v, want 2", got)
	}
}
