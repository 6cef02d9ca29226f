// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"fmt"
	"html"
	"strings"
)

// panels are what bars draws: a group at one size, and its rows' figures.
var panels = []struct {
	title, group string
	size         int
	figure       func(row) float64
}{
	{"HMAC-SHA-512, a new 64-byte key for each message of 28 bytes: million tags per second", "hmac-sum", hmacSumSize, millions},
	{"HMAC-SHA-512, the key used again, messages of 32 bytes: million tags per second", "hmac", 32, millions},
	{"SSH end to end, both ends on one machine, writes of 32 KiB: GB/s", "ssh", sshSize, row.gbps},
}

func millions(r row) float64 { return 1000 / r.NS }

// The measures of bars, in the SVG's units.
const (
	barHeight, barGap = 15, 6
	barLeft, barRight = 316, 820
	panelGap          = 44
)

// bars draws a bar for each contender: the longer, the faster. Panels of which the
// results have nothing are left out.
func bars(r *results) string {
	var b strings.Builder
	y := 56
	for _, p := range panels {
		var rows []row
		most := 0.0
		for _, row := range r.group(p.group) {
			if row.Size == p.size {
				rows = append(rows, row)
				most = max(most, p.figure(row))
			}
		}
		if len(rows) == 0 {
			continue
		}
		fmt.Fprintf(&b, "<text class=\"bold\" x=\"24\" y=\"%d\">%s</text>\n", y, html.EscapeString(p.title))
		y += 14
		for _, row := range rows {
			class, weight := "theirs", ""
			if row.Impl == "fastmac" {
				class, weight = "ours", " bold"
			}
			width := (barRight - barLeft) * p.figure(row) / most
			fmt.Fprintf(&b, "<text class=\"end%s\" x=\"%d\" y=\"%d\">%s</text>", weight, barLeft-10, y+barHeight-3, html.EscapeString(row.contender().title()))
			fmt.Fprintf(&b, "<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%d\"/>", class, barLeft, y, width, barHeight)
			fmt.Fprintf(&b, "<text class=\"small\" x=\"%.1f\" y=\"%d\">%s</text>\n", barLeft+width+6, y+barHeight-3, number(p.figure(row)))
			y += barHeight + barGap
		}
		y += panelGap - barGap
	}
	for _, line := range []string{fmt.Sprintf("%s, %s, %s; fastmac %s", r.CPU, r.Platform, r.Go, r.Commit), r.Command} {
		fmt.Fprintf(&b, "<text class=\"small\" x=\"24\" y=\"%d\">%s</text>\n", y, html.EscapeString(line))
		y += factsLineHeight
	}
	const head = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%[1]d" height="%[2]d" role="img" aria-labelledby="title">
<title id="title">HMAC-SHA-512 and SSH: longer is faster; the figures stand in the tables</title>
%s<rect class="ground" width="%[1]d" height="%[2]d" rx="8"/>
<text class="title" x="24" y="28">Longer is faster</text>
`
	style := strings.Replace(style(), "</style>\n", "  .ours { fill: #0969da; stroke: none } .theirs { fill: #9aa4ae }\n</style>\n", 1)
	return fmt.Sprintf(head, chartWidth, y, style) + b.String() + "</svg>\n"
}
