// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sums

import (
	"cmp"
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
	folders  []string    // below them no links to folders are followed, see finder
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

// A fileInfo is what a file system says about a file.
type fileInfo struct {
	size         int64
	mtime, ctime int64       // in ns since 1970; ctime is 0 where the system has none
	links        uint64      // names of the file; 0 where the system does not say
	kind         fs.FileMode // the bits of the type
	identity     identity
}

// same reports whether a and b are of one file.
func (a fileInfo) same(b fileInfo) bool { return a.identity.same(b.identity) }

// lookAt returns what is at path, where it follows links. It opens nothing.
func lookAt(path string) (fileInfo, error) { return newFinder(nil).look(path) }

// An openFile is a regular file that is open.
type openFile interface {
	io.ReadSeeker
	info() (fileInfo, error)
	mapped(at int64, size int) ([]byte, error) // see unmap
}

// A reader reads files, one after the other.
type reader struct {
	*files
	*finder
	stream stream
	buf    []byte
	info   fileInfo // of the last regular file, before it was read
}

func (f *files) reader() *reader {
	return &reader{files: f, finder: newFinder(f.folders), stream: f.key.stream(), buf: make([]byte, bufferSize)}
}

func (r *reader) destroy() {
	r.finder.close()
	r.stream.Destroy()
	clear(r.buf)
}

// read makes the content of a file the message of r.stream. It returns an error if the file
// has changed in the meantime.
func (r *reader) read(ctx context.Context, path string) error {
	r.stream.Reset()
	r.info = fileInfo{}
	if path == "-" {
		if !r.special {
			return errSpecial
		}
		if r.stdinUse.Swap(true) {
			return errors.New("standard input has been read")
		}
		return r.readPipe(ctx, func() (io.ReadCloser, error) { return io.NopCloser(r.stdin), nil })
	}
	failed := func(err error) error { return &fs.PathError{Op: "read", Path: path, Err: err} }
	// To open what is not a regular file can wait, or do something: a tape would be rewound.
	before, err := r.look(path)
	switch {
	case err != nil:
		return err
	case before.kind.IsDir():
		return failed(errors.New(r.folder))
	case !before.kind.IsRegular() && !r.special:
		return failed(errSpecial)
	case !before.kind.IsRegular():
		// A FIFO, also one of a shell's <(...), or a device.
		return r.readPipe(ctx, func() (io.ReadCloser, error) { return openSpecial(path, before) })
	}
	f, err := r.openSame(ctx, path, before)
	if err != nil {
		return err
	}
	defer f.Close()
	err = r.readRegular(ctx, f)
	if err == nil || err == errFault {
		if changed := r.unchanged(path, f); changed != nil {
			return changed
		}
	}
	return err
}

// openSame opens the regular file of before, at path, and sets r.info. From then on what the path leads
// to decides nothing: only the open file does.
func (r *reader) openSame(ctx context.Context, path string, before fileInfo) (*regularFile, error) {
	f, err := r.open(ctx, path)
	if err != nil {
		return nil, err
	}
	r.info, err = f.info()
	switch {
	case err != nil:
	case !r.info.same(before):
		err = errReplaced
	case !r.info.kind.IsRegular():
		err = errors.New("is not a regular file")
	case r.output != nil && r.info.is(r.output):
		err = errOutput
	default:
		return f, nil
	}
	f.Close()
	return nil, &fs.PathError{Op: "read", Path: path, Err: reason(err)}
}

var (
	errReplaced = errors.New("was replaced while it was opened")
	errChanged  = errors.New("changed while it was read")
)

// openSpecial opens what before is of, at path, and no regular file that may have taken its place.
func openSpecial(path string, before fileInfo) (*os.File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && (info.Mode().IsRegular() || !before.is(info)) {
		err = errReplaced
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// unchanged returns an error if the file that f has at path is not as it was: that of r.info.
func (r *reader) unchanged(path string, f openFile) error {
	now, err := f.info()
	if err != nil || r.info == now && now.ctime != 0 {
		return err // nothing was changed, and no name of it either
	}
	// As long as the file is open, no other can have its identity.
	there, err := r.look(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = errors.New("was removed while it was read")
	case err != nil:
		return err
	case !r.info.same(there):
		err = errors.New("was replaced while it was read")
	case r.info.size != now.size || r.info.mtime != now.mtime:
		err = errChanged
	default:
		return nil
	}
	return &fs.PathError{Op: "read", Path: path, Err: err}
}

// readRegular reads a regular file, that of r.info, up to its end. Files in /proc and /sys, and those
// of some FUSE file systems, do not have the size that they report.
func (r *reader) readRegular(ctx context.Context, f openFile) error {
	size, workers := r.info.size, 1
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
	at := int64(0)
	if size > bufferSize {
		mapped, err := r.readMapped(ctx, f, size, workers)
		if mapped && err == nil {
			at, err = f.Seek(size, io.SeekStart)
		}
		if mapped && err != nil {
			return err
		}
	}
	for {
		n, err := f.Read(r.buf)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if at += int64(n); at > size {
			// A file that grows could go on forever.
			if now, err := f.info(); err != nil || now.size != size {
				return cmp.Or(err, errChanged)
			}
		}
		r.stream.Write(r.buf[:n])
		r.progress.add(n)
	}
}

// readMapped maps a file into memory, a window at a time. It reports whether the platform and
// the file system can do so.
func (r *reader) readMapped(ctx context.Context, f openFile, size int64, workers int) (mapped bool, err error) {
	for at := int64(0); at < size; at += windowSize {
		if err := ctx.Err(); err != nil {
			return true, err
		}
		window, err := f.mapped(at, int(min(size-at, windowSize)))
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
	writeParallel(r.stream, window, workers)
	return nil
}

// writeParallel adds p to the message of s, with UMAC on several cores.
func writeParallel(s stream, p []byte, workers int) {
	switch s := s.(type) {
	case *fastmac.UMAC:
		s.WriteParallel(p, workers)
	case *pair:
		writeParallel(s.stream, p, workers)
		writeParallel(s.old, p, workers)
	default:
		s.Write(p)
	}
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
