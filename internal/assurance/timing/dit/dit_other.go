// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build !arm64 || !(darwin || linux || windows)

package main

import "runtime"

// reader returns what reads the bit, or why there is none.
func reader() (isSet func() bool, missing string, err error) {
	return nil, "not looked at on " + runtime.GOOS + "/" + runtime.GOARCH, nil
}
