// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sums

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"example.com/fastmac/cmd/fastmac/internal/tree"
	"github.com/gofrs/flock"
)

// maxWait is how long Verify waits for an update at most. Whoever can read a list can lock it, and must not
// keep others from verifying it. Tests change it.
var maxWait = 10 * time.Second

// lockList locks the list at path until unlock is called or the process ends: for itself alone if it
// will replace the list, or with others that read it. It waits for those that hold another lock, and says so.
// Where there is no list yet, or no lock, it does nothing.
func (o *Options) lockList(ctx context.Context, path string, alone bool) (unlock func(), err error) {
	until, stop := ctx, func() {}
	if !alone {
		until, stop = context.WithTimeout(ctx, maxWait)
	}
	defer stop()
	for said := false; ; {
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() {
			return func() {}, nil
		}
		lock := newLock(path)
		try, wait := lock.TryRLock, lock.TryRLockContext
		if alone {
			try, wait = lock.TryLock, lock.TryLockContext
		}
		locked, err := try()
		if !locked && err == nil {
			if !said && !o.Status {
				fmt.Fprintf(o.Stderr, "fastmac: waiting for another program that reads or updates %s\n", shown(path))
			}
			said = true
			locked, _ = wait(until, 10*time.Millisecond)
		}
		switch {
		case ctx.Err() != nil:
			lock.Close()
			return nil, ctx.Err()
		case !locked:
			lock.Close()
			return func() {}, nil
		case isLocked(lock, path):
			return func() { lock.Close() }, nil
		}
		// An update has put another file there, before this lock was taken.
		lock.Close()
	}
}

// isLocked reports whether the file at path is the one that is locked.
func isLocked(lock *flock.Flock, path string) bool {
	if lock.Path() != path {
		return true // it has a lock elsewhere
	}
	mine, err := lock.Stat()
	there, err2 := os.Stat(path)
	return err == nil && err2 == nil && os.SameFile(mine, there)
}

// unfinished is what the name of an outFile begins with before commit. 26 characters follow.
const unfinished = ".fastmac-"

// isUnfinishedName reports whether an outFile can have this name.
func isUnfinishedName(name string) bool {
	rest, ok := strings.CutPrefix(name, unfinished)
	return ok && len(rest) == 26 && strings.Trim(rest, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") == ""
}

// isUnfinished reports whether the file at path is one of a run that lives, or was. A run locks its file right after
// it has made it: for a file that is as new as that it waits.
func isUnfinished(path string) bool {
	if !isUnfinishedName(path[strings.LastIndexByte(path, '/')+1:]) {
		return false
	}
	path = filepath.FromSlash(path)
	for range 100 {
		locked, err := isHeld(path)
		if locked || errors.Is(err, fs.ErrNotExist) {
			return true
		}
		info, err := os.Lstat(path)
		if err == nil && (!info.Mode().IsRegular() || info.Size() > 0 || time.Since(info.ModTime()).Abs() > time.Second) {
			return false
		}
		time.Sleep(5 * time.Millisecond)
	}
	return false
}

// removeUnfinished removes the files next to path that processes have left that were killed.
func removeUnfinished(path string) {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	dir := filepath.Dir(path)
	names, _ := os.ReadDir(dir)
	for _, entry := range names {
		if isUnfinishedName(entry.Name()) && entry.Type().IsRegular() {
			removeUnheld(filepath.Join(dir, entry.Name()))
		}
	}
}

// A place is where a list is, whatever file is there: an update replaces it.
type place struct {
	folder tree.Info
	name   string
}

// placesOf returns the places of a path: that, and where it leads if it is a link.
func placesOf(path string) (places []place) {
	add := func(path string) {
		path = filepath.ToSlash(path)
		dir, name := "./", path
		if slash := strings.LastIndexByte(path, '/'); slash >= 0 {
			dir, name = path[:slash+1], path[slash+1:]
		}
		if info, err := tree.LookAt(dir); err == nil {
			places = append(places, place{info, name})
		}
	}
	if path == "" || path == "-" {
		return nil
	}
	add(path)
	if real, err := filepath.EvalSymlinks(path); err == nil && real != path {
		add(real)
	}
	return places
}

// leadsTo reports whether path is one of the places, or a link to one.
func leadsTo(places []place, path string) bool {
	if areAt(places, path) {
		return true
	}
	real, err := filepath.EvalSymlinks(path)
	return err == nil && areAt(places, filepath.ToSlash(real))
}

// areAt reports whether path is one of the places.
func areAt(places []place, path string) bool {
	return slices.ContainsFunc(places, func(p place) bool {
		return sameName(path[strings.LastIndexByte(path, '/')+1:], p.name) && p.has(path)
	})
}

// has reports whether path is in the folder of p.
func (p *place) has(path string) bool {
	dir := path[:strings.LastIndexByte(path, '/')+1]
	if dir == "" {
		dir = "./"
	}
	info, err := tree.LookAt(dir)
	return err == nil && info.Same(p.folder)
}
