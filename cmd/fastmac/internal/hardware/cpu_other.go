// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build !darwin && !dragonfly && !freebsd && !netbsd && !openbsd && !windows

package hardware

import "example.com/fastmac/internal/origin"

// cpuName returns the name that Linux has for the CPU, with its family and model, because some
// virtual machines report only the brand.
func cpuName() string { return tidy(origin.CPU()) }
