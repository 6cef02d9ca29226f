// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package child

import (
	"strings"
	"testing"
)

func TestHead(t *testing.T) {
	var head Head
	for range 4 {
		if n, err := head.Write([]byte(strings.Repeat("x", 3<<10))); n != 3<<10 || err != nil {
			t.Error(n, err)
		}
	}
	if head.Len() != 4<<10 {
		t.Errorf("%d bytes kept", head.Len())
	}
}
