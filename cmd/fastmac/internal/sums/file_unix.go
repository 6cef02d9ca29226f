// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build unix

package sums

import (
	"io"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// A regularFile is an open regular file. [os.Open] needs three times as many system calls,
// because it tries whether the file can be polled, and makes an object that the collector has
// to close: together much of the time of a small file.
type regularFile struct {
	fd   int
	path string
}

func openRegular(path string) (*regularFile, error) {
	fd, err := again(func() (int, error) { return unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0) })
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return &regularFile{fd, path}, nil
}

func (f *regularFile) Read(p []byte) (int, error) {
	n, err := again(func() (int, error) { return unix.Read(f.fd, p) })
	switch {
	case err != nil:
		return 0, &fs.PathError{Op: "read", Path: f.path, Err: err}
	case n == 0:
		return 0, io.EOF
	}
	return n, nil
}

func (f *regularFile) Close() error { return unix.Close(f.fd) }

// again repeats a system call that a signal has interrupted.
func again(call func() (int, error)) (int, error) {
	for {
		n, err := call()
		if err != unix.EINTR {
			return n, err
		}
	}
}

// canMap reports whether there is a mapFile.
const canMap = true

// mapFile returns size bytes of f from at on.
func mapFile(f *regularFile, at int64, size int) ([]byte, error) {
	return unix.Mmap(f.fd, at, size, unix.PROT_READ, unix.MAP_SHARED)
}

func unmap(p []byte) { unix.Munmap(p) }

// appends reports whether all that is written to f is added at its end, as >> of a shell has it.
func appends(f *os.File) bool {
	flags, err := unix.FcntlInt(f.Fd(), unix.F_GETFL, 0)
	return err == nil && flags&unix.O_APPEND != 0
}
