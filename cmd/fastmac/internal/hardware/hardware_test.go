// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package hardware

import (
	"errors"
	"strings"
	"testing"

	"example.com/fastmac"
)

func TestReport(t *testing.T) {
	want, wantErr := fastmac.Hardware(), fastmac.RequireHardware()
	r := New()
	if r.NH != want.NH || r.AES != want.AES || r.SHA512 != want.SHA512 || r.Required != (wantErr == nil) || (r.Err() == nil) != (wantErr == nil) {
		t.Errorf("%+v, want %+v, %v", r, want, wantErr)
	}
	var cpu *fastmac.UnsupportedCPUError
	if errors.As(wantErr, &cpu) && len(r.Missing) != len(cpu.Missing) {
		t.Errorf("missing %q, want %q", r.Missing, cpu.Missing)
	}

	verdict := map[bool]string{true: "\nAES runs on AES instructions\n", false: "\nAES does not run on AES instructions\n"}
	for required, line := range verdict {
		r.Required, r.Error = required, "the reason"
		for _, s := range []string{r.Platform, want.NH, want.AES, want.SHA512, line} {
			if !strings.Contains(r.String(), s) {
				t.Errorf("%q is not in %q", s, r)
			}
		}
		if err := r.Err(); required != (err == nil) || err != nil && err.Error() != "the reason" {
			t.Errorf("required %v: %v", required, err)
		}
	}
}
