// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package demo

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"example.com/fastmac/cmd/fastmac/internal/hardware"
	"example.com/fastmac/cmd/fastmac/internal/terminal"
)

// A Report is the result of a run.
type Report struct {
	Server    string           `json:"server"`
	Address   string           `json:"address"`
	OpenSSH   openSSHReport    `json:"openssh"`
	Hardware  *hardware.Report `json:"hardware"`
	GoVersion string           `json:"go_version"`
	Size      Size             `json:"size"` // in each direction
	Rows      []*row           `json:"rows"`
	Passed    bool             `json:"passed"`

	style terminal.Style
}

// An openSSHReport has a version, or the reason why there are no rows for OpenSSH's
// client.
type openSSHReport struct {
	Version string `json:"version,omitempty"`
	Error   string `json:"error,omitempty"`
	Missing bool   `json:"missing,omitempty"` // not installed, which is not a failure
}

// Err returns an error if a row failed, or if there is an ssh that does not work.
func (r *Report) Err() error {
	failed := 0
	for _, row := range r.Rows {
		if !row.passed() {
			failed++
		}
	}
	switch {
	case failed > 0:
		return fmt.Errorf("%d of %d rows failed", failed, len(r.Rows))
	case r.OpenSSH.Error != "" && !r.OpenSSH.Missing:
		return errors.New("no rows for OpenSSH's client")
	}
	return nil
}

const tableNotes = `MB/s is 10^6 bytes of content per second, up and down together, without
the handshake. CPU is the time that both ends spend on all cores for a GiB of content, with OpenSSH
including the start of ssh. Every byte is compared with what was sent. On a busy machine trust the
CPU time.`

const barsNote = `The bars are the CPU time: shorter is better.`

const serversNote = `In the rows that begin with x/crypto or sshmac, ssh uses its default algorithms,
and the server has those of x/crypto or of sshmac.ConfigureServer. This ssh reads no configuration,
so a policy of the system, as on RHEL and Fedora, has no effect.`

const noMACNote = `"no MAC" is a MAC that does nothing, which only this command has: it shows the
most that a faster MAC could gain.`

// A table of narrowWidth columns has room for the longest label and for the figures. One
// of minBar columns more has bars, which are no longer than maxBar.
const (
	labelWidth  = 38
	narrowWidth = labelWidth + 2 + 6 + 2 + 9
	minBar      = 10
	maxBar      = 60
)

// String returns the report as a table that fits its style.
func (r *Report) String() string {
	var b strings.Builder
	style := r.style
	for _, line := range [][2]string{
		{"each row", fmt.Sprintf("%v up and %[1]v down", &r.Size)},
		{"server", r.Server + " on " + r.Address},
		{"OpenSSH", r.OpenSSH.Version + r.OpenSSH.Error},
		{"machine", fmt.Sprintf("%s, %s, %s", r.Hardware.CPU, r.Hardware.Platform, r.GoVersion)},
		{"kernels", fmt.Sprintf("NH %s, AES %s, SHA-256 %s, SHA-512 %s", r.Hardware.NH, r.Hardware.AES, r.Hardware.SHA256, r.Hardware.SHA512)},
	} {
		b.WriteString(style.Wrap(fmt.Sprintf("%-10s", line[0]), line[1]))
	}

	slowest, passed, notes := 0.0, 0, tableNotes
	for _, row := range r.Rows {
		if row.passed() {
			slowest = max(slowest, row.CPUPerGiB)
			passed++
		}
	}
	bar := 0
	if room := style.Width - narrowWidth - 2; style.Bars && room >= minBar && slowest > 0 {
		bar = min(room, maxBar)
		notes += " " + barsNote
	}
	if slices.ContainsFunc(r.Rows, func(row *row) bool { return row.mac == noMAC }) {
		notes += " " + noMACNote
	}
	if slices.ContainsFunc(r.Rows, func(row *row) bool { return row.server != "" }) {
		notes += " " + serversNote
	}
	client := ""
	for _, row := range r.Rows {
		switch {
		case row.Client == client:
		case style.Width < narrowWidth:
			b.WriteString("\n" + style.Wrap("", row.Client))
		default:
			name := row.Client
			b.WriteString("\n")
			if len(name) > labelWidth { // that of OpenSSH for Windows
				b.WriteString(name + "\n")
				name = ""
			}
			fmt.Fprintf(&b, "%-*s    MB/s  CPU s/GiB\n", labelWidth, name)
		}
		client = row.Client
		b.WriteString(row.line(style, bar, slowest))
	}
	b.WriteString("\n" + style.Wrap("", notes))
	r.writeFailures(&b, style)
	fmt.Fprintf(&b, "\n%d of %d rows passed\n", passed, len(r.Rows))
	for _, sentence := range []string{r.gain(), r.cost()} {
		if sentence != "" {
			b.WriteString("\n" + style.Wrap("", sentence))
		}
	}
	return b.String()
}

