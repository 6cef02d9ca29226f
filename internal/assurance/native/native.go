// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package native makes functions of machine code that is not in the program, on arm64.
package native

import "unsafe"

// Func returns memory of [Executable] as a function of type F. Go finds its results in registers, the
// first one in X0.
func Func[F any](memory []byte) F {
	// A func value is the address of a word that has the address of the code.
	entry := &struct{ code *byte }{&memory[0]}
	return *(*F)(unsafe.Pointer(&entry))
}
