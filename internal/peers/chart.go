// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"fmt"
	"html"
	"math"
	"strings"
)

// lines are the contenders in the chart, with their colours on light and on dark
// ground. More than these eight nobody could tell apart.
var lines = []struct {
	contender
	light, dark string
}{
	{"fastmac:umac64:stream", "#0969da", "#58a6ff"},
	{"fastmac:umac128:stream", "#8250df", "#bc8cff"},
	{"nettle:umac64:stream", "#1a7f37", "#3fb950"},
	{gmacContender, "#cf222e", "#ff7b72"},
	{"minio:highwayhash128:oneshot", "#0e7490", "#39c5cf"},
	{"zeebo:blake3:stream", "#bc4c00", "#f0883e"},
	{"x/crypto:poly1305:oneshot", "#8a6100", "#d9a62e"},
	{"crypto/hmac:hmac-sha256:stream", "#59636e", "#a3adb8"},
}

// The plot, in the SVG's units. Labels stand to its right, facts below.
const (
	chartWidth, chartHeight   = 900, 560
	plotLeft, plotRight       = 64, 638
	plotTop, plotBottom       = 76, 470
	labelGap                  = 19
	labelLeft                 = plotRight + 26
	factsTop, factsLineHeight = plotBottom + 56, 17
)

// chart draws throughput over message size, both logarithmic: distances are
// ratios, so a short message's losses are as plain as a long one's gains.
//
// The colours follow the reader's theme, the ground among them, so that the
// picture is legible even on a page that does not.
func chart(r *results) string {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%[1]d" height="%[2]d" role="img" aria-labelledby="title desc">`+"\n", chartWidth, chartHeight)
	b.WriteString("<title id=\"title\">Throughput of message authentication codes by message size</title>\n")
	fmt.Fprintf(&b, "<desc id=\"desc\">%s</desc>\n", html.EscapeString(summary(r)))
	b.WriteString(style())
	fmt.Fprintf(&b, "<rect class=\"ground\" width=\"%d\" height=\"%d\" rx=\"8\"/>\n", chartWidth, chartHeight)
	fmt.Fprintf(&b, "<text class=\"title\" x=\"%d\" y=\"34\">Throughput in GB/s by message size: higher is faster</text>\n", plotLeft)
	fmt.Fprintf(&b, "<text x=\"%d\" y=\"55\">one core; key set up once, a new nonce for each message (Poly1305: without its new key); both axes logarithmic</text>\n", plotLeft)

	p := newPlot(r)
	p.grid(&b)
	p.curves(&b)
	p.labels(&b)

	for i, line := range []string{
		fmt.Sprintf("%s, %s, %s; fastmac %s, kernel %s", r.CPU, r.Platform, r.Go, r.Commit, r.Kernels.NH),
		r.Command,
	} {
		fmt.Fprintf(&b, "<text class=\"small\" x=\"%d\" y=\"%d\">%s</text>\n", plotLeft, factsTop+i*factsLineHeight, html.EscapeString(line))
	}
	b.WriteString("</svg>\n")
	return b.String()
}

func style() string {
	light := "  .ground { fill: #ffffff; stroke: #d1d9e0 }\n  text { fill: #1f2328 }\n  .small { fill: #59636e }\n  .grid { stroke: #d1d9e0 }\n  .fine { stroke: #eef1f4 }\n"
	dark := "  .ground { fill: #0d1117; stroke: #3d444d }\n  text { fill: #f0f6fc }\n  .small { fill: #9198a1 }\n  .grid { stroke: #3d444d }\n  .fine { stroke: #1c2128 }\n"
	for i, l := range lines {
		const rules = "  .c%d { stroke: %s } .t%[1]d { fill: %[2]s }\n"
		light += fmt.Sprintf(rules, i, l.light)
		dark += fmt.Sprintf(rules, i, l.dark)
	}
	return "<style>\n" +
		"  text { font: 13px -apple-system, \"Segoe UI\", \"Noto Sans\", Helvetica, Arial, sans-serif }\n" +
		"  .title { font-size: 17px; font-weight: 600 }\n  .small { font-size: 11.5px }\n  .end { text-anchor: end }\n  .middle { text-anchor: middle }\n  .bold { font-weight: 600 }\n" +
		"  path, line { fill: none; stroke-width: 1 }\n  .curve { stroke-width: 1.8; stroke-linejoin: round }\n  .ours { stroke-width: 3.2 }\n" +
		light + "@media (prefers-color-scheme: dark) {\n" + dark + "}\n</style>\n"
}

// curve is a contender's line; its points are in order of size.
type curve struct {
	class  int
	title  string
	ours   bool
	points []row
}

func (c curve) last() row { return c.points[len(c.points)-1] }

// plot has the curves and the ends of the axes.
type plot struct {
	curved             []curve
	minSize, maxSize   float64
	minSpeed, maxSpeed float64
}

