// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package demo

import (
	"strings"
	"testing"
	"unicode/utf8"

	"example.com/fastmac/cmd/fastmac/internal/hardware"
)

func TestReportString(t *testing.T) {
	r := newTestDemo(t).report(t, true)
	out := r.String()
	for _, mac := range macNames {
		if !strings.Contains(out, "\n"+mac+" ") {
			t.Errorf("no row for %s", mac)
		}
	}
	for _, s := range []string{"300001 bytes up and 300001 bytes down", "aes128-ctr", "10^6 bytes", r.Address, " rows passed"} {
		if !strings.Contains(out, s) {
			t.Errorf("%q is missing", s)
		}
	}
	for line := range strings.Lines(out) {
		if utf8.RuneCountInString(strings.TrimSuffix(line, "\n")) > 80 {
			t.Errorf("too wide: %q", line)
		}
	}
	if t.Failed() {
		t.Log(out)
	}
}

// TestReportFailures has two rows that fail with one error and one with another.
func TestReportFailures(t *testing.T) {
	r := &Report{Hardware: hardware.New()}
	for i, err := range []string{"a cause", "", "another cause", "a cause"} {
		row := &row{MAC: macNames[i], Client: "ssh", Result: resultOK, Error: err}
		if err != "" {
			row.Result = resultFailed
		}
		r.Rows = append(r.Rows, row)
	}
	const want = `
failed:
  umac-64@openssh.com, ssh
  umac-128-etm@openssh.com, ssh
    a cause

failed:
  umac-64-etm@openssh.com, ssh
    another cause

1 of 4 rows passed
`
	if got := r.String(); !strings.HasSuffix(got, want) {
		t.Errorf("%s\nwant at the end\n%s", got, want)
	}
	if err := r.Err(); err == nil || err.Error() != "3 of 4 rows failed" {
		t.Error(err)
	}
}
