// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build !amd64 || purego

package sha512

func best() Kernel { return Stdlib }
func last() Kernel { return Stdlib }

func compress(*[8]uint64, *byte, int, *end) {} // there is no kernel but Stdlib

func blockLanes(*Lanes, *[MaxLanes][]byte, int) {} // there are none: see LaneCount
