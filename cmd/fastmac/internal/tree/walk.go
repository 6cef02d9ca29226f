// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package tree finds, looks at and opens files and folders, on every system, while other programs may change
// them. It knows no key and no list: a function says what is left out of a folder, another one takes what was
// found, what is read goes to a Stream, and errors have paths as they are, without escapes.
//
// walk.go finds the files in folders, read.go reads one file after the other, open_unix.go and open_other.go
// open them, and paths.go compares paths. What an option changes in how files are found is a field of Walker,
// and in how they are read one of Files.
package tree

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// An Entry is a file that was found, or why there is none.
type Entry struct {
	Path  string
	Err   error // also a LeftOut
	Found bool  // in a folder
}

// A LeftOut is the reason why something in a folder is no file.
type LeftOut string

func (l LeftOut) Error() string { return string(l) }

const (
	leftNowhere LeftOut = "a link that leads nowhere"
	leftFolder  LeftOut = "a link to a folder"
	leftPipe    LeftOut = "a pipe"
	leftSocket  LeftOut = "a socket"
	leftDevice  LeftOut = "a device"

	// LeftMount and LeftCache are those of folders, see Walker. What is in them is left out with them.
	LeftMount LeftOut = "a folder on another file system"
	LeftCache LeftOut = "a cache folder, except for its " + cacheTag
)

// A folder is a cache if it has a file of this name that begins with the signature, see
// https://bford.info/cachedir.
const (
	cacheTag       = "CACHEDIR.TAG"
	cacheSignature = "Signature: 8a477f597d28d172789f06886806bc55"
)

// A Walker finds the files in folders, and later whether the folders are as they were.
type Walker struct {
	Skipped int  // files, and folders as one, that skip has left out
	Minimal bool // a folder is as it was if it has the same names

	// If not nil, they say for a folder, and the one above it, whether it is left out if it is on another file
	// system than the one above, or if it is a cache. That of a cache gets the folder twice.
	Mounts, Caches func(above, folder string) bool

	skip    func(path string, isDir bool) bool // what is left out and not looked into, or nil
	found   func(Entry)
	root    string // what Walk was called for, with its slash
	visits  []visit
	settled time.Time // when a change of a folder that was read changes its times too
}

// A visit is a folder as it was when it was read.
type visit struct {
	root, path string
	info       Info
	fresh      []fs.DirEntry // what it had, if its times do not tell
	minimal    bool          // they never do
	tag        *Info         // of its CACHEDIR.TAG if it is a cache, in which files come and go
}

// NewWalker returns a walker that calls found for each file. If skip is not nil, it says what is left out, by
// the path from the folder that is walked.
func NewWalker(skip func(path string, isDir bool) bool, found func(Entry)) *Walker {
	return &Walker{skip: skip, found: found}
}

// Walk finds the files in a folder, sorted by name. Their paths begin with that of the folder, and have
// slashes.
func (w *Walker) Walk(ctx context.Context, folder string) {
	folder = filepath.ToSlash(folder)
	w.root = strings.TrimSuffix(folder, "/") + "/"
	d, err := openDir(folder)
	if err != nil {
		w.found(Entry{Path: folder, Err: err})
		return
	}
	defer d.close()
	w.folder(ctx, d, folder, 0)
}

// maxOpen is how many folders are open at a time.
const maxOpen = 100

// folder finds the files in d, the folder at path, so many below the first.
func (w *Walker) folder(ctx context.Context, d *dir, path string, depth int) {
	names, err := w.read(d, path)
	if err != nil {
		w.found(Entry{Path: path, Err: err})
	}
	if w.Caches != nil && w.Caches(path, path) && w.isCache(d, names, path) {
		w.found(Entry{Path: path, Err: LeftCache})
		names = slices.DeleteFunc(names, func(name fs.DirEntry) bool { return name.Name() != cacheTag })
	}
	folder := w.root
	if depth > 0 {
		folder = path + "/"
	}
	for _, name := range names {
		if ctx.Err() != nil {
			break
		}
		path, isDir := folder+name.Name(), name.IsDir()
		if w.skip != nil && w.skip(path[len(w.root):], isDir) {
			w.Skipped++
			continue
		}
		if err := checkPath(path); err != nil {
			w.found(Entry{Path: path, Err: err})
			continue
		}
		if !isDir {
			w.found(d.entry(name, path))
			continue
		}
		sub, err := d.open(name.Name(), path)
		if err == nil && w.Mounts != nil && w.Mounts(strings.TrimSuffix(folder, "/"), path) {
			if err = checkMount(d, sub, path); err != nil {
				sub.close()
			}
		}
		if err == nil {
			if depth >= maxOpen {
				d.close()
			}
			w.folder(ctx, sub, path, depth+1)
			if depth >= maxOpen {
				err = d.reopen(sub)
			}
			sub.close()
		}
		if err != nil {
			w.found(Entry{Path: path, Err: err})
		}
	}
}

// read returns what is in d, sorted by name, and notes it for Changed.
func (w *Walker) read(d *dir, path string) ([]fs.DirEntry, error) {
	now := time.Now()
	info, err := d.info()
	if err != nil {
		return nil, err
	}
	d.was = info
	names, err := d.read()
	v := visit{root: w.root, path: path, info: info, minimal: w.Minimal}
	if w.Minimal || info.fresh(now) {
		v.fresh = append([]fs.DirEntry{}, names...)
		w.settleAfter(info)
	}
	w.visits = append(w.visits, v)
	return names, err
}

