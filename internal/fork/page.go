// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build freebsd || linux || netbsd

package fork

import (
	"syscall"
	"unsafe"
)

const most = 1 << 16 // of all sizes of pages

// wipe has the system set word.current to 0 in children, and reports whether it can.
func wipe() bool {
	size := uintptr(syscall.Getpagesize())
	before := uintptr(unsafe.Pointer(&word.current)) & (size - 1)
	if before > unsafe.Offsetof(word.current) || size > most {
		return false
	}
	return wipePage(unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(&word.current), -int(before))), size))
}
