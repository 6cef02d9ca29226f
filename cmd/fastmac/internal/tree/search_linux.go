// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package tree

import "golang.org/x/sys/unix"

// search opens a folder for its files only, which needs no permission to read it.
const search = unix.O_PATH
