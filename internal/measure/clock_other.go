// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build !windows

package measure

import "time"

// began is when the clock began.
var began = time.Now()

// now returns the time since the clock began.
func now() time.Duration { return time.Since(began) }
