// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package report

import (
	"bytes"
	"cmp"
	"fmt"
	"html"
	"image/color"
	"math"
	"slices"
	"strings"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"example.com/fastmac/internal/peers/rivals"
)

// An ink is a color on light paper and its counterpart on dark paper.
type ink struct{ light, dark uint32 }

var (
	paper  = ink{0xFFFFFE, 0x0D1117}
	words  = ink{0x1F2328, 0xF0F6FC}
	faint  = ink{0xDDE2E7, 0x30363D} // grid lines
	ours   = ink{0x0969DA, 0x58A6FF}
	ours2  = ink{0x8250DF, 0xBC8CFF}
	ours3  = ink{0x0A7EA4, 0x39C5CF}
	batch  = ink{0xC2E0FF, 0x12355B} // the inside of bars for batches
	theirs = ink{0xAEB7C0, 0x5D6670}
	red    = ink{0xCF222E, 0xFF7B72}
	green  = ink{0x1A7F37, 0x3FB950}
	orange = ink{0xBC4C00, 0xF0883E}
	brown  = ink{0x7D5C00, 0xD9A62E}
	gray   = ink{0x59636E, 0xA3ADB8}

	inks = []ink{paper, words, faint, ours, ours2, ours3, batch, theirs, red, green, orange, brown, gray}
)

// color is the light one. The style sheet has the dark one.
func (i ink) color() color.Color {
	return color.RGBA{uint8(i.light >> 16), uint8(i.light >> 8), uint8(i.light), 0xFF}
}

func (i ink) style(size vg.Length) text.Style {
	return text.Style{Color: i.color(), Font: font.Font{Typeface: "Liberation", Variant: "Sans", Size: size}, Handler: plot.DefaultTextHandler}
}

func (i ink) bold(size vg.Length) text.Style {
	s := i.style(size)
	s.Font.Weight = xfont.WeightBold
	return s
}

// Charts are 540 wide and have letters of at least 15, which are readable when the
// chart is shrunk to 400 pixels, the width of a phone.
const (
	chartWidth = 540
	margin     = 12
	letters    = 16
	smallPrint = 15
)

// sheet is a chart with its head and foot, and room between them.
type sheet struct {
	svg *vgsvg.Canvas
	draw.Canvas
}

func newSheet(r *Results, height vg.Length, title, subtitle string) *sheet {
	svg := vgsvg.New(chartWidth, height)
	c := draw.New(svg)
	c.SetColor(paper.color())
	c.Fill(c.Rectangle.Path())
	c.FillText(words.bold(20), vg.Point{X: margin, Y: height - 28}, title)
	c.FillText(words.style(letters), vg.Point{X: margin, Y: height - 50}, subtitle)
	c.FillText(gray.style(smallPrint), vg.Point{X: margin, Y: margin},
		fmt.Sprintf("%s, %s, %s", r.CPU, r.Go, r.Commit))
	return &sheet{svg, draw.Crop(c, margin, -margin, margin+22, -62)}
}

// finish returns the SVG, with a description and the colors of the dark scheme.
func (s *sheet) finish(r *Results, title, desc string) string {
	var b, dark bytes.Buffer
	s.svg.WriteTo(&b) // never fails
	for _, i := range inks {
		fmt.Fprintf(&dark, "[style*=\"fill:#%06X\"]{fill:#%06X!important}[style*=\"stroke:#%06[1]X\"]{stroke:#%06[2]X!important}\n", i.light, i.dark)
	}
	desc = fmt.Sprintf("%s %s, %s; fastmac commit %s, kernel %s; %s", desc, r.CPU, r.Go, r.Commit, r.Kernels.NH, r.Command)
	head := fmt.Sprintf(" role=\"img\">\n<title>%s</title>\n<desc>%s</desc>\n<style>\n@media (prefers-color-scheme: dark) {\n%s}\n</style>\n",
		html.EscapeString(title), html.EscapeString(desc), dark.String())
	svg := strings.Replace(b.String(), ">\n<g", head+"<g", 1)
	return strings.ReplaceAll(svg, "font-family:Liberation Sans", "font-family:Liberation Sans,Arial,Helvetica,sans-serif")
}

