// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package report

import (
	"cmp"
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"example.com/fastmac/internal/peers/rivals"
)

// Page returns all tables of all results, in Markdown.
func Page(all []*Results) string {
	var b strings.Builder
	b.WriteString("# Results\n\nAll tables of all machines. docs/speed.md has the short ones, how the figures are measured, and how to measure another machine.\n\n" + intro)
	for _, r := range all {
		b.WriteString("\n" + Section(r))
	}
	return b.String()
}

// intro is what holds for all machines.
//
//go:embed intro.md
var intro string

// Section returns the tables of one machine, in Markdown.
func Section(r *Results) string {
	var versions []string
	for _, name := range slices.Sorted(maps.Keys(r.Versions)) {
		versions = append(versions, name+" "+r.Versions[name])
	}
	var b strings.Builder
	name, off := cmp.Or(r.Name, "This machine"), r.switchedOff()
	if off != "" {
		name += ", with " + off + " switched off"
	}
	fmt.Fprintf(&b, "## %s\n\n", name)
	fmt.Fprintf(&b, "- CPU: %s, %d cores, %s\n", r.CPU, r.Cores, r.Platform)
	if off != "" {
		fmt.Fprintf(&b, "- %s is switched off by GODEBUG, which fastmac and Go's packages obey. Peers in C and Rust may use it.\n", off)
	}
	fmt.Fprintf(&b, "- OS: %s\n- Go: %s\n", cmp.Or(r.OS, "unknown"), r.Go)
	gcm := ""
	if r.Kernels.GCM != "" { // results of earlier commits do not have it
		gcm = ", GCM " + r.Kernels.GCM
	}
	fmt.Fprintf(&b, "- fastmac: commit %s; kernels: NH %s, AES %s, SHA-512 %s%s\n", r.Commit, r.Kernels.NH, r.Kernels.AES, r.Kernels.SHA512, gcm)
	fmt.Fprintf(&b, "- Command: `%s`\n- Date: %s\n- Peers: %s\n", r.Command, r.Date, strings.Join(versions, "; "))
	if len(r.Rows) > 0 {
		half, most := spreads(r.Rows)
		fmt.Fprintf(&b, "- Figures: the %s of %d rounds, of about %s each\n", quiet.name, r.Rounds, r.MinTime)
		fmt.Fprintf(&b, "- Spread: %s; at most %s for half of the figures, at most %s for nine of ten\n", quiet.spread, percent(half), percent(most))
	}
	lines := r.LeftOut
	if r.Check != nil {
		lines = append(r.Check.Lines(), lines...)
	}
	for _, line := range lines {
		fmt.Fprintf(&b, "- %s\n", line)
	}
	for _, t := range tables(r) {
		fmt.Fprintf(&b, "\n### %s\n\n%s\n", t.title, t.RenderMarkdown())
	}
	return b.String()
}

// title returns the title of a contender with the version of what was measured, unless it
// is this package or Go's own.
func (r *Results) title(c rivals.Contender) string {
	key, name := c.Version()
	version := r.Versions[key]
	if version == "" {
		return c.Title()
	}
	// A revision has a date, and a copy has only a hash at the end.
	version = strings.TrimPrefix(version, "copy with SHA-256 ")
	version, _, _ = strings.Cut(version, " ")
	return fmt.Sprintf("%s (%s%s)", c.Title(), name, version)
}

// grid is a table. Its first column is text, the others are figures, and the last
// one is the spread of the rows that a line was made from.
type grid struct {
	title string
	table.Writer
}

