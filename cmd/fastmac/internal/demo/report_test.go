// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package demo

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"example.com/fastmac/cmd/fastmac/internal/hardware"
	"example.com/fastmac/cmd/fastmac/internal/terminal"
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
		Hardware: &hardware.Report{CPU: "A CPU with 2 Cores", Platform: "linux/amd64", NH: "avx512", AES: "aesni", SHA512: "avx512"},
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
		"wide":     {Width: 120, Bars: true, Color: true},
		"narrow":   {Width: 40, Bars: true, Color: true},
	} {
		t.Run(name, func(t *testing.T) {
			got := testReport(style).String()
			file := filepath.Join("testdata", name+".txt")
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil || got != string(want) {
				t.Errorf("%v\n%s\nwant\n%s", err, got, want)
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

var update = flag.Bool("update", false, "write the files in testdata")

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
