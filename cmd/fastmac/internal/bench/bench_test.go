// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package bench

import (
	"bytes"
	"encoding/json"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"example.com/fastmac"
	"example.com/fastmac/cmd/fastmac/internal/hardware"
	"example.com/fastmac/cmd/fastmac/internal/terminal"
	"example.com/fastmac/internal/golden"
)

// quick runs each case once.
var quick = Options{Duration: 1, Style: terminal.Plain}

func TestRun(t *testing.T) {
	var stderr bytes.Buffer
	r, err := Run(t.Context(), quick, &stderr)
	if err != nil {
		t.Fatal(err)
	}
	lines := 15 - len(r.LeftOut)
	if len(r.lines()) != lines || len(r.Rows) != 4*lines-2 || slices.ContainsFunc(r.LeftOut, func(reason string) bool {
		return strings.HasPrefix(reason, "fastmac GMAC: ")
	}) != (fastmac.RequireGCM() != nil) {
		t.Errorf("%d lines, %d rows, left out %q", len(r.lines()), len(r.Rows), r.LeftOut)
	}
	for _, row := range r.Rows {
		if row.NS <= 0 || row.GBps != float64(row.Bytes)/row.NS || row.Runs != 1 || row.Spread != 0 || row.Noisy {
			t.Errorf("%+v", *row)
		}
	}
	if !strings.HasPrefix(stderr.String(), "fastmac: timing ") || strings.Count(stderr.String(), "\n") != 1 {
		t.Errorf("progress %q", &stderr)
	}
	if text := strings.Join(strings.Fields(r.String()), " "); !strings.Contains(text, r.Hardware.CPU) || !strings.Contains(text, r.GoVersion) || !strings.Contains(text, "NH "+r.Hardware.NH) {
		t.Errorf("no name of the CPU, of Go or of a kernel in %s", text)
	}
	inJSON, err := json.Marshal(r)
	for _, key := range []string{"hardware", "go_version", "x_crypto_version", "rows", "implementation", "mac", "call", "bytes", "ns", "gb_per_s", "spread"} {
		if !strings.Contains(string(inJSON), `"`+key+`":`) {
			t.Errorf("no %s in %s, %v", key, inJSON, err)
		}
	}
}

// TestCheck has a contender with wrong tags for the longest message.
func TestCheck(t *testing.T) {
	all, _, err := contenders()
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(all, func(c *contender) bool { return c.mac == "UMAC-64" && c.call == oneShot })
	right := all[i].op
	all[i].op = func(msg []byte, n int) []byte {
		tag := bytes.Clone(right(msg, n))
		if len(msg) == maxMessage {
			tag[7] ^= 1
		}
		return tag
	}
	if err := check(all, make([]byte, maxMessage)); err == nil || !strings.HasPrefix(err.Error(), "fastmac UMAC-64, one-shot is wrong: the tag of 1048576 bytes is ") {
		t.Error(err)
	}
}

// TestBatch has different messages in a batch, of which the first argument is the last.
func TestBatch(t *testing.T) {
	all, _, err := contenders()
	if err != nil {
		t.Fatal(err)
	}
	msg := make([]byte, maxMessage)
	for i := range msg {
		msg[i] = byte(i >> 5)
	}
	if err := check(all, msg); err != nil {
		t.Error(err)
	}
}

func TestRow(t *testing.T) {
	c := cell{contender: &contender{impl: "fastmac", mac: "MAC", call: stream}, size: 1000}
	for i := range 100 {
		c.NS = append(c.NS, float64(199-i)) // 100 to 199
	}
	// The two halves have the figures 150 and 100.
	if r := c.row(); r.NS != 101 || r.Runs != 100 || r.GBps != 1000/101.0 || r.Spread != 0.5 || !r.Noisy {
		t.Errorf("%+v", *r)
	}
	for i := range c.NS {
		c.NS[i] = float64(100 + i*51%100) // the same times in another order
	}
	if r := c.row(); r.NS != 101 || math.Abs(r.Spread-18/101.0) > 1e-9 {
		t.Errorf("%+v", *r)
	}
	c.NS = append(make([]float64, 0), 100, 104, 500, 500, 500, 109, 111, 500, 500, 500)
	if r := c.row(); r.NS != 100 || r.Noisy {
		t.Errorf("%+v", *r)
	}
}

