// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package rivals

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strconv"
	"sync"

	"example.com/fastmac/internal/peers/serve"
)

//go:embed known.json
var knownJSON []byte

// knownTags are the tags that runs must end in, in hexadecimal, by algorithm and
// size.
var knownTags = sync.OnceValue(func() map[string]map[string]string {
	var file struct {
		Algorithms map[string]struct{ Tags map[string]string }
	}
	if err := json.Unmarshal(knownJSON, &file); err != nil {
		panic("fastmac: known.json: " + err.Error())
	}
	known := make(map[string]map[string]string)
	for alg, a := range file.Algorithms {
		known[alg] = a.Tags
	}
	return known
})

// CheckTag returns an error unless tag is what the contender must compute for the
// message of size bytes.
func (c Contender) CheckTag(size int, tag string) error {
	_, alg, _ := c.Parts()
	want := knownTags()[alg][strconv.Itoa(size)]
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

// Check returns an error unless the contender computes the right tag at each size,
// as the first message of a run and as one that follows others.
func (c Contender) Check(p *serve.Process, sizes []int) error {
	for _, size := range sizes {
		for _, n := range []int{1, 3} {
			_, tag, err := p.Run(string(c), size, n)
			if err != nil {
				return err
			}
			if err := c.CheckTag(size, tag); err != nil {
				return err
			}
		}
	}
	return nil
}
