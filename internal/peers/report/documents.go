// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package report

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"example.com/fastmac/internal/peers/rivals"
)

// machines are the names of results files, with those of their CPUs in the tables of documents.
// The tables have this order, and then other machines under the names of their files.
var machines = []struct{ name, short string }{
	{"amd-zen5", "AMD Zen 5"},
	{"amd-zen4", "AMD Zen 4"},
	{"intel-xeon207", "Xeon model 207"},
	{"intel-xeon207-16", "Xeon model 207, 16 cores"},
	{"intel-amx", "Xeon model 167"},
	{"amd-zen5-avx2", "AMD Zen 5, AVX2"},
	{"amd-zen5-nosha", "AMD Zen 5, no SHA"},
	{"amd-zen5-nosha-avx2", "AMD Zen 5, AVX2, no SHA"},
	{"intel-xeon207-avx2", "Xeon model 207, AVX2"},
	{"intel-xeon207-16-avx2", "Xeon model 207, 16 cores, AVX2"},
	{"amd-zen3", "AMD Zen 3, AVX2"},
}

// A line is a contender in a group.
type line struct {
	group string
	rivals.Contender
}

var (
	umac64, umac128   = line{"message", "fastmac:umac64:oneshot"}, line{"message", "fastmac:umac128:oneshot"}
	gmac              = line{"message", "fastmac:gmac:oneshot"}
	hmac256, batch256 = line{"message", "fastmac:hmac-sha256:oneshot"}, line{"hmac", "fastmac:hmac-sha256:batch"}
	hmac512, batch512 = line{"message", "fastmac:hmac-sha512:oneshot"}, line{"hmac", "fastmac:hmac-sha512:batch"}
	std256, std512    = line{"message", "crypto/hmac:hmac-sha256:stream"}, line{"message", "crypto/hmac:hmac-sha512:stream"}

	messageLines = []line{umac64, umac128, gmac, hmac512, batch512, {"message", rivals.GMAC}, std256, std512, {"message", "x/crypto:poly1305:oneshot"}}
	sealLines    = []line{
		{"seal", "fastmac:aes256-gcm:seal"}, {"seal", rivals.Seal}, {"seal", "ring:aes256-gcm:seal"},
		{"seal", "aws-lc-rs:aes256-gcm:seal"}, {"seal", "BoringSSL:aes256-gcm:seal"},
		{"seal", "OpenSSL:aes256-gcm:seal"}, {"seal", "ipsec-mb:aes256-gcm:seal"},
	}
)

