// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"testing"

	"example.com/fastmac/cmd/fastmac/internal/bench"
)

func TestBench(t *testing.T) {
	var stdout, stderr bytes.Buffer
	cmd := benchCommand()
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

func TestBenchInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var stdout, stderr bytes.Buffer
	if code := run(ctx, []string{"bench"}, &stdout, &stderr); code != exitInterrupted || stdout.Len() > 0 {
		t.Errorf("exit status %d, %s%s", code, &stdout, &stderr)
	}
}
