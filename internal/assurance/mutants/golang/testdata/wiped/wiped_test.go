// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package wiped

import "testing"

func TestUse(t *testing.T) {
	s := &secret[int]{a: [2]int{1, 2}, b: [2]int{3, 4}}
	if use(s); s.a != [2]int{} {
		t.Error(s.a)
	}
}
