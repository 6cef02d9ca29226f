// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build !amd64 || purego

package sha512

// Supported reports whether Block is assembly here.
const Supported = false

func block(state *[8]uint64, p []byte) { blockGeneric(state, p) }

// Name names the kernel.
func Name() string { return "generic" }

// LaneCount returns 0: there is no kernel of lanes.
func LaneCount() (lanes, least int) { return 0, 0 }

// BlockLanes panics: there is no kernel of lanes.
func BlockLanes(state *Lanes, p *[MaxLanes]*byte, blocks int) {
	panic("fastmac: SHA-512 has no lanes here")
}
