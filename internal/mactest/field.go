// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package mactest

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unsafe"
)

// Storage returns the bytes of v.
func Storage[T any](v *T) []byte { return unsafe.Slice((*byte)(unsafe.Pointer(v)), unsafe.Sizeof(*v)) }

// Contents returns a copy of the bytes of what v points to, with zeros in the place of what is no secret and
// stays when it is destroyed, or is another number each time: what it was, where its key is, its lifetime.
func Contents(v any) []byte {
	p := reflect.ValueOf(v)
	b := bytes.Clone(unsafe.Slice((*byte)(p.UnsafePointer()), p.Type().Elem().Size()))
	leaveOut(b, p.Type().Elem())
	return b
}

func leaveOut(b []byte, t reflect.Type) {
	switch t.Kind() {
	case reflect.Pointer, reflect.UnsafePointer:
		clear(b)
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			field := b[f.Offset:][:f.Type.Size()]
			switch name := t.Name() + "." + f.Name; {
			case f.Name == "life" || slices.Contains([]string{"HMAC.form", "UMAC.ownsKey", "GMAC.ownsKey", "HMAC.ownsKey", "form.tagSize", "form.dataSize", "form.epoch", "l1State.bytes", "uhash.n", "l2State.words"}, name):
				clear(field)
			default:
				leaveOut(field, f.Type)
			}
		}
	}
}

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
