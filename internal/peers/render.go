// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// text is the results for a terminal.
func text(r *results) string {
	var b strings.Builder
	for _, f := range facts(r) {
		fmt.Fprintf(&b, "%-8s  %s\n", f[0], f[1])
	}
	for _, t := range tables(r) {
		fmt.Fprintf(&b, "\n%s\n", t.title)
		width := make([]int, len(t.header))
		for _, line := range append([][]string{t.header}, t.rows...) {
			for i, cell := range line {
				width[i] = max(width[i], utf8.RuneCountInString(cell))
			}
		}
		for _, line := range append([][]string{t.header}, t.rows...) {
			fmt.Fprintf(&b, "%-*s", width[0], line[0])
			for i, cell := range line[1:] {
				fmt.Fprintf(&b, "  %*s", width[i+1], cell)
			}
			b.WriteString("\n")
		}
	}
	b.WriteString("\n")
	for _, note := range notes(r) {
		fmt.Fprintf(&b, "- %s\n", note)
	}
	return b.String()
}

// markdown is the results for a README. The first table stands open, the others
// unfold.
func markdown(r *results) string {
	var b strings.Builder
	for i, t := range tables(r) {
		if i == 0 {
			fmt.Fprintf(&b, "%s:\n\n", strings.ToUpper(t.title[:1])+t.title[1:])
		} else {
			fmt.Fprintf(&b, "<details><summary>%s</summary>\n\n", t.title)
		}
		for n, line := range append([][]string{t.header}, t.rows...) {
			fmt.Fprintf(&b, "| %s |\n", strings.Join(line, " | "))
			if n == 0 {
				fmt.Fprintf(&b, "| --- |%s\n", strings.Repeat(" ---: |", len(line)-1))
			}
		}
		b.WriteString("\n")
		if i > 0 {
			b.WriteString("</details>\n\n")
		}
	}
	for _, f := range facts(r) {
		if f[0] == "Command" {
			f[1] = "`" + f[1] + "`"
		}
		fmt.Fprintf(&b, "- %s: %s\n", f[0], f[1])
	}
	for _, note := range notes(r) {
		fmt.Fprintf(&b, "- %s\n", note)
	}
	return b.String()
}
