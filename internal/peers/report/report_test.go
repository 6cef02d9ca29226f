// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package report

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"example.com/fastmac/internal/peers/check"
	"example.com/fastmac/internal/peers/rivals"
)

const sample = "../results/amd-zen5.json"

func readSample(t *testing.T) *Results {
	t.Helper()
	r, err := Read(sample)
	if err != nil {
		t.Fatal(err)
	}
	r.OS = ""
	r.Rows = slices.DeleteFunc(r.Rows, func(row Row) bool { return row.Alg == "aes256-gcm" || row.Impl == "fastmac" && row.Alg == "gmac" })
	return r
}

// readFull returns the sample with made-up rows of everything that can be measured.
func readFull(t *testing.T) *Results {
	r := readSample(t)
	r.Rows = nil
	for _, g := range rivals.Groups {
		for _, c := range g.Contenders {
			for _, size := range g.Sizes {
				ns := 100 + 3*float64(len(r.Rows))
				r.Rows = append(r.Rows, NewRow(g.Name, c, size, []float64{ns - 1, ns, ns + 1}))
			}
		}
	}
	return r
}

// TestFacts checks that everything states where its figures come from.
func TestFacts(t *testing.T) {
	r := readSample(t)
	for text, facts := range map[string][]string{
		Section(r):  {r.CPU, r.Go, r.Commit, r.Command, r.Date, "OS: unknown", "nettle 3.8", "| spread |"},
		Chart(r, r): {r.CPU, r.Go, r.Commit, r.Command},
	} {
		for _, fact := range facts {
			if !strings.Contains(text, fact) {
				t.Errorf("no %q in:\n%s", fact, text)
			}
		}
	}
}

// TestRows checks that each row is in a table, with its time or its throughput.
func TestRows(t *testing.T) {
	for _, r := range []*Results{readSample(t), readFull(t)} {
		page := Section(r)
		for _, row := range r.Rows {
			title := regexp.QuoteMeta(row.Contender().Title())
			if row.Group == "cores" {
				title = "[12] cores?"
			}
			figures := []string{number(row.NS), number(row.gbps()), withSpread(number(row.mbps()), row), row.cpu()}
			if !slices.ContainsFunc(figures, func(v string) bool {
				return regexp.MustCompile(`(?m)^\| ` + title + `[ ,|].*\| +` + regexp.QuoteMeta(v) + ` \|`).MatchString(page)
			}) {
				t.Errorf("no figure of %+v", row)
			}
		}
	}
}

// TestUnmeasured checks that what was not measured has neither a table nor a line.
func TestUnmeasured(t *testing.T) {
	for _, title := range []string{"AES-256-GCM", "fastmac GMAC"} {
		if text := Section(readSample(t)); strings.Contains(text, title) {
			t.Errorf("%s in:\n%s", title, text)
		}
		if text := Section(readFull(t)); !strings.Contains(text, title) {
			t.Errorf("no %s in:\n%s", title, text)
		}
	}
}

// TestChart checks that the chart has all curves, in both panels, and that each color has a
// counterpart in the dark scheme.
func TestChart(t *testing.T) {
	svg := Chart(readFull(t), readFull(t))
	for _, curve := range curves {
		if got := strings.Count(svg, ">"+curve.label+"</text>"); got != 2 {
			t.Errorf("%d labels %s", got, curve.label)
		}
	}
	found := regexp.MustCompile(`class="(\S+)" (?:fill|stroke)="#`).FindAllStringSubmatch(svg, -1)
	for _, match := range found {
		if !strings.Contains(svg, "."+match[1]+"{") {
			t.Errorf("no dark color for %s", match[1])
		}
	}
	if len(found) < 50 {
		t.Errorf("%d colored elements", len(found))
	}
}

// TestGaps renders results in which rows are missing.
func TestGaps(t *testing.T) {
	full := readFull(t)
	for name, keep := range map[string]func(Row) bool{
		"no GMAC":   func(r Row) bool { return r.Alg != "gmac" },
		"no stdlib": func(r Row) bool { return !strings.HasPrefix(r.Impl, "crypto/") },
		"no C":      func(r Row) bool { return r.Contender().Peer() == rivals.GoPeer },
		"only read": func(r Row) bool { return r.Group == "read" },
		"one row":   func(r Row) bool { return r == full.Rows[0] },
		"one size":  func(r Row) bool { return r.Size == 64 },
	} {
		r := *full
		r.Rows = nil
		for _, row := range full.Rows {
			if keep(row) {
				r.Rows = append(r.Rows, row)
			}
		}
		r.Command = `-o "<&>"`
		for _, got := range []string{Section(&r), Chart(&r, full), allTables(t, []*Results{&r, full})} {
			if strings.Contains(got, "NaN") || strings.Contains(got, "Inf") {
				t.Errorf("%s: %s", name, got)
			}
		}
		wellFormed(t, Chart(&r, full))
	}
}

