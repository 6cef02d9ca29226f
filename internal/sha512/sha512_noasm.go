// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build !amd64 || purego

package sha512

func best() Kernel { return Stdlib }

func block(state *[8]uint64, p []byte) { blockStd(state, p) }

func blockLanes(*Lanes, *[MaxLanes][]byte, int) {} // there are none: see LaneCount
