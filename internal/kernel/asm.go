// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build !purego

package kernel

// Purego reports whether the build tag of this name left out all assembly, the standard
// library's as well.
const Purego = false