func wellFormed(t *testing.T, svg string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(svg))
	for {
		if _, err := d.Token(); err == io.EOF {
			return
		} else if err != nil {
			t.Errorf("chart: %v\n%s", err, svg)
			return
		}
	}
}

func TestResultsFile(t *testing.T) {
	r, err := Read(sample)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "amd-zen5.json")
	if err := r.Write(path); err != nil {
		t.Fatal(err)
	}
	again, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(r, again) {
		t.Errorf("written %+v, read %+v", r, again)
	}
	got, _ := os.ReadFile(path)
	want, _ := os.ReadFile(sample)
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not as it would be written:\n%s", sample, got)
	}
	if err := r.Write(filepath.Join(path, "x")); err == nil || !strings.HasPrefix(err.Error(), "fastmac: ") {
		t.Errorf("write to a bad path: error %v", err)
	}

	for _, bad := range []string{
		"", "[]", "{}", `{"rows":[]}`,
		`{"rows":[{"group":"message","size":16,"ns":0}]}`,
		`{"rows":[{"group":"message","size":0,"ns":1}]}`,
		`{"rows":[{"group":"message","size":16,"ns":"x"}]}`,
		`{"statistic":"mean","rows":[{"group":"message","size":16,"ns":1}]}`,
	} {
		if err := os.WriteFile(path, []byte(bad), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(path); err == nil || !strings.HasPrefix(err.Error(), "fastmac: results ") {
			t.Errorf("results %q: error %v", bad, err)
		}
	}
}

func TestSpaceOut(t *testing.T) {
	at := []float64{300, 100, 101, 200, 290}
	want := []float64{290 + labelPitch, 100, 100 + labelPitch, 200, 290}
	if got := spaceOut(at); !slices.Equal(got, want) {
		t.Errorf("labels at %v, want %v", got, want)
	}
}

func TestNumbers(t *testing.T) {
	for v, want := range map[float64]string{0.004: "0.00", 1.234: "1.23", 9.994: "9.99", 9.996: "10.0", 99.94: "99.9", 99.96: "100", 123456.7: "123457"} {
		if got := number(v); got != want {
			t.Errorf("number(%v) = %s, want %s", v, got, want)
		}
	}
	base := Row{Group: "key", Impl: "fastmac", Alg: "umac64", Mode: "new", Size: 64, NS: 1}
	results := &Results{Rows: []Row{base}}
	for v, want := range map[float64]string{0.0123: "0.012", 0.0994: "0.099", 0.0996: "0.10", 0.5: "0.50"} {
		row := base
		row.NS = v
		if got := results.times(base.Contender())(row); got != want {
			t.Errorf("%v times as long is %s, want %s", v, got, want)
		}
		row.NS = 1 / v
		if got := results.speeds(base.Contender())(row); got != want {
			t.Errorf("%v times as fast is %s, want %s", v, got, want)
		}
	}
	if got := results.times(rivals.GMAC)(base); got != "–" {
		t.Errorf("compared with nothing: %s", got)
	}
}

// TestStatistic checks that figures are low quantiles, and that it is said.
func TestStatistic(t *testing.T) {
	var ns []float64
	for i := range 101 {
		ns = append(ns, 200.004-float64(i))
	}
	got := NewRow("key", "fastmac:umac64:new", 64, ns)
	if want := (Row{"key", "fastmac", "umac64", "new", 64, 104.4, 101.36, 109.47}); got != want {
		t.Errorf("row %+v, want %+v", got, want)
	}

	if text := Section(readSample(t)); !strings.Contains(text, "the 5th percentile of 200 rounds") || !strings.Contains(text, quiet.spread) {
		t.Errorf("not said:\n%s", text)
	}
}

