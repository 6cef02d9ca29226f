// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package bench

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"example.com/fastmac/cmd/fastmac/internal/demo"
	"example.com/fastmac/cmd/fastmac/internal/hardware"
	"example.com/fastmac/cmd/fastmac/internal/terminal"
)

// A Report is the result of a run.
type Report struct {
	Hardware      *hardware.Report `json:"hardware"`
	GoVersion     string           `json:"go_version"`
	CryptoVersion string           `json:"x_crypto_version"`
	Cores         int              `json:"cores"`
	Seconds       float64          `json:"seconds"`
	Rounds        int              `json:"rounds"`
	Noisy         int              `json:"noisy_rows"`
	Unsure        int              `json:"unsure_rows,omitempty"`
	Rows          []*Row           `json:"rows"`
	LeftOut       []string         `json:"left_out,omitempty"`

	style terminal.Style
}

// A Row is one contender at one size.
type Row struct {
	Implementation string  `json:"implementation"`
	MAC            string  `json:"mac"`
	Call           string  `json:"call"`
	Bytes          int     `json:"bytes"`
	NS             float64 `json:"ns,omitempty"` // for a message: the 2 % quantile of the runs
	GBps           float64 `json:"gb_per_s,omitempty"`
	Spread         float64 `json:"spread"` // of the fastest fifth of the runs, or of their halves: 0.1 is 10 %
	Runs           int     `json:"runs"`
	Noisy          bool    `json:"noisy,omitempty"`  // the spread is above 10 %
	Unsure         bool    `json:"unsure,omitempty"` // it is above 15 %, so the figures are left out
}

// add adds a row, without its figures if leaveOut is set and they are unsure.
func (r *Report) add(row *Row, leaveOut bool) {
	if leaveOut && row.Spread > maxUnsure {
		row.NS, row.GBps, row.Noisy, row.Unsure = 0, 0, false, true
		r.Unsure++
	}
	if row.Noisy {
		r.Noisy++
	}
	r.Rows = append(r.Rows, row)
}

// name is what the row is called in tables.
func (r *Row) name() string { return r.Implementation + " " + r.MAC + ", " + r.Call }

// String returns the time with three digits, or two and a tilde if it is noisy, or that it is
// left out.
func (r *Row) String() string {
	switch {
	case r.Unsure:
		return "?"
	case r.Noisy:
		return "~" + digits(r.NS, 2)
	}
	return digits(r.NS, 3)
}

// digits returns x rounded to n significant digits, without an exponent.
func digits(x float64, n int) string {
	if x <= 0 || math.IsInf(x, 0) || math.IsNaN(x) {
		return "-"
	}
	places := n - 1 - int(math.Floor(math.Log10(x)))
	unit := math.Pow10(-places)
	rounded := math.Round(x/unit) * unit
	if n := n - 1 - int(math.Floor(math.Log10(rounded)*(1+1e-12))); n < places {
		places = n // 9.996 has become 10.0
	}
	return strconv.FormatFloat(rounded, 'f', max(0, places), 64)
}

// Err returns nil: noise is not a failure.
func (r *Report) Err() error { return nil }

const notes = `A stream is reset, written to and summed; one-shot is a single call. UMAC and GMAC
have a new nonce for each message. Poly1305 needs a new key for each message, whose time is not
counted. x/crypto/ssh uses crypto/hmac: its hmac-sha2-256 is HMAC-SHA-256, and its hmac-sha2-512 is
HMAC-SHA-512. Messages are in the cache, and one core is used. The cases take turns. The time shown
is that of the fastest run, after the fastest 2 % are left out.`

// Columns of the table.
const (
	nameWidth  = 36
	cellWidth  = 10
	tableWidth = nameWidth + 4*cellWidth
)

// String returns the report as a table that fits its style.
func (r *Report) String() string {
	var b strings.Builder
	hw := r.Hardware
	b.WriteString(r.style.Wrap("machine  ", fmt.Sprintf("%s, %s, %s", hw.CPU, hw.Platform, r.GoVersion)))
	b.WriteString(r.style.Wrap("kernels  ", fmt.Sprintf("NH %s, AES %s, SHA-256 %s, SHA-512 %s, AES-GCM %s", hw.NH, hw.AES, hw.SHA256, hw.SHA512, hw.GCM)))
	b.WriteString(r.style.Wrap("runs     ", fmt.Sprintf("%d of each case in %.0f s", r.Rounds, r.Seconds)))

	narrow := r.style.Width < tableWidth
	b.WriteByte('\n')
	if !narrow {
		fmt.Fprintf(&b, "%-*s", nameWidth, "ns for a message, by its size")
		for _, size := range sizes {
			fmt.Fprintf(&b, "%*s", cellWidth, sizeName(size))
		}
		b.WriteByte('\n')
	}
	for _, l := range r.lines() {
		if narrow {
			b.WriteString(l.name + "\n")
		} else {
			fmt.Fprintf(&b, "%-*s", nameWidth, l.name)
		}
		for i, row := range l.rows {
			switch {
			case narrow && row != nil:
				fmt.Fprintf(&b, "%9s %9v ns\n", sizeName(sizes[i]), row)
			case narrow:
			case row != nil:
				fmt.Fprintf(&b, "%*v", cellWidth, row)
			default:
				fmt.Fprintf(&b, "%*s", cellWidth, "-")
			}
		}
		if !narrow {
			b.WriteByte('\n')
		}
	}

	b.WriteString("\n" + r.style.Wrap("", notes))
	for _, reason := range r.LeftOut {
		b.WriteString(r.style.Wrap("left out: ", reason))
	}
	var noise string
	if r.Noisy > 0 {
		noise += fmt.Sprintf(" In %d of %d cases the fastest runs differ by more than %.0f %%: these have a tilde and two digits.",
			r.Noisy, len(r.Rows), 100*maxSpread)
	}
	if r.Unsure > 0 {
		noise += fmt.Sprintf(" In %d of %d cases the fastest runs differ by more than %.0f %%: these have a question mark; without --quick they have a figure.",
			r.Unsure, len(r.Rows), 100*maxUnsure)
	}
	if noise != "" {
		b.WriteString("\n" + r.style.Wrap("", "This machine is noisy."+noise+" Close other programs, or run this again."))
	}
	return b.String()
}

// A line is the rows of a contender, one for each of sizes, or nil.
type line struct {
	name string
	rows []*Row
}

// lines returns the rows of each contender.
func (r *Report) lines() []*line {
	var lines []*line
	byName := make(map[string]*line)
	for _, row := range r.Rows {
		l := byName[row.name()]
		if l == nil {
			l = &line{row.name(), make([]*Row, len(sizes))}
			byName[row.name()] = l
			lines = append(lines, l)
		}
		for i, size := range sizes {
			if size == row.Bytes {
				l.rows[i] = row
			}
		}
	}
	return lines
}

func sizeName(size int) string {
	s := demo.Size(size)
	return s.String()
}
