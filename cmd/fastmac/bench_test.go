// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"example.com/fastmac/cmd/fastmac/internal/bench"
)

func TestBench(t *testing.T) {
	chart := filepath.Join(t.TempDir(), "chart.svg")
	var stdout, stderr bytes.Buffer
	cmd := benchCommand()
	cmd.SetContext(t.Context())
	cmd.SetOut(&stdout)
	cmd.SetErr(&stderr)
	// Each case runs once.
	if err := runBench(cmd, bench.Options{Duration: 1, Style: styleOf(cmd)}, chart, true); err != nil {
		t.Fatal(err)
	}
	var r bench.Report
	if err := json.Unmarshal(stdout.Bytes(), &r); err != nil || len(r.Rows) < 30 || r.Rounds != 1 {
		t.Errorf("%v, %s", err, &stdout)
	}
	if content, err := os.ReadFile(chart); err != nil || !bytes.Contains(content, []byte("<svg")) {
		t.Errorf("%v, %.100s", err, content)
	}
	if err := runBench(cmd, bench.Options{Duration: 1}, filepath.Join(t.TempDir(), "missing", "chart.svg"), true); err == nil {
		t.Error("a chart in a folder that is missing")
	}
}

// TestBenchInterrupted has no chart of a run that is interrupted.
func TestBenchInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	chart := filepath.Join(t.TempDir(), "chart.png")
	var stdout, stderr bytes.Buffer
	if code := run(ctx, []string{"bench", "--chart", chart}, &stdout, &stderr); code != exitInterrupted || stdout.Len() > 0 {
		t.Errorf("exit status %d, %s%s", code, &stdout, &stderr)
	}
	if _, err := os.Stat(chart); err == nil {
		t.Error("there is a chart")
	}
}