// releasesNote ends gain: clients of users may be of other releases. It is true on CPUs with instructions for AES-GCM,
// where ConfigureServer leaves chacha20-poly1305 out; docs/ssh.md has the figures.
const releasesNote = `OpenSSH up to 9.9 by default then uses aes128-ctr umac-64-etm, and OpenSSH 10
aes128-gcm, which has no MAC. So UMAC is for older releases, and for programs in Go that have to
use a MAC.`

// gain says what a server gains from ConfigureServer if nothing is configured at the client.
// It is empty if these rows did not run, pass or last long enough.
func (r *Report) gain() string {
	var before, after *row
	for _, row := range r.Rows {
		switch {
		case !row.passed():
		case row.server == defaultServer:
			before = row
		case row.server == configuredServer:
			after = row
		}
	}
	if before == nil || after == nil {
		return ""
	}
	client := strings.TrimSuffix(before.Client, nothingConfigured)
	if before.cipher == after.cipher && before.mac == after.mac {
		return fmt.Sprintf("sshmac.ConfigureServer changes nothing for %s with its defaults: it uses %v with both servers.", client, algorithms{before.cipher, before.mac})
	}
	if min(before.CPUSeconds, after.CPUSeconds) < minCost.Seconds() {
		return ""
	}
	return fmt.Sprintf("With a server that calls sshmac.ConfigureServer, %s by default uses %v instead of %v. A GiB then takes %.2f CPU seconds instead of %.2f, both ends together. %s",
		client, algorithms{after.cipher, after.mac}, algorithms{before.cipher, before.mac}, after.CPUPerGiB, before.CPUPerGiB, releasesNote)
}

// minCost is the CPU time from which on rows can be compared: the clock of some systems ticks only
// every 10 ms.
const minCost = 50 * time.Millisecond

// cost says how much CPU time MACs cost with Go's client, beside none. It leaves out rows that did
// not pass or last long enough, and is empty if no others are left. If MACs in the ETM modes ran, it
// leaves out the others.
func (r *Report) cost() string {
	i := slices.IndexFunc(r.Rows, func(row *row) bool {
		return row.passed() && row.mac == noMAC && row.CPUSeconds >= minCost.Seconds()
	})
	if i < 0 {
		return ""
	}
	base := r.Rows[i]
	var macs, etm, aeads []string
	for _, row := range r.Rows {
		if !row.passed() || row.Client != base.Client || row == base || row.CPUSeconds < minCost.Seconds() {
			continue
		}
		more := fmt.Sprintf("%.0f %% more", 100*(row.CPUPerGiB/base.CPUPerGiB-1))
		if row.CPUPerGiB < base.CPUPerGiB {
			more = fmt.Sprintf("%.0f %% less", 100*(1-row.CPUPerGiB/base.CPUPerGiB))
		}
		switch {
		case row.mac == "":
			aeads = append(aeads, fmt.Sprintf("%v %s", row.suite, more))
		case row.cipher != base.cipher:
		default:
			text := macLabel(row.mac) + " " + more
			macs = append(macs, text)
			if strings.Contains(row.mac, "-etm@") {
				etm = append(etm, text)
			}
		}
	}
	if len(etm) > 0 {
		macs = etm
	}
	if len(macs) == 0 {
		return ""
	}
	text := fmt.Sprintf("CPU time compared with no MAC, with %s and Go's client: %s.", short(base.cipher), strings.Join(macs, ", "))
	if len(aeads) > 0 {
		text += " Ciphers that need no MAC: " + strings.Join(aeads, ", ") + "."
	}
	return text
}

// line returns the row of a table, or two lines if the style is narrow. Its bar is that of the CPU
// time, of which bar columns are the longest.
func (r *row) line(style terminal.Style, bar int, slowest float64) string {
	speed, cpu := "failed", "-"
	if r.passed() {
		speed = fmt.Sprintf("%.1f", r.MBps)
		if r.CPUSeconds > 0 {
			cpu = fmt.Sprintf("%.2f", r.CPUPerGiB)
		}
	}
	if style.Width < narrowWidth {
		if r.passed() {
			speed += " MB/s"
		}
		if cpu != "-" {
			speed += ", CPU " + cpu + " s/GiB"
		}
		return fmt.Sprintf("%v\n  %s\n", r.suite, speed)
	}
	line := fmt.Sprintf("%-*v  %6s  %9s", labelWidth, r.suite, speed, cpu)
	if bar > 0 && cpu != "-" {
		line += "  " + style.Bar(r.CPUPerGiB, slowest, bar, r.ours())
	}
	return line + "\n"
}

// writeFailures prints each error once, after the rows that failed with it.
func (r *Report) writeFailures(b *strings.Builder, style terminal.Style) {
	var errs []string
	rows := make(map[string]string)
	for _, row := range r.Rows {
		if row.passed() {
			continue
		}
		if rows[row.Error] == "" {
			errs = append(errs, row.Error)
		}
		rows[row.Error] += style.Wrap("  ", fmt.Sprintf("%v, %s", row.suite, row.Client))
	}
	for _, err := range errs {
		fmt.Fprintf(b, "\nfailed:\n%s%s", rows[err], style.Wrap("    ", err))
	}
}
