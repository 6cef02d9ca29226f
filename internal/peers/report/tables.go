// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"example.com/fastmac/internal/peers/rivals"
	"example.com/fastmac/internal/peers/serve"
)

// Page returns the page with all tables of all results, in Markdown.
func Page(all []*Results) string {
	var b strings.Builder
	b.WriteString(intro)
	for _, r := range all {
		b.WriteString("\n" + Section(r))
	}
	return b.String()
}

// intro is what holds for all machines.
var intro = fmt.Sprintf(`# Results

This page is written by `+"`go run -C internal/peers . -page`"+` from the files in results,
one for each machine. To measure another machine, write a file for it first:

    go run -C internal/peers . -o results/NAME.json -openssh DIR -fakeboboliu DIR

- After -openssh comes a directory with umac.c, umac.h and umac128.c of a release of
  portable OpenSSH (<https://www.openssh.com/portable.html>). Releases 10.3p1 to 10.5p1
  have revision 1.30 of umac.c.
- After -fakeboboliu comes a directory with the Go module github.com/fakeboboliu/umac.
  The Go files of its tag v0.1.1 have the SHA-256 13bd2ffb5f07.
- Without these flags, and without a compiler or library for the other peers, their
  rows are left out.

## How to read the tables

- A figure is the median of the rounds. In each round all contenders take turns at
  each size, in a new random order.
- The last column, spread, is the noise: the width of the middle half of the rounds,
  from the first to the third quartile, as a share of the median. A line with several
  figures has the largest.
- All contenders have the same key and message. The message is in the cache if it
  fits. Each peer runs its loop in a process of its own language. Before timing, every
  tag is compared with a known one, and after each timed run the last tag.
- The key is set up once, and UMAC and GMAC have a new nonce for each message.
  Poly1305 has the same one-time key each time; in real use each message needs a new
  one, and the time to make it is not included. HighwayHash, SipHash and Poly1305 are
  one-shot functions.
- GMAC is GCM with nothing to encrypt and the message as additional data. nettle
  counts its nonces itself. OpenSSL is called through EVP_MAC. C is compiled with -O2.
- HMAC has a key of %d bytes. A batch is %d messages in one call, at different
  addresses, under one key or under one key each; the time is per message. No peer has
  such a call. RustCrypto is its crates hmac and sha2, sha2 with its feature asm.
- OpenSSH's umac.c is compiled with inline helpers, where OpenSSH calls functions for
  each word, and with OpenSSL's AES.
- SSH is one channel from x/crypto's client to its server, in one process over TCP on
  the loopback interface: both ends and the kernel share the cores, where two machines
  have their own. The MACs run with the cipher aes128-ctr. A connection is measured
  only if it negotiated what its line says. After each run, the tag of the last message
  that arrived is compared with a known one; with the AEAD ciphers it is hmac-sha2-256.
`, len(serve.Key), rivals.BatchSize)

// Section returns the tables of one machine, in Markdown.
func Section(r *Results) string {
	var versions []string
	for _, name := range slices.Sorted(maps.Keys(r.Versions)) {
		versions = append(versions, name+" "+r.Versions[name])
	}
	half, most := spreads(r.Rows)
	var b strings.Builder
	fmt.Fprintf(&b, "## %s\n\n", cmp.Or(r.Name, "This machine"))
	fmt.Fprintf(&b, "- CPU: %s, %d cores, %s\n", r.CPU, r.Cores, r.Platform)
	fmt.Fprintf(&b, "- OS: %s\n- Go: %s\n", cmp.Or(r.OS, "unknown"), r.Go)
	fmt.Fprintf(&b, "- fastmac: commit %s; kernels: NH %s, AES %s, SHA-512 %s\n", r.Commit, r.Kernels.NH, r.Kernels.AES, r.Kernels.SHA512)
	fmt.Fprintf(&b, "- Command: `%s`\n- Date: %s\n- Peers: %s\n", r.Command, r.Date, strings.Join(versions, "; "))
	fmt.Fprintf(&b, "- Rounds: %d, of about %s for each figure\n", r.Rounds, r.MinTime)
	fmt.Fprintf(&b, "- Spread: at most %s for half of the figures, at most %s for nine of ten\n", percent(half), percent(most))
	for _, line := range r.LeftOut {
		fmt.Fprintf(&b, "- %s\n", line)
	}
	for _, t := range tables(r) {
		fmt.Fprintf(&b, "\n### %s\n\n%s\n", t.title, t.markdown())
	}
	return b.String()
}

