// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package bench

import (
	"fmt"
	"io"
	"time"

	"example.com/fastmac/cmd/fastmac/internal/terminal"
)

// A display shows the progress on standard error: with a bar on a terminal, with one line
// elsewhere.
type display struct {
	bar *terminal.Progress
}

// minWidth is the width in columns of the bar with its label.
const minWidth = 38

func newDisplay(w io.Writer, cells int, duration time.Duration) *display {
	style := terminal.StyleOf(w)
	if !style.Bars || style.Width < minWidth {
		fmt.Fprintf(w, "fastmac: timing %d cases in turns for %v\n", cells, duration)
		return &display{}
	}
	return &display{style.NewProgress(w, fmt.Sprintf("timing %d cases", cells), int64(duration))}
}

func (d *display) at(elapsed time.Duration) {
	if d.bar != nil {
		d.bar.Set(int64(elapsed))
	}
}

// clear removes the bar from the terminal.
func (d *display) clear() {
	if d.bar != nil {
		d.bar.Clear()
	}
}