// TestLeaveOut has figures that a short run cannot tell.
func TestLeaveOut(t *testing.T) {
	for _, tt := range []struct {
		second    float64 // time in ns, after one of 100
		full      string
		quick     string
		quickJSON string
	}{
		{109, "100", "100", `"ns":100,"gb_per_s":10,"spread":0.0`},
		{114, "~100", "~100", `"ns":100,"gb_per_s":10,"spread":0.1`},
		{116, "~100", "?", `"bytes":1000,"spread":0.1`},
		{240, "~100", "?", `"unsure":true`},
	} {
		var full, quick Report
		for r, leaveOut := range map[*Report]bool{&full: false, &quick: true} {
			c := cell{contender: &contender{}, size: 1000}
			c.NS = []float64{100, 500, 500, 500, 500, tt.second, 500, 500, 500, 500}
			r.add(c.row(), leaveOut)
		}
		unsure := 0
		if tt.quick == "?" {
			unsure = 1
		}
		noisy := strings.Count(tt.quick, "~")
		inJSON, err := json.Marshal(quick.Rows[0])
		if full.Rows[0].String() != tt.full || quick.Rows[0].String() != tt.quick || full.Unsure != 0 || quick.Unsure != unsure || quick.Noisy != noisy ||
			err != nil || !strings.Contains(string(inJSON), tt.quickJSON) {
			t.Errorf("100 and %v ns: %v and %v, %d unsure, %d noisy, %s, %v", tt.second, full.Rows[0], quick.Rows[0], quick.Unsure, quick.Noisy, inJSON, err)
		}
	}
}

func TestDigits(t *testing.T) {
	for _, tt := range []struct {
		x          float64
		three, two string
	}{
		{12.345, "12.3", "12"}, {9.996, "10.0", "10"}, {99.96, "100", "100"}, {999.6, "1000", "1000"}, {0.01234, "0.0123", "0.012"},
		{123456, "123000", "120000"}, {1, "1.00", "1.0"}, {1000, "1000", "1000"}, {0, "-", "-"},
	} {
		if got := (&Row{NS: tt.x}).String(); got != tt.three {
			t.Errorf("%v: %s, want %s", tt.x, got, tt.three)
		}
		if got := (&Row{NS: tt.x, Noisy: true}).String(); got != "~"+tt.two {
			t.Errorf("%v: %s, want ~%s", tt.x, got, tt.two)
		}
	}
}

func testReport(style terminal.Style) *Report {
	r := &Report{
		Hardware:  &hardware.Report{CPU: "A CPU with 2 Cores", Platform: "linux/amd64", NH: "avx512", AES: "aesni", SHA256: "sha", SHA512: "avx512", GCM: "none"},
		GoVersion: "go1.26.8", Rounds: 123, Seconds: 60, Noisy: 1, Unsure: 1, LeftOut: []string{"fastmac GMAC: the reason"}, style: style,
	}
	for i, size := range sizes {
		ns := float64(size)/20 + 12.345
		r.Rows = append(r.Rows,
			&Row{Implementation: "fastmac", MAC: "UMAC-64", Call: stream, Bytes: size, NS: ns, GBps: float64(size) / ns, Noisy: i == 1},
			&Row{Implementation: "crypto/hmac", MAC: "HMAC-SHA-512", Call: stream, Bytes: size, NS: 30 * ns, GBps: float64(size) / ns / 30, Unsure: i == 2})
		if size < maxMessage {
			r.Rows = append(r.Rows, &Row{Implementation: "fastmac", MAC: "HMAC-SHA-512", Call: batched, Bytes: size, NS: 10 * ns, GBps: float64(size) / ns / 10})
		}
	}
	return r
}

func TestReportGolden(t *testing.T) {
	for name, style := range map[string]terminal.Style{"wide": terminal.Plain, "narrow": {Width: 40}} {
		got := testReport(style).String()
		if err := golden.Check(filepath.Join("testdata", name+".txt"), got); err != nil {
			t.Error(err)
		}
		for line := range strings.Lines(got) {
			if utf8.RuneCountInString(strings.TrimSuffix(line, "\n")) > style.Width {
				t.Errorf("too wide: %q", line)
			}
		}
	}
}
