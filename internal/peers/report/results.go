// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package report holds the results files, and the tables and charts that are made from
// them.
package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/aclements/go-moremath/stats"

	"example.com/fastmac/internal/kernel"
	"example.com/fastmac/internal/peers/check"
	"example.com/fastmac/internal/peers/rivals"
)

// Results is a results file: one run on one machine.
type Results struct {
	Name     string        `json:"-"` // of the file, without .json
	CPU      string        `json:"cpu"`
	OS       string        `json:"os"`
	Platform string        `json:"platform"`
	Cores    int           `json:"cores"`
	Go       string        `json:"go"`
	Kernels  kernel.Report `json:"kernels"`
	Commit   string        `json:"commit"`
	Command  string        `json:"command"`
	Date     string        `json:"date"`
	Rounds   int           `json:"rounds"`   // fewer in groups whose runs are longer
	MinTime  string        `json:"min_time"` // of a run

	// Statistic is the name of how rounds become a figure.
	Statistic string `json:"statistic"`

	Versions map[string]string `json:"versions"`
	LeftOut  []string          `json:"left_out"`
	Check    *check.Report     `json:"check,omitempty"` // of runs with -check
	Rows     []Row             `json:"rows"`
}

// Row is the time of a contender at a size, in nanoseconds per message, and the ends of
// its spread, both as the results' statistic defines them. In group "key" it is the time
// to set up a key, in group "hmac-sum" the time for a key and a message, in groups "pbkdf2" and "hkdf" that for
// a derived key, and in group "ssh" the time from a write to its arrival.
type Row struct {
	Group string  `json:"group"`
	Impl  string  `json:"impl"`
	Alg   string  `json:"alg"`
	Mode  string  `json:"mode"`
	Size  int     `json:"size"` // bytes
	NS    float64 `json:"ns"`
	Low   float64 `json:"q1"`
	High  float64 `json:"q3"`
}

// A statistic makes a figure and the ends of its spread of the times of the rounds: three
// quantiles, and what readers are told about them.
type statistic struct {
	name, spread  string
	at, low, high float64
}

var (
	// quiet is the one that is used. On a machine that others use too most rounds may be slow,
	// and the median is then a figure of these others. The quietest rounds agree from run
	// to run; of the minimum, a single round decides. In five runs on two cores of Zen 4,
	// which twelve other processes shared, nine of ten ratios differed by less than 3.1 %
	// from one run to another (half of them 1.2 %), with the first quartile 11 % (3.6 %), and
	// with the median of ten rounds of 50 ms, 60 % (24 %).
	quiet = statistic{"5th percentile", "from the 2nd to the 10th percentile of the rounds", 0.05, 0.02, 0.1}
)

// Quiet is the name of the statistic of [NewRow].
var Quiet = quiet.name

// NewRow returns the row of a contender that needed these nanoseconds per message.
// It rounds to hundredths of a nanosecond.
func NewRow(group string, c rivals.Contender, size int, ns []float64) Row {
	impl, alg, mode := c.Parts()
	sample := stats.Sample{Xs: ns}
	quantile := func(q float64) float64 { return math.Round(100*sample.Quantile(q)) / 100 }
	return Row{group, impl, alg, mode, size, quantile(quiet.at), quantile(quiet.low), quantile(quiet.high)}
}

// Contender returns the contender of the row.
func (r Row) Contender() rivals.Contender {
	return rivals.Contender(r.Impl + ":" + r.Alg + ":" + r.Mode)
}

// gbps is the throughput in GB/s, 10^9 bytes per second.
func (r Row) gbps() float64 { return float64(r.Size) / r.NS }

// spread is the width of the spread, as a share of the figure.
func (r Row) spread() float64 { return (r.High - r.Low) / r.NS }

// find returns the row of a contender at a size.
func (r *Results) find(group string, c rivals.Contender, size int) (Row, bool) {
	for _, row := range r.Rows {
		if row.Group == group && row.Size == size && row.Contender() == c {
			return row, true
		}
	}
	return Row{}, false
}

// group returns the rows of a group.
func (r *Results) group(name string) (rows []Row) {
	for _, row := range r.Rows {
		if row.Group == name {
			rows = append(rows, row)
		}
	}
	return rows
}

// ReadAll reads the results files in dir, in the order of their names.
func ReadAll(dir string) (all []*Results, err error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(files) == 0 {
		return nil, errors.Join(err, fmt.Errorf("fastmac: no results in %s", dir))
	}
	for _, file := range files {
		r, err := Read(file)
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}

// Read reads a results file.
func Read(path string) (*Results, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("fastmac: results: %w", err)
	}
	r := &Results{Name: strings.TrimSuffix(filepath.Base(path), ".json")}
	if err := json.Unmarshal(data, r); err != nil {
		return nil, fmt.Errorf("fastmac: results %s: %w", path, err)
	}
	if len(r.Rows) == 0 && r.Check == nil {
		return nil, fmt.Errorf("fastmac: results %s: no rows", path)
	}
	if r.Statistic != quiet.name {
		return nil, fmt.Errorf("fastmac: results %s: statistic %q, want %q", path, r.Statistic, quiet.name)
	}
	for i, row := range r.Rows {
		if !(row.NS > 0) || row.Size <= 0 {
			return nil, fmt.Errorf("fastmac: results %s: row %d: %v ns for %d bytes", path, i, row.NS, row.Size)
		}
	}
	return r, nil
}

// Write writes a results file. Each row is on one line, so that a diff shows which
// rows changed.
func (r *Results) Write(path string) error {
	data, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return err
	}
	data = regexp.MustCompile(`\n   |\n  (})`).ReplaceAll(data, []byte("$1"))
	if err := os.WriteFile(path, append(data, '\n'), 0o666); err != nil {
		return fmt.Errorf("fastmac: results: %w", err)
	}
	return nil
}
