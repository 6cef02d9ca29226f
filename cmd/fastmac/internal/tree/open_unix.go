// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build unix

package tree

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// A Finder finds files by path. Below its folders it follows no links to folders: each folder is opened
// in the one above it, so nothing can lead out of them. The folders themselves may be links, and so
// may the files. A Finder keeps the folder of the last file, as lists are sorted.
type Finder struct {
	folders []string // with their slashes
	dir     string   // that of the last file, with its slash
	fd      int      // is dir, or unix.AT_FDCWD if that is below none of folders
	base    baseInfo // see Inode
}

// NewFinder returns a finder with these folders, or with none.
func NewFinder(folders []string) *Finder {
	return &Finder{folders: WithSlashes(folders), fd: unix.AT_FDCWD}
}

// at returns an open folder, and the path from there.
func (f *Finder) at(path string) (fd int, name string, err error) {
	if len(f.folders) == 0 {
		return unix.AT_FDCWD, path, nil
	}
	slash := strings.LastIndexByte(path, '/') + 1
	if dir := path[:slash]; dir != f.dir {
		if err := f.enter(dir); err != nil {
			return 0, "", &fs.PathError{Op: "open", Path: path, Err: err}
		}
	}
	switch {
	case f.fd == unix.AT_FDCWD:
		return f.fd, path, nil
	case slash == len(path):
		return f.fd, ".", nil
	}
	return f.fd, path[slash:], nil
}

// enter makes dir the folder of f.
func (f *Finder) enter(dir string) error {
	root := Above(f.folders, dir)
	if f.fd == unix.AT_FDCWD || len(f.dir) < len(root) || !strings.HasPrefix(dir, f.dir) {
		f.Close()
		if root != "" {
			fd, err := openFolder(unix.AT_FDCWD, root, search)
			if err != nil {
				return err
			}
			f.fd, f.dir = fd, root
		}
	}
	for f.fd != unix.AT_FDCWD && f.dir != dir {
		name, _, _ := strings.Cut(dir[len(f.dir):], "/")
		fd, err := openFolder(f.fd, cmp.Or(name, "."), search|unix.O_NOFOLLOW)
		if err != nil {
			if info, e := lookIn(f.fd, name, unix.AT_SYMLINK_NOFOLLOW); e == nil && info.Kind == fs.ModeSymlink {
				err = LinkError(f.dir + name)
			}
			f.Close()
			return err
		}
		unix.Close(f.fd)
		f.fd, f.dir = fd, dir[:len(f.dir)+len(name)+1]
	}
	f.dir = dir
	return nil
}

// openFolder opens the folder at a path from another one.
func openFolder(fd int, path string, flags int) (int, error) {
	return again(func() (int, error) { return unix.Openat(fd, path, flags|unix.O_DIRECTORY|unix.O_CLOEXEC, 0) })
}

// Close closes the folder.
func (f *Finder) Close() {
	if f.fd != unix.AT_FDCWD {
		unix.Close(f.fd)
	}
	f.fd, f.dir = unix.AT_FDCWD, ""
}

// infoOf returns what stat has set s to, or its error. [os.Stat] makes objects for that.
func infoOf(s *unix.Stat_t, path string, err error) (Info, error) {
	if err != nil {
		return Info{}, &fs.PathError{Op: "stat", Path: path, Err: err}
	}
	info := Info{s.Size, s.Mtim.Nano(), s.Ctim.Nano(), uint64(s.Nlink), fs.ModeDevice, identity{uint64(s.Dev), uint64(s.Ino)}}
	switch uint32(s.Mode) & unix.S_IFMT {
	case unix.S_IFREG:
		info.Kind = 0
	case unix.S_IFDIR:
		info.Kind = fs.ModeDir
	case unix.S_IFLNK:
		info.Kind = fs.ModeSymlink
	case unix.S_IFIFO:
		info.Kind = fs.ModeNamedPipe
	case unix.S_IFSOCK:
		info.Kind = fs.ModeSocket
	}
	if looked != nil {
		info = looked(info)
	}
	return info, nil
}

