// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fork

import "syscall"

// wipePage makes the page one of zeros in children, which Linux can do since release 4.14. Some
// emulators accept any advice and take none: they also accept -1, which is none.
func wipePage(page []byte) bool {
	const wipeOnFork = 18 // MADV_WIPEONFORK
	return syscall.Madvise(page, -1) != nil && syscall.Madvise(page, wipeOnFork) == nil
}
