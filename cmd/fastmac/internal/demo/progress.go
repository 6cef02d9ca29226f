// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package demo

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// lineInterval is how often a long row prints its progress where there is no bar.
const lineInterval = 10 * time.Second

// minWidth is the width in columns of a bar with its label.
const minWidth = 78

// A display shows the progress of the rows on standard error: with a bar on a
// terminal, with plain lines elsewhere.
type display struct {
	w        io.Writer
	terminal bool
	ansi     bool // the terminal can clear a line, including a ^C that it shows there
	rows     int

	label string
	bar   *progressbar.ProgressBar
	total int64
	moved int64
	last  time.Time
}

func newDisplay(w io.Writer, rows int) *display {
	d := &display{w: w, rows: rows}
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		// A bar that is wider than the terminal could not be cleared.
		width, _, err := term.GetSize(int(f.Fd()))
		d.terminal = err == nil && width >= minWidth
		kind := os.Getenv("TERM")
		d.ansi = kind != "" && kind != "dumb"
	}
	return d
}

// begin starts row i, counted from 0, which moves total bytes.
func (d *display) begin(i int, mac, client string, total int64) {
	number := fmt.Sprintf("[%*d/%d]", len(fmt.Sprint(d.rows)), i+1, d.rows)
	d.label = fmt.Sprintf("%s %s, %s", number, mac, client)
	d.total, d.moved, d.last, d.bar = total, 0, time.Now(), nil
	if d.terminal {
		mac, _, _ = strings.Cut(mac, "@")
		client = strings.FieldsFunc(client, func(r rune) bool { return r == ' ' || r == '_' })[0]
		d.bar = progressbar.NewOptions64(total,
			progressbar.OptionSetWriter(d.w),
			progressbar.OptionUseANSICodes(d.ansi),
			progressbar.OptionSetDescription(number+" "+mac+", "+client),
			progressbar.OptionSetWidth(20),
			progressbar.OptionShowBytes(true),
			progressbar.OptionSetPredictTime(false),
			progressbar.OptionThrottle(100*time.Millisecond),
			progressbar.OptionClearOnFinish(),
			progressbar.OptionSetRenderBlankState(true),
		)
	}
}

// add counts n more bytes.
func (d *display) add(n int) {
	d.moved += int64(n)
	if d.bar != nil {
		d.bar.Add(n)
		return
	}
	if now := time.Now(); now.Sub(d.last) >= lineInterval {
		d.last = now
		fmt.Fprintf(d.w, "%s: %d %%\n", d.label, int64(float64(d.moved)/float64(d.total)*100))
	}
}

// finish ends the row with a line about its result.
func (d *display) finish(result string) {
	d.clear()
	fmt.Fprintf(d.w, "%s: %s\n", d.label, result)
}

// clear removes the bar from the terminal.
func (d *display) clear() {
	if d.bar != nil {
		d.bar.Clear()
		d.bar = nil
	}
}