// curves are the contenders in the chart of throughput, with their labels.
var curves = []struct {
	rivals.Contender
	label string
	ink   ink
}{
	{"nettle:umac64:stream", "nettle UMAC-64", green},
	{"OpenSSH:umac64:stream", "OpenSSH UMAC-64", orange},
	{rivals.GMAC, "GMAC", red},
	{"minio:highwayhash128:oneshot", "HighwayHash-128", gray},
	{"x/crypto:poly1305:oneshot", "Poly1305", brown},
	{"fastmac:umac64:stream", "fastmac UMAC-64", ours},
	{"fastmac:umac128:stream", "fastmac UMAC-128", ours2},
	{"fastmac:hmac-sha512:stream", "fastmac HMAC-SHA-512", ours3},
}

// Chart draws throughput over message size. Both axes are logarithmic: equal
// distances are equal ratios, for short messages as for long ones.
func Chart(r *Results) string {
	const title = "Throughput in GB/s, data from the cache"
	s := newSheet(r, 540, title, "by message size in bytes; both axes are logarithmic")
	p := plot.New()
	p.BackgroundColor = nil
	p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
	p.X.Tick.Marker = plot.ConstantTicks{{Value: 16, Label: "16"}, {Value: 256, Label: "256"}, {Value: 4096, Label: "4 Ki"}, {Value: 65536, Label: "64 Ki"}, {Value: 1 << 20, Label: "1 Mi"}}
	p.Y.Tick.Marker = plot.ConstantTicks{{Value: 0.01, Label: "0.01"}, {Value: 0.1, Label: "0.1"}, {Value: 1, Label: "1"}, {Value: 10, Label: "10"}, {Value: 100, Label: "100"}}
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.Tick.Label.Font, axis.Tick.Label.Color = words.style(letters).Font, words.color()
		axis.LineStyle.Width, axis.Tick.LineStyle.Width = 0, 0
	}
	grid := plotter.NewGrid()
	grid.Horizontal.Color, grid.Horizontal.Width = faint.color(), 1
	grid.Vertical = grid.Horizontal
	p.Add(grid)

	var desc strings.Builder
	desc.WriteString(title + ".")
	var labels plotter.Labels
	for _, curve := range curves {
		var points plotter.XYs
		for _, row := range r.group("message") {
			if row.Contender() == curve.Contender {
				points = append(points, plotter.XY{X: float64(row.Size), Y: row.gbps()})
			}
		}
		if len(points) == 0 {
			continue
		}
		line := &plotter.Line{XYs: points, LineStyle: draw.LineStyle{Color: curve.ink.color(), Width: 2}}
		style := curve.ink.style(letters)
		if strings.HasPrefix(curve.label, "fastmac") {
			line.LineStyle.Width, style = 4, curve.ink.bold(letters)
		}
		style.YAlign = draw.YCenter
		first, last := points[0], points[len(points)-1]
		p.Add(line)
		labels.XYs, labels.Labels, labels.TextStyle = append(labels.XYs, last), append(labels.Labels, curve.label), append(labels.TextStyle, style)
		fmt.Fprintf(&desc, " %s: %s at %.0f bytes, %s at %.0f bytes.", curve.label, number(first.Y), first.X, number(last.Y), last.X)
	}
	if len(labels.XYs) > 0 {
		p.Y.Min, p.Y.Max = min(p.Y.Min, 0.1), max(p.Y.Max, 100)
		p.X.Max = max(p.X.Max, 2*p.X.Min) // there may be a single size
		spaceOut(labels.XYs, p.Y.Max/p.Y.Min)
		labels.Offset.X = 8
		p.Add(&labels)
		p.Draw(s.Canvas)
	}
	return s.finish(r, title, desc.String())
}

