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

	"example.com/fastmac"
	"example.com/fastmac/internal/peers/rivals"
)

// Results is a results file: one run on one machine.
type Results struct {
	Name     string            `json:"-"` // of the file, without .json
	CPU      string            `json:"cpu"`
	OS       string            `json:"os"`
	Platform string            `json:"platform"`
	Cores    int               `json:"cores"`
	Go       string            `json:"go"`
	Kernels  fastmac.Features  `json:"kernels"`
	Commit   string            `json:"commit"`
	Command  string            `json:"command"`
	Date     string            `json:"date"`
	Rounds   int               `json:"rounds"`
	MinTime  string            `json:"min_time"` // of a run
	Versions map[string]string `json:"versions"`
	LeftOut  []string          `json:"left_out"`
	Rows     []Row             `json:"rows"`
}

// Row is the time of a contender at a size: the median of the rounds and the
// quartiles, in nanoseconds per message. In group "key" it is the time to set up a
// key, in group "hmac-sum" the time for a key and a message, and in group "ssh" the
// time from a write to its arrival.
type Row struct {
	Group string  `json:"group"`
	Impl  string  `json:"impl"`
	Alg   string  `json:"alg"`
	Mode  string  `json:"mode"`
	Size  int     `json:"size"` // bytes
	NS    float64 `json:"ns"`
	Q1    float64 `json:"q1"`
	Q3    float64 `json:"q3"`
}

// NewRow returns the row of a contender that needed these nanoseconds per message.
// It rounds to hundredths of a nanosecond.
func NewRow(group string, c rivals.Contender, size int, ns []float64) Row {
	impl, alg, mode := c.Parts()
	sample := stats.Sample{Xs: ns}
	quantile := func(q float64) float64 { return math.Round(100*sample.Quantile(q)) / 100 }
	return Row{group, impl, alg, mode, size, quantile(0.5), quantile(0.25), quantile(0.75)}
}

// Contender returns the contender of the row.
func (r Row) Contender() rivals.Contender {
	return rivals.Contender(r.Impl + ":" + r.Alg + ":" + r.Mode)
}

// gbps is the throughput in GB/s, 10^9 bytes per second.
func (r Row) gbps() float64 { return float64(r.Size) / r.NS }

// spread is the width of the middle half of the rounds, as a share of the median.
func (r Row) spread() float64 { return (r.Q3 - r.Q1) / r.NS }

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
	if len(r.Rows) == 0 {
		return nil, fmt.Errorf("fastmac: results %s: no rows", path)
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
