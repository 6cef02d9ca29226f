// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build (!amd64 && !arm64) || purego

package sha2

import "example.com/fastmac/internal/kernel"

func register256() { kernel.Register(kernel.SHA256, "stdlib", right256) }
func register512() { kernel.Register(kernel.SHA512, "stdlib", right512) }

// HasAssembly reports whether a kernel is in use, and not the standard library.
func HasAssembly[W Word]() bool { return false }

// LaneCount returns 0: no lanes are compressed side by side.
func LaneCount[W Word]() (lanes, minLanes int) { return 0, 0 }

// HasPairs returns false: no two messages are compressed side by side.
func HasPairs[W Word]() bool { return false }

func compress[W Word](*State[W], *byte, int, *end[W]) {} // never called: see HasAssembly

func compressPair[W Word](_, _ *State[W], _, _ *byte, _ int, _ *[2]end[W]) {} // nor this: see HasPairs

func compressLanes[W Word](*Lanes[W], *[MaxLanes]*byte, int, LaneSet, LaneSet) {} // nor this: see LaneCount

func sideBySide[W Word](int) (n int, inLanes bool) { return 0, false } // no kernel makes steps of iterations

func iterate[W Word]([]Iteration[W], int) {} // never called: see sideBySide

func iterateLanes[W Word](*iterations[W], int) {} // nor this
