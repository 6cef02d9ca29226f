// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package demo

import (
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"example.com/fastmac/cmd/fastmac/internal/hardware"
	"example.com/fastmac/cmd/fastmac/internal/terminal"
	"example.com/fastmac/internal/golden"
	"example.com/fastmac/sshmac"
	"golang.org/x/crypto/ssh"
)

// testReport is a report with a row of each kind.
func testReport(style terminal.Style) *Report {
	passed := func(s suite, client string, mbps, cpu float64) *row {
		return &row{suite: s, Client: client, MBps: mbps, CPUSeconds: 1, CPUPerGiB: cpu, Result: resultOK}
	}
	failed := &row{suite: suite{cipher: "aes128-ctr", mac: ssh.HMACSHA512ETM}, Client: "OpenSSH_9.2p1", Result: resultFailed, Error: "a cause"}
	unknown := passed(suite{cipher: "chacha20-poly1305@openssh.com"}, "OpenSSH_9.2p1", 99.96, 0)
	unknown.CPUSeconds = 0
	before := passed(suite{"chacha20-poly1305@openssh.com", "", defaultServer}, "OpenSSH_for_Windows_9.5p1"+nothingConfigured, 99.96, 8.25)
	after := passed(suite{"aes128-ctr", sshmac.UMAC64ETM, configuredServer}, "OpenSSH_for_Windows_9.5p1"+nothingConfigured, 400.1, 3.5)
	return &Report{
		Server: "golang.org/x/crypto v0.58.0", Address: "127.0.0.1:2222", Size: 64 << 20, GoVersion: "go1.26.8",
		OpenSSH:  openSSHReport{Version: "OpenSSH_9.2p1 Debian-2+deb12u10, OpenSSL 3.0.22 25 Aug 2026"},
		Hardware: &hardware.Report{CPU: "A CPU with 2 Cores", Platform: "linux/amd64", NH: "avx512", AES: "aesni", SHA256: "avx512", SHA512: "avx512"},
		Rows: []*row{
			passed(suite{cipher: "aes128-ctr", mac: noMAC}, "Go x/crypto v0.58.0", 1254.6, 1.5),
			passed(suite{cipher: "aes128-ctr", mac: sshmac.UMAC64ETM}, "Go x/crypto v0.58.0", 627.3, 12.345),
			failed, unknown, before, after,
		},
		style: style,
	}
}

func TestReportGolden(t *testing.T) {
	for name, style := range map[string]terminal.Style{
		"pipe":     terminal.Plain,
		"terminal": {Width: 80, Bars: true},
		"wide":     {Width: 200, Bars: true, Color: true},
		"narrow":   {Width: 40, Bars: true, Color: true},
	} {
		t.Run(name, func(t *testing.T) {
			got := testReport(style).String()
			if err := golden.Check(filepath.Join("testdata", name+".txt"), got); err != nil {
				t.Error(err)
			}
			for line := range strings.Lines(got) {
				visible := strings.NewReplacer("\x1b[34m", "", "\x1b[0m", "").Replace(strings.TrimSuffix(line, "\n"))
				if utf8.RuneCountInString(visible) > style.Width {
					t.Errorf("too wide: %q", line)
				}
			}
		})
	}
}

// TestReportBars has bars of the CPU time, of at most 60 columns.
func TestReportBars(t *testing.T) {
	r := testReport(terminal.Style{Width: 200, Bars: true})
	for i, want := range []int{7, maxBar, 0, 0, 40, 17} { // of 1.5, 12.345, failed, unknown, 8.25 and 3.5
		if got := strings.Count(r.Rows[i].line(r.style, maxBar, 12.345), "█"); got != want {
			t.Errorf("%v: a bar of %d columns, want %d", r.Rows[i].suite, got, want)
		}
	}
	if text := strings.Join(strings.Fields(r.String()), " "); !strings.Contains(text, strings.Repeat("█", maxBar)) || strings.Contains(text, strings.Repeat("█", maxBar+1)) || !strings.Contains(text, barsNote) {
		t.Errorf("%s", text)
	}
	for _, row := range r.Rows { // as on a system that does not tell the CPU time
		row.CPUSeconds, row.CPUPerGiB = 0, 0
	}
	if text := r.String(); strings.Contains(text, "█") || strings.Contains(text, barsNote) {
		t.Errorf("%s", text)
	}
}