// TestCPUTimes checks the unit of CPU times: seconds for each GiB.
func TestCPUTimes(t *testing.T) {
	r := &Results{Versions: map[string]string{"golang.org/x/crypto": "v9"}, Rows: []Row{
		{"ssh-cpu", "x/crypto", "aes128-gcm", "receive", 32768, 30000, 29000, 30500},
		{"ssh-cpu", "x/crypto", "aes128-gcm", "send", 32768, 15000, 15000, 15000},
	}}
	want := regexp.MustCompile(`\| x/crypto aes128-gcm \(v9\) \| +0\.983 \(5\.0 %\) \| +0\.492 \(0\.0 %\) \| +5\.0 % \|`)
	if text := Section(r); !want.MatchString(text) {
		t.Errorf("no %v in:\n%s", want, text)
	}
}

// allTables returns all tables of documents.
func allTables(t *testing.T, all []*Results) string {
	t.Helper()
	var document strings.Builder
	for name := range documentTables {
		fmt.Fprintf(&document, "<!-- table: %s -->\nold\n<!-- end -->\n", name)
	}
	filled, err := Fill(document.String(), all)
	if err != nil || strings.Contains(filled, "old") {
		t.Fatalf("error %v, in:\n%s", err, filled)
	}
	return filled
}

// TestFill checks that tables replace what was between their marks, and nothing else.
func TestFill(t *testing.T) {
	r := readSample(t)
	marked := func(table string) string {
		return "before\n<!-- table: 32 bytes -->\n" + table + "<!-- end -->\nafter\n"
	}
	got, err := Fill(marked("old\n"), []*Results{r})
	if before, after := marked("\n| ns, 32 bytes | AMD Zen 5 |\n"), "|\n\n<!-- end -->\nafter\n"; err != nil ||
		!strings.HasPrefix(got, strings.TrimSuffix(before, "<!-- end -->\nafter\n")) || !strings.HasSuffix(got, after) {
		t.Errorf("got %q, error %v", got, err)
	}
	if again, err := Fill(got, []*Results{r}); again != got || err != nil {
		t.Errorf("again: %q, error %v", again, err)
	}
	for bad, want := range map[string]string{
		"<!-- table: nobody -->\n<!-- end -->\n": `the mark of table "nobody", which nothing makes`,
		"<!-- table: 32 bytes -->\n":             "1 marks of tables, and not all have an end",
	} {
		if _, err := Fill(bad, []*Results{r}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v", bad, err)
		}
	}
}

// TestChecked checks that machines that were checked have a line, and that one on which nothing was measured
// is in no other table.
func TestChecked(t *testing.T) {
	const document = "<!-- table: checked -->\n<!-- end -->\n<!-- table: 32 bytes -->\n<!-- end -->\n"
	r := readSample(t)
	got, err := Fill(document, []*Results{r})
	if err != nil || !strings.Contains(got, "\n| none yet | – |") || !strings.Contains(got, "| AMD Zen 5 |") {
		t.Errorf("no machine: %q, error %v", got, err)
	}
	only := &Results{Name: "only-checked", CPU: "Arm CPU", OS: "Linux", Platform: "linux/arm64", Go: "go1.26.8", Check: &check.Report{
		Tests: []check.Tests{{Passed: 3, Failed: []check.Test{{Package: "hwrand", Name: "TestScan"}}}},
		DIT:   &check.DIT{Missing: "no DIT"},
	}}
	got, err = Fill(document, []*Results{r, only})
	line := "\n| only-checked | Arm CPU | Linux linux/arm64 | 1.26.8 |  | 3 passed, 1 failed, 0 skipped; FAILED: hwrand TestScan | not compared | no DIT |\n"
	if err != nil || !strings.Contains(got, line) || strings.Count(got, "only-checked") != 1 {
		t.Errorf("%q, error %v, want %q", got, err, line)
	}
}

// TestColumns checks that a machine is in the tables whose first line was measured there, and in no other.
func TestColumns(t *testing.T) {
	full, hmac := readFull(t), readFull(t)
	hmac.Name = "only-hmac"
	hmac.Rows = slices.DeleteFunc(hmac.Rows, func(r Row) bool { return !strings.HasPrefix(r.Alg, "hmac-sha256") })
	const mark = "<!-- table: %s -->\n<!-- end -->\n"
	for name, want := range map[string]bool{
		"HMAC-SHA-256": true, "HMAC-SHA-256, new keys": true, "set-up, HMAC": true, "machines": true,
		"32 bytes": false, "set-up": false, "seal 64": false, "many keys": false, "pbkdf2": false,
		"slower in a call": false, "slower in streams": false,
	} {
		got, err := Fill(fmt.Sprintf(mark, name), []*Results{hmac, full})
		if err != nil || strings.Contains(got, "only-hmac") != want || !strings.Contains(got, "AMD Zen 5") {
			t.Errorf("%s: %v, only-hmac is there: want %v\n%s", name, err, want, got)
		}
	}
}