// Readme returns a short table of results, with a caption, in Markdown.
func Readme(r *Results) string {
	const message, hmac = "message", "hmac"
	sizes := []int{32, 1024, 16384, 1 << 20}
	t := grid{header: sizeHeader(sizes)}
	for _, line := range []struct {
		group string
		rivals.Contender
	}{
		{message, "fastmac:umac64:stream"},
		{message, "fastmac:umac64:oneshot"},
		{message, "fastmac:umac128:stream"},
		{message, rivals.GMAC},
		{message, "x/crypto:poly1305:oneshot"},
		{message, "fastmac:hmac-sha512:stream"},
		{hmac, "fastmac:hmac-sha512:batch"},
		{message, rivals.HMAC},
	} {
		cells := []string{line.Title()}
		var rows []Row
		for _, size := range sizes {
			row, ok := r.find(line.group, line.Contender, size)
			if !ok {
				cells = append(cells, "–")
				continue
			}
			cells = append(cells, number(row.NS))
			rows = append(rows, row)
		}
		t.add(rows, cells...)
	}
	return fmt.Sprintf("%s\n\nNanoseconds per message, by its size in bytes: medians of %d rounds on one core of %s, %s, commit %s. Spread is the width of the middle half of the rounds.\n",
		t.markdown(), r.Rounds, r.CPU, r.Go, r.Commit)
}

// grid is a table. Its first column is text, the others are figures, and the last
// one is the spread of the rows that a line was made from.
type grid struct {
	title  string
	header []string
	lines  [][]string
}

// add adds a line that was made from rows.
func (t *grid) add(rows []Row, cells ...string) {
	widest := 0.0
	for _, row := range rows {
		widest = max(widest, row.spread())
	}
	t.lines = append(t.lines, append(cells, percent(widest)))
}

func (t *grid) markdown() string {
	w := table.NewWriter()
	w.Style().Markdown.PadContent = true
	var columns []table.ColumnConfig
	header := table.Row{}
	for i, cell := range append(t.header, "spread") {
		header = append(header, cell)
		if i > 0 {
			columns = append(columns, table.ColumnConfig{Number: i + 1, Align: text.AlignRight, AlignHeader: text.AlignRight})
		}
	}
	w.SetColumnConfigs(columns)
	w.AppendHeader(header)
	for _, line := range t.lines {
		row := table.Row{}
		for _, cell := range line {
			row = append(row, cell)
		}
		w.AppendRow(row)
	}
	return w.RenderMarkdown()
}

// tables returns the tables of the results. Tables without lines are left out.
func tables(r *Results) []grid {
	const ratios = "time ÷ time of %s (less than 1 is faster)"
	ns := func(row Row) string { return number(row.NS) }
	message := r.group("message")
	all := []grid{
		bySize("Time per message in ns, by its size in bytes", message, ns),
		bySize("GB/s, by the size of the message", message, func(row Row) string { return number(row.gbps()) }),
		bySize(fmt.Sprintf("By size: "+ratios, rivals.GMAC.Title()), message, r.shareOf(rivals.GMAC)),
		list("Key set-up", []string{"ns"}, r.group("key"), func(row Row) []string { return []string{number(row.NS)} }),
		list("HMAC-SHA-512, a new 64-byte key for each 28-byte message", []string{"ns per message", "÷ crypto/hmac"},
			r.group("hmac-sum"), func(row Row) []string { return []string{number(row.NS), r.shareOf(rivals.HMACSum)(row)} }),
		bySize("HMAC-SHA-512, key reused: time per message in ns, by its size in bytes", r.group("hmac"), ns),
		bySize("HMAC-SHA-512, key reused: "+fmt.Sprintf(ratios, "crypto/hmac"), r.group("hmac"), r.shareOf(rivals.HMAC)),
		streamsTable(r), coresTable(r), sshTable(r), readTable(r),
	}
	return slices.DeleteFunc(all, func(t grid) bool { return len(t.lines) == 0 })
}