// TestReportCost has rows of several MACs beside none.
func TestReportCost(t *testing.T) {
	r := &Report{Hardware: hardware.New(), style: terminal.Plain}
	add := func(client, cipher, mac string, cpu float64) *row {
		row := &row{suite: suite{cipher: cipher, mac: mac}, Client: client, CPUSeconds: cpu / 8, CPUPerGiB: cpu, Result: resultOK}
		r.Rows = append(r.Rows, row)
		return row
	}
	const ctr = "aes128-ctr"
	base := add("Go", ctr, noMAC, 2)
	add("Go", ctr, sshmac.UMAC64, 2.04)
	for _, tt := range []struct{ mac, want string }{
		{"", "umac-64 2 % more."},
		{sshmac.UMAC64ETM, "umac-64-etm 5 % more."},
		{ssh.HMACSHA256ETM, "umac-64-etm 5 % more, hmac-sha2-256-etm 5 % more."},
	} {
		if tt.mac != "" {
			add("Go", ctr, tt.mac, 2.1)
		}
		if got, want := r.cost(), "CPU time compared with no MAC, with aes128-ctr and Go's client: "+tt.want; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	r.Rows[len(r.Rows)-1].CPUPerGiB = 4.2
	add("Go", "aes128-gcm@openssh.com", "", 1.9)
	add("Go", "aes256-ctr", sshmac.UMAC64ETM, 9)
	add("OpenSSH", ctr, sshmac.UMAC128ETM, 9)
	add("Go", ctr, sshmac.UMAC128ETM, 9).Result = resultFailed
	add("Go", ctr, sshmac.UMAC128ETM, 9).CPUSeconds = minCost.Seconds() / 2
	add("Go", "aes256-gcm@openssh.com", "", 9).CPUSeconds = minCost.Seconds() / 2
	const want = "CPU time compared with no MAC, with aes128-ctr and Go's client: umac-64-etm 5 % more, hmac-sha2-256-etm 110 % more. " +
		"Ciphers that need no MAC: aes128-gcm 5 % less."
	if got := r.cost(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if text := strings.Join(strings.Fields(r.String()), " "); !strings.HasSuffix(text, want) {
		t.Errorf("the last sentence is not %q:\n%s", want, text)
	}
	for name, change := range map[string]func(){
		"too short": func() { base.CPUSeconds = minCost.Seconds() / 2 },
		"failed":    func() { base.CPUSeconds, base.Result = 1, resultFailed },
		"no MAC at all": func() {
			base.Result, r.Rows = resultOK, r.Rows[:1]
		},
	} {
		before := *base
		rows := r.Rows
		change()
		if got := r.cost(); got != "" {
			t.Errorf("%s: %q", name, got)
		}
		*base, r.Rows = before, rows
	}
}

// TestReportGain has rows of OpenSSH's client with nothing configured, with both servers.
func TestReportGain(t *testing.T) {
	r := &Report{Hardware: hardware.New(), style: terminal.Plain}
	add := func(server, cipher, mac string, cpu float64) *row {
		row := &row{suite: suite{cipher, mac, server}, Client: "OpenSSH_9.2p1" + nothingConfigured, CPUSeconds: 1, CPUPerGiB: cpu, Result: resultOK}
		r.Rows = append(r.Rows, row)
		return row
	}
	before := add(defaultServer, "chacha20-poly1305@openssh.com", "", 8)
	after := add(configuredServer, "aes128-ctr", sshmac.UMAC64ETM, 4)
	const want = "With a server that calls sshmac.ConfigureServer, OpenSSH_9.2p1 by default uses aes128-ctr umac-64-etm instead of chacha20-poly1305. " +
		"A GiB then takes 4.00 CPU seconds instead of 8.00, both ends together. " + releasesNote
	if got := r.gain(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	before.CPUSeconds, after.CPUSeconds = minCost.Seconds(), minCost.Seconds()
	if got := r.gain(); got != want {
		t.Errorf("at the limit: %q, want %q", got, want)
	}
	for name, change := range map[string]func(){
		"too short before": func() { before.CPUSeconds = minCost.Seconds() / 2 },
		"too short after":  func() { after.CPUSeconds = minCost.Seconds() / 2 },
		"unknown":          func() { before.CPUSeconds, after.CPUSeconds = 0, 0 },
		"failed":           func() { after.Result = resultFailed },
		"one row":          func() { r.Rows = r.Rows[:1] },
	} {
		savedBefore, savedAfter, rows := *before, *after, r.Rows
		change()
		if got := r.gain(); got != "" {
			t.Errorf("%s: %q", name, got)
		}
		if text := r.String(); strings.Contains(text, "sshmac.ConfigureServer,") {
			t.Errorf("%s:\n%s", name, text)
		}
		*before, *after, r.Rows = savedBefore, savedAfter, rows
	}
	after.cipher, after.mac = before.cipher, before.mac
	if got, want := r.gain(), "sshmac.ConfigureServer changes nothing for OpenSSH_9.2p1 with its defaults: it uses chacha20-poly1305 with both servers."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestReportFailures has two rows that fail with one error and one with another.
func TestReportFailures(t *testing.T) {
	r := &Report{Hardware: hardware.New(), style: terminal.Plain}
	for i, err := range []string{"a cause", "", "another cause", "a cause"} {
		row := &row{suite: suite{cipher: "aes128-ctr", mac: macNames[1+i]}, Client: "ssh", Result: resultOK, Error: err}
		if err != "" {
			row.Result = resultFailed
		}
		r.Rows = append(r.Rows, row)
	}
	const want = `
failed:
  aes128-ctr umac-64-etm, ssh
  aes128-ctr umac-128, ssh
    a cause

failed:
  aes128-ctr umac-64, ssh
    another cause

1 of 4 rows passed
`
	if got := r.String(); !strings.HasSuffix(got, want) {
		t.Errorf("%s\nwant at the end\n%s", got, want)
	}
	if err := r.Err(); err == nil || err.Error() != "3 of 4 rows failed" {
		t.Error(err)
	}
}
