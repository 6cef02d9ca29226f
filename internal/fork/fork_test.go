// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fork_test

import (
	"testing"

	"example.com/fastmac/internal/fork"
)

// TestPretend checks that a process has one number, and another one after each fork.
func TestPretend(t *testing.T) {
	seen := make(map[fork.Process]bool)
	for range 100 {
		p := fork.Current()
		if p == 0 || seen[p] || p != fork.Current() {
			t.Fatalf("process %#x after %v", p, seen)
		}
		seen[p] = true
		fork.Pretend()
	}
}
