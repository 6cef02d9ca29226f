// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build go1.26

package conformance

import "crypto/fips140"

func init() { withoutEnforcement = fips140.WithoutEnforcement }
