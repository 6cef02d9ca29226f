// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sums

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"time"
)

// An entry is a file to tag, or why there is none.
type entry struct {
	path  string
	err   error // also a leftOut
	found bool  // in a folder
}

// left returns why what was found is no file and left out, or an empty string.
func (e *entry) left() string {
	if why, ok := e.err.(leftOut); ok {
		return string(why)
	}
	return ""
}

// A leftOut is the reason why something in a folder is no file.
type leftOut string

func (l leftOut) Error() string { return string(l) }

const (
	leftNowhere leftOut = "a link that leads nowhere"
	leftFolder  leftOut = "a link to a folder"
	leftPipe    leftOut = "a pipe"
	leftSocket  leftOut = "a socket"
	leftDevice  leftOut = "a device"
)

// A walker finds the files in folders, and later whether the folders are as they were.
type walker struct {
	skip    func(path string, isDir bool) bool // what is left out and not looked into, or nil
	skipped int
	root    string // what walk was called for, with its slash
	walked  []walked
	settled time.Time // when a change of a walked folder changes its times too
}

// A walked is a folder as it was when it was read.
type walked struct {
	root, path string
	info       fileInfo
	fresh      []fs.DirEntry // what it had, if its times do not tell
}

func newWalker(skip func(path string, isDir bool) bool) *walker { return &walker{skip: skip} }

// walk appends the files in a folder, with slashes. The path that it gives to skip is that from the
// folder.
func (w *walker) walk(ctx context.Context, list []entry, folder string) []entry {
	folder = filepath.ToSlash(folder)
	w.root = withSlash(folder)
	d, err := openDir(folder)
	if err != nil {
		return append(list, entry{path: folder, err: err})
	}
	defer d.close()
	return w.folder(ctx, list, d, folder, 0)
}

// maxOpen is how many folders are open at a time.
const maxOpen = 100

// folder appends the files in d, the folder at path, so many below the first.
func (w *walker) folder(ctx context.Context, list []entry, d *dir, path string, depth int) []entry {
	names, err := w.read(d, path)
	if err != nil {
		list = append(list, entry{path: path, err: err})
	}
	folder := withSlash(path)
	for _, name := range names {
		if ctx.Err() != nil {
			break
		}
		path, kind := folder+name.Name(), name.Type()
		if w.skip != nil && w.skip(path[len(w.root):], kind.IsDir()) {
			w.skipped++
			continue
		}
		if !kind.IsDir() {
			e := entry{path: path, found: true}
			if why := d.left(name); why != "" {
				e = entry{path: path, err: why}
			}
			list = append(list, e)
			continue
		}
		sub, err := d.open(name.Name())
		if err == nil {
			if depth >= maxOpen {
				d.close()
			}
			list = w.folder(ctx, list, sub, path, depth+1)
			if depth >= maxOpen {
				err = d.reopen(sub)
			}
			sub.close()
		}
		if err != nil {
			list = append(list, entry{path: path, err: err})
		}
	}
	return list
}

// left returns why what has this name in a folder is no file, or an empty string. A link whose file
// cannot be looked at is a file: to read it reports the error.
func (d *dir) left(name fs.DirEntry) leftOut {
	kind := name.Type()
	if kind&fs.ModeSymlink != 0 {
		info, err := d.look(name.Name())
		if err != nil && nowhere(err) {
			return leftNowhere
		}
		kind = info.kind
	}
	switch {
	case kind.IsRegular():
		return ""
	case kind.IsDir():
		return leftFolder
	case kind&fs.ModeNamedPipe != 0:
		return leftPipe
	case kind&fs.ModeSocket != 0:
		return leftSocket
	}
	return leftDevice
}

// read returns what is in d, sorted by name, and notes it for changed.
func (w *walker) read(d *dir, path string) ([]fs.DirEntry, error) {
	now := time.Now()
	info, err := d.info()
	if err != nil {
		return nil, err
	}
	d.was = info
	names, err := d.read()
	f := walked{root: w.root, path: path, info: info}
	if info.fresh(now) {
		f.fresh = append([]fs.DirEntry{}, names...)
		if settled := time.Now().Add(info.tick()); settled.After(w.settled) {
			w.settled = settled
		}
	}
	w.walked = append(w.walked, f)
	return names, err
}

// fresh reports whether a change after now can leave the times as they are.
func (a fileInfo) fresh(now time.Time) bool {
	return max(a.mtime, a.ctime) > now.Add(-a.tick()).UnixNano()
}

// tick returns more than the time between two changes of a file that can have the same time. Linux
// has the time of its last timer interrupt, up to 10 ms ago. File systems without fractions of a
// second are from FAT, which has every other one, to NFS.
func (a fileInfo) tick() time.Duration {
	if cmp.Or(a.ctime, a.mtime)%1e9 == 0 {
		return 2100 * time.Millisecond
	}
	return 20 * time.Millisecond
}

// changed returns the folders that are not what they were when they were walked, each with an error.
// If there are none, there was a moment at which the folders had what walk has found, and nothing else:
// that at which changed had waited.
//
// A system sets the times of a folder when a name appears in it or goes, or becomes that of another
// file. Nobody can set ctime to an old time. Windows has none, so there it is mtime that tells. So a folder
// with its old identity and its old times was not changed since it was read, unless that was so
// soon that the times are the same. What was as fresh as that is read again, after its times have
// settled. All folders were read before the moment, and are looked at after it. How a path leads to a
// folder does not matter here, because its identity shows which one it is. A folder of another
// machine is as its file system says.
func (w *walker) changed(ctx context.Context) (list []entry) {
	w.settle(ctx)
	f := newFinder(nil)
	defer func() { f.close() }()
	root := ""
	for _, was := range w.walked {
		if ctx.Err() != nil {
			break
		}
		if was.root != root {
			f.close()
			f, root = newFinder([]string{was.root}), was.root
		}
		if !f.unchanged(was) {
			list = append(list, entry{path: was.path, err: errors.New("changed while it was verified")})
		}
	}
	return list
}

// settle waits until a change of a walked folder changes its times too. For several walkers there is one
// moment as that of changed if all have settled before the first of them looks again.
func (w *walker) settle(ctx context.Context) {
	select {
	case <-time.After(time.Until(w.settled)):
	case <-ctx.Done():
	}
}

// unchanged reports whether a folder is as it was.
func (f *finder) unchanged(was walked) bool {
	if was.fresh == nil {
		info, err := f.look(was.path)
		return err == nil && info.unchanged(was.info)
	}
	d, err := f.openDir(was.path)
	if err != nil {
		return false
	}
	defer d.close()
	names, err := d.read()
	if err != nil || !slices.EqualFunc(names, was.fresh, func(a, b fs.DirEntry) bool {
		return a.Name() == b.Name() && a.Type() == b.Type()
	}) {
		return false
	}
	// Only now, so that nothing has changed since the moment.
	info, err := d.info()
	return err == nil && info.unchanged(was.info)
}

// unchanged reports whether a and b are of one folder between two changes.
func (a fileInfo) unchanged(b fileInfo) bool {
	return a.same(b) && a.mtime == b.mtime && a.ctime == b.ctime
}
