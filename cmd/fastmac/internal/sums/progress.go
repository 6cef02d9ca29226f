// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sums

import (
	"io"
	"iter"
	"os"
	"sync"

	"example.com/fastmac/cmd/fastmac/internal/terminal"
)

// minWidth is the width in columns that a bar needs.
const minWidth = 60

// A progress is a bar on a terminal, with the rate and the time left. A nil progress shows
// nothing.
type progress struct {
	w io.Writer

	mu   sync.Mutex
	bar  *terminal.Progress // nil before begin
	read int64
}

// newProgress returns a progress on w, or nil if w is no terminal, or too narrow for a bar.
func newProgress(w io.Writer) *progress {
	if style := terminal.StyleOf(w); !style.Bars || style.Width < minWidth {
		return nil
	}
	return &progress{w: w}
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
		p.bar = terminal.StyleOf(p.w).NewProgress(p.w, "reading", total)
		p.bar.Rate = true
	}
}

// add counts n bytes more.
func (p *progress) add(n int) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.read += int64(n)
	if p.bar != nil {
		p.bar.Set(p.read)
	}
}

// clear removes the bar from the terminal, until the next add.
func (p *progress) clear() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar != nil {
		p.bar.Clear()
	}
}