// settleAfter has Settle wait until a change after now changes the times of a file or folder too.
func (w *Walker) settleAfter(info Info) {
	if settled := time.Now().Add(info.tick()); settled.After(w.settled) {
		w.settled = settled
	}
}

// checkMount returns an error if sub, which was found at path in d, is on another file system.
func checkMount(d, sub *dir, path string) error {
	info, err := sub.info()
	if err != nil {
		return err
	}
	here, _ := info.place(path)
	if above, _ := d.was.place(filepath.Dir(path)); here != above {
		return LeftMount
	}
	return nil
}

// isCache reports whether d, the folder at path that was just read, is a cache, and notes that for Changed: it must
// be one still then, by the same file.
func (w *Walker) isCache(d *dir, names []fs.DirEntry, path string) bool {
	now := time.Now()
	tag, ok := d.cacheTag(names, path)
	if ok {
		w.visits[len(w.visits)-1].tag = &tag
		if tag.fresh(now) {
			w.settleAfter(tag)
		}
	}
	return ok
}

// cacheTag returns what the file is that makes d, the folder at path with these names, a cache, and whether there is
// one. What cannot be read is none.
func (d *dir) cacheTag(names []fs.DirEntry, path string) (info Info, ok bool) {
	if !slices.ContainsFunc(names, func(name fs.DirEntry) bool { return name.Name() == cacheTag && name.Type().IsRegular() }) {
		return info, false
	}
	f, err := d.openFile(cacheTag, strings.TrimSuffix(path, "/")+"/"+cacheTag)
	if err != nil {
		return info, false
	}
	defer f.Close()
	info, err = f.info()
	if err != nil || !info.Kind.IsRegular() {
		return info, false
	}
	start := make([]byte, len(cacheSignature))
	if _, err := io.ReadFull(f, start); err != nil || string(start) != cacheSignature {
		return info, false
	}
	info, err = f.info() // only now, so that it is that of what was read
	return info, err == nil
}

// entry returns that of a name in a folder, which is not one of a folder. A link whose file cannot be
// looked at is a file: to read it reports the error.
func (d *dir) entry(name fs.DirEntry, path string) Entry {
	kind := name.Type()
	if kind&fs.ModeSymlink != 0 {
		info, err := d.look(name.Name(), path)
		if err != nil && Nowhere(err) {
			return Entry{Path: path, Err: leftNowhere}
		}
		kind = info.Kind
	}
	switch {
	case kind.IsRegular():
		return Entry{Path: path, Found: true}
	case kind.IsDir():
		return Entry{Path: path, Err: leftFolder}
	case kind&fs.ModeNamedPipe != 0:
		return Entry{Path: path, Err: leftPipe}
	case kind&fs.ModeSocket != 0:
		return Entry{Path: path, Err: leftSocket}
	}
	return Entry{Path: path, Err: leftDevice}
}

// Changed returns the folders that are not what they were when they were read, each with an error.
// If there are none, there was a moment at which the folders had what Walk has found, and nothing else:
// that at which Changed had waited.
//
// A system sets the times of a folder when a name appears in it or goes, or becomes that of another
// file. Nobody can set ctime to an old time. Windows has none, so there it is mtime that tells. So a folder
// with its old identity and its old times was not changed since it was read, unless that was so
// soon that the times are the same. What was as fresh as that is read again, after its times have
// settled. All folders were read before the moment, and are looked at after it. How a path leads to a
// folder does not matter here, because its identity shows which one it is. A folder of another
// machine is as its file system says.
func (w *Walker) Changed(ctx context.Context) (list []Entry) {
	w.Settle(ctx)
	f := NewFinder(nil)
	defer func() { f.Close() }()
	root := ""
	for _, was := range w.visits {
		if ctx.Err() != nil {
			break
		}
		if was.root != root {
			f.Close()
			f, root = NewFinder([]string{was.root}), was.root
		}
		if !f.unchanged(was) {
			err := errors.New("changed while it was verified")
			if unstable(func() (Info, error) { return f.Look(was.path) }) {
				err = errUnstable
			}
			list = append(list, Entry{Path: was.path, Err: err})
		}
	}
	return list
}

// Settle waits until a change of a folder that was read changes its times too. For several walkers there is one
// moment as that of Changed if all have settled before the first of them looks again.
func (w *Walker) Settle(ctx context.Context) {
	select {
	case <-time.After(time.Until(w.settled)):
	case <-ctx.Done():
	}
}

// unchanged reports whether a folder is as it was.
func (f *Finder) unchanged(was visit) bool {
	if was.fresh == nil && was.tag == nil {
		info, err := f.Look(was.path)
		return err == nil && info.unchanged(was.info)
	}
	d, err := f.openDir(was.path)
	if err != nil {
		return false
	}
	defer d.close()
	names, err := d.read()
	if was.tag != nil {
		tag, ok := d.cacheTag(names, was.path)
		return err == nil && ok && (was.minimal || tag.unchanged(*was.tag))
	}
	if err != nil || !slices.EqualFunc(names, was.fresh, func(a, b fs.DirEntry) bool {
		return a.Name() == b.Name() && a.Type() == b.Type()
	}) {
		return false
	}
	// Only now, so that nothing has changed since the moment.
	info, err := d.info()
	return err == nil && (was.minimal || info.unchanged(was.info))
}
