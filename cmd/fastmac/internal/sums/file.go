// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sums

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"example.com/fastmac"
)

const (
	// bufferSize is what is read at a time, in bytes. Larger files are mapped into memory, which
	// takes less time than to copy them.
	bufferSize = 512 << 10

	// parallelSize is the size of a file that is worth all cores, see [fastmac.UMAC.WriteParallel].
	parallelSize = 32 << 20
)

// windowSize is how much of a file is mapped at a time, a multiple of the page size. Tests
// change it.
var windowSize int64 = 64 << 20

// files is what all goroutines that read files share.
type files struct {
	key      *Key
	jobs     int         // cores
	special  bool        // files that are not regular are read too
	folder   string      // what a folder is told
	stdin    io.Reader   // the file "-"
	stdinUse atomic.Bool // it has been read
	output   os.FileInfo // where the lines go if that is a file, or nil
	progress *progress

	// A large file has all cores: its reader holds this lock, and those of other regular
	// files share it. Those of pipes do not, because they may wait for another process.
	cores sync.RWMutex
}

var (
	errOutput  = errors.New("is the output") // the lines go there
	errSpecial = errors.New("is not a regular file: --special reads it")
)

// A reader reads files, one after the other.
type reader struct {
	*files
	stream stream
	buf    []byte
	info   fileInfo
}

func (f *files) reader() *reader {
	return &reader{files: f, stream: f.key.stream(), buf: make([]byte, bufferSize)}
}

func (r *reader) destroy() {
	r.stream.Destroy()
	clear(r.buf)
}

// read makes the content of a file the message of r.stream. It returns an error if the file
// has changed in the meantime.
func (r *reader) read(ctx context.Context, path string) error {
	r.stream.Reset()
	if path == "-" {
		if !r.special {
			return errSpecial
		}
		if r.stdinUse.Swap(true) {
			return errors.New("standard input has been read")
		}
		return r.readPipe(ctx, func() (io.ReadCloser, error) { return io.NopCloser(r.stdin), nil })
	}
	before, err := os.Stat(path)
	if err != nil {
		return err
	}
	os.SameFile(before, before) // on Windows it asks which file that is, and only now is it this one
	switch {
	case before.IsDir():
		return &fs.PathError{Op: "read", Path: path, Err: errors.New(r.folder)}
	case !before.Mode().IsRegular() && !r.special:
		return &fs.PathError{Op: "read", Path: path, Err: errSpecial}
	case !before.Mode().IsRegular():
		// A FIFO, also one of a shell's <(...), or a device.
		return r.readPipe(ctx, func() (io.ReadCloser, error) { return os.Open(path) })
	case r.output != nil && os.SameFile(r.output, before):
		return &fs.PathError{Op: "read", Path: path, Err: errOutput}
	}
	f, err := openRegular(path)
	if err != nil {
		return err
	}
	defer f.Close()
	err = r.readRegular(ctx, f, before.Size())
	if err == nil || err == errFault {
		if changed := unchanged(path, before); changed != nil {
			return changed
		}
	}
	return err
}

// unchanged returns an error if the file at path is not as it was before.
func unchanged(path string, before os.FileInfo) error {
	changed := func(what string) error {
		return &fs.PathError{Op: "read", Path: path, Err: errors.New(what + " while it was read")}
	}
	after, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return changed("was removed")
	case err != nil:
		return err
	case !os.SameFile(before, after):
		return changed("was replaced")
	case before.Size() != after.Size() || !before.ModTime().Equal(after.ModTime()):
		return changed("changed")
	}
	return nil
}

// readRegular reads a regular file.
func (r *reader) readRegular(ctx context.Context, f *regularFile, size int64) error {
	workers := 1
	if canMap && size >= parallelSize && r.key.umac != nil {
		workers = r.jobs
	}
	if workers > 1 {
		r.cores.Lock()
		defer r.cores.Unlock()
	} else {
		r.cores.RLock()
		defer r.cores.RUnlock()
	}
	if size > bufferSize {
		if mapped, err := r.readMapped(ctx, f, size, workers); mapped {
			return err
		}
	}
	for at := int64(0); ; {
		n, err := f.Read(r.buf)
		r.stream.Write(r.buf[:n])
		r.progress.add(n)
		at += int64(n)
		switch {
		case err == io.EOF || err == nil && at == size:
			// Files in /proc and /sys do not have the size that they report.
			return nil
		case err != nil:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		}
	}
}

// readMapped maps a file into memory, a window at a time. It reports whether the platform and
// the file system can do so.
func (r *reader) readMapped(ctx context.Context, f *regularFile, size int64, workers int) (mapped bool, err error) {
	for at := int64(0); at < size; at += windowSize {
		if err := ctx.Err(); err != nil {
			return true, err
		}
		window, err := mapFile(f, at, int(min(size-at, windowSize)))
		if err != nil {
			return at > 0, err
		}
		err = r.writeMapped(window, workers)
		r.progress.add(len(window))
		unmap(window)
		if err != nil {
			return true, err
		}
	}
	return true, nil
}

// errFault is the error for a mapped file that becomes shorter, or that cannot be read.
var errFault = errors.New("fault while reading")

// writeMapped adds a window of a file to the message.
func (r *reader) writeMapped(window []byte, workers int) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		switch value := recover().(type) {
		case nil:
		case interface{ Addr() uintptr }:
			err = errFault
		default:
			panic(value)
		}
	}()
	if u, ok := r.stream.(*fastmac.UMAC); ok {
		u.WriteParallel(window, workers)
	} else {
		r.stream.Write(window)
	}
	return nil
}

// readPipe reads what open returns up to its end, or until ctx is done.
func (r *reader) readPipe(ctx context.Context, open func() (io.ReadCloser, error)) error {
	in, stop := openPipe(ctx, open)
	defer stop()
	for {
		n, err := in.Read(r.buf)
		r.stream.Write(r.buf[:n])
		r.progress.add(n)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// openPipe returns a reader for what open returns. When ctx is done, it returns an error. To
// open or read a FIFO or a terminal can take forever, so another goroutine does it. It may
// outlive its reader, and then ends after the next read. stop ends the reader.
func openPipe(ctx context.Context, open func() (io.ReadCloser, error)) (in io.Reader, stop func()) {
	pr, pw := io.Pipe()
	go func() {
		in, err := open()
		if err == nil {
			_, err = io.CopyBuffer(pw, onlyReader{in}, make([]byte, bufferSize))
			in.Close()
		}
		pw.CloseWithError(err)
	}()
	ignore := context.AfterFunc(ctx, func() { pw.CloseWithError(ctx.Err()) })
	return pr, func() {
		ignore()
		pr.Close()
	}
}

// An onlyReader hides WriteTo, which would not use the buffer of io.CopyBuffer.
type onlyReader struct{ io.Reader }

// reason returns what an error says about a file, without its name.
func reason(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	if e, ok := errors.AsType[*os.LinkError](err); ok {
		return e.Err
	}
	return err
}

type fileInfo struct{ size, mtime, ctime int64 }

func lookAt(path string) (fileInfo, error) {
	info, err := os.Stat(path)
	if err != nil {
		return fileInfo{}, err
	}
	return fileInfo{info.Size(), info.ModTime().UnixNano(), info.ModTime().UnixNano()}, nil
}
