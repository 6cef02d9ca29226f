// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sums

import (
	"io"
	"iter"
	"os"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// minWidth is the width in columns that a bar needs.
const minWidth = 60

// A progress is a bar on a terminal, with the rate and the time left. A nil progress shows
// nothing.
type progress struct {
	mu  sync.Mutex
	bar *progressbar.ProgressBar // its Clear may not run together with other methods
}

// newProgress returns a progress on w, or nil if w is no terminal, or too narrow for a bar.
func newProgress(w io.Writer) *progress {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	if width, _, err := term.GetSize(int(f.Fd())); err != nil || width < minWidth {
		return nil
	}
	kind := os.Getenv("TERM")
	// The bar has no colors, with or without NO_COLOR.
	return &progress{bar: progressbar.NewOptions64(-1,
		progressbar.OptionSetWriter(w),
		progressbar.OptionUseANSICodes(kind != "" && kind != "dumb"),
		progressbar.OptionSetWidth(20),
		progressbar.OptionShowBytes(true),
		progressbar.OptionShowTotalBytes(true),
		progressbar.OptionSetPredictTime(true),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionSetSpinnerChangeInterval(0), // no goroutine of the bar, which would not take mu
		progressbar.OptionClearOnFinish(),
	)}
}

// begin sets how many bytes there are to read, as far as is known.
func (p *progress) begin(paths iter.Seq[string]) {
	if p == nil {
		return
	}
	total := int64(0)
	for path := range paths {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			total += info.Size()
		}
	}
	if total > 0 {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.bar.ChangeMax64(total)
	}
}

// add counts n bytes more.
func (p *progress) add(n int) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.bar.Add(n)
}

// clear removes the bar from the terminal, until the next add.
func (p *progress) clear() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.bar.Clear()
}
