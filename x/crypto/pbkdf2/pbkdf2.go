// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package pbkdf2 has the function of golang.org/x/crypto/pbkdf2, whose arguments have another order than
// those of [crypto/pbkdf2]. To use it, change the import line. New code uses [fastmac/pbkdf2].
//
// [fastmac/pbkdf2]: https://pkg.go.dev/example.com/fastmac/pbkdf2
package pbkdf2

import (
	"hash"
	"unsafe"

	"example.com/fastmac/pbkdf2"
)

// Key returns a key of keyLen bytes, derived from a password, a salt and a number of iterations, as
// [pbkdf2.Key] does. It panics where that returns an error.
func Key(password, salt []byte, iter, keyLen int, h func() hash.Hash) []byte {
	key, err := pbkdf2.Key(h, unsafe.String(unsafe.SliceData(password), len(password)), salt, iter, keyLen)
	if err != nil {
		panic(err)
	}
	return key
}
