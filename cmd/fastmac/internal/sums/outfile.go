// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sums

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"example.com/fastmac/cmd/fastmac/internal/tree"
	"github.com/gofrs/flock"
)

// An outFile is a file that appears at its path complete, or not at all: until then what was
// there stays. A process that is killed leaves it under another name, which the next one removes.
type outFile struct {
	*os.File
	path string
	old  os.FileInfo  // what is at path, or nil
	at   []place      // path, and where it leads
	lock *flock.Flock // of the file, while its process lives
}

// An existsError is the error for a list that would be replaced.
type existsError string

func (e existsError) Error() string {
	return fmt.Sprintf("%s: is there already: --update %[1]s brings it up to date, --force replaces it; names from find or xargs go to one run with --files0-from -", shown(string(e)))
}

// createOut makes an outFile, next to its path: only there a rename is certain to work. Unless
// replace is true, nothing may be at path, except an empty file.
func createOut(path string, replace bool) (*outFile, error) {
	o := &outFile{path: path, at: placesOf(path)}
	errNoFile := errors.New("is not a regular file: want one; without -o the list goes to standard output")
	if isStream(path) {
		return nil, about(path, errNoFile)
	}
	mode := os.FileMode(0o666) // less what the umask takes away, as a shell has it
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return nil, about(path, errors.New("is a folder: want a file for the list"))
	case err == nil && !info.Mode().IsRegular():
		return nil, about(path, errNoFile)
	case err == nil && info.Size() > 0 && !replace:
		return nil, existsError(path)
	case err == nil:
		os.SameFile(info, info) // on Windows it asks which file that is, and only now is it this one
		o.old, mode = info, info.Mode().Perm()
		// The file that a link leads to is replaced, not the link.
		if o.path, err = filepath.EvalSymlinks(path); err != nil {
			return nil, about(path, err)
		}
	case !errors.Is(err, fs.ErrNotExist):
		return nil, about(path, err)
	default:
		switch info, err := os.Lstat(path); {
		case err == nil && info.Mode().Type() != fs.ModeSymlink: // somebody has just made it
			return nil, existsError(path)
		case err == nil:
			return nil, about(path, errors.New("is a link to a file that does not exist: make the file, or remove the link"))
		}
	}
	for o.File == nil {
		name := filepath.Join(filepath.Dir(o.path), unfinished+rand.Text())
		if o.File, err = createUnfinished(name, mode); err != nil {
			return nil, about(path, err)
		}
		o.lock = newUnfinishedLock(name)
		if !openStays && !o.hold() {
			o.discard()
			o.File = nil
		}
	}
	if o.old != nil {
		// The umask may have taken away what the old file had.
		if err := o.Chmod(mode); err != nil {
			o.discard()
			return nil, about(path, err)
		}
	}
	return o, nil
}

// hold locks the file. It reports whether the file is still there: before it was locked, another
// process may have removed it. Others lock it for a moment to see whether it is held. File systems without locks
// have no such process.
func (o *outFile) hold() bool {
	ctx, stop := context.WithTimeout(context.Background(), time.Second)
	defer stop()
	locked, err := o.lock.TryLockContext(ctx, time.Millisecond)
	switch {
	case locked || errors.Is(err, fs.ErrNotExist):
	case ctx.Err() != nil:
		return false
	default:
		return true
	}
	mine, err := o.Stat()
	there, err2 := os.Lstat(o.Name())
	return err == nil && err2 == nil && os.SameFile(mine, there)
}

// isStream reports whether a path is a name of a file that is open, such as /dev/stdout. What a
// shell has put there, often a regular file, is not to be replaced.
func isStream(path string) bool {
	if abs, err := filepath.Abs(path); err == nil {
		path = filepath.ToSlash(abs)
	}
	switch path {
	case "/dev/stdin", "/dev/stdout", "/dev/stderr":
		return true
	}
	return strings.HasPrefix(path, "/dev/fd/") || strings.HasPrefix(path, "/proc/")
}

func (o *outFile) is(path string, i tree.Info) bool {
	return areAt(o.at, path) || o.old != nil && i.Is(o.old) && leadsTo(o.at, path)
}

// Write has the name in its errors that the file will have.
func (o *outFile) Write(p []byte) (int, error) {
	n, err := o.File.Write(p)
	if err != nil {
		err = about(o.path, err)
	}
	return n, err
}

// commit puts the file at its path, if what is there has not changed.
func (o *outFile) commit() error {
	err := o.Sync()
	defer o.lock.Close() // only then: removeUnfinished removes what nobody has locked
	if openStays {
		defer o.Close() // nor what nobody has open
	} else if closed := o.Close(); err == nil {
		err = closed
	}
	switch {
	case err != nil:
	case o.old == nil:
		err = renameNew(o.Name(), o.path)
	default:
		if now, err := os.Stat(o.path); err != nil || !os.SameFile(now, o.old) || now.Size() != o.old.Size() || !now.ModTime().Equal(o.old.ModTime()) {
			return about(o.path, errors.New("another program has changed it meanwhile: try again"))
		}
		err = replace(o.Name(), o.path)
	}
	if _, ok := errors.AsType[existsError](err); ok || err == nil {
		return err
	}
	return about(o.path, err)
}

// renameNew renames a file to a path at which nothing is. Another process may do the same.
func renameNew(name, path string) error {
	err := giveName(name, path)
	if err == nil {
		if err = os.Remove(name); errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	if !errors.Is(err, fs.ErrExist) {
		// A file system without links.
		var f *os.File
		if f, err = os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600); err == nil {
			f.Close()
			if err = os.Rename(name, path); err != nil {
				os.Remove(path)
			}
			return err
		}
	}
	if errors.Is(err, fs.ErrExist) {
		return existsError(path)
	}
	return err
}

// discard removes what was not committed.
func (o *outFile) discard() {
	o.Close()
	o.lock.Close()
	os.Remove(o.Name())
}
