// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package wipe overwrites secrets where an assignment cannot: on the part of a
// goroutine's stack that is not in use, and in values of other packages.
//
// The Go runtime copies a stack that is too small for a call to a larger one, and the
// contents of the old one remain in memory. So code with secrets in its variables calls
// [ReserveStack] first, and clears the variables before it returns. If the functions that
// it called do not clear their variables, it calls [Stack] at the end.
package wipe

import (
	"math/bits"
	"reflect"
)

const (
	// frames is more than calls of crypto/aes, crypto/sha256 and crypto/sha512 use, in bytes. 1,900 have
	// been measured.
	frames = 2560

	// short is more than calls of crypto/sha1, and of crypto/aes for a block, use for states, in bytes: 300 have been
	// counted, and 450 on 32-bit arm. It is less than crypto/hmac uses with them, so that the stack of a new goroutine
	// does not grow more often.
	short = 352 + (64-bits.UintSize)*4

	// reserve is enough for frames and for functions of this module, in bytes.
	reserve = 5120

	// kernels is enough for the functions of this module that only call kernels, in bytes: 216 have been
	// counted. With less than a kilobyte the stack of a new goroutine mostly stays as it is.
	kernels = 336
)

// ReserveStack makes the goroutine's stack large enough for functions that have secrets
// in their variables and call [Stack].
//
//go:noinline
func ReserveStack() {
	if never {
		var frame [reserve / 8]uint64
		touch(frame[:])
	}
}

// ReserveFrames makes the goroutine's stack large enough for what [Stack] overwrites.
//
//go:noinline
func ReserveFrames() {
	if never {
		var frame [frames / 8]uint64
		touch(frame[:])
	}
}

// ReserveShort is [ReserveFrames] for [Short].
//
//go:noinline
func ReserveShort() {
	if never {
		var frame [short / 8]uint64
		touch(frame[:])
	}
}

// ReserveKernels is [ReserveStack] where kernels run, which use hardly any stack, and neither the standard
// library nor compiled code in their place.
//
//go:noinline
func ReserveKernels() {
	if never {
		var frame [kernels / 8]uint64
		touch(frame[:])
	}
}

// Stack overwrites the part of the stack that functions called by its caller have used.
//
//go:noinline
func Stack() {
	var frame [frames / 8]uint64
	touch(frame[:])
}

// Short is [Stack] for less: see package sha1.
//
//go:noinline
func Short() {
	var frame [short / 8]uint64
	touch(frame[:])
}

var never bool // always false, which the compiler does not know

// touch takes words: on some machines the compiler clears an array of bytes one by one.
//
//go:noinline
func touch([]uint64) {}

// Bytes sets p, of a constant size of hundreds of bytes, to zeros with the loop of the runtime. If the compiler knew
// the size, that would be REP STOSQ on amd64, which takes long to begin.
//
//go:noinline
func Bytes(p []byte) { clear(p) }

// Value overwrites what v, a pointer, points to with zeros, and what pointers and slices in it point to. It is
// for the state of other packages: it reaches fields that are not exported. The pointers and slices stay, since
// another goroutine may use the state meanwhile. Value does nothing if v is not a pointer, or is nil.
func Value(v any) { clearPointer(v, true) }

// Clone is Value for a copy of a value that shares its slices, and what is in them, with other copies.
func Clone(v any) { clearPointer(v, false) }

func clearPointer(v any, slices bool) {
	if p := reflect.ValueOf(v); p.Kind() == reflect.Pointer {
		clearValue(p, slices)
	}
}

func clearValue(v reflect.Value, slices bool) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			clearValue(v.Elem(), slices)
		}
	case reflect.Slice:
		for i := 0; slices && i < v.Len(); i++ {
			clearValue(v.Index(i), slices)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			clearValue(v.Field(i), slices)
		}
	default:
		if !v.CanAddr() {
			return // a value in an interface, which nothing changes
		}
		// A field that is not exported cannot be set, except through its address.
		reflect.NewAt(v.Type(), v.Addr().UnsafePointer()).Elem().SetZero()
	}
}
