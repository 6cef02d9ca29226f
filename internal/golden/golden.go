// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package golden compares what tests find with files, so that no change goes unseen, and writes
// the files after a change that is meant.
package golden

import (
	"flag"
	"fmt"
	"os"
	"strings"
)

var update = flag.Bool("update", false, "write the files of expected output, instead of comparing with them")

// Check compares got with a file. The error has the lines that differ. With the flag -update it
// writes the file.
func Check(file, got string) error {
	if *update {
		return os.WriteFile(file, []byte(got), 0o666)
	}
	want, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if changed := diff(strings.ReplaceAll(string(want), "\r\n", "\n"), got); changed != "" {
		return fmt.Errorf("%s has other lines. If the change is meant, the same command with -update writes it (CONTRIBUTING.md, Expected outputs):\n%s", file, changed)
	}
	return nil
}

// diff returns the lines that only one text has, or has more often, after - for old and + for new.
// It is empty only if the texts are equal.
func diff(old, new string) string {
	if old == new {
		return ""
	}
	count := make(map[string]int) // how often a line is in old and not in new
	for line := range strings.Lines(old) {
		count[line]++
	}
	for line := range strings.Lines(new) {
		count[line]--
	}
	var b strings.Builder
	only := func(sign, text string, direction int) {
		for line := range strings.Lines(text) {
			if direction*count[line] > 0 {
				count[line] -= direction
				fmt.Fprintln(&b, sign+strings.TrimSuffix(line, "\n"))
			}
		}
	}
	only("-", old, 1)
	only("+", new, -1)
	if b.Len() == 0 {
		return "the same lines in another order\n"
	}
	return b.String()
}