// lookIn returns what has this name in the folder that is open as fd.
func lookIn(fd int, name string, flags int) (Info, error) {
	var s unix.Stat_t
	_, err := again(func() (int, error) { return 0, unix.Fstatat(fd, name, &s, flags) })
	return infoOf(&s, name, err)
}

// lookOpen returns what is open as fd.
func lookOpen(fd int, path string) (Info, error) {
	var s unix.Stat_t
	_, err := again(func() (int, error) { return 0, unix.Fstat(fd, &s) })
	return infoOf(&s, path, err)
}

// Look returns what is at path. If that is a link, it is followed.
func (f *Finder) Look(path string) (Info, error) {
	fd, name, err := f.at(path)
	if err != nil {
		return Info{}, err
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
func (f *Finder) open(ctx context.Context, path string) (*regularFile, error) {
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

func (f *regularFile) info() (Info, error) { return lookOpen(f.fd, f.path) }

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

// ReadAt fills p, as far as the file goes.
func (f *regularFile) ReadAt(p []byte, at int64) (n int, err error) {
	for n < len(p) {
		m, err := again(func() (int, error) { return unix.Pread(f.fd, p[n:], at+int64(n)) })
		if err != nil {
			return n, &fs.PathError{Op: "read", Path: f.path, Err: err}
		}
		if m == 0 {
			return n, io.EOF
		}
		n += m
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

// Nowhere reports whether an error is that of a link that leads nowhere.
func Nowhere(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ELOOP) || errors.Is(err, unix.ENOTDIR)
}

// Appends reports whether all that is written to f is added at its end, as >> of a shell has it.
func Appends(f *os.File) bool {
	flags, err := unix.FcntlInt(f.Fd(), unix.F_GETFL, 0)
	return err == nil && flags&unix.O_APPEND != 0
}

// A dir is an open folder. What is in it is found from there, so no link that takes the place of a
// folder leads elsewhere.
type dir struct {
	*os.File
	was Info // before it was read
}

// openDir opens a folder, which may be a link to one.
func openDir(path string) (*dir, error) { return NewFinder(nil).openDir(path) }

// openDir opens a folder, which may be a link to one.
func (f *Finder) openDir(path string) (*dir, error) {
	fd, name, err := f.at(path)
	if err != nil {
		return nil, err
	}
	return openDirIn(fd, name, path, 0)
}

func openDirIn(fd int, name, path string, flags int) (*dir, error) {
	fd, err := openFolder(fd, name, unix.O_RDONLY|flags)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return &dir{File: os.NewFile(uintptr(fd), path)}, nil
}

func (d *dir) fd() int { return int(d.Fd()) }

func (d *dir) info() (Info, error) { return lookOpen(d.fd(), d.Name()) }

// read returns what is in the folder, sorted by name.
func (d *dir) read() ([]fs.DirEntry, error) {
	names, err := d.ReadDir(-1)
	slices.SortFunc(names, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	return names, err
}

// look returns what has this name, or what the link of this name leads to.
func (d *dir) look(name, _ string) (Info, error) { return lookIn(d.fd(), name, 0) }

// open opens the folder of this name, and no link. It knows its path: some file systems do not say in a
// folder which kind each name is, and then ReadDir looks at the path.
func (d *dir) open(name, path string) (*dir, error) {
	return openDirIn(d.fd(), name, path, unix.O_NOFOLLOW)
}

// openFile opens the file of this name, and no link, without waiting for what is a FIFO.
func (d *dir) openFile(name, path string) (*regularFile, error) {
	fd, err := again(func() (int, error) {
		return unix.Openat(d.fd(), name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	})
	return &regularFile{fd, path}, err
}

// reopen opens d again, from a folder that was in it.
func (d *dir) reopen(sub *dir) error {
	up, err := openDirIn(sub.fd(), "..", d.Name(), unix.O_NOFOLLOW)
	if err != nil {
		return err
	}
	if info, err := up.info(); err != nil || !info.Same(d.was) {
		up.close()
		return cmp.Or(err, errors.New("was moved while it was read"))
	}
	d.File = up.File
	return nil
}

func (d *dir) close() { d.Close() }
