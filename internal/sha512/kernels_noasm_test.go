// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build !amd64 || purego

package sha512

import "testing"

// forAllKernels runs f with each kernel that this CPU has.
func forAllKernels[T interface {
	testing.TB
	Run(string, func(T)) bool
}](t T, f func(T)) {
	t.Run("impl=generic", f)
}
