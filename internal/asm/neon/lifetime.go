// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

// barriers writes barrier_arm64.s.
func (f *file) barriers() {
	for _, b := range []struct{ name, option string }{
		{"loads", "$9"},   // ISHLD: loads before it, loads and stores after it
		{"stores", "$10"}, // ISHST: stores
	} {
		f.begin(b.name)
		var c code
		c.op("DMB", b.option)
		c.ret()
		f.write(c)
	}
}
