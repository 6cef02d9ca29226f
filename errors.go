// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac

import "strconv"

// KeySizeError is the length in bytes of an AES key that is not 16, 24 or 32 bytes long. The
// functions of UMAC, GMAC and package aesgcm that set up keys return it.
type KeySizeError int

func (e KeySizeError) Error() string {
	return "fastmac: key of " + strconv.Itoa(int(e)) + " bytes: want 16, 24 or 32"
}
