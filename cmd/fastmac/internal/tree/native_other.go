// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build !windows

package tree

// absoluteWindows is not called here.
func absoluteWindows(file string) string { return uniform(file) }
