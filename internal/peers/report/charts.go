// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package report

import (
	"cmp"
	"fmt"
	"html"
	"math"
	"slices"
	"strings"

	"example.com/fastmac/internal/peers/rivals"
)

// An ink is a color on light paper and its counterpart on dark paper. The style sheet of a
// chart has the dark one.
type ink struct{ class, light, dark string }

var (
	paper = ink{"paper", "#FFFFFF", "#0D1117"}
	words = ink{"words", "#1F2328", "#F0F6FC"}
	gray  = ink{"gray", "#59636E", "#A3ADB8"}
	faint = ink{"faint", "#DDE2E7", "#30363D"} // grid lines
)

// curves are what the chart shows, with labels. Wide ones, with bold labels, are fastmac's.
var curves = []struct {
	rivals.Contender
	label string
	ink   ink
	wide  bool
}{
	{"fastmac:umac64:oneshot", "UMAC-64", ink{"c1", "#0969DA", "#58A6FF"}, true},
	{"fastmac:umac128:oneshot", "UMAC-128", ink{"c2", "#8250DF", "#BC8CFF"}, true},
	{"fastmac:gmac:oneshot", "GMAC", ink{"c3", "#1A7F37", "#3FB950"}, true},
	{"fastmac:hmac-sha512:oneshot", "HMAC-SHA-512", ink{"c4", "#0A7EA4", "#39C5CF"}, true},
	{"fastmac:hmac-sha256:oneshot", "HMAC-SHA-256", ink{"c9", "#BF3989", "#F778BA"}, true},
	{"minio:highwayhash128:oneshot", "HighwayHash-128", ink{"c5", "#7D5C00", "#D9A62E"}, false},
	{rivals.GMAC, "crypto/cipher", ink{"c6", "#CF222E", "#FF7B72"}, false},
	{"x/crypto:poly1305:oneshot", "Poly1305", ink{"c7", "#59636E", "#A3ADB8"}, false},
	{"crypto/hmac:hmac-sha256:stream", "crypto/hmac", ink{"c8", "#BC4C00", "#F0883E"}, false},
}

// Sizes in the chart, in pixels. A label has room for any sans serif font: 9 for a letter, of
// 14 pixels, are more than the widest common font needs.
const (
	chartWidth, chartHeight = 900, 470
	plotTop, plotHeight     = 104, 300
	plotWidth, panelWidth   = 262, 440
	plotLeft                = 50
	labelPitch              = 18
)