// documentTables are the tables of documents, by the names in their marks.
var documentTables = map[string]func(all []*Results) table.Writer{
	"README": func(all []*Results) table.Writer {
		all = Named(all, "amd-zen5", "intel-amx", "amd-zen3")
		return byMachine(all, "ns, 1 KiB", []int{1024}, []line{umac64, umac128, gmac, hmac256, std256})
	},
	"AVX2": func(all []*Results) table.Writer {
		r := &Results{} // without its file all are dashes
		if found := Named(all, "amd-zen3"); len(found) > 0 {
			r = found[0]
		}
		return ofMachine(r, []int{32, 1024, 1500, 16384}, []line{umac64, umac128, gmac, {"message", rivals.GMAC}, std256})
	},
	"HMAC-SHA-256": func(all []*Results) table.Writer {
		return byMachine(all, "ns, HMAC-SHA-256", []int{32, 256, 1024, 16384}, []line{hmac256, batch256, std256})
	},
	"HMAC-SHA-256, new keys": func(all []*Results) table.Writer {
		return byMachine(all, "ns, a new key and 28 bytes", []int{28}, []line{
			{"hmac-sum", "fastmac:hmac-sha256:sumstream"}, {"hmac-sum", "fastmac:hmac-sha256:sum"}, {"hmac-sum", "fastmac:hmac-sha256:sumbatch"},
			{"hmac-sum", "crypto/hmac:hmac-sha256:sum"}, {"hmac-sum", "nettle:hmac-sha256:sum"}, {"hmac-sum", "RustCrypto:hmac-sha256:sum"},
			{"hmac-sum", "ring:hmac-sha256:sum"}, {"hmac-sum", "aws-lc-rs:hmac-sha256:sum"}, {"hmac-sum", "OpenSSL:hmac-sha256:sum"},
		})
	},
	"machines":          machineTable,
	"32 bytes":          func(all []*Results) table.Writer { return byMachine(all, "ns, 32 bytes", []int{32}, messageLines) },
	"1500 bytes":        func(all []*Results) table.Writer { return byMachine(all, "ns, 1500 bytes", []int{1500}, messageLines) },
	"16 KiB":            func(all []*Results) table.Writer { return byMachine(all, "ns, 16 KiB", []int{16384}, messageLines) },
	"slower in a call":  func(all []*Results) table.Writer { return slower(all, "oneshot") },
	"slower in streams": func(all []*Results) table.Writer { return slower(all, "stream") },
	"many keys": func(all []*Results) table.Writer {
		return byMachine(all, "ns, 64 bytes", []int{64}, []line{
			{"streams", "fastmac:umac64:inturn"}, {"streams", "crypto/cipher:gmac:inturn"},
			{"streams", "fastmac:umac64:shuffled"}, {"streams", "crypto/cipher:gmac:shuffled"},
		})
	},
	"set-up": func(all []*Results) table.Writer {
		return byMachine(all, "ns", []int{64}, []line{
			{"key", "fastmac:umac64:new"}, {"key", "fastmac:umac64:init"}, {"key", "fastmac:umac128:new"},
			{"key", "fastmac:gmac:new"}, {"key", "fastmac:gmac:init"},
			{"key", "crypto/cipher:gmac:new"}, {"key", "crypto/hmac:hmac-sha256:new"},
		})
	},
	"set-up, HMAC": func(all []*Results) table.Writer {
		return byMachine(all, "ns", []int{64}, []line{
			{"key", "fastmac:hmac-sha256:new"}, {"key", "crypto/hmac:hmac-sha256:new"},
			{"key", "fastmac:hmac-sha512:new"}, {"key", "crypto/hmac:hmac-sha512:new"},
		})
	},
	"pbkdf2": func(all []*Results) table.Writer {
		return byMachine(all, "ns for a key, 1,000 iterations", []int{16}, []line{
			{"pbkdf2", "fastmac:pbkdf2-sha256:derive"}, {"pbkdf2", "fastmac:pbkdf2-sha256:batch"},
			{"pbkdf2", "crypto/pbkdf2:pbkdf2-sha256:derive"}, {"pbkdf2", "RustCrypto:pbkdf2-sha256:derive"},
			{"pbkdf2", "nettle:pbkdf2-sha256:derive"}, {"pbkdf2", "aws-lc-rs:pbkdf2-sha256:derive"},
			{"pbkdf2", "ring:pbkdf2-sha256:derive"}, {"pbkdf2", "OpenSSL:pbkdf2-sha256:derive"},
			{"pbkdf2", "fastmac:pbkdf2-sha512:derive"}, {"pbkdf2", "fastmac:pbkdf2-sha512:batch"},
			{"pbkdf2", "crypto/pbkdf2:pbkdf2-sha512:derive"},
		})
	},
	"hkdf": func(all []*Results) table.Writer {
		return byMachine(all, "ns for a key as long as the hash", []int{16}, []line{
			{"hkdf", "fastmac:hkdf-sha256:derive"}, {"hkdf", "crypto/hkdf:hkdf-sha256:derive"},
			{"hkdf", "RustCrypto:hkdf-sha256:derive"}, {"hkdf", "OpenSSL:hkdf-sha256:derive"},
			{"hkdf", "fastmac:hkdf-sha512:derive"}, {"hkdf", "crypto/hkdf:hkdf-sha512:derive"},
			{"hkdf", "RustCrypto:hkdf-sha512:derive"}, {"hkdf", "OpenSSL:hkdf-sha512:derive"},
		})
	},
	"seal 64":     func(all []*Results) table.Writer { return byMachine(all, "ns, 64 bytes", []int{64}, sealLines) },
	"seal 16 KiB": func(all []*Results) table.Writer { return byMachine(all, "ns, 16 KiB", []int{16384}, sealLines) },
}

var tableMark = regexp.MustCompile(`(?s)(<!-- table: ([^\n]+?) -->\n)(.*?)(<!-- end -->\n)`)

