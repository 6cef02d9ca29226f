// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sums

import (
	"fmt"
	"os"
	"sync"
	"testing"
)

// TestRaise raises a number in many runs at the same time: it is the highest in the end.
func TestRaise(t *testing.T) {
	t.Chdir(t.TempDir())
	for range 20 {
		if err := os.WriteFile("n", []byte("3\n"), 0o640); err != nil {
			t.Fatal(err)
		}
		var group sync.WaitGroup
		const most = 15
		for n := range most + 1 {
			group.Go(func() {
				if err := (&Options{AtLeast: &Floor{File: "n"}, Status: true}).raise(t.Context(), uint64(n)); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		if text, err := os.ReadFile("n"); err != nil || string(text) != fmt.Sprintln(most) {
			t.Fatalf("%q, %v", text, err)
		}
	}
	names, err := os.ReadDir(".")
	if err != nil || len(names) != 1 {
		t.Errorf("%v, %v", names, err)
	}
}
