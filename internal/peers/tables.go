// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// table is what text and markdown print. The first column is text, the others
// are numbers.
type table struct {
	title  string
	header []string
	rows   [][]string
}

// tables are all the tables of the results, the longest first.
func tables(r *results) []table {
	const ratios = "time ÷ time of %s (less than 1 is faster)"
	ns := func(row row) string { return number(row.NS) }
	all := []table{
		messageTable(r, "time per message in ns, by its size in bytes", ns),
		messageTable(r, "GB/s", func(row row) string { return number(row.gbps()) }),
		messageTable(r, fmt.Sprintf(ratios, gmacContender.title()), r.shareOf(gmacContender)),
		keyTable(r), hmacSumTable(r),
		bySize("HMAC-SHA-512, key reused: time per message in ns, by its size in bytes", r.group("hmac"), ns),
		bySize("HMAC-SHA-512, key reused: "+fmt.Sprintf(ratios, "crypto/hmac"), r.group("hmac"), r.shareOf(hmacContender)),
		streamsTable(r), coresTable(r), sshTable(r), readTable(r),
	}
	return slices.DeleteFunc(all, func(t table) bool { return len(t.rows) == 0 })
}

// group returns the rows of a group.
func (r *results) group(name string) (rows []row) {
	for _, row := range r.Rows {
		if row.Group == name {
			rows = append(rows, row)
		}
	}
	return rows
}

// shareOf shows a row's time as a share of that of c.
func (r *results) shareOf(c contender) func(row) string {
	return func(row row) string {
		base, ok := r.find(row.Group, c, row.Size)
		if !ok {
			return "–"
		}
		return ratio(row.NS / base.NS)
	}
}

// bySize has a line for each contender of rows and a column for each size.
func bySize(title string, rows []row, show func(row) string) table {
	t := table{title: title, header: []string{""}}
	var sizes []int
	var contenders []contender
	cells := make(map[contender]map[int]string)
	for _, row := range rows {
		c := row.contender()
		if !slices.Contains(sizes, row.Size) {
			sizes = append(sizes, row.Size)
		}
		if cells[c] == nil {
			contenders = append(contenders, c)
			cells[c] = make(map[int]string)
		}
		cells[c][row.Size] = show(row)
	}
	for _, size := range sizes {
		t.header = append(t.header, sizeTitle(size))
	}
	for _, c := range contenders {
		line := []string{c.title()}
		for _, size := range sizes {
			line = append(line, cells[c][size])
		}
		t.rows = append(t.rows, line)
	}
	return t
}

func messageTable(r *results, title string, show func(row) string) table {
	return bySize(title, r.group("message"), show)
}

func keyTable(r *results) table {
	t := table{title: "key set-up", header: []string{"", "ns"}}
	for _, row := range r.group("key") {
		t.rows = append(t.rows, []string{row.contender().title(), number(row.NS)})
	}
	return t
}

func hmacSumTable(r *results) table {
	t := table{
		title:  fmt.Sprintf("HMAC-SHA-512, a new key of %d bytes for each message of %d bytes", len(key), hmacSumSize),
		header: []string{"", "ns per message", "÷ crypto/hmac"},
	}
	share := r.shareOf(hmacSumContender)
	for _, row := range r.group("hmac-sum") {
		t.rows = append(t.rows, []string{row.contender().title(), number(row.NS), share(row)})
	}
	return t
}

func streamsTable(r *results) table {
	t := table{
		title:  fmt.Sprintf("%d keyed streams, messages of %d bytes", streamCount, streamSize),
		header: []string{"", "ns per message", "÷ GMAC"},
	}
	for _, row := range r.group("streams") {
		order := map[string]string{"inturn": "in turn", "shuffled": "in turn, shuffled in memory"}[row.Mode]
		share := r.shareOf(contender("crypto/cipher:gmac:" + row.Mode))
		t.rows = append(t.rows, []string{row.contender().title() + ", " + order, number(row.NS), share(row)})
	}
	return t
}

func coresTable(r *results) table {
	t := table{
		title:  fmt.Sprintf("one UMAC-64 key, messages of %d bytes", coresSize),
		header: []string{"", "GB/s", "× one core"},
	}
	rows := r.group("cores")
	for _, row := range rows {
		cores := "1 core"
		if row.Mode == "allcores" {
			cores = fmt.Sprintf("%d cores", r.Cores)
		}
		t.rows = append(t.rows, []string{cores, number(row.gbps()), ratio(rows[0].NS / row.NS)})
	}
	return t
}

