// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package tree

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
)

// parallelSize is the size of a file that is worth all cores, see Stream.WriteParallel.
const parallelSize = 32 << 20

// windowSize is how much of a file is mapped at a time, a multiple of the page size. Tests
// change it.
var windowSize int64 = 64 << 20

// Files is what all goroutines that read files share. Its fields are set before the first of them reads.
type Files struct {
	Special bool      // files that are not regular are read too
	Folder  string    // what a folder is told
	Folders []string  // below them no links to folders are followed, see Finder
	Stdin   io.Reader // the file "-"
	Cores   int       // for a stream, if a file is large
	Twice   bool      // the stream reads what is written to it more than once
	Minimal bool      // a file with another identity is the same if it has the same size and mtime

	// Output reports whether the file at path is one that is not read, see ErrOutput, if it is not nil.
	Output func(path string, i Info) bool
	Count  func(n int) // is called for n bytes more that were read, if it is not nil

	stdinUse atomic.Bool // standard input has been read

	// A large file has all cores: its reader holds this lock, and those of other regular
	// files share it. Those of pipes do not, because they may wait for another process.
	cores sync.RWMutex
}

// UseStdin says that standard input has been read. It reports whether that was so before.
func (f *Files) UseStdin() bool { return f.stdinUse.Swap(true) }

func (f *Files) count(n int) {
	if f.Count != nil {
		f.Count(n)
	}
}

// A Stream is what the content of files is written to.
type Stream interface {
	io.Writer                            // never fails
	WriteParallel(p []byte, workers int) // is Write on several cores
	Reset()                              // begins another file
}

// LookAt returns what is at path, where it follows links. It opens nothing.
func LookAt(path string) (Info, error) { return NewFinder(nil).Look(path) }

// An openFile is a regular file that is open.
type openFile interface {
	io.ReadSeeker
	io.ReaderAt
	info() (Info, error)
	mapped(at int64, size int) ([]byte, error) // see unmap
}

// A Reader reads files, one after the other.
type Reader struct {
	*Files
	*Finder
	Info   Info // of the last regular file, before it was read
	stream Stream
	buf    []byte
	copied []byte // for readCopied
}

// NewReader returns a reader that writes the files to a stream.
func (f *Files) NewReader(s Stream) *Reader {
	return &Reader{Files: f, Finder: NewFinder(f.Folders), stream: s, buf: make([]byte, bufferSize)}
}

// Close overwrites what was read. It does not close the stream.
func (r *Reader) Close() {
	r.Finder.Close()
	clear(r.buf)
	clear(r.copied)
}

// Read makes the content of a file that of the stream. It returns an error if the file
// has changed in the meantime.
func (r *Reader) Read(ctx context.Context, path string) error { return r.readAny(ctx, path, false) }

// ReadEntry is Read for an entry. What was found is a regular file or a link to one: if a pipe or a device has taken
// its place, it is not read.
func (r *Reader) ReadEntry(ctx context.Context, e *Entry) error {
	return r.readAny(ctx, e.Path, e.Found)
}

// maxReplaced is how often a file is read again that another one has replaced meanwhile, as programs do that write
// a file anew.
const maxReplaced = 3

func (r *Reader) readAny(ctx context.Context, path string, found bool) (err error) {
	for range 1 + maxReplaced {
		if err = r.read(ctx, path, found); !errors.Is(err, errReplaced) {
			break
		}
	}
	return err
}