// spaceOut moves labels down until they do not overlap, on a logarithmic axis whose
// ends have this ratio.
func spaceOut(labels plotter.XYs, ratio float64) {
	gap := math.Pow(ratio, 1.0/21)
	var order []*plotter.XY
	for i := range labels {
		order = append(order, &labels[i])
	}
	slices.SortFunc(order, func(a, b *plotter.XY) int { return cmp.Compare(b.Y, a.Y) })
	for i := 1; i < len(order); i++ {
		order[i].Y = min(order[i].Y, order[i-1].Y/gap)
	}
}

// panels are what Bars draws: a group at one size.
var panels = []struct {
	title, group string
	size         int
	figure       func(Row) float64
}{
	{"HMAC-SHA-512, new key for each message: million tags/s", "hmac-sum", 28, millions},
	{"HMAC-SHA-512, key reused, 32 bytes: million tags/s", "hmac", 32, millions},
	{"SSH end to end on one machine: MB/s", "ssh", 32768, Row.mbps},
}

func millions(r Row) float64 { return 1000 / r.NS }

func (r Row) mbps() float64 { return 1000 * r.gbps() }

// Bars draws a bar for each contender, the fastest first.
func Bars(r *Results) string {
	const (
		title    = "Throughput, more is better"
		barWidth = 15
		pitch    = 21
		heading  = 30
		gap      = 14
		left     = 234 // labels end here and bars begin
		room     = 48  // for the figure beyond the longest bar
	)
	height := vg.Length(62 + margin + 22)
	rows := make([][]Row, len(panels))
	for i, p := range panels {
		for _, row := range r.group(p.group) {
			if row.Size == p.size {
				rows[i] = append(rows[i], row)
			}
		}
		slices.SortFunc(rows[i], func(a, b Row) int { return cmp.Compare(a.NS, b.NS) })
		if len(rows[i]) > 0 {
			height += heading + gap + pitch*vg.Length(len(rows[i]))
		}
	}
	s := newSheet(r, height, title, "blue is fastmac; outlined is 64 messages in one call")
	var desc strings.Builder
	desc.WriteString(title + ".")
	top := s.Max.Y
	for i, p := range panels {
		if len(rows[i]) == 0 {
			continue
		}
		top -= heading
		s.FillText(words.bold(letters), vg.Point{X: margin, Y: top + 9}, p.title)
		fmt.Fprintf(&desc, " %s:", p.title)
		for n, row := range rows[i] {
			c := row.Contender()
			label, style, fill := strings.Replace(c.Title(), " HMAC-SHA-512", "", 1), words.style(letters), theirs
			if row.Impl == "fastmac" {
				style, fill = ours.bold(letters), ours
			}
			if c.PerCall() > 1 {
				label, fill = fmt.Sprintf("fastmac, %d in one call", c.PerCall()), batch
			}
			width := (s.Max.X - left - room) * vg.Length(p.figure(row)/p.figure(rows[i][0]))
			bar := vg.Rectangle{Min: vg.Point{X: left, Y: top - barWidth}, Max: vg.Point{X: left + width, Y: top}}
			s.SetColor(fill.color())
			s.Fill(bar.Path())
			if fill == batch {
				s.SetColor(ours.color())
				s.SetLineWidth(2)
				s.Stroke(bar.Path())
			}
			figure := words.style(letters)
			s.FillText(figure, vg.Point{X: left + width + 6, Y: top - barWidth + 2}, number(p.figure(row)))
			style.XAlign = draw.XRight
			s.FillText(style, vg.Point{X: left - 8, Y: top - barWidth + 2}, label)
			top -= pitch
			fmt.Fprintf(&desc, "%s %s %s", map[bool]string{true: ",", false: ""}[n > 0], label, number(p.figure(row)))
		}
		desc.WriteString(".")
		top -= gap
	}
	return s.finish(r, title, desc.String())
}
