// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build !freebsd && !linux && !netbsd

package fork

import "runtime"

const most = 0

// wipe reports whether word.current is 0 in children, and so it is if there are none: on Windows,
// Plan 9 and WebAssembly no C code in a Go program forks. On other systems the process is known by
// its identifier. A page that a child does not inherit, which is what macOS has, would end it.
func wipe() bool {
	switch runtime.GOOS {
	case "js", "plan9", "wasip1", "windows":
		return true
	}
	return false
}
