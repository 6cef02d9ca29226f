// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package terminal

import (
	"bytes"
	"runtime"
	"strings"
	"testing"
	"time"
)

func TestProgress(t *testing.T) {
	t.Setenv("TERM", "xterm")
	var shown bytes.Buffer
	clock := time.Unix(1000, 0)
	next := func() string {
		s := shown.String()
		shown.Reset()
		return s
	}
	p := Style{Width: 80}.NewProgress(&shown, "work", 4e6)
	p.Rate = true
	p.now = func() time.Time { return clock }
	for _, tt := range []struct {
		after time.Duration
		done  int64
		want  string
	}{
		{0, 0, "\rwork   0% " + strings.Repeat("░", 20)},
		{progressInterval - 1, 1e6, ""},
		{1, 1e6, "\rwork  25% " + strings.Repeat("█", 5) + strings.Repeat("░", 15)},
		{1900 * time.Millisecond, 2e6, "\rwork  50% " + strings.Repeat("█", 10) + strings.Repeat("░", 10) + "  1.0 MB/s  2s left"},
		{2 * time.Second, 5e6, "\rwork 100% " + strings.Repeat("█", 20) + "  1.2 MB/s  0s left"},
	} {
		clock = clock.Add(tt.after)
		p.Set(tt.done)
		if got := next(); got != tt.want {
			t.Errorf("%d: %q, want %q", tt.done, got, tt.want)
		}
	}
	p.Clear()
	want := "\r\x1b[2K"
	if runtime.GOOS == "windows" {
		want = "\r" + strings.Repeat(" ", len("work 100% ")+20+len("  1.2 MB/s  0s left")) + "\r"
	}
	if got := next(); got != want {
		t.Errorf("cleared with %q", got)
	}
	p.Clear()
	if got := next(); got != "" {
		t.Errorf("cleared again with %q", got)
	}

	t.Setenv("TERM", "dumb")
	for _, width := range []int{8, 11, 12, 30} {
		p := Style{Width: width}.NewProgress(&shown, "é", 3)
		p.now = func() time.Time { return clock }
		p.Set(2)
		line := strings.TrimPrefix(next(), "\r")
		if n := len([]rune(line)); n >= width || !strings.HasPrefix(line, "é  67% ") {
			t.Errorf("%d columns: %q", width, line)
		}
		p.Clear()
		if got := next(); got != "\r"+strings.Repeat(" ", len([]rune(line)))+"\r" {
			t.Errorf("cleared with %q", got)
		}
	}
	p = Style{Width: 40}.NewProgress(&shown, "work", 0)
	p.now = func() time.Time { return clock }
	p.Set(0)
	clock = clock.Add(time.Hour)
	p.Set(0)
	if got := next(); strings.Count(got, "  0% ") != 2 || strings.Contains(got, "left") {
		t.Errorf("nothing to do: %q", got)
	}
}