// Fill returns a document with its tables made again, between lines such as
// <!-- table: machines --> and <!-- end -->.
func Fill(document string, all []*Results) (string, error) {
	var err error
	all = ordered(all)
	// A run that was interrupted may have checked and not measured.
	measured := slices.DeleteFunc(slices.Clone(all), func(r *Results) bool { return len(r.Rows) == 0 })
	filled := tableMark.ReplaceAllStringFunc(document, func(marked string) string {
		m := tableMark.FindStringSubmatch(marked)
		maker := documentTables[m[2]]
		if m[2] == "checked" {
			maker = func([]*Results) table.Writer { return checkedTable(all) }
		}
		if maker == nil {
			err = fmt.Errorf("fastmac: a document has the mark of table %q, which nothing makes", m[2])
			return marked
		}
		t := maker(measured)
		t.Style().Markdown.PadContent = false
		return m[1] + "\n" + t.RenderMarkdown() + "\n\n" + m[4]
	})
	if marks := strings.Count(document, "<!-- table:"); marks != len(tableMark.FindAllString(document, -1)) {
		err = fmt.Errorf("fastmac: a document has %d marks of tables, and not all have an end", marks)
	}
	return filled, err
}

// ordered returns all in the order of machines.
func ordered(all []*Results) []*Results {
	place := func(r *Results) int {
		i := slices.IndexFunc(machines, func(m struct{ name, short string }) bool { return m.name == r.Name })
		if i < 0 {
			return len(machines)
		}
		return i
	}
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b *Results) int { return cmp.Compare(place(a), place(b)) })
	return all
}

// Named returns the results of all that have one of the names, in the order of the names.
func Named(all []*Results, names ...string) (some []*Results) {
	for _, name := range names {
		for _, r := range all {
			if r.Name == name {
				some = append(some, r)
			}
		}
	}
	return some
}

func (r *Results) short() string {
	for _, m := range machines {
		if m.name == r.Name {
			return m.short
		}
	}
	return r.Name
}

// vectors names the vectors of UMAC's kernels for readers.
func (r *Results) vectors() string {
	name := cmp.Or(map[string]string{"avx512": "AVX-512", "avx2": "AVX2", "neon": "NEON"}[r.Kernels.NH], r.Kernels.NH)
	if off := r.switchedOff(); off != "" {
		name += " (" + off + " switched off)"
	}
	return name
}

// switchedOff names the instructions that the command of r switched off, if any.
func (r *Results) switchedOff() string {
	switch m := regexp.MustCompile(`\bcpu\.(\w+)=off`).FindStringSubmatch(r.Command); {
	case m == nil:
		return ""
	case m[1] == "avx512f":
		return "AVX-512"
	default:
		return strings.ToUpper(m[1])
	}
}

// machineTable says what the other tables measured.
func machineTable(all []*Results) table.Writer {
	t := table.NewWriter()
	t.AppendHeader(table.Row{"name", "CPU", "kernels of UMAC, AES, SHA-256, SHA-512, GCM", "commit", "figures"})
	for _, r := range all {
		k := r.Kernels
		kernels := fmt.Sprintf("%s, %s, %s, %s, %s", k.NH, k.AES, cmp.Or(k.SHA256, "none yet"), k.SHA512, cmp.Or(k.GCM, "none yet"))
		t.AppendRow(table.Row{r.short(), r.CPU, kernels, r.Commit, fmt.Sprintf("%s of %d rounds", quiet.name, r.Rounds)})
	}
	return t
}

// checkedTable says what was found on the machines that were checked.
func checkedTable(all []*Results) table.Writer {
	t := table.NewWriter()
	t.AppendHeader(table.Row{"name", "CPU", "system", "Go", "commit", "tests", "models", "DIT"})
	for _, r := range all {
		if c := r.Check; c != nil {
			t.AppendRow(table.Row{r.short(), r.CPU, strings.TrimSpace(r.OS + " " + r.Platform), strings.TrimPrefix(r.Go, "go"), r.Commit, c.Tally(), c.Models, c.DIT})
		}
	}
	if t.Length() == 0 {
		t.AppendRow(table.Row{"none yet", "–", "–", "–", "–", "–", "–", "–"})
	}
	return t
}