func newPlot(r *results) *plot {
	p := &plot{minSize: math.Inf(1), minSpeed: math.Inf(1)}
	for i, l := range lines {
		impl, _, _ := l.parts()
		c := curve{class: i, title: l.title(), ours: impl == "fastmac"}
		for _, row := range r.group("message") {
			if row.contender() != l.contender {
				continue
			}
			c.points = append(c.points, row)
			p.minSize, p.maxSize = min(p.minSize, float64(row.Size)), max(p.maxSize, float64(row.Size))
			p.minSpeed, p.maxSpeed = min(p.minSpeed, row.gbps()), max(p.maxSpeed, row.gbps())
		}
		if len(c.points) > 0 {
			p.curved = append(p.curved, c)
		}
	}
	if len(p.curved) > 0 {
		p.maxSize = max(p.maxSize, 2*p.minSize) // of a single size too there is a picture
	}
	p.minSpeed, p.maxSpeed = p.minSpeed/1.15, p.maxSpeed*1.15
	return p
}

func (p *plot) x(size float64) float64 {
	return plotLeft + (plotRight-plotLeft)*math.Log(size/p.minSize)/math.Log(p.maxSize/p.minSize)
}

func (p *plot) y(speed float64) float64 {
	return plotBottom - (plotBottom-plotTop)*math.Log(speed/p.minSpeed)/math.Log(p.maxSpeed/p.minSpeed)
}

// grid has a line for each 1, 2 and 5 of a decade, and for each power of four.
func (p *plot) grid(b *strings.Builder) {
	for decade := 0.001; decade <= p.maxSpeed; decade *= 10 {
		for _, step := range []float64{1, 2, 5} {
			speed, class := step*decade, "fine"
			if speed < p.minSpeed || speed > p.maxSpeed {
				continue
			}
			if step == 1 {
				class = "grid"
			}
			y := p.y(speed)
			fmt.Fprintf(b, "<line class=\"%s\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/>", class, plotLeft, plotRight, y, y)
			fmt.Fprintf(b, "<text class=\"end\" x=\"%d\" y=\"%.1f\">%.3g</text>\n", plotLeft-10, y+4.5, speed)
		}
	}
	for size := 16; float64(size) <= p.maxSize; size *= 4 {
		if float64(size) < p.minSize {
			continue
		}
		x := p.x(float64(size))
		fmt.Fprintf(b, "<line class=\"fine\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\"/>", x, x, plotTop, plotBottom)
		fmt.Fprintf(b, "<text class=\"middle\" x=\"%.1f\" y=\"%d\">%s</text>\n", x, plotBottom+20, axisTitle(size))
	}
}

func axisTitle(size int) string {
	switch {
	case size >= mib:
		return fmt.Sprintf("%d MiB", size/mib)
	case size >= 1024:
		return fmt.Sprintf("%d KiB", size/1024)
	}
	return fmt.Sprintf("%d B", size)
}

// curves draws fastmac's last, on top.
func (p *plot) curves(b *strings.Builder) {
	for _, ours := range []bool{false, true} {
		for _, c := range p.curved {
			if c.ours != ours {
				continue
			}
			class, radius := "curve", 2.4
			if ours {
				class, radius = "curve ours", 3.4
			}
			var path, dots strings.Builder
			for i, row := range c.points {
				x, y := p.x(float64(row.Size)), p.y(row.gbps())
				path.WriteString(map[bool]string{true: "M", false: "L"}[i == 0])
				fmt.Fprintf(&path, "%.1f %.1f", x, y)
				fmt.Fprintf(&dots, "<circle class=\"t%d\" cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\"/>", c.class, x, y, radius)
			}
			fmt.Fprintf(b, "<path class=\"%s c%d\" d=\"%s\"/>%s\n", class, c.class, path.String(), dots.String())
		}
	}
}

// labels names each curve at its right end, with its speed there. A thin line
// leads to a label that had to give way to others.
func (p *plot) labels(b *strings.Builder) {
	want := make([]float64, len(p.curved))
	for i, c := range p.curved {
		want[i] = p.y(c.last().gbps())
	}
	for i, y := range spreadOut(want, labelGap) {
		c := p.curved[i]
		weight := ""
		if c.ours {
			weight = " bold"
		}
		fmt.Fprintf(b, "<path class=\"c%d\" d=\"M%d %.1fL%d %.1f\"/>", c.class, plotRight+5, want[i], labelLeft-4, y)
		fmt.Fprintf(b, "<text class=\"t%d%s\" x=\"%d\" y=\"%.1f\">%s: %s</text>\n", c.class, weight, labelLeft, y+4.5, html.EscapeString(c.title), number(c.last().gbps()))
	}
}

// summary is the chart in a sentence, for those who do not see it.
func summary(r *results) string {
	var s []string
	for _, c := range newPlot(r).curved {
		first, last := c.points[0], c.last()
		s = append(s, fmt.Sprintf("%s %s GB/s at %s and %s at %s", c.title, number(first.gbps()), axisTitle(first.Size), number(last.gbps()), axisTitle(last.Size)))
	}
	return strings.Join(s, "; ") + "."
}
