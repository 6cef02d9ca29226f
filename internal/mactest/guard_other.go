// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build !linux

package mactest

import "testing"

// Guarded returns n bytes. Only on Linux are there guard pages around them.
func Guarded(t testing.TB, n int) Memory { return make([]byte, n) }

// Catches returns true: there are no pages to catch anything.
func (m Memory) Catches(n int, end bool, use func(p []byte)) bool { return true }
