// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build !unix

package tree

import "os"

// An identity is of one file only.
type identity struct{ info os.FileInfo }

func (a identity) same(b identity) bool { return os.SameFile(a.info, b.info) }

// is: devices have no identity.
func (a identity) is(b os.FileInfo) bool { return !a.info.Mode().IsRegular() || os.SameFile(a.info, b) }
