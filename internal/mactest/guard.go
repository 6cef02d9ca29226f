// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package mactest

// Memory is what [Guarded] returns.
type Memory []byte

// Place copies b to a place offset bytes after the page before m or, if end is true, before
// the page after it. The slice that it returns has no more capacity.
func (m Memory) Place(b []byte, offset int, end bool) []byte {
	if end {
		offset = len(m) - len(b) - offset
	}
	p := m[offset:][:len(b):len(b)]
	copy(p, b)
	return p
}
