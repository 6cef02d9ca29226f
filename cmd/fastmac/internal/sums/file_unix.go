// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build unix

package sums

import (
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// openRegular opens a regular file. It needs a third of the system calls of [os.Open], which
// tries whether the file can be polled: much of the time of a small file.
func openRegular(path string) (*os.File, error) {
	for {
		fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
		switch err {
		case nil:
			return os.NewFile(uintptr(fd), path), nil
		case unix.EINTR:
		default:
			return nil, &fs.PathError{Op: "open", Path: path, Err: err}
		}
	}
}

// mapFile returns size bytes of f from at on.
func mapFile(f *os.File, at int64, size int) ([]byte, error) {
	return unix.Mmap(int(f.Fd()), at, size, unix.PROT_READ, unix.MAP_SHARED)
}

func unmap(p []byte) { unix.Munmap(p) }
