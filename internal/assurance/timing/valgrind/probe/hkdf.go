// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"crypto"
	"io"
	"strings"

	"example.com/fastmac/hkdf"
	"example.com/fastmac/internal/assurance/timing/macs"
	"example.com/fastmac/internal/mactest"
	xhkdf "example.com/fastmac/x/crypto/hkdf"
)

func hkdfOperations() (operations []operation) {
	for _, h := range macs.HMACHashes {
		operations = append(operations, operation{"HKDF-" + h.String(), func() { hkdfKeys(h) }})
	}
	return operations
}

// hkdfKeys derives keys of several sizes, from secrets and salts of several sizes.
func hkdfKeys(h crypto.Hash) {
	for i, size := range []int{1, h.Size(), h.Size() + 1, 3 * h.Size()} {
		for _, info := range []string{"", strings.Repeat("i", 20), strings.Repeat("i", 200)} {
			result(mactest.Must(hkdf.Key(h.New, hmacKey(h, i), secret(16), info, size)))
			result(mactest.Must(hkdf.Expand(h.New, hmacKey(h, i), info, size)))
		}
		result(mactest.Must(hkdf.Extract(h.New, hmacKey(h, i), nil)))
		result(xhkdf.Extract(h.New, hmacKey(h, i), secret(16)))
		for _, r := range []io.Reader{xhkdf.New(h.New, hmacKey(h, i), secret(16), nil), xhkdf.Expand(h.New, hmacKey(h, i), secret(20))} {
			key := make([]byte, size)
			io.ReadFull(r, key)
			result(key)
		}
	}
}
