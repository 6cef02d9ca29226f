// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"

	"example.com/fastmac"
)

// results is the results file.
type results struct {
	CPU      string            `json:"cpu"`
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
	Rows     []row             `json:"rows"` // last: see write
}

// row is the time of a contender at a size: the median of the rounds and the
// quartiles, in nanoseconds per message. In group "key" it is the time to set up
// a key, in group "hmac-sum" that of a key and a message, and in group "ssh" that of
// a write, to its arrival.
type row struct {
	Group string  `json:"group"`
	Impl  string  `json:"impl"`
	Alg   string  `json:"alg"`
	Mode  string  `json:"mode"`
	Size  int     `json:"size"` // bytes
	NS    float64 `json:"ns"`
	Q1    float64 `json:"q1"`
	Q3    float64 `json:"q3"`
}

func (r row) contender() contender { return contender(r.Impl + ":" + r.Alg + ":" + r.Mode) }

// gbps is the throughput in GB/s: 10^9 bytes a second.
func (r row) gbps() float64 { return float64(r.Size) / r.NS }

// find returns the row of a contender at a size.
func (r *results) find(group string, c contender, size int) (row, bool) {
	for _, row := range r.Rows {
		if row.Group == group && row.Size == size && row.contender() == c {
			return row, true
		}
	}
	return row{}, false
}

func readResults(path string) (*results, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("fastmac: results: %w", err)
	}
	r := new(results)
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

// write writes a row to a line, so that a diff shows which ones changed.
func (r *results) write(path string) error {
	head := *r
	head.Rows = nil
	data, err := json.MarshalIndent(head, "", " ")
	if err != nil {
		return err
	}
	var b bytes.Buffer
	b.Write(bytes.TrimSuffix(data, []byte("null\n}")))
	separator := "[\n  "
	for _, row := range r.Rows {
		line, err := json.Marshal(row)
		if err != nil {
			return err
		}
		b.WriteString(separator)
		b.Write(line)
		separator = ",\n  "
	}
	b.WriteString("\n ]\n}\n")
	if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
		return fmt.Errorf("fastmac: results: %w", err)
	}
	return nil
}