// sshTable compares speeds, as one compares transfers.
func sshTable(r *results) table {
	t := table{
		title:  fmt.Sprintf("SSH end to end with golang.org/x/crypto/ssh, writes of %d bytes", sshSize),
		header: []string{"", "MB/s", "× no MAC", "× hmac-sha2-256-etm", "× aes128-gcm"},
	}
	for _, row := range r.group("ssh") {
		line := []string{row.contender().title(), number(1000 * row.gbps())}
		for _, c := range []contender{nullContender, sshHMACContender, sshGCMContender} {
			base, ok := r.find(row.Group, c, row.Size)
			if !ok {
				line = append(line, "–")
				continue
			}
			line = append(line, ratio(base.NS/row.NS))
		}
		t.rows = append(t.rows, line)
	}
	return t
}

func readTable(r *results) table {
	rows := r.group("read")
	t := bySize("one buffer again and again: GB/s, by its size", rows, func(row row) string { return number(row.gbps()) })
	share := []string{"UMAC-64 ÷ merely reading"}
	for _, row := range rows {
		if row.contender() == readContender {
			continue
		}
		read, ok := r.find("read", readContender, row.Size)
		if !ok {
			return t // nothing to compare with
		}
		share = append(share, ratio(row.gbps()/read.gbps()))
	}
	if len(share) == len(t.header) {
		t.rows = append(t.rows, share)
	}
	return t
}

// facts say where and how the results came about, as label and text.
func facts(r *results) [][2]string {
	var versions []string
	for _, name := range slices.Sorted(maps.Keys(r.Versions)) {
		versions = append(versions, name+" "+r.Versions[name])
	}
	return [][2]string{
		{"CPU", fmt.Sprintf("%s, %d cores, %s", r.CPU, r.Cores, r.Platform)},
		{"Go", r.Go},
		{"fastmac", fmt.Sprintf("commit %s; kernels: NH %s, AES %s, SHA-512 %s", r.Commit, r.Kernels.NH, r.Kernels.AES, r.Kernels.SHA512)},
		{"Command", r.Command},
		{"Date", r.Date},
		{"Peers", strings.Join(versions, "; ")},
	}
}

// notes are what a reader must know to read the tables right.
func notes(r *results) []string {
	half, most := spread(r.Rows)
	n := []string{
		fmt.Sprintf("Medians of %d rounds; in each round all take turns at each size, in an order drawn anew, for about %s each. The middle half of the rounds is within %s of the median for half of the figures, and within %s for nine of ten.",
			r.Rounds, r.MinTime, percent(half), percent(most)),
		"Same key and message for all, the message in cache if it fits; each peer loops in a process of its own language. Before timing, every tag is compared with one known beforehand, and after each timed run the last.",
		"The key is set up once, and UMAC and GMAC get the next nonce for each message. Poly1305 gets the same one-time key each time: in real use each message needs a new one, and making it is not in these figures. HighwayHash, SipHash and Poly1305 are one-shot functions.",
		"GMAC is GCM with nothing to encrypt and the message as additional data. nettle counts its nonces up by itself. OpenSSL is called through EVP_MAC.",
		fmt.Sprintf("HMAC has a key of %d bytes. A batch is %[2]d messages in one call, each in a place of its own, under one key or under %[2]d; the time is that of one message, and the peers have nothing like it. RustCrypto is its crates hmac and sha2, the latter with its feature asm.", len(key), batchSize),
	}
	if slices.ContainsFunc(r.Rows, func(row row) bool { return row.Impl == "OpenSSH" }) {
		n = append(n, "OpenSSH's umac.c is compiled with its helpers inline, which OpenSSH's own build calls as functions for each word, and with OpenSSL's AES.")
	}
	if len(r.group("ssh")) > 0 {
		n = append(n, "SSH is one channel from x/crypto's client to its server, in one process over TCP on the loopback interface: both ends and the kernel share the cores, where two machines have their own. The MACs go with the cipher aes128-ctr. A connection is measured only if it negotiated what its line says; after each run the tag that its MAC gives to the last message that arrived is compared, with the AEAD ciphers one of hmac-sha2-256.")
	}
	for _, line := range r.LeftOut {
		n = append(n, line+".")
	}
	return n
}

// spread returns how far the quartiles are from the median, as a share of it, at
// the median of all rows and at the ninth decile.
func spread(rows []row) (half, most float64) {
	var s []float64
	for _, row := range rows {
		s = append(s, max(row.Q3-row.NS, row.NS-row.Q1)/row.NS)
	}
	slices.Sort(s)
	return s[len(s)/2], s[len(s)*9/10]
}

func percent(share float64) string { return strconv.FormatFloat(100*share, 'f', 1, 64) + " %" }

func sizeTitle(size int) string {
	if size >= mib {
		return fmt.Sprintf("%d MiB", size/mib)
	}
	return strconv.Itoa(size)
}

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

// ratio has two decimals, more where they are zeros.
func ratio(v float64) string {
	if v < 0.0995 {
		return strconv.FormatFloat(v, 'f', 3, 64)
	}
	return number(v)
}
