// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sshmac

import (
	"crypto/fips140"
	"testing"

	"example.com/fastmac/internal/mactest"
)

// TestDying destroys MACs while they are in use.
func TestDying(t *testing.T) {
	if fips140.Enabled() {
		t.Skip("FIPS 140 mode: crypto/hmac may panic with a text of its own")
	}
	var all []mactest.Dying
	for _, m := range allModes() {
		all = append(all, mactest.Dying{Name: m.Name, New: func(_, out []byte) (func() []byte, func()) {
			h := m.New(make([]byte, m.KeySize))
			h.Write(mactest.DyingInput())
			return func() []byte { return h.Sum(out[:0]) }, h.(interface{ Destroy() }).Destroy
		}, Misses: true})
	}
	mactest.TestDying(t, mactest.DyingTrials(), all)
}
