// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build unix

package sums

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// An identity is of one file only, as long as there is that file.
type identity struct{ device, inode uint64 }

func (a identity) same(b identity) bool { return a == b }

// is reports whether a is of the file of b.
func (a fileInfo) is(b os.FileInfo) bool {
	s, ok := b.Sys().(*syscall.Stat_t)
	return ok && a.identity == identity{uint64(s.Dev), uint64(s.Ino)}
}

// infoOf returns what stat has set s to, or its error. [os.Stat] makes objects for that.
func infoOf(s *unix.Stat_t, path string, err error) (fileInfo, error) {
	if err != nil {
		return fileInfo{}, &fs.PathError{Op: "stat", Path: path, Err: err}
	}
	info := fileInfo{s.Size, s.Mtim.Nano(), s.Ctim.Nano(), uint64(s.Nlink), fs.ModeDevice, identity{uint64(s.Dev), uint64(s.Ino)}}
	switch uint32(s.Mode) & unix.S_IFMT {
	case unix.S_IFREG:
		info.kind = 0
	case unix.S_IFDIR:
		info.kind = fs.ModeDir
	case unix.S_IFLNK:
		info.kind = fs.ModeSymlink
	case unix.S_IFIFO:
		info.kind = fs.ModeNamedPipe
	case unix.S_IFSOCK:
		info.kind = fs.ModeSocket
	}
	return info, nil
}

// lookIn returns what has this name in the folder that is open as fd.
func lookIn(fd int, name string, flags int) (fileInfo, error) {
	var s unix.Stat_t
	_, err := again(func() (int, error) { return 0, unix.Fstatat(fd, name, &s, flags) })
	return infoOf(&s, name, err)
}

// lookOpen returns what is open as fd.
func lookOpen(fd int, path string) (fileInfo, error) {
	var s unix.Stat_t
	_, err := again(func() (int, error) { return 0, unix.Fstat(fd, &s) })
	return infoOf(&s, path, err)
}

// look returns what is at path. If that is a link, it is followed.
func (f *finder) look(path string) (fileInfo, error) {
	fd, name, err := f.at(path)
	if err != nil {
		return fileInfo{}, err
	}
	return lookIn(fd, name, 0)
}

// A regularFile is an open regular file. [os.Open] needs three times as many system calls,
// because it tries whether the file can be polled, and makes an object that the collector has
// to close: together much of the time of a small file.
type regularFile struct {
	fd   int
	path string
}

// open opens the regular file at path. If it is none any more, a FIFO does not wait and a terminal
// does not become that of the process.
func (f *finder) open(ctx context.Context, path string) (*regularFile, error) {
	fd, name, err := f.at(path)
	if err != nil {
		return nil, err
	}
	for {
		open, err := again(func() (int, error) {
			return unix.Openat(fd, name, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
		})
		if err == nil {
			return &regularFile{open, path}, nil
		}
		if err != unix.EAGAIN || ctx.Err() != nil {
			return nil, &fs.PathError{Op: "open", Path: path, Err: err}
		}
		// Another program, such as Samba, has a lease of the file and was told to end it.
		time.Sleep(10 * time.Millisecond)
	}
}

func (f *regularFile) info() (fileInfo, error) { return lookOpen(f.fd, f.path) }

func (f *regularFile) Read(p []byte) (int, error) {
	n, err := again(func() (int, error) { return unix.Read(f.fd, p) })
	if err == unix.EAGAIN {
		// Few regular files, all in /proc and the like, can make a reader wait.
		unix.SetNonblock(f.fd, false)
		n, err = again(func() (int, error) { return unix.Read(f.fd, p) })
	}
	switch {
	case err != nil:
		return 0, &fs.PathError{Op: "read", Path: f.path, Err: err}
	case n == 0:
		return 0, io.EOF
	}
	return n, nil
}

func (f *regularFile) Seek(offset int64, whence int) (int64, error) {
	at, err := unix.Seek(f.fd, offset, whence)
	if err != nil {
		return 0, &fs.PathError{Op: "seek", Path: f.path, Err: err}
	}
	return at, nil
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

// canMap reports whether files can be mapped.
const canMap = true

// mapped returns size bytes of f from at on.
func (f *regularFile) mapped(at int64, size int) ([]byte, error) {
	return unix.Mmap(f.fd, at, size, unix.PROT_READ, unix.MAP_SHARED)
}

func unmap(p []byte) { unix.Munmap(p) }

// nowhere reports whether an error is that of a link that leads nowhere.
func nowhere(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ELOOP) || errors.Is(err, unix.ENOTDIR)
}

// appends reports whether all that is written to f is added at its end, as >> of a shell has it.
func appends(f *os.File) bool {
	flags, err := unix.FcntlInt(f.Fd(), unix.F_GETFL, 0)
	return err == nil && flags&unix.O_APPEND != 0
}
