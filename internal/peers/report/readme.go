// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package report

import (
	"fmt"

	"example.com/fastmac/internal/peers/rivals"
)

// Summary returns a table of what each CPU gets: a line for each of the results, and speeds
// as multiples.
func Summary(all []*Results) string {
	const message = "message"
	pairs := []struct {
		title string
		sizes []int
		rivals.Contender
		base rivals.Contender
	}{
		{"UMAC-64", []int{32, 1500, 16384}, "fastmac:umac64:stream", rivals.GMAC},
		{"UMAC-128", []int{32, 1500, 16384}, "fastmac:umac128:stream", rivals.GMAC},
		{"HMAC-SHA-512", []int{1500}, "fastmac:hmac-sha512:stream", rivals.HMAC},
	}
	var titles []string
	for _, p := range pairs {
		for _, size := range p.sizes {
			titles = append(titles, fmt.Sprintf("%s, %d", p.title, size))
		}
	}
	t := newGrid("", titles...)
	for _, r := range all {
		cells := []any{fmt.Sprintf("%s: %s, NH %s", r.Name, r.CPU, r.Kernels.NH)}
		var rows []Row
		for _, p := range pairs {
			for _, size := range p.sizes {
				row, ok := r.find(message, p.Contender, size)
				if !ok {
					cells = append(cells, "–")
					continue
				}
				cells = append(cells, r.speeds(p.base)(row))
				rows = append(rows, row)
			}
		}
		t.add(rows, cells...)
	}
	return t.RenderMarkdown() + `

Speeds of fastmac's streams as multiples: UMAC's of the speed of crypto/cipher's GMAC,
HMAC-SHA-512's of crypto/hmac's, for messages of that many bytes. More than 1 is faster.
`
}

// Readme returns a short table of results, with a caption, in Markdown.
func Readme(r *Results) string {
	const message, hmac, seal = "message", "hmac", "seal"
	sizes := []int{32, 1024, 16384, 1 << 20}
	t := newGrid("", sizeTitles(sizes)...)
	for _, line := range []struct {
		group string
		rivals.Contender
	}{
		{message, "fastmac:umac64:stream"},
		{message, "fastmac:umac64:oneshot"},
		{message, "fastmac:umac128:stream"},
		{message, "fastmac:gmac:stream"},
		{message, rivals.GMAC},
		{message, "x/crypto:poly1305:oneshot"},
		{message, "fastmac:hmac-sha512:stream"},
		{hmac, "fastmac:hmac-sha512:batch"},
		{message, rivals.HMAC},
		{seal, "fastmac:aes256-gcm:seal"},
		{seal, rivals.Seal},
	} {
		cells := []any{r.title(line.Contender)}
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
		if len(rows) > 0 {
			t.add(rows, cells...)
		}
	}
	text := fmt.Sprintf("%s\n\nNanoseconds per message, by its size in bytes: the %s of %d rounds on one core of %s, %s, commit %s. Spread is %s.\n",
		t.RenderMarkdown(), r.statistic().name, r.Rounds, r.CPU, r.Go, r.Commit, r.statistic().spread)
	if ssh := r.sshTable(); ssh.Length() > 0 {
		text += "\n" + ssh.RenderMarkdown() + "\n\nx/crypto/ssh in writes of 32 KiB: MB/s with both ends in one process, and CPU seconds for each GiB in two. In brackets the spread.\n"
	}
	return text
}

// sshTable returns a short table of SSH.
func (r *Results) sshTable() grid {
	t := newGrid("", "MB/s", "receiving", "sending")
	for _, name := range []string{
		"nothing:null-64-etm", "fastmac:umac-64-etm", "fastmac:umac-128-etm", "x/crypto:hmac-sha2-256-etm",
		"fastmac:hmac-sha2-512-etm", "x/crypto:aes128-gcm",
	} {
		var cells []any
		var rows []Row
		for _, column := range []struct {
			group, mode string
			show        func(Row) string
		}{
			{"ssh", "ssh", func(row Row) string { return withSpread(number(row.mbps()), row) }},
			{rivals.CPUGroup, rivals.Receiver, Row.cpu},
			{rivals.CPUGroup, rivals.Sender, Row.cpu},
		} {
			row, ok := r.find(column.group, rivals.Contender(name+":"+column.mode), 32768)
			if !ok {
				cells = append(cells, "–")
				continue
			}
			cells = append(cells, column.show(row))
			rows = append(rows, row)
		}
		if len(rows) > 0 {
			t.add(rows, append([]any{r.title(rows[0].Contender())}, cells...)...)
		}
	}
	return t
}
