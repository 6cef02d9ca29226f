// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package wipe overwrites secrets where an assignment cannot: on the part of a
// goroutine's stack that is not in use, and in values of other packages.
//
// A stack that is too small for a call is copied to a larger one, and what was on the
// old one remains in memory. So code with secrets in its variables calls [Stack] first,
// and clears the variables when it returns. It calls [Frames] at the end if the
// functions that it called do not clear theirs.
package wipe

import "reflect"

const (
	// frames is more than the calls of crypto/aes and crypto/sha512 use, in bytes: 1,900
	// were measured.
	frames = 2560

	// reserve is enough for frames and for the functions of this module.
	reserve = 4096
)

// ReserveStack makes the goroutine's stack large enough for functions that have secrets
// in their variables and call [Stack].
//
//go:noinline
func ReserveStack() {
	if never {
		var frame [reserve]byte
		touch(frame[:])
	}
}

// ReserveFrames makes the goroutine's stack large enough for what [Stack] overwrites.
//
//go:noinline
func ReserveFrames() {
	if never {
		var frame [frames]byte
		touch(frame[:])
	}
}

// Stack overwrites the stack that functions called by the caller have used.
//
//go:noinline
func Stack() {
	var frame [frames]byte
	touch(frame[:])
}

var never bool // unknown to the compiler

//go:noinline
func touch([]byte) {}

// Value overwrites what v, a pointer, points to with zeros. It is for the states of
// other packages: it reaches unexported fields, and not what they point to.
func Value(v any) {
	if p := reflect.ValueOf(v); p.Kind() == reflect.Pointer && !p.IsNil() {
		p.Elem().SetZero()
	}
}
