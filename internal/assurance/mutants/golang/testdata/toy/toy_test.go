// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package toy

import "testing"

func Test(t *testing.T) {
	if Max(1, 2) != 2 || Max(2, 1) != 2 || greet("you") != "hello you" || size != 5 {
		t.Fail()
	}
	c := count{2}
	if c.down(1, 1); c.n != 0 {
		t.Fail()
	}
	wait(1)
}
