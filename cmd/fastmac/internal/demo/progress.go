// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package demo

import (
	"fmt"
	"io"
	"strings"
	"time"

	"example.com/fastmac/cmd/fastmac/internal/terminal"
)

// lineInterval is how often a long row prints its progress where there is no bar.
const lineInterval = 10 * time.Second

// A display shows the progress of the rows on standard error: with a bar on a
// terminal, with plain lines elsewhere.
type display struct {
	w     io.Writer
	width int // of the terminal, or 0 if there is no room for a bar
	rows  int

	label string
	bar   *terminal.Progress
	total int64
	moved int64
	last  time.Time
}

// Columns that a bar needs, with a label and a percentage, and what else is shown behind
// it if there is room.
const (
	minWidth = 38
	maxWidth = 78
)

func newDisplay(w io.Writer) *display {
	d := &display{w: w}
	if style := terminal.StyleOf(w); style.Bars && style.Width >= minWidth {
		d.width = style.Width
	}
	return d
}

// begin starts row i, counted from 0, which moves total bytes.
func (d *display) begin(i int, s suite, client string, total int64) {
	number := fmt.Sprintf("[%*d/%d]", len(fmt.Sprint(d.rows)), i+1, d.rows)
	d.label = fmt.Sprintf("%s %v, %s", number, s, client)
	d.total, d.moved, d.last, d.bar = total, 0, time.Now(), nil
	if d.width == 0 {
		return
	}
	name := s.String()
	if s.server == "" && s.mac != "" {
		name = macLabel(s.mac)
	}
	if d.width >= maxWidth {
		client, _, _ = strings.Cut(strings.Replace(client, "_", " ", 1), " ")
		name += ", " + client
	}
	d.bar = terminal.Style{Width: d.width}.NewProgress(d.w, number+" "+name, total)
	d.bar.Rate = d.width >= maxWidth
	d.bar.Set(0)
}

// add counts n more bytes.
func (d *display) add(n int) {
	d.moved += int64(n)
	if d.bar != nil {
		d.bar.Set(d.moved)
		return
	}
	if now := time.Now(); now.Sub(d.last) >= lineInterval {
		d.last = now
		fmt.Fprintf(d.w, "%s: %d %%\n", d.label, int64(float64(d.moved)/float64(d.total)*100))
	}
}

// finish ends the row: with a line about its result, except on a terminal, which shows
// the table soon.
func (d *display) finish(r *row) {
	d.clear()
	switch {
	case d.width > 0:
	case r.passed():
		fmt.Fprintf(d.w, "%s: ok, %.1f MB/s\n", d.label, r.MBps)
	default:
		fmt.Fprintf(d.w, "%s: failed\n", d.label)
	}
}

// clear removes the bar from the terminal.
func (d *display) clear() {
	if d.bar != nil {
		d.bar.Clear()
		d.bar = nil
	}
}
