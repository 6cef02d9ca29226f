// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build !purego

package hwrand

import "example.com/fastmac/internal/aes"

// stretch replaces p, whose first 32 bytes are a key, by the AES-256-CTR keystream under
// that key, from counter 0. len(p) is a multiple of aes.StretchStep, at least one.
func stretch(p []byte) { aes.Stretch(p) }
