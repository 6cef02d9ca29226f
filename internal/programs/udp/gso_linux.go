// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"encoding/binary"
	"unsafe"

	"golang.org/x/sys/unix"
)

// gsoError is why -gso cannot be used.
func gsoError() error { return nil }

// segmentSize returns the control message that tells the kernel the size of segments, in b if
// there is room.
func segmentSize(b []byte, size int) []byte {
	if len(b) == 0 {
		b = make([]byte, unix.CmsgSpace(2))
		h := (*unix.Cmsghdr)(unsafe.Pointer(&b[0]))
		h.Level, h.Type = unix.SOL_UDP, unix.UDP_SEGMENT
		h.SetLen(unix.CmsgLen(2))
	}
	binary.NativeEndian.PutUint16(b[unix.CmsgLen(0):], uint16(size))
	return b
}

func enableGRO(fd int) error {
	return unix.SetsockoptInt(fd, unix.SOL_UDP, unix.UDP_GRO, 1)
}

// groSize returns the size of the segments that the kernel has joined, or whole if the
// control messages name none.
func groSize(oob []byte, whole int) int {
	for len(oob) > 0 {
		h, data, rest, err := unix.ParseOneSocketControlMessage(oob)
		if err != nil {
			return whole
		}
		if h.Level == unix.SOL_UDP && h.Type == unix.UDP_GRO && len(data) >= 2 {
			// An int whose value is below 2^16. A size of 0 would be a loop without an end.
			if size := int(binary.NativeEndian.Uint32(append(data[:min(4, len(data)):4], 0, 0)[:4])); size > 0 {
				return size
			}
		}
		oob = rest
	}
	return whole
}
