// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package made finds out which hash a function makes.
package made

import (
	"bytes"
	"crypto"
	"crypto/sha1"
	"hash"
	"reflect"
	"strings"
	"sync"
	"unsafe"

	"example.com/fastmac/internal/sha2"
)

// A maker is a function of the standard library that makes hashes.
type maker struct {
	hash  *sha2.Hash
	entry uintptr // of the function
}

// known are the makers of SHA-2, and the entry of the method values New of every crypto.Hash, or 0 if their
// hash is not where a closure has it. There is neither if the hashes are not Go's own: with BoringCrypto, and
// in toolchains that have something like it.
var known struct {
	sync.Once
	makers    []maker
	methodNew uintptr
}

func findMakers() {
	var all []maker
	for _, h := range sha2.Hashes {
		if h == nil {
			continue
		}
		if !strings.HasPrefix(reflect.TypeOf(h.New()).Elem().PkgPath(), "crypto/internal/fips140/") {
			return
		}
		all = append(all, maker{h, closureOf(h.New).entry})
	}
	known.makers = all
	if f, g := closureOf(crypto.SHA256.New), closureOf(crypto.SHA512.New); f.entry == g.entry && f.hash == crypto.SHA256 && g.hash == crypto.SHA512 {
		known.methodNew = f.entry
	}
}

// A closure is what a function value points to: behind the entry of the code, compilers keep what the
// function is bound to, which for the method value h.New is h. [reflect.Value.Pointer] would take longer.
type closure struct {
	entry uintptr
	hash  crypto.Hash // of a method value only
}

func closureOf(f func() hash.Hash) *closure { return *(**closure)(unsafe.Pointer(&f)) }

// registered reports for each crypto.Hash whether its New makes a fresh hash of a maker: crypto.RegisterHash
// may have replaced it, also by one of the same type that something was written to. Programs call that in init
// functions, so it is enough to look once.
var registered struct {
	sync.Once
	all [len(sha2.Hashes)]bool
}

func lookAtRegistered() {
	for _, m := range known.makers {
		registered.all[m.hash.ID] = makes(m.hash.ID, m.hash.New)
	}
}

// makes reports whether the New of h makes a fresh hash of f.
func makes(h crypto.Hash, f func() hash.Hash) bool {
	made, want := h.New(), f()
	return reflect.TypeOf(made) == reflect.TypeOf(want) && bytes.Equal(made.Sum(nil), want.Sum(nil))
}

// Hash returns which hash f makes if f is a function of the standard library for SHA-2, such as
// sha256.New, or a method value such as crypto.SHA256.New; and nil for all other functions, also for one
// that calls these. It does not call f.
func Hash(f func() hash.Hash) *sha2.Hash {
	if f == nil {
		return nil
	}
	known.Do(findMakers)
	c := closureOf(f)
	makers := known.makers // a load for each would be slower
	for i := range makers {
		if c.entry == makers[i].entry {
			return makers[i].hash
		}
	}
	if c.entry == known.methodNew {
		registered.Do(lookAtRegistered)
		if h := sha2.Of(c.hash); h != nil && registered.all[h.ID] {
			return h
		}
	}
	return nil
}

// ownSHA1 is whether SHA-1 is Go's own, and registeredSHA1 whether crypto.SHA1.New makes it.
var ownSHA1, registeredSHA1 struct {
	sync.Once
	is bool
}

// SHA1 reports whether f is sha1.New of the standard library, or the method value crypto.SHA1.New. It does not
// call f, and is not part of Hash so that programs without it do not link SHA-1.
func SHA1(f func() hash.Hash) bool {
	if f == nil {
		return false
	}
	ownSHA1.Do(func() {
		known.Do(findMakers)
		ownSHA1.is = len(known.makers) > 0 && reflect.TypeOf(sha1.New()).Elem().PkgPath() == "crypto/sha1"
	})
	c := closureOf(f)
	if !ownSHA1.is || c.entry == closureOf(sha1.New).entry {
		return ownSHA1.is
	}
	if c.entry != known.methodNew || c.hash != crypto.SHA1 {
		return false
	}
	registeredSHA1.Do(func() { registeredSHA1.is = makes(crypto.SHA1, sha1.New) })
	return registeredSHA1.is
}