func newGrid(title string, figures ...string) grid {
	g := grid{title, table.NewWriter()}
	g.Style().Markdown.PadContent = true
	header := table.Row{""}
	var columns []table.ColumnConfig
	for i, figure := range append(figures, "spread") {
		header = append(header, figure)
		columns = append(columns, table.ColumnConfig{Number: i + 2, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	g.SetColumnConfigs(columns)
	g.AppendHeader(header)
	return g
}

// add adds a line that was made from rows.
func (g grid) add(rows []Row, cells ...any) {
	widest := 0.0
	for _, row := range rows {
		widest = max(widest, row.spread())
	}
	g.AppendRow(append(cells, percent(widest)))
}

// tables returns the tables of the results. Tables without lines are left out.
func tables(r *Results) []grid {
	const ratios = "time ÷ time of %s (less than 1 is faster)"
	title := func(row Row) string { return r.title(row.Contender()) }
	ns := func(row Row) string { return number(row.NS) }
	gbps := func(row Row) string { return number(row.gbps()) }
	all := []grid{
		r.bySize("Time per message in ns, by its size in bytes", r.group("message"), ns),
		r.bySize("GB/s, by the size of the message", r.group("message"), gbps),
		r.bySize(fmt.Sprintf("By size: "+ratios, rivals.GMAC.Title()), r.group("message"), r.times(rivals.GMAC)),
		list("Key set-up", r.group("key"), title, column{"ns", ns}),
	}
	for _, hash := range []string{"256", "384", "512"} {
		alg, name := "hmac-sha"+hash, "HMAC-SHA-"+hash
		std := rivals.Contender("crypto/hmac:" + alg)
		all = append(all,
			list(name+", a new 64-byte key for each 28-byte message", ofAlgorithm(r.group("hmac-sum"), alg), title,
				column{"ns per message", ns}, column{"÷ crypto/hmac", r.times(std + ":sum")}),
			r.bySize(name+", key reused: time per message in ns, by its size in bytes", ofAlgorithm(r.group("hmac"), alg), ns),
			r.bySize(name+", key reused: "+fmt.Sprintf(ratios, "crypto/hmac"), ofAlgorithm(r.group("hmac"), alg), r.times(std+":stream")))
	}
	for _, hash := range []string{"256", "512"} {
		all = append(all, list("PBKDF2-HMAC-SHA-"+hash+", a key of "+hash+" bits, 1,000 iterations", ofAlgorithm(r.group("pbkdf2"), "pbkdf2-sha"+hash), title,
			column{"ns per key", ns},
			column{"÷ crypto/pbkdf2", r.times(rivals.Contender("crypto/pbkdf2:pbkdf2-sha" + hash + ":derive"))}))
	}
	for _, hash := range []string{"256", "512"} {
		all = append(all, list("HKDF-SHA-"+hash+", a key of "+hash+" bits from a secret and a salt of 32 bytes each", ofAlgorithm(r.group("hkdf"), "hkdf-sha"+hash), title,
			column{"ns per key", ns},
			column{"÷ crypto/hkdf", r.times(rivals.Contender("crypto/hkdf:hkdf-sha" + hash + ":derive"))}))
	}
	all = append(all,
		r.bySize("AES-256-GCM, Seal: time per message in ns, by its size in bytes", r.group("seal"), ns),
		r.bySize("AES-256-GCM, Seal: "+fmt.Sprintf(ratios, "crypto/cipher"), r.group("seal"), r.times(rivals.Seal)),
		r.bySize("AES-256-GCM, Open: time per message in ns, by its size in bytes", r.group("open"), ns),
		r.bySize("AES-256-GCM, Open: "+fmt.Sprintf(ratios, "crypto/cipher"), r.group("open"), r.times(rivals.Open)),
		list(fmt.Sprintf("%d keyed streams in turn, messages of 64 bytes", rivals.StreamCount), r.group("streams"),
			func(row Row) string {
				return title(row) + map[string]string{"shuffled": ", shuffled in memory"}[row.Mode]
			},
			column{"ns per message", ns},
			column{"÷ GMAC", func(row Row) string {
				return r.times(rivals.Contender("crypto/cipher:gmac:" + row.Mode))(row)
			}}),
		list("One UMAC-64 key, messages of 16384 bytes", r.group("cores"),
			func(row Row) string {
				return map[string]string{"onecore": "1 core", "allcores": fmt.Sprintf("%d cores", r.Cores)}[row.Mode]
			},
			column{"GB/s", gbps}, column{"× one core", r.speeds("fastmac:umac64:onecore")}),
		list("SSH end to end with golang.org/x/crypto/ssh, writes of 32768 bytes (in brackets the spread of each figure)", r.group("ssh"), title,
			column{"MB/s", func(row Row) string { return withSpread(number(row.mbps()), row) }},
			column{"× no MAC", r.speedsSpread(rivals.NoMAC)}, column{"× hmac-sha2-256-etm", r.speedsSpread(rivals.SSHHMAC)},
			column{"× aes128-gcm", r.speedsSpread(rivals.SSHGCM)}),
		r.cpuTimes(r.group(rivals.CPUGroup)),
		r.bySize("One buffer again and again: GB/s, by its size in bytes", r.group("read"), gbps),
		r.bySize("One buffer again and again: GB/s ÷ GB/s of reading alone", r.group("read"), r.speeds(rivals.Reading)))
	return slices.DeleteFunc(all, func(t grid) bool { return t.Length() == 0 })
}

// ofAlgorithm returns the rows of an algorithm.
func ofAlgorithm(rows []Row, alg string) (some []Row) {
	for _, row := range rows {
		if row.Alg == alg {
			some = append(some, row)
		}
	}
	return some
}

// times shows a row's time as a share of the time of c.
func (r *Results) times(c rivals.Contender) func(Row) string {
	return r.compare(c, func(row, base Row) float64 { return row.NS / base.NS })
}

// speeds shows a row's speed as a multiple of the speed of c.
func (r *Results) speeds(c rivals.Contender) func(Row) string {
	return r.compare(c, func(row, base Row) float64 { return base.NS / row.NS })
}

// speedsSpread is speeds with the spread of the ratio: at most that of both rows.
func (r *Results) speedsSpread(c rivals.Contender) func(Row) string {
	return func(row Row) string {
		base, ok := r.find(row.Group, c, row.Size)
		ratio := r.speeds(c)(row)
		if !ok || base == row {
			return ratio
		}
		return withSpread(ratio, row, base)
	}
}

func (r *Results) compare(c rivals.Contender, ratio func(row, base Row) float64) func(Row) string {
	return func(row Row) string {
		base, ok := r.find(row.Group, c, row.Size)
		if !ok {
			return "–"
		}
		v := ratio(row, base)
		if v < 0.0995 { // would begin with 0.0 in two decimals
			return strconv.FormatFloat(v, 'f', 3, 64)
		}
		return number(v)
	}
}

type column struct {
	header string
	show   func(Row) string
}

// list has a line for each row.
func list(title string, rows []Row, label func(Row) string, columns ...column) grid {
	var figures []string
	for _, c := range columns {
		figures = append(figures, c.header)
	}
	t := newGrid(title, figures...)
	for _, row := range rows {
		line := []any{label(row)}
		for _, c := range columns {
			line = append(line, c.show(row))
		}
		t.add([]Row{row}, line...)
	}
	return t
}

// bySize has a line for each contender of rows and a column for each size.
func (r *Results) bySize(title string, rows []Row, show func(Row) string) grid {
	var sizes []int
	var contenders []rivals.Contender
	of := make(map[rivals.Contender][]Row)
	for _, row := range rows {
		c := row.Contender()
		if !slices.Contains(sizes, row.Size) {
			sizes = append(sizes, row.Size)
		}
		if of[c] == nil {
			contenders = append(contenders, c)
		}
		of[c] = append(of[c], row)
	}
	t := newGrid(title, sizeTitles(sizes)...)
	for _, c := range contenders {
		line := append([]any{r.title(c)}, make([]any, len(sizes))...)
		for _, row := range of[c] {
			line[1+slices.Index(sizes, row.Size)] = show(row)
		}
		t.add(of[c], line...)
	}
	return t
}

// cpuTimes has a line for each kind of SSH connection and a column for each end.
func (r *Results) cpuTimes(rows []Row) grid {
	t := newGrid("SSH between two processes, on a core each: CPU seconds for each GiB, in writes of 32768 bytes", "receiving", "sending")
	for _, row := range rows {
		if row.Mode != rivals.Receiver {
			continue
		}
		sending, ok := r.find(row.Group, rivals.Contender(row.Impl+":"+row.Alg+":"+rivals.Sender), row.Size)
		if ok {
			t.add([]Row{row, sending}, r.title(row.Contender()), row.cpu(), sending.cpu())
		}
	}
	return t
}

// cpu is the CPU time for each GiB in seconds, with its spread.
func (r Row) cpu() string {
	return withSpread(strconv.FormatFloat(r.NS*float64(1<<30/r.Size)/1e9, 'f', 3, 64), r)
}

func sizeTitles(sizes []int) (titles []string) {
	for _, size := range sizes {
		if size >= 1<<20 {
			titles = append(titles, fmt.Sprintf("%d MiB", size>>20))
		} else {
			titles = append(titles, strconv.Itoa(size))
		}
	}
	return titles
}

// spreads returns the median of the spreads of rows, and the ninth decile.
func spreads(rows []Row) (half, most float64) {
	var s []float64
	for _, row := range rows {
		s = append(s, row.spread())
	}
	slices.Sort(s)
	return s[len(s)/2], s[len(s)*9/10]
}

// withSpread adds the spread of a figure that was made from rows.
func withSpread(figure string, rows ...Row) string {
	sum := 0.0
	for _, row := range rows {
		sum += row.spread()
	}
	return figure + " (" + percent(sum) + ")"
}

// mbps is the throughput in MB/s.
func (r Row) mbps() float64 { return 1000 * r.gbps() }

func percent(share float64) string { return strconv.FormatFloat(100*share, 'f', 1, 64) + " %" }

// number has three digits, or all that are before the point.
func number(v float64) string {
	switch {
	case v >= 99.95:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case v >= 9.995:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}
