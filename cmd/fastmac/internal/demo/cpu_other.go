// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build !unix && !windows

package demo

import "time"

// cpuTime returns 0: the time is not known.
func cpuTime() time.Duration { return 0 }
