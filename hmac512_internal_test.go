// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac

import (
	"bytes"
	"testing"
)

// TestHMACMustLive: a single word that is not zero is a key.
func TestHMACMustLive(t *testing.T) {
	for i := range 8 {
		var k HMACSHA512Key
		k.inner[i] = 1
		k.mustLive()
	}
}

// TestHMACLength puts lengths of more than 2^61 bytes, whose bits need a second word.
func TestHMACLength(t *testing.T) {
	var b hmacBlock
	b.length(0xe123456789abcdef)
	// 0xe123456789abcdef << 3
	if want := []byte{7, 0x09, 0x1a, 0x2b, 0x3c, 0x4d, 0x5e, 0x6f, 0x78}; !bytes.Equal(b[len(b)-9:], want) {
		t.Errorf("%x, want %x", b[len(b)-9:], want)
	}
}
