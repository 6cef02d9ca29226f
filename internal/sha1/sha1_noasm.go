// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build !amd64 || purego

package sha1

func hasAssembly() bool { return false }

func largeFrame(int) bool { return false }

func iterate([]iteration, int) {}