func (r *Reader) read(ctx context.Context, path string, found bool) error {
	r.stream.Reset()
	r.Info = Info{}
	if path == "-" {
		if !r.Special {
			return errSpecial
		}
		if r.UseStdin() {
			return errors.New("standard input has been read")
		}
		return r.readPipe(ctx, func() (io.ReadCloser, error) { return io.NopCloser(r.Stdin), nil })
	}
	failed := func(err error) error { return &fs.PathError{Op: "read", Path: path, Err: err} }
	// To open what is not a regular file can wait, or do something: a tape would be rewound.
	before, err := r.Look(path)
	switch {
	case err != nil:
		return err
	case before.Kind.IsDir():
		return failed(errors.New(r.Folder))
	case !before.Kind.IsRegular() && found:
		return failed(errReplaced)
	case !before.Kind.IsRegular() && !r.Special:
		return failed(errSpecial)
	case !before.Kind.IsRegular():
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

// openSame opens the regular file of before, at path, and sets r.Info. From then on what the path leads
// to decides nothing: only the open file does.
func (r *Reader) openSame(ctx context.Context, path string, before Info) (*regularFile, error) {
	f, err := r.open(ctx, path)
	if err != nil {
		return nil, err
	}
	r.Info, err = f.info()
	switch {
	case err != nil:
	case !r.same(before) && unstable(func() (Info, error) { return r.Look(path) }):
		err = errUnstable
	case !r.same(before):
		err = errReplaced
	case !r.Info.Kind.IsRegular():
		err = errors.New("is not a regular file")
	case r.Output != nil && r.Output(path, r.Info):
		err = ErrOutput
	default:
		return f, nil
	}
	f.Close()
	return nil, &fs.PathError{Op: "read", Path: path, Err: Reason(err)}
}

// same reports whether i is of the file of r.Info.
func (r *Reader) same(i Info) bool {
	return r.Info.Same(i) || r.Minimal && r.Info.Size == i.Size && r.Info.Mtime == i.Mtime
}

// openSpecial opens what before is of, at path, and no regular file that may have taken its place.
func openSpecial(path string, before Info) (*os.File, error) {
	f, err := os.Open(native(path))
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && (info.Mode().IsRegular() || !before.Is(info)) {
		err = errReplaced
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// unchanged returns an error if the file that f has at path is not as it was: that of r.Info.
func (r *Reader) unchanged(path string, f openFile) error {
	now, err := f.info()
	if err != nil || r.Info == now && now.Ctime != 0 {
		return err // nothing was changed, and no name of it either
	}
	// As long as the file is open, no other can have its identity.
	there, err := r.Look(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = errors.New("was removed while it was read")
	case err != nil:
		return err
	case !r.same(there):
		err = errReplaced
	case r.Info.Size != now.Size || r.Info.Mtime != now.Mtime:
		err = errChanged
	default:
		return nil
	}
	return &fs.PathError{Op: "read", Path: path, Err: err}
}

// readRegular reads a regular file, that of r.Info, up to its end. Files in /proc and /sys, and those
// of some FUSE file systems, do not have the size that they report.
func (r *Reader) readRegular(ctx context.Context, f openFile) error {
	size, workers := r.Info.Size, 1
	if canMap && size >= parallelSize {
		workers = r.Cores
	}
	if workers > 1 {
		r.cores.Lock()
		defer r.cores.Unlock()
	} else {
		r.cores.RLock()
		defer r.cores.RUnlock()
	}
	at := int64(0)
	if r.Twice && workers > 1 {
		var err error
		if at, err = r.readCopied(ctx, f, size, workers); err == nil {
			_, err = f.Seek(at, io.SeekStart)
		}
		if err != nil {
			return err
		}
	}
	// Who has mapped the file can change what is mapped between two readings, and no time of the file says so.
	if size > bufferSize && !r.Twice {
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
			if now, err := f.info(); err != nil || now.Size != size {
				return cmp.Or(err, errChanged)
			}
		}
		r.stream.Write(r.buf[:n])
		r.count(n)
	}
}

// readMapped maps a file into memory, a window at a time. It reports whether the platform and
// the file system can do so.
func (r *Reader) readMapped(ctx context.Context, f openFile, size int64, workers int) (mapped bool, err error) {
	for at := int64(0); at < size; at += windowSize {
		if err := ctx.Err(); err != nil {
			return true, err
		}
		window, err := f.mapped(at, int(min(size-at, windowSize)))
		if err != nil {
			return at > 0, err
		}
		err = r.writeMapped(window, workers)
		r.count(len(window))
		unmap(window)
		if err != nil {
			return true, err
		}
	}
	return true, nil
}

// readCopied reads a file on several cores, as far as it has size bytes, into memory that no other process has.
func (r *Reader) readCopied(ctx context.Context, f openFile, size int64, workers int) (at int64, err error) {
	if r.copied == nil {
		r.copied = make([]byte, parallelSize)
	}
	part := parallelSize / workers
	for at < size {
		var group sync.WaitGroup
		sizes, errs := make([]int, workers+1), make([]error, workers+1)
		all := r.copied[:min(size-at, parallelSize)]
		for i := 0; i*part < len(all); i++ {
			p, from := all[i*part:min((i+1)*part, len(all))], at+int64(i*part)
			group.Go(func() { sizes[i], errs[i] = f.ReadAt(p, from) })
		}
		group.Wait()
		if err := ctx.Err(); err != nil {
			return at, err
		}
		n := 0
		for i := 0; i*part < len(all) && n == i*part; i++ {
			if n += sizes[i]; errs[i] != nil && errs[i] != io.EOF {
				return at, errs[i]
			}
		}
		r.stream.WriteParallel(all[:n], workers)
		r.count(n)
		at += int64(n)
		if n < len(all) {
			break // the file has become shorter, or never had that size
		}
	}
	return at, nil
}

// writeMapped writes a window of a file to the stream.
func (r *Reader) writeMapped(window []byte, workers int) (err error) {
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
	r.stream.WriteParallel(window, workers)
	return nil
}

// readPipe reads what open returns up to its end, or until ctx is done.
func (r *Reader) readPipe(ctx context.Context, open func() (io.ReadCloser, error)) error {
	in, stop := OpenPipe(ctx, open)
	defer stop()
	for {
		n, err := in.Read(r.buf)
		r.stream.Write(r.buf[:n])
		r.count(n)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
