// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build unix

package tree

import (
	"os"
	"syscall"
)

// An identity is of one file only, as long as there is that file.
type identity struct{ device, inode uint64 }

func (a identity) same(b identity) bool { return a == b }

func (a identity) is(b os.FileInfo) bool {
	s, ok := b.Sys().(*syscall.Stat_t)
	return ok && a == identity{uint64(s.Dev), uint64(s.Ino)}
}

// place returns what the file system of i, at path, is called now, and the number of the file there, or 0.
func (i Info) place(string) (device, inode uint64) { return i.identity.device, i.identity.inode }
