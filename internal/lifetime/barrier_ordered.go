// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build amd64 || 386 || s390x

package lifetime

func loads()  {}
func stores() {}

// release stores v after all that the caller has stored. The one of sync/atomic is a full barrier here,
// which would make the set-up of a key longer.
func release(p *uint32, v uint32) { *p = v }
