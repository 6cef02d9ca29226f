// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build (!amd64 && !arm64) || purego

package sha512

import "example.com/fastmac/internal/kernel"

func init() { kernel.Register(kernel.SHA512, "stdlib") }

// hasAssembly reports whether a kernel is in use, and not crypto/sha512.
func hasAssembly() bool { return false }

// LaneCount returns 0: no lanes are compressed side by side.
func LaneCount() (lanes, minLanes int) { return 0, 0 }

// HasPairs returns false: no two messages are compressed side by side.
func HasPairs() bool { return false }

func compress(*[8]uint64, *byte, int, *end) {} // never called: see hasAssembly

func compressPair(_, _ *[8]uint64, _, _ *byte, _ int, _ *[2]end) {} // nor this: see HasPairs

func compressLanes(*Lanes, *[MaxLanes]*byte, int, LaneSet, LaneSet) {} // nor this: see LaneCount
