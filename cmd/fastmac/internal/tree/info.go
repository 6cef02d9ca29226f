// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package tree

import (
	"cmp"
	"io/fs"
	"os"
	"time"
)

// An Info is what a file system says about a file.
type Info struct {
	Size         int64
	Mtime, Ctime int64       // in ns since 1970; Ctime is 0 where the system has none
	links        uint64      // names of the file; 0 where the system does not say
	Kind         fs.FileMode // the bits of the type
	identity     identity
}

// Same reports whether a and b are of one file.
func (a Info) Same(b Info) bool { return a.identity.same(b.identity) }

// Is reports whether a is of the file of b.
func (a Info) Is(b os.FileInfo) bool { return a.identity.is(b) }

// fresh reports whether a change after now can leave the times as they are.
func (a Info) fresh(now time.Time) bool {
	return max(a.Mtime, a.Ctime) > now.Add(-a.tick()).UnixNano()
}

// tick returns more than the time between two changes of a file that can have the same time. Linux
// has the time of its last timer interrupt, up to 10 ms ago. File systems without fractions of a
// second are from FAT, which has every other one, to NFS.
func (a Info) tick() time.Duration {
	if cmp.Or(a.Ctime, a.Mtime)%1e9 == 0 {
		return 2100 * time.Millisecond
	}
	return 20 * time.Millisecond
}

// unchanged reports whether a and b are of one folder between two changes.
func (a Info) unchanged(b Info) bool {
	return a.Same(b) && a.Mtime == b.Mtime && a.Ctime == b.Ctime
}

// unstable reports whether two looks, one right after the other, do not find one thing with the same times: some file
// systems make up inode numbers or times of folders.
func unstable(look func() (Info, error)) bool {
	a, err := look()
	b, err2 := look()
	return err == nil && err2 == nil && a.Size == b.Size && !a.unchanged(b)
}

// looked changes what a file system says, if it is not nil. Tests set it. It has no pointer, for which each Info would
// be allocated.
var looked func(Info) Info
