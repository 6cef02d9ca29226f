// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import "testing"

func TestCheck(t *testing.T) {
	for _, tt := range []struct {
		result
		want string
	}{
		{result{Missing: "no DIT"}, ""},
		{result{Inside: true, Goroutine: true}, ""},
		{result{Goroutine: true}, "DIT is not set inside WithDataIndependentTiming: false, in a goroutine true"},
		{result{Inside: true}, "DIT is not set inside WithDataIndependentTiming: true, in a goroutine false"},
		{result{Inside: true, Goroutine: true, Outside: true}, "DIT is set outside WithDataIndependentTiming"},
	} {
		got := ""
		if err := tt.check(); err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%+v: %q, want %q", tt.result, got, tt.want)
		}
	}
}

// TestLook checks that, where the bit can be looked at, it is where it should be.
func TestLook(t *testing.T) {
	r, err := look()
	if err != nil {
		t.Fatal(err)
	}
	if err := r.check(); err != nil {
		t.Error(err)
	}
	t.Logf("%+v", r)
	if r.Missing == "" && !(r.NSOutside > 0 && r.NSInside > 0 && r.NSEach > 0) {
		t.Errorf("times %+v", r)
	}
}
