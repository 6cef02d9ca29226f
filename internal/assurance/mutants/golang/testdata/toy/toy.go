// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package toy has mutants of all kinds.
package toy

const size = 2 + 3

// Max returns the larger one.
func Max(a, b int) int {
	if a > b {
		return a
	}
	return b
}

func greet(name string) string {
	return "hello " + name
}

type count struct{ n int }

func (c *count) down(by ...int) {
	for range by {
		c.n--
	}
}

func wait(n int64) {
	for n > 0 {
		n -= 1
	}
}

func never() bool { return size != 5 }
