// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package mactest

import "flag"

// SkipExamples skips the examples whose names match pattern, as -skip does. It is for
// TestMain: an example cannot skip itself.
func SkipExamples(pattern string) {
	flag.Parse()
	skip := flag.Lookup("test.skip")
	if skip.Value.String() != "" {
		pattern = skip.Value.String() + "|" + pattern
	}
	skip.Value.Set(pattern)
}
