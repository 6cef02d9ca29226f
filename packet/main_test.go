// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package packet

import (
	"os"
	"testing"

	"example.com/fastmac"
	"example.com/fastmac/internal/mactest"
)

// TestMain skips the example of GMAC where GMAC is missing.
func TestMain(m *testing.M) {
	fastmac.Hardware() // chooses all kernels, for package mactest
	if fastmac.RequireGCM() != nil {
		mactest.SkipExamples("^ExampleStored$")
	}
	os.Exit(m.Run())
}