// byMachine has a line for each size and contender, and a column for each machine. A machine on which
// the first line was not measured has no column, and a line that no machine has is left out.
func byMachine(all []*Results, title string, sizes []int, lines []line) table.Writer {
	all = slices.DeleteFunc(slices.Clone(all), func(r *Results) bool {
		_, ok := r.find(lines[0].group, lines[0].Contender, sizes[0])
		return !ok
	})
	var columns []string
	for _, r := range all {
		columns = append(columns, r.short())
	}
	t := newTable(title, columns)
	for _, size := range sizes {
		for _, l := range lines {
			measured := func(r *Results) bool { _, ok := r.find(l.group, l.Contender, size); return ok }
			if !slices.ContainsFunc(all, measured) {
				continue
			}
			name := lineTitle(l)
			if len(sizes) > 1 {
				name = fmt.Sprintf("%s, %d bytes", name, size)
			}
			addLine(t, name, len(all), func(column int) (Row, bool) { return all[column].find(l.group, l.Contender, size) })
		}
	}
	return t
}

// ofMachine has a line for each contender and a column for each size, with nanoseconds on one
// machine.
func ofMachine(r *Results, sizes []int, lines []line) table.Writer {
	t := newTable("ns, by size in bytes", sizeTitles(sizes))
	for _, l := range lines {
		addLine(t, lineTitle(l), len(sizes), func(column int) (Row, bool) { return r.find(l.group, l.Contender, sizes[column]) })
	}
	return t
}

// newTable has no lines yet. Its columns, after the title, are figures.
func newTable(title string, columns []string) table.Writer {
	t := table.NewWriter()
	header := table.Row{title}
	var configs []table.ColumnConfig
	for i, column := range columns {
		header = append(header, column)
		configs = append(configs, table.ColumnConfig{Number: i + 2, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	t.AppendHeader(header)
	t.SetColumnConfigs(configs)
	return t
}

// addLine adds the nanoseconds of the rows that find finds. A dash is in the place of a row that it does not find.
func addLine(t table.Writer, title string, columns int, find func(column int) (Row, bool)) {
	cells := table.Row{title}
	for i := range columns {
		cell := "–"
		if row, ok := find(i); ok {
			cell = number(row.NS)
		}
		cells = append(cells, cell)
	}
	t.AppendRow(cells)
}

func lineTitle(l line) string {
	title := strings.TrimSuffix(l.Title(), ", one-shot") // documents say that all are
	if _, _, mode := l.Parts(); mode == "shuffled" {
		title += ", random order"
	}
	return title
}

// slower has the peers that take less time than UMAC, with a line for each machine. Those that
// take less time only than UMAC-128 are in italics.
func slower(all []*Results, mode string) table.Writer {
	t := table.NewWriter()
	t.AppendHeader(table.Row{"", "16 bytes", "32 bytes", "64 bytes", "256 to 1500 bytes", "4 KiB to 1 MiB"})
	for _, r := range all {
		if !slices.ContainsFunc(r.Rows, func(row Row) bool { return row.Alg == "umac64" && row.Mode == mode }) {
			continue
		}
		cells := table.Row{r.short()}
		for _, sizes := range [][]int{{16}, {32}, {64}, {256, 1024, 1500}, {4096, 16384, 1 << 20}} {
			var faster []string
			measured := false
			than64 := make(map[string]bool)
			for _, row := range r.group("message") {
				of64, _ := r.find("message", rivals.Contender("fastmac:umac64:"+mode), row.Size)
				of128, _ := r.find("message", rivals.Contender("fastmac:umac128:"+mode), row.Size)
				if of64.NS == 0 || of128.NS == 0 {
					continue
				}
				measured = measured || slices.Contains(sizes, row.Size)
				if row.Impl == "fastmac" || !slices.Contains(sizes, row.Size) || row.NS >= max(of64.NS, of128.NS) {
					continue
				}
				title := row.Contender().Title()
				for _, only := range []string{"x/crypto ", "minio ", "dchest "} { // the only one of its algorithm
					title = strings.TrimPrefix(title, only)
				}
				if !slices.Contains(faster, title) {
					faster = append(faster, title)
				}
				than64[title] = than64[title] || row.NS < of64.NS
			}
			for i, title := range faster {
				if !than64[title] {
					faster[i] = "*" + title + "*"
				}
			}
			if !measured {
				cells = append(cells, "–")
				continue
			}
			cells = append(cells, cmp.Or(strings.Join(faster, ", "), "none"))
		}
		t.AppendRow(cells)
	}
	return t
}