// shareOf shows a row's time as a share of the time of c.
func (r *Results) shareOf(c rivals.Contender) func(Row) string {
	return func(row Row) string {
		base, ok := r.find(row.Group, c, row.Size)
		if !ok {
			return "–"
		}
		return ratio(row.NS / base.NS)
	}
}

// list has a line for each row.
func list(title string, header []string, rows []Row, show func(Row) []string) grid {
	t := grid{title: title, header: append([]string{""}, header...)}
	for _, row := range rows {
		t.add([]Row{row}, append([]string{row.Contender().Title()}, show(row)...)...)
	}
	return t
}

// bySize has a line for each contender of rows and a column for each size.
func bySize(title string, rows []Row, show func(Row) string) grid {
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
	t := grid{title: title, header: sizeHeader(sizes)}
	for _, c := range contenders {
		line := make([]string, 1+len(sizes))
		line[0] = c.Title()
		for _, row := range of[c] {
			line[1+slices.Index(sizes, row.Size)] = show(row)
		}
		t.add(of[c], line...)
	}
	return t
}

func sizeHeader(sizes []int) []string {
	header := []string{""}
	for _, size := range sizes {
		if size >= 1<<20 {
			header = append(header, fmt.Sprintf("%d MiB", size>>20))
		} else {
			header = append(header, strconv.Itoa(size))
		}
	}
	return header
}

func streamsTable(r *Results) grid {
	t := grid{
		title:  fmt.Sprintf("%d keyed streams, messages of 64 bytes", rivals.StreamCount),
		header: []string{"", "ns per message", "÷ GMAC"},
	}
	for _, row := range r.group("streams") {
		order := map[string]string{"inturn": "in turn", "shuffled": "in turn, shuffled in memory"}[row.Mode]
		share := r.shareOf(rivals.Contender("crypto/cipher:gmac:" + row.Mode))
		t.add([]Row{row}, row.Contender().Title()+", "+order, number(row.NS), share(row))
	}
	return t
}

func coresTable(r *Results) grid {
	t := grid{title: "One UMAC-64 key, messages of 16384 bytes", header: []string{"", "GB/s", "× one core"}}
	rows := r.group("cores")
	for _, row := range rows {
		cores := "1 core"
		if row.Mode == "allcores" {
			cores = fmt.Sprintf("%d cores", r.Cores)
		}
		t.add([]Row{row}, cores, number(row.gbps()), ratio(rows[0].NS/row.NS))
	}
	return t
}

// sshTable compares speeds, as is usual for transfers.
func sshTable(r *Results) grid {
	header := []string{"MB/s", "× no MAC", "× hmac-sha2-256-etm", "× aes128-gcm"}
	return list("SSH end to end with golang.org/x/crypto/ssh, writes of 32768 bytes", header, r.group("ssh"), func(row Row) []string {
		cells := []string{number(row.mbps())}
		for _, c := range []rivals.Contender{rivals.NoMAC, rivals.SSHHMAC, rivals.SSHGCM} {
			cell := "–"
			if base, ok := r.find(row.Group, c, row.Size); ok {
				cell = ratio(base.NS / row.NS)
			}
			cells = append(cells, cell)
		}
		return cells
	})
}

// readTable ends with the share of the speed of reading that UMAC reaches.
func readTable(r *Results) grid {
	rows := r.group("read")
	t := bySize("One buffer again and again: GB/s, by its size in bytes", rows, func(row Row) string { return number(row.gbps()) })
	share := []string{"UMAC-64 ÷ " + rivals.Reading.Title()}
	var both []Row
	for _, row := range rows {
		base, ok := r.find(row.Group, rivals.Reading, row.Size)
		if ok && row.Contender() != rivals.Reading {
			share = append(share, ratio(base.NS/row.NS))
			both = append(both, row, base)
		}
	}
	if len(share) == len(t.header) {
		t.add(both, share...)
	}
	return t
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

// ratio has two decimals, or more if they would be zeros.
func ratio(v float64) string {
	if v < 0.0995 {
		return strconv.FormatFloat(v, 'f', 3, 64)
	}
	return number(v)
}
