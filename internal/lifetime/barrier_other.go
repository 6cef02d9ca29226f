// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build !amd64 && !386 && !s390x && (!arm64 || purego)

package lifetime

import "sync/atomic"

func loads()  { barrier() }
func stores() { barrier() }

// barrier orders all that precedes it before all that follows it: the addition is a store-release, and the
// load of what it has stored is a load-acquire. Where an addition is a loop of two instructions, as on arm64
// without atomic ones, neither alone would order loads before loads.
func barrier() {
	var x uint32
	atomic.AddUint32(&x, 1)
	atomic.LoadUint32(&x)
}

func release(p *uint32, v uint32) { atomic.StoreUint32(p, v) }
