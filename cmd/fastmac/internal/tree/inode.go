// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package tree

import "strings"

// A baseInfo is what a Finder knows of the last folder in which a file was tagged.
type baseInfo struct {
	folder string
	device uint64
}

// Inode returns the number that the file of info, at path, has in its file system, or 0. It is 0 if a file
// system does not keep its numbers, and if the folder is in another file system, where another file can have the
// same number: what devices are called changes when they are mounted. The folder is the innermost one of f
// above path, or else that in which the name is.
func (f *Finder) Inode(path string, info Info) uint64 {
	folder := Above(f.folders, path)
	if folder == "" {
		folder = "."
		if slash := strings.LastIndexByte(path, '/'); slash >= 0 {
			folder = path[:slash+1]
		}
	}
	if f.base.folder != folder {
		f.base.folder = folder
		base, _ := LookAt(folder)
		f.base.device, _ = base.place(folder)
	}
	device, inode := info.place(path)
	if device != f.base.device {
		return 0
	}
	return inode
}
