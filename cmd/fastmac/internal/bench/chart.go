// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package bench

import (
	"errors"
	"fmt"
	"image/color"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Extensions are those of the files that a Chart can be.
var Extensions = []string{".svg", ".png"}

// A Chart is a file for a chart.
type Chart struct {
	file  *os.File
	isNew bool
}

// NewChart opens the file, so that it fails before the measurement and not after it.
func NewChart(name string) (*Chart, error) {
	if !slices.Contains(Extensions, filepath.Ext(name)) {
		return nil, fmt.Errorf("no chart of the kind %q", filepath.Ext(name))
	}
	_, err := os.Lstat(name)
	isNew := errors.Is(err, fs.ErrNotExist)
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE, 0o666)
	return &Chart{file, isNew}, err
}

// Discard removes the file, unless it was there before.
func (c *Chart) Discard() error {
	err := c.file.Close()
	if c.isNew {
		err = errors.Join(err, os.Remove(c.file.Name()))
	}
	return err
}

// Write draws the report into the file.
func (c *Chart) Write(r *Report) error {
	err := c.file.Truncate(0)
	if err == nil {
		err = r.draw(c.file, filepath.Ext(c.file.Name()))
	}
	return errors.Join(err, c.file.Close())
}

var (
	ours   = []color.Color{rgb(0x0969DA), rgb(0x54AEFF), rgb(0x8250DF), rgb(0xC297FF), rgb(0xBF3989), rgb(0x0A7EA4), rgb(0x39C5CF)}
	theirs = []color.Color{rgb(0xCF222E), rgb(0x7D5C00), rgb(0x59636E), rgb(0xBC4C00)}
)

func rgb(x uint32) color.Color { return color.RGBA{uint8(x >> 16), uint8(x >> 8), uint8(x), 0xFF} }

// Sizes of the chart, of which the legend has the right part.
const (
	width       = 900
	height      = 540
	margin      = 14
	legendWidth = 270
)

// sans is the font of the chart.
func sans(size vg.Length) font.Font {
	return font.Font{Typeface: "Liberation", Variant: "Sans", Size: size}
}

// draw draws throughput over the size of messages. Both axes are logarithmic: equal
// distances are equal ratios. The lines of package fastmac are thick.
func (r *Report) draw(w io.Writer, ext string) error {
	p := plot.New()
	p.Title.Text = "Throughput in GB/s by message size"
	p.Title.Padding = 12
	p.Title.TextStyle.Font = sans(18)
	p.X.Label.Text = fmt.Sprintf("%s, %s; both axes are logarithmic", r.Hardware.CPU, r.GoVersion)
	if r.Noisy > 0 {
		p.X.Label.Text += "; the machine was noisy"
	}
	p.X.Label.Padding = 6
	var ticks plot.ConstantTicks
	for _, size := range sizes {
		ticks = append(ticks, plot.Tick{Value: math.Log2(float64(size)), Label: sizeName(size)})
	}
	// X has logarithms: with LogScale, plot would leave a fifth of the width empty.
	p.Y.Scale = plot.LogScale{}
	p.X.Tick.Marker, p.Y.Tick.Marker = ticks, plot.LogTicks{Prec: -1}
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.Label.TextStyle.Font, axis.Tick.Label.Font = sans(13), sans(13)
	}
	grid := plotter.NewGrid()
	grid.Horizontal.Color, grid.Vertical.Color = rgb(0xDDE2E7), rgb(0xDDE2E7)
	p.Add(grid)

	legend := plot.NewLegend()
	legend.Top, legend.Left = true, true
	legend.TextStyle.Font = sans(13)
	legend.Padding = 4
	counts := make(map[bool]int)
	for _, l := range r.lines() {
		var points plotter.XYs
		isOurs := false
		for _, row := range l.rows {
			if row != nil {
				points = append(points, plotter.XY{X: math.Log2(float64(row.Bytes)), Y: row.GBps})
				isOurs = row.Implementation == "fastmac"
			}
		}
		line, dots, err := plotter.NewLinePoints(points)
		if err != nil {
			return err
		}
		inks, thickness := theirs, vg.Length(1.5)
		if isOurs {
			inks, thickness = ours, 3
		}
		line.Color, line.Width = inks[counts[isOurs]%len(inks)], thickness
		dots.Color, dots.Shape, dots.Radius = line.Color, draw.CircleGlyph{}, thickness
		counts[isOurs]++
		p.Add(line, dots)
		legend.Add(l.name, line, dots)
	}

	var canvas interface {
		vg.CanvasSizer
		io.WriterTo
	}
	if ext == ".svg" {
		canvas = vgsvg.New(width, height)
	} else {
		canvas = vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(144))}
	}
	c := draw.New(canvas)
	c.SetColor(color.White)
	c.Fill(c.Rectangle.Path())
	p.Draw(draw.Crop(c, margin, -legendWidth, margin, -margin))
	legend.Draw(draw.Crop(c, width-legendWidth, -margin, margin, -60))
	_, err := canvas.WriteTo(w)
	return err
}
