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
	"path/filepath"

	"example.com/fastmac"
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
var edgeIDs = map[int]bool{
	1: true, 8: true, // poly64-marker, the second with three markers
	7:  true,           // poly64-limit, one below a marker
	10: true,           // poly64-residue, 1
	17: true, 21: true, // nh-zero, nh-max
	22:  true,            // l1-value, 0
	26:  true,            // l3-residue, 0
	337: true, 340: true, // poly128-marker, the second in the last word
	341: true, // poly128-limit
	342: true, // poly128-residue, 0
}

// readEdges reads the messages. root is the root of the tree.
func readEdges(root string) ([]edge, error) {
	content, err := os.ReadFile(filepath.Join(root, "testdata", "edge", "umac_edge.json"))
	if err != nil {
		return nil, fmt.Errorf("fastmac: no messages for rare branches: %w", err)
	}
	var file struct {
		Tests []struct {
			TcID       int
			Group, Key string
			Msg        []struct {
				Hex    string
				Repeat *int // absent means once
			}
		}
	}
	if err := json.Unmarshal(content, &file); err != nil {
		return nil, fmt.Errorf("fastmac: umac_edge.json: %w", err)
	}
	var edges []edge
	for _, test := range file.Tests {
		if !edgeIDs[test.TcID] {
			continue
		}
		e := edge{id: test.TcID, group: test.Group}
		if e.key, err = hex.DecodeString(test.Key); err != nil {
			return nil, fmt.Errorf("fastmac: umac_edge.json, message %d: %w", test.TcID, err)
		}
		for _, m := range test.Msg {
			part, err := hex.DecodeString(m.Hex)
			if err != nil {
				return nil, fmt.Errorf("fastmac: umac_edge.json, message %d: %w", test.TcID, err)
			}
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

// treeRoot returns the folder of the tree that the working directory is in.
func treeRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "testdata", "edge")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("fastmac: the working directory is not in the tree")
		}
		dir = parent
	}
}

// edgeSubjects returns subjects whose fixed message takes a rare branch. A random one takes
// it with a probability of 2^-32 or less.
func edgeSubjects(edges []edge) (subjects []subject) {
	for _, e := range edges {
		if e.first != nil {
			subjects = append(subjects, longEdges(&e)...)
			continue
		}
		for _, size := range []int{fastmac.UMAC32Size, fastmac.UMAC64Size, fastmac.UMAC96Size, fastmac.UMAC128Size} {
			if size%8 != 0 && e.group != "poly64-marker" {
				continue
			}
			k, err := fastmac.NewUMACKey(e.key, size)
			if err != nil {
				panic(err)
			}
			name := fmt.Sprintf("UMAC-%d %s", 8*size, e.name())
			rare := []content{{"rare", fixed(e.rest)}}
			subjects = append(subjects, against(name, len(e.rest), rare, func(in []byte) {
				k.Tag(tagRoom[:0], nonce, in)
			})...)
			if e.group != "poly64-marker" {
				continue
			}
			// In parts that are no whole blocks, L2 is Go code.
			u := k.New()
			subjects = append(subjects, against(name+" stream", len(e.rest), rare, func(in []byte) {
				u.Reset()
				for part := range parts(in, 600) {
					u.Write(part)
				}
				u.Tag(tagRoom[:0], nonce)
			})...)
		}
	}
	return subjects
}

// parts yields b in parts of n bytes.
func parts(b []byte, n int) func(yield func([]byte) bool) {
	return func(yield func([]byte) bool) {
		for len(b) > 0 && yield(b[:min(n, len(b))]) {
			b = b[min(n, len(b)):]
		}
	}
}

// longEdges returns the subjects for a message of more than 2^24 bytes, which reach POLY-128.
// Each run continues a clone of the stream that has the first 2^24 bytes.
func longEdges(e *edge) (subjects []subject) {
	for _, size := range []int{fastmac.UMAC64Size, fastmac.UMAC128Size} {
		k, err := fastmac.NewUMACKey(e.key, size)
		if err != nil {
			panic(err)
		}
		first := k.New()
		first.Write(e.first)
		var u *fastmac.UMAC
		s := against(fmt.Sprintf("UMAC-%d %s", 8*size, e.name()), len(e.rest), []content{{"rare", fixed(e.rest)}}, func(in []byte) {
			u.Write(in)
			u.Tag(tagRoom[:0], nonce)
		})
		s[0].before = func() {
			clone, _ := first.Clone() // the error is always nil
			u = clone.(*fastmac.UMAC)
		}
		subjects = append(subjects, s...)
	}
	return subjects
}
