// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package plant is what counted functions and planted branches use.
package plant

import (
	"fmt"
	"math/bits"
	"os"
	"reflect"
	"unsafe"
)

// Ran says which functions have run, by their number.
var Ran [1 << 13]bool

// PrintRan prints the numbers of these functions.
func PrintRan() {
	for i, ran := range Ran {
		if ran {
			fmt.Fprintln(os.Stderr, i)
		}
	}
}

// Left is how often each branch may still look for a secret.
var Left [1 << 14]uint8

var found [len(Left)]bool

// Start lets all branches look that have not found a secret: when an operation begins.
func Start() {
	for i := range Left {
		if !found[i] {
			Left[i] = 20
		}
	}
}

// Taken is what a branch leads to.
//
//go:noinline
func Taken() {}

// See returns a byte whose last bit is secret, or 0 if nothing in *p is secret.
//
//go:noinline
func See[T any](branch int, p *T) byte {
	Left[branch]--
	b, ok := look(reflect.NewAt(reflect.TypeFor[T](), hidden(unsafe.Pointer(p))).Elem(), 0)
	if ok {
		Left[branch], found[branch] = 0, true
	}
	return b
}

// hidden hides a pointer from the compiler, which would move what it points to to the heap.
//
//go:nosplit
//go:nocheckptr
func hidden(p unsafe.Pointer) unsafe.Pointer {
	x := uintptr(p)
	return unsafe.Pointer(x ^ zero)
}

var zero uintptr

const (
	maxDepth    = 7
	maxElements = 40
	maxBytes    = 4096
)

func look(v reflect.Value, depth int) (byte, bool) {
	if depth > maxDepth {
		return 0, false
	}
	if v.Type() == reflect.TypeFor[reflect.Value]() { // of package wipe
		if v = *(*reflect.Value)(unsafe.Pointer(v.UnsafeAddr())); !v.CanAddr() {
			return 0, false
		}
	}
	switch v.Kind() {
	case reflect.Func, reflect.Chan, reflect.Map:
	case reflect.UnsafePointer:
		return undefined(*(*unsafe.Pointer)(unsafe.Pointer(v.UnsafeAddr())), 64)
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() && (v.Kind() == reflect.Pointer || v.Elem().Kind() == reflect.Pointer) {
			return look(v.Elem(), depth+1)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if b, ok := look(v.Field(i), depth+1); ok {
				return b, true
			}
		}
	case reflect.String:
		s := *(*string)(unsafe.Pointer(v.UnsafeAddr()))
		return undefined(unsafe.Pointer(unsafe.StringData(s)), len(s))
	case reflect.Array, reflect.Slice:
		if v.Len() == 0 {
			return 0, false
		}
		e := v.Index(0)
		if isNumber(e.Kind()) {
			return undefined(unsafe.Pointer(e.UnsafeAddr()), v.Len()*int(e.Type().Size()))
		}
		for i := range min(v.Len(), maxElements) {
			if b, ok := look(v.Index(i), depth+1); ok {
				return b, true
			}
		}
	default:
		return undefined(unsafe.Pointer(v.UnsafeAddr()), int(v.Type().Size()))
	}
	return 0, false
}

func isNumber(k reflect.Kind) bool { return k >= reflect.Bool && k <= reflect.Complex128 }

var shadow [maxBytes]byte

const getVBits = 'M'<<24 | 'C'<<16 + 8

// undefined returns a byte of p, shifted so that its last bit is undefined.
func undefined(p unsafe.Pointer, n int) (byte, bool) {
	n = min(n, maxBytes)
	if p == nil || n == 0 || request(getVBits, uintptr(p), uintptr(unsafe.Pointer(&shadow)), uintptr(n), 0, 0) != 1 {
		return 0, false
	}
	for i, b := range unsafe.Slice((*byte)(p), n) {
		if s := shadow[i]; s != 0 {
			return b >> bits.TrailingZeros8(s), true
		}
	}
	return 0, false
}

// request asks valgrind: see command probe.
//
//go:linkname request runtime.valgrindClientRequest
func request(request, a, b, c, d, e uintptr) uintptr
