// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package terminal

import (
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"
)

// A Progress is a line on a terminal about work of a known size: a label, the percentage, a bar,
// and the time left. It is drawn at most ten times in a second, and is not safe for concurrent use.
type Progress struct {
	Rate bool // the work is in bytes, and MB/s are shown

	w       io.Writer
	label   string
	width   int // of the terminal
	total   int64
	now     func() time.Time
	start   time.Time
	drawn   time.Time
	columns int // of what is shown, 0 for nothing
}

const (
	progressInterval = 100 * time.Millisecond
	progressBar      = 20 // columns of the bar, if there is room
)

// NewProgress returns the progress of work of size total, on a terminal w of this style. Nothing is
// shown before the first Set.
func (s Style) NewProgress(w io.Writer, label string, total int64) *Progress {
	return &Progress{w: w, label: label, width: s.Width, total: total, now: time.Now}
}

// Set shows how much of the work is done.
func (p *Progress) Set(done int64) {
	now := p.now()
	if p.start.IsZero() {
		p.start = now
	} else if now.Sub(p.drawn) < progressInterval {
		return
	}
	p.drawn = now
	share := min(1, float64(done)/float64(max(1, p.total)))
	text, after := fmt.Sprintf("%s %3.0f%% ", p.label, 100*share), ""
	if elapsed := now.Sub(p.start); share > 0 && elapsed >= time.Second {
		if p.Rate {
			after = fmt.Sprintf("  %.1f MB/s", float64(done)/1e6/elapsed.Seconds())
		}
		after += fmt.Sprintf("  %v left", time.Duration(float64(elapsed)*(1-share)/share).Round(time.Second))
	}
	// The last column stays free: some terminals begin a line after it.
	room := p.width - 1 - utf8.RuneCountInString(text)
	if room < len(after) {
		after = ""
	}
	if bar := min(progressBar, room-len(after)); bar > 0 {
		full := int(share * float64(bar))
		text += strings.Repeat("█", full) + strings.Repeat("░", bar-full)
	}
	text += after
	columns := utf8.RuneCountInString(text)
	fmt.Fprint(p.w, "\r"+text+strings.Repeat(" ", max(0, p.columns-columns)))
	p.columns = columns
}

// Clear removes the line from the terminal. The next Set after the interval shows it again.
func (p *Progress) Clear() {
	switch {
	case p.columns == 0:
	case HasANSI(): // which removes a ^C that the terminal shows there too
		fmt.Fprint(p.w, "\r\x1b[2K")
	default:
		fmt.Fprint(p.w, "\r"+strings.Repeat(" ", p.columns)+"\r")
	}
	p.columns = 0
}
