// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package made finds out which hash a function makes.
package made

import (
	"bytes"
	"crypto"
	"hash"
	"reflect"
	"strings"
	"sync"
	"unsafe"

	"example.com/fastmac/internal/sha2"
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
	for _, h := range sha2.Hashes {
		if h == nil {
			continue
		}
		made := reflect.ValueOf(h.New())
		if !strings.HasPrefix(made.Type().Elem().PkgPath(), "crypto/internal/fips140/") {
			return nil
		}
		all = append(all, maker{h.ID, entryOf(h.New), made.Type(), memory(made)})
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

// registered reports for each of makers whether crypto.Hash.New makes its hash: crypto.RegisterHash may
// have replaced it. Programs call that in init functions, so it is enough to look once.
var registered = sync.OnceValue(func() []bool {
	all := make([]bool, len(makers))
	for i, m := range makers {
		all[i] = madeAs(m.hash.New()) == m.hash
	}
	return all
})

// Hash returns which hash f makes, if that is SHA-2 of the standard library, and a new one for each
// call; and 0 for all other functions. It may have called f.
func Hash(f func() hash.Hash) (h crypto.Hash, calls Calls) {
	if len(makers) == 0 {
		return 0, Calls{}
	}
	entry := entryOf(f)
	for i := range makers {
		if entry == makers[i].entry {
			return makers[i].hash, Calls{}
		}
	}
	if entry == methodNew {
		h := receiver(f)
		for i := range makers {
			if h == makers[i].hash && registered()[i] {
				return h, Calls{}
			}
		}
		return 0, Calls{}
	}
	first := f()
	if h = madeAs(first); h == 0 {
		return 0, Calls{1, [2]hash.Hash{first}}
	}
	second := f()
	if first == second || madeAs(second) != h {
		h = 0
	}
	return h, Calls{2, [2]hash.Hash{first, second}}
}

// Calls are what a function has returned.
type Calls struct {
	n    int
	made [2]hash.Hash
}

// Again returns a function that returns what f has returned, call by call, and then calls f.
func (c Calls) Again(f func() hash.Hash) func() hash.Hash {
	if c.n == 0 {
		return f
	}
	used := 0
	return func() hash.Hash {
		if used == c.n {
			return f()
		}
		used++
		return c.made[used-1]
	}
}

// madeAs returns which hash h is, if it is as a maker returns it, and else 0.
func madeAs(h hash.Hash) crypto.Hash {
	typ := reflect.TypeOf(h)
	for i := range makers {
		if m := &makers[i]; typ == m.typ {
			if v := reflect.ValueOf(h); !v.IsNil() && bytes.Equal(memory(v), m.fresh) {
				return m.hash
			}
		}
	}
	return 0
}
