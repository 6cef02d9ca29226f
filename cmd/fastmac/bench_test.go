// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"example.com/fastmac/cmd/fastmac/internal/bench"
	"github.com/spf13/cobra"
)

func TestBench(t *testing.T) {
	var stdout, stderr bytes.Buffer
	cmd := benchCommand(nil)
	cmd.SetContext(t.Context())
	cmd.SetOut(&stdout)
	cmd.SetErr(&stderr)
	// Each case runs once.
	if err := runBench(cmd, bench.Options{Duration: 1, Style: styleOf(cmd)}, true); err != nil {
		t.Fatal(err)
	}
	var r bench.Report
	if err := json.Unmarshal(stdout.Bytes(), &r); err != nil || len(r.Rows) < 30 || r.Rounds != 1 {
		t.Errorf("%v, %s", err, &stdout)
	}
}

// TestBenchOptions has what the options make of a run, which takes too long for tests.
func TestBenchOptions(t *testing.T) {
	for line, want := range map[string]struct {
		bench.Options
		asJSON bool
	}{
		"":               {bench.Options{Duration: time.Minute}, false},
		"--json":         {bench.Options{Duration: time.Minute}, true},
		"--quick":        {bench.Options{Duration: 10 * time.Second, LeaveOut: true}, false},
		"--quick --json": {bench.Options{Duration: 10 * time.Second, LeaveOut: true}, true},
	} {
		ran := false
		cmd := benchCommand(func(_ *cobra.Command, options bench.Options, asJSON bool) error {
			ran = true
			if want.Style = options.Style; options != want.Options || asJSON != want.asJSON {
				t.Errorf("bench %s: %+v, JSON %v", line, options, asJSON)
			}
			return nil
		})
		cmd.SetArgs(strings.Fields(line))
		if err := cmd.Execute(); err != nil || !ran {
			t.Errorf("bench %s: %v, ran %v", line, err, ran)
		}
	}
}

func TestBenchInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var stdout, stderr bytes.Buffer
	if code := run(ctx, []string{"bench"}, &stdout, &stderr); code != exitInterrupted || stdout.Len() > 0 {
		t.Errorf("exit status %d, %s%s", code, &stdout, &stderr)
	}
}
