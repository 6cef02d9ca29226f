// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"unsafe"
)

// The requests, of valgrind.h and memcheck.h.
const (
	runningOnValgrind = 0x1001
	memcheck          = 'M'<<24 | 'C'<<16
	makeMemUndefined  = memcheck + 1
	makeMemDefined    = memcheck + 2
	getVBits          = memcheck + 8
)

// sink keeps what a request is about on the heap: a stack could move meanwhile.
var sink *byte

// ask makes a request about p.
//
//go:noinline
func ask(what uintptr, p []byte, argument uintptr) uintptr {
	sink = unsafe.SliceData(p)
	if what == getVBits {
		return request(what, uintptr(unsafe.Pointer(sink)), argument, uintptr(len(p)), 0, 0)
	}
	return request(what, uintptr(unsafe.Pointer(sink)), uintptr(len(p)), 0, 0, 0)
}

// hide makes p secret, which to memcheck is undefined.
func hide(p []byte) { ask(makeMemUndefined, p, 0) }

// publish makes p public.
func publish(p []byte) { ask(makeMemDefined, p, 0) }

var rng = rand.NewChaCha8([32]byte([]byte("the secrets of the probe, always")))

// secret returns n secret bytes.
func secret(n int) []byte {
	p := make([]byte, n)
	rng.Read(p)
	hide(p)
	return p
}

// secrets returns secret slices of these sizes.
func secrets(sizes ...int) [][]byte {
	s := make([][]byte, len(sizes))
	for i, n := range sizes {
		s[i] = secret(n)
	}
	return s
}

// secretBytes returns which bytes of p have a secret bit, or nothing if unmarked.
func secretBytes(p []byte) []byte {
	if unmarked {
		return nil
	}
	bits := make([]byte, len(p))
	sink = unsafe.SliceData(bits)
	if len(p) > 0 && ask(getVBits, p, uintptr(unsafe.Pointer(unsafe.SliceData(bits)))) != 1 {
		fail("valgrind does not return the bits of %d bytes", len(p))
	}
	return bits
}

// result takes what a function returned. Each byte must depend on secrets, or else the secrets
// were lost on the way and the probe shows nothing. It becomes public.
func result(p []byte) {
	for i, bits := range secretBytes(p) {
		if bits == 0 {
			fail("%s: byte %d of %d of a result does not depend on a secret", current, i, len(p))
		}
	}
	publish(p)
	counts.Results++
}

// public checks that nothing in p depends on a secret.
func public(p []byte) {
	for i, bits := range secretBytes(p) {
		if bits != 0 {
			fail("%s: byte %d of %d depends on a secret", current, i, len(p))
		}
	}
}

// decision takes what a verification returned, which becomes public, and must be want.
func decision(ok, want bool) {
	publish(storage(&ok))
	if ok != want {
		fail("%s: verification returned %v", current, ok)
	}
	counts.Decisions++
}

// storage returns the bytes of what v points to, or of a stream in a struct.
func storage(v any) []byte {
	p := reflect.ValueOf(v)
	if p.Kind() == reflect.Struct {
		p = p.Field(0)
	}
	return unsafe.Slice((*byte)(p.UnsafePointer()), p.Type().Elem().Size())
}

func fail(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "fastmac: "+format+"\n", args...)
	os.Exit(1)
}
