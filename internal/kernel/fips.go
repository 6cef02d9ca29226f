// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package kernel

import (
	"crypto/fips140"
	"crypto/hmac"
	"crypto/sha256"
)

// FIPSEnforced reports whether only approved algorithms may run, with GODEBUG=fips140=only. Go 1.25
// lacks fips140.Enforced, but its crypto/hmac panics then too if a key is too short.
func FIPSEnforced() (enforced bool) {
	if !fips140.Enabled() {
		return false
	}
	defer func() { enforced = recover() != nil }()
	hmac.New(sha256.New, nil)
	return false
}
