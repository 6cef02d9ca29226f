// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build !linux || !arm64

package kernel

// hasRNG reports false: other systems are not asked, and other architectures have none.
func hasRNG() bool { return false }
