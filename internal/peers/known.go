// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strconv"
)

//go:embed known.json
var knownJSON []byte

// knownTags are the tags that runs have to end in: algorithm, size, tag in
// hexadecimal.
type knownTags map[string]map[string]string

func loadKnown(data []byte) (knownTags, error) {
	var file struct {
		Algorithms map[string]struct{ Tags map[string]string }
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, fmt.Errorf("fastmac: known tags: %w", err)
	}
	known := make(knownTags)
	for alg, a := range file.Algorithms {
		known[alg] = a.Tags
	}
	return known, nil
}

// check returns an error unless tag is that of the contender's algorithm.
func (k knownTags) check(c contender, size int, tag string) error {
	_, alg, _ := c.parts()
	want := k[alg][strconv.Itoa(size)]
	switch {
	case want == "":
		return fmt.Errorf("no known tag for %d bytes", size)
	case tag == "":
		return fmt.Errorf("no tag for %d bytes", size)
	case tag != want:
		return fmt.Errorf("wrong tag for %d bytes: %s, want %s", size, tag, want)
	}
	return nil
}
