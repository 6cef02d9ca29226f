// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package terminal tells how wide text may be, and whether it may have bars and colors.
package terminal

import (
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"
)

// A Style is how to print to a writer.
type Style struct {
	Width int  // in columns
	Bars  bool // the writer is a terminal
	Color bool // and can show colors
}

// Plain is the style of files and pipes.
var Plain = Style{Width: 80}

// StyleOf returns the style for w. The variables COLUMNS, NO_COLOR and TERM are honored.
func StyleOf(w io.Writer) Style {
	s := Plain
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		s.Bars = true
		s.Color = os.Getenv("NO_COLOR") == "" && HasANSI()
		if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
			s.Width = width
		}
	}
	if width, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && width > 0 {
		s.Width = width
	}
	return s
}

// HasANSI reports whether terminals of this kind have control sequences. Consoles of Windows print
// them as text unless a program asks for more, whatever TERM is.
func HasANSI() bool {
	kind := os.Getenv("TERM")
	return kind != "" && kind != "dumb" && runtime.GOOS != "windows"
}

// Wrap breaks text between words into lines of the style's width. The first line begins
// with head, and the others are indented as far. A word that is too long has its own line.
func (s Style) Wrap(head, text string) string {
	var b strings.Builder
	b.WriteString(head)
	indent := utf8.RuneCountInString(head)
	column := indent
	for i, word := range strings.Fields(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case column+1+n > s.Width && column > indent:
			b.WriteString("\n" + strings.Repeat(" ", indent))
			column = indent
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += n
	}
	b.WriteByte('\n')
	return b.String()
}

// Bar returns a bar of up to width columns for value, of which limit is the largest. An
// accented one has a color, if the style has.
func (s Style) Bar(value, limit float64, width int, accented bool) string {
	if limit <= 0 {
		return ""
	}
	bar := strings.Repeat("█", max(1, int(value/limit*float64(width)+0.5)))
	if s.Color && accented {
		bar = "\x1b[34m" + bar + "\x1b[0m"
	}
	return bar
}
