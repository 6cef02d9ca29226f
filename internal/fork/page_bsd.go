// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build freebsd || netbsd

package fork

import (
	"runtime"
	"syscall"
	"unsafe"
)

// wipePage makes the page one of zeros in children.
func wipePage(page []byte) bool {
	zero := uintptr(3) // INHERIT_ZERO of FreeBSD
	if runtime.GOOS == "netbsd" {
		zero = 4 // MAP_INHERIT_ZERO
	}
	_, _, errno := syscall.Syscall(syscall.SYS_MINHERIT, uintptr(unsafe.Pointer(&page[0])), uintptr(len(page)), zero)
	return errno == 0
}