// Chart draws throughput over message size, of two results side by side. Both axes are
// logarithmic: equal distances are equal ratios, for short messages as for long ones.
func Chart(left, right *Results) string {
	const title = "Throughput in GB/s by message size in bytes"
	var b, desc strings.Builder
	fmt.Fprintf(&desc, "%s; both axes are logarithmic.", title)
	for _, r := range []*Results{left, right} {
		fmt.Fprintf(&desc, " %s, %s; fastmac commit %s, kernel %s; %s.", r.CPU, r.Go, r.Commit, r.Kernels.NH, r.Command)
	}
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%[1]d" height="%[2]d" role="img" font-family="Arial, Helvetica, sans-serif" font-size="14">
<title>%s</title>
<desc>%s</desc>
<style>
@media (prefers-color-scheme: dark) {
`, chartWidth, chartHeight, title, html.EscapeString(desc.String()))
	inks := []ink{paper, words, gray, faint}
	for _, c := range curves {
		inks = append(inks, c.ink)
	}
	for _, i := range inks {
		fmt.Fprintf(&b, ".%s{fill:%s}.%[1]s-line{stroke:%[2]s}\n", i.class, i.dark)
	}
	b.WriteString("}\n</style>\n")
	fmt.Fprintf(&b, "<rect width=\"%d\" height=\"%d\" class=\"paper\" fill=\"%s\"/>\n", chartWidth, chartHeight, paper.light)
	write(&b, words, 14, 30, `font-size="20" font-weight="bold"`, title+", from the cache")
	write(&b, words, 14, 54, "", "Bold: fastmac. Thin: minio/highwayhash, GMAC of crypto/cipher, x/crypto's Poly1305, HMAC-SHA-256 of crypto/hmac.")
	for i, r := range []*Results{left, right} {
		panel(&b, r, i*panelWidth+plotLeft)
	}
	write(&b, gray, 14, chartHeight-14, "", fmt.Sprintf("%s; %s; commit %s", both(left.CPU, right.CPU), both(left.Go, right.Go), both(left.Commit, right.Commit)))
	b.WriteString("</svg>\n")
	return b.String()
}

func both(a, b string) string {
	if a == b {
		return a
	}
	return a + ", " + b
}

func write(b *strings.Builder, i ink, x, y float64, attributes, text string) {
	fmt.Fprintf(b, "<text x=\"%.0f\" y=\"%.0f\" class=\"%s\" fill=\"%s\" %s>%s</text>\n", x, y, i.class, i.light, attributes, html.EscapeString(text))
}

// panel draws r with the left end of its axis at x.
func panel(b *strings.Builder, r *Results, left int) {
	const bottom, smallest, lowest, decades, octaves = plotTop + plotHeight, 16, 0.01, 4, 16
	x := func(size float64) float64 { return float64(left) + plotWidth*math.Log2(size/smallest)/octaves }
	y := func(gbps float64) float64 { return bottom - plotHeight*math.Log10(gbps/lowest)/decades }
	write(b, words, float64(left), plotTop-18, `font-size="16" font-weight="bold"`, r.vectors())
	grid := func(x1, y1, x2, y2 float64) {
		fmt.Fprintf(b, "<path d=\"M%.1f %.1fL%.1f %.1f\" class=\"faint-line\" stroke=\"%s\"/>\n", x1, y1, x2, y2, faint.light)
	}
	for i, label := range []string{"16", "256", "4 Ki", "64 Ki", "1 Mi"} {
		at := x(smallest * math.Pow(16, float64(i)))
		grid(at, plotTop, at, bottom)
		write(b, words, at, bottom+20, `text-anchor="middle"`, label)
	}
	for i, label := range []string{"0.01", "0.1", "1", "10", "100"} {
		at := bottom - float64(i)*plotHeight/decades
		grid(float64(left), at, float64(left+plotWidth), at)
		write(b, words, float64(left)-6, at+5, `text-anchor="end"`, label)
	}
	var ends []float64 // of curves
	var drawn []int
	for n, curve := range curves {
		path, end := "", 0.0
		for _, row := range r.group("message") {
			if row.Contender() == curve.Contender {
				end = y(row.gbps())
				path += fmt.Sprintf("L%.1f %.1f", x(float64(row.Size)), end)
			}
		}
		if path == "" {
			continue
		}
		width := 2
		if curve.wide {
			width = 4
		}
		fmt.Fprintf(b, "<path d=\"M%s\" fill=\"none\" stroke-width=\"%d\" stroke-linejoin=\"round\" class=\"%s-line\" stroke=\"%s\"/>\n", path[1:], width, curve.ink.class, curve.ink.light)
		ends, drawn = append(ends, end), append(drawn, n)
	}
	for i, at := range spaceOut(ends) {
		curve, weight := curves[drawn[i]], ""
		if curve.wide {
			weight = `font-weight="bold"`
		}
		write(b, curve.ink, float64(left+plotWidth)+8, at+5, weight, curve.label)
	}
}

// spaceOut moves labels down until they do not overlap. y grows downwards.
func spaceOut(at []float64) []float64 {
	order := make([]int, len(at))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(at[a], at[b]) })
	spaced := slices.Clone(at)
	for i := 1; i < len(order); i++ {
		spaced[order[i]] = max(spaced[order[i]], spaced[order[i-1]]+labelPitch)
	}
	return spaced
}
