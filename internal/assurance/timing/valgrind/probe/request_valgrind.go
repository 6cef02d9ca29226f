// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build valgrind

package main

import (
	_ "runtime/cgo" // valgrind takes stacks of threads that Go allocates for larger than they are
	_ "unsafe"      // for go:linkname
)

// request asks valgrind, by the runtime's own function for it, which only a build with the tag
// valgrind has. The linker needs -checklinkname=0.
//
//go:linkname request runtime.valgrindClientRequest
func request(request, a, b, c, d, e uintptr) uintptr
