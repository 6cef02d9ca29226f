// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build !purego

package lifetime

import "sync/atomic"

// loads orders all loads before it before all loads and stores after it.
func loads()

// stores orders all stores before it before all stores after it.
func stores()

func release(p *uint32, v uint32) { atomic.StoreUint32(p, v) }
