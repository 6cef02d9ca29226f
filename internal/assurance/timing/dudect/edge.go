// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"example.com/fastmac"
	"example.com/fastmac/internal/mactest"
)

// An edge is a message of testdata/edge that takes a rare branch of RFC 4418 under its key.
type edge struct {
	id    int
	group string
	key   []byte
	first []byte // 2^24 equal bytes if the message is longer, or nothing
	rest  []byte
}

func (e *edge) name() string { return fmt.Sprintf("%s #%d", e.group, e.id) }

// edgeIDs are the messages that are used, of the 441 in the file. All are for iteration 0,
// which all tag sizes have.
var edgeIDs = []int{
	1, 8, // poly64-marker, the second with three markers
	7,      // poly64-limit, one below a marker
	10,     // poly64-residue, 1
	17, 21, // nh-zero, nh-max
	22,       // l1-value, 0
	26,       // l3-residue, 0
	337, 340, // poly128-marker, the second in the last word
	341, // poly128-limit
	342, // poly128-residue, 0
}

// hexBytes are bytes that JSON has as hexadecimal digits.
type hexBytes []byte

func (h *hexBytes) UnmarshalText(digits []byte) (err error) {
	*h, err = hex.AppendDecode(nil, digits)
	return err
}

// readEdges reads the messages from the root module.
func readEdges() ([]edge, error) {
	root, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "example.com/fastmac").Output()
	if err != nil {
		return nil, fmt.Errorf("fastmac: run this in internal/assurance: go list: %w", err)
	}
	content, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(root)), "testdata", "edge", "umac_edge.json"))
	var file struct {
		Tests []struct {
			TcID  int
			Group string
			Key   hexBytes
			Msg   []struct {
				Hex    hexBytes
				Repeat *int // absent means once
			}
		}
	}
	if err := errors.Join(err, json.Unmarshal(content, &file)); err != nil {
		return nil, fmt.Errorf("fastmac: messages that take rare branches: %w", err)
	}
	var edges []edge
	for _, test := range file.Tests {
		if !slices.Contains(edgeIDs, test.TcID) {
			continue
		}
		e := edge{id: test.TcID, group: test.Group, key: test.Key}
		for _, m := range test.Msg {
			part := []byte(m.Hex)
			if m.Repeat != nil {
				part = bytes.Repeat(part, *m.Repeat)
			}
			if len(part) == 1<<24 {
				e.first = part
			} else {
				e.rest = append(e.rest, part...)
			}
		}
		edges = append(edges, e)
	}
	if len(edges) != len(edgeIDs) {
		return nil, fmt.Errorf("fastmac: umac_edge.json has %d of the %d messages", len(edges), len(edgeIDs))
	}
	return edges, nil
}

// edgeSubjects returns subjects whose fixed message takes a rare branch. A random one takes
// it with a probability of 2^-32 or less.
func edgeSubjects(edges []edge) (subjects []subject) {
	for _, e := range edges {
		for _, size := range mactest.UMACTagSizes {
			if size%8 != 0 && e.group != "poly64-marker" {
				continue
			}
			k := mactest.Must(fastmac.NewUMACKey(e.key, size))
			nonce := nonceRoom[:8]
			add := func(suffix string, before func(), run func(in []byte)) {
				name := fmt.Sprintf("UMAC-%d %s%s, rare or random", 8*size, e.name(), suffix)
				s := newSubject(name, len(e.rest), fixed(e.rest), random, run)
				s.before = before
				subjects = append(subjects, s)
			}
			if e.first != nil {
				// POLY-128: each run continues a clone of the stream that has the first 2^24 bytes.
				first := k.New()
				first.Write(e.first)
				var u *fastmac.UMAC
				add("", func() { u = mactest.Must(first.Clone()).(*fastmac.UMAC) }, func(in []byte) {
					u.Write(in)
					u.Tag(tagRoom[:0], nonce)
				})
				continue
			}
			add("", nil, func(in []byte) { k.Tag(tagRoom[:0], nonce, in) })
			if e.group == "poly64-marker" {
				// In parts that are not whole blocks, L2 is Go code.
				u := k.New()
				add(" stream", nil, func(in []byte) {
					u.Reset()
					for part := range slices.Chunk(in, 600) {
						u.Write(part)
					}
					u.Tag(tagRoom[:0], nonce)
				})
			}
		}
	}
	return subjects
}
