// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package mactest

import (
	"fmt"
	"reflect"
	"strings"
	"unsafe"
)

// Storage returns the bytes of v.
func Storage[T any](v *T) []byte { return unsafe.Slice((*byte)(unsafe.Pointer(v)), unsafe.Sizeof(*v)) }

// Field returns the bytes of a field, exported or not, of what v points to. The path has the
// names on the way to it, with dots between them. A pointer, or one in an interface, stands for
// what it points to. Field panics if there is no such field.
func Field(v any, path string) []byte {
	f := reflect.ValueOf(v)
	for name := range strings.SplitSeq(path, ".") {
		f = target(f)
		if f.Kind() != reflect.Struct || !f.FieldByName(name).IsValid() {
			panic(fmt.Sprintf("mactest: %T has no field %s: no %s in %v", v, path, name, f.Type()))
		}
		f = f.FieldByName(name)
	}
	f = target(f)
	return unsafe.Slice((*byte)(unsafe.Pointer(f.UnsafeAddr())), f.Type().Size())
}

func target(v reflect.Value) reflect.Value {
	if v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	return reflect.Indirect(v)
}
