// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package demo

import (
	"strings"
	"testing"
)

// TestDisplayLines has a standard error that is not a terminal.
func TestDisplayLines(t *testing.T) {
	withoutSSH(t)
	d := newTestDemo(t)
	d.report(t, true)
	got := d.err.String()
	if !strings.HasPrefix(got, "fastmac: 300001 bytes each way for each row\n") {
		t.Errorf("the first line of %q", got)
	}
	if strings.ContainsAny(got, "\r\x1b") || !strings.Contains(got, "[ 9/10] aes128-ctr hmac-sha2-512, Go x/crypto ") || strings.Count(got, ": ok, ") != len(rowNames) {
		t.Errorf("progress %q", got)
	}
}
