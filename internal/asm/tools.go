// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build tools

// Package tools keeps the root module in go.mod: avo reads the declarations of the
// kernels from it.
package tools

import _ "example.com/fastmac"
