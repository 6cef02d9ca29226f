// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package made

import (
	"crypto"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"hash"
	"testing"
)

func init() {
	crypto.RegisterHash(crypto.SHA256, sha1.New)
	used := func(f func() hash.Hash) func() hash.Hash {
		return func() hash.Hash {
			h := f()
			h.Write([]byte("domain"))
			return h
		}
	}
	crypto.RegisterHash(crypto.SHA384, used(sha512.New384))
	crypto.RegisterHash(crypto.SHA1, used(sha1.New))
}

// TestRegistered checks that a hash which a program has registered is not taken for that of the standard
// library. The tests of package hmac have all other functions.
func TestRegistered(t *testing.T) {
	if known.Do(findMakers); len(known.makers) == 0 {
		t.Skip("SHA-2 of the standard library is not Go's own")
	}
	for name, f := range map[string]func() hash.Hash{
		"crypto.SHA256.New": crypto.SHA256.New,
		"crypto.SHA384.New": crypto.SHA384.New,
		"crypto.SHA1.New":   crypto.SHA1.New,
		"a closure":         func() hash.Hash { return crypto.SHA256.New() },
	} {
		if h := Hash(f); h != nil {
			t.Errorf("%s is taken for %v", name, h.ID)
		}
		if SHA1(f) {
			t.Errorf("%s is taken for SHA-1", name)
		}
	}
	for _, f := range []func() hash.Hash{crypto.SHA224.New, sha256.New224} {
		if h := Hash(f); h == nil || h.ID != crypto.SHA224 {
			t.Error("SHA-224 is not known")
		}
	}
	if h := Hash(sha256.New); h == nil || h.ID != crypto.SHA256 {
		t.Error("SHA-256 of the standard library is not known")
	}
	if !SHA1(sha1.New) || SHA1(nil) || Hash(sha1.New) != nil {
		t.Error("SHA-1 of the standard library is not known, or nil is")
	}
}
