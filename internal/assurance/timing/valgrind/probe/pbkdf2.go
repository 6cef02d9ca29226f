// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"context"
	"crypto"

	"example.com/fastmac/internal/assurance/timing/macs"
	"example.com/fastmac/internal/mactest"
	"example.com/fastmac/pbkdf2"
	xpbkdf2 "example.com/fastmac/x/crypto/pbkdf2"
)

func pbkdf2Operations() (operations []operation) {
	for _, h := range append([]crypto.Hash{crypto.SHA1}, macs.HMACHashes...) {
		operations = append(operations,
			operation{"PBKDF2-" + h.String() + ": Key", func() { pbkdf2Key(h) }},
			operation{"PBKDF2-" + h.String() + ": KeyBatch", func() { pbkdf2Batch(h) }})
	}
	return operations
}

// pbkdf2Key derives keys of several sizes. The numbers of iterations are more than one call of the
// assembly, too.
func pbkdf2Key(h crypto.Hash) {
	for i, size := range []int{1, h.Size(), h.Size() + 1, 3 * h.Size()} {
		for _, iter := range []int{1, 2, 3, 600} {
			result(xpbkdf2.Key(hmacKey(h, i), secret(16), iter/100+1, size, h.New))
			result(mactest.Must(pbkdf2.Key(h.New, string(hmacKey(h, i)), secret(16), iter, size)))
		}
	}
}

// pbkdf2Batch derives keys whose sizes and numbers of iterations differ.
func pbkdf2Batch(h crypto.Hash) {
	for _, n := range []int{1, 2, 3, 8, 9, 16, 19} {
		batch := make([]pbkdf2.Derivation, n)
		for i := range batch {
			batch[i] = pbkdf2.Derivation{Password: string(hmacKey(h, i)), Salt: secret(16), Iter: 20 + i%3, Key: make([]byte, 1+20*(i%5))}
		}
		if err := pbkdf2.KeyBatch(context.Background(), h.New, batch); err != nil {
			fail("%v", err)
		}
		for _, d := range batch {
			result(d.Key)
		}
	}
}