// TestOthers checks that machines without a name for readers have a column, under the names of
// their files, and that what was switched off is said.
func TestOthers(t *testing.T) {
	other, sample := readSample(t), readSample(t)
	other.Name, other.Command = "other", "GODEBUG=cpu.avx512f=off "+other.Command
	if text := allTables(t, []*Results{other, sample}); !strings.Contains(text, "| AMD Zen 5 | other |") {
		t.Errorf("no column in:\n%s", text)
	}
	if text := Section(other); !strings.HasPrefix(text, "## other, with AVX-512 switched off\n") || !strings.Contains(text, "- AVX-512 is switched off by GODEBUG") {
		t.Errorf("not said:\n%.300s", text)
	}
	if other.vectors() != "AVX-512 (AVX-512 switched off)" { // of the kernels of the sample
		t.Errorf("vectors %s", other.vectors())
	}
}

// TestSlower checks who takes less time than UMAC.
func TestSlower(t *testing.T) {
	r := &Results{Name: "one"}
	for c, ns := range map[rivals.Contender]float64{
		"fastmac:umac64:oneshot": 20, "fastmac:umac128:oneshot": 30, "dchest:siphash:oneshot": 19,
		"x/crypto:poly1305:oneshot": 29, "zeebo:blake3:stream": 31, "fastmac:gmac:oneshot": 1,
	} {
		for _, size := range []int{1024, 1500} {
			r.Rows = append(r.Rows, NewRow("message", c, size, []float64{ns}))
		}
	}
	slices.SortFunc(r.Rows, func(a, b Row) int { return strings.Compare(a.Impl, b.Impl) })
	got := slower([]*Results{r}, "oneshot").RenderMarkdown()
	if want := "| one | – | – | – | SipHash-2-4, *Poly1305* | – |"; strings.Join(strings.Fields(got[strings.LastIndex(got, "\n"):]), " ") != want {
		t.Errorf("got:\n%s\nwant its last line:\n%s", got, want)
	}
}

// TestTitles checks that a name has the version of what was measured.
func TestTitles(t *testing.T) {
	r := readSample(t)
	for crate, version := range map[string]string{"aes-gcm": "1.2", "boring-sys": "5.4.0", "hkdf": "0.12.4", "pbkdf2": "0.12.2"} {
		r.Versions["crate "+crate] = version
	}
	r.Versions["ipsec-mb"] = "1.3"
	for c, want := range map[rivals.Contender]string{
		"OpenSSH:umac64:stream":         "OpenSSH UMAC-64 (umac.c 1.30)",
		"fakeboboliu:umac64:stream":     "fakeboboliu UMAC-64 (13bd2ffb5f07)",
		"nettle:umac128:stream":         "nettle UMAC-128 (3.8)",
		"OpenSSL:gmac:stream":           "OpenSSL GMAC (3.0.22)",
		"RustCrypto:hmac-sha512:stream": "RustCrypto HMAC-SHA-512 (hmac 0.12.1)",
		"RustCrypto:gmac:stream":        "RustCrypto GMAC (aes-gcm 1.2)",
		"aws-lc-rs:hmac-sha512:stream":  "aws-lc-rs HMAC-SHA-512 (1.19.0)",
		"BoringSSL:gmac:stream":         "BoringSSL GMAC (boring-sys 5.4.0)",
		"ipsec-mb:hmac-sha512:apart":    "ipsec-mb HMAC-SHA-512, batches of 64, 64 bytes apart (1.3)",
		rivals.SSHHMAC:                  "x/crypto hmac-sha2-256-etm (v0.58.0)",
		rivals.GMAC:                     "crypto/cipher GMAC",
		rivals.Reading:                  "reading alone",
		"fastmac:umac64:stream":         "fastmac UMAC-64",
	} {
		if got := r.title(c); got != want {
			t.Errorf("%s: title %q, want %q", c, got, want)
		}
	}
	for _, g := range rivals.Groups {
		for _, c := range g.Contenders {
			impl, alg, _ := c.Parts()
			own := impl == "fastmac" || impl == "nothing" || impl == "reading" || strings.HasPrefix(impl, "crypto/")
			if r.title(c) == c.Title() && !own && alg != "aes256-gcm" {
				t.Errorf("%s: no version", c)
			}
		}
	}
}
