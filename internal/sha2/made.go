// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sha2

import (
	"bytes"
	"crypto"
	"crypto/sha256"
	"crypto/sha512"
	"hash"
	"reflect"
	"strings"
	"unsafe"
)

// A maker is a function of the standard library that makes hashes.
type maker struct {
	hash  crypto.Hash
	entry uintptr      // of the function
	typ   reflect.Type // of what it returns, a pointer
	fresh []byte       // what that points to
}

// makers are those of SHA-2. There are none if its hashes are not Go's own: with BoringCrypto, and in
// toolchains that have something like it.
var makers = func() (all []maker) {
	for _, m := range []struct {
		hash crypto.Hash
		f    func() hash.Hash
	}{
		{crypto.SHA256, sha256.New},
		{crypto.SHA512, sha512.New},
		{crypto.SHA384, sha512.New384},
		{crypto.SHA224, sha256.New224},
		{crypto.SHA512_256, sha512.New512_256},
		{crypto.SHA512_224, sha512.New512_224},
	} {
		made := reflect.ValueOf(m.f())
		if !strings.HasPrefix(made.Type().Elem().PkgPath(), "crypto/internal/fips140/") {
			return nil
		}
		all = append(all, maker{m.hash, entryOf(m.f), made.Type(), memory(made)})
	}
	return all
}()

// entryOf returns the address of the code of f.
func entryOf(f func() hash.Hash) uintptr { return reflect.ValueOf(f).Pointer() }

// memory returns what v, a pointer, points to.
func memory(v reflect.Value) []byte {
	return unsafe.Slice((*byte)(v.UnsafePointer()), v.Type().Elem().Size())
}

// methodNew is the entry of the method values New of every crypto.Hash, or 0 if receiver cannot read
// these hashes.
var methodNew = func() uintptr {
	f, g := crypto.SHA256.New, crypto.SHA512.New
	if entryOf(f) != entryOf(g) || receiver(f) != crypto.SHA256 || receiver(g) != crypto.SHA512 {
		return 0
	}
	return entryOf(f)
}()

// receiver returns h if f is the method value h.New: behind the entry, compilers keep what a function
// is bound to. To call f would take a third of the time of the HMAC of a short message.
func receiver(f func() hash.Hash) crypto.Hash {
	return (*(**struct {
		entry uintptr
		hash  crypto.Hash
	})(unsafe.Pointer(&f))).hash
}

// Made returns which hash f makes, if that is SHA-2 of the standard library, and a new one for each
// call. For all other functions it returns 0, and a function that does what f would have done: Made may have
// called f, once or twice.
func Made(f func() hash.Hash) (crypto.Hash, func() hash.Hash) {
	if len(makers) == 0 {
		return 0, f
	}
	entry := entryOf(f)
	for i := range makers {
		if m := &makers[i]; entry == m.entry || entry == methodNew && receiver(f) == m.hash {
			return m.hash, nil
		}
	}
	r := &replay{f: f}
	r.made[0], r.calls = f(), 1
	h := madeAs(r.made[0])
	if h == 0 {
		return 0, r.next
	}
	r.made[1], r.calls = f(), 2
	if r.made[0] == r.made[1] || madeAs(r.made[1]) != h {
		return 0, r.next
	}
	return h, nil
}

// madeAs returns which hash h is, if it is as a maker returns it, and else 0.
func madeAs(h hash.Hash) crypto.Hash {
	v := reflect.ValueOf(h)
	for i := range makers {
		if m := &makers[i]; v.IsValid() && v.Type() == m.typ && !v.IsNil() && bytes.Equal(memory(v), m.fresh) {
			return m.hash
		}
	}
	return 0
}

// A replay is a function that has been called: its results come first.
type replay struct {
	f     func() hash.Hash
	made  [2]hash.Hash
	calls int
	used  int
}

func (r *replay) next() hash.Hash {
	if r.used == r.calls {
		return r.f()
	}
	r.used++
	return r.made[r.used-1]
}
