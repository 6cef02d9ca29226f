// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac

import (
	"crypto"
	"crypto/sha512"

	"example.com/fastmac/internal/sha2"
)

// The hashes with words of 64 bits. SHA-384 and the truncated forms are SHA-512 with other initial
// values, and cut. HMAC with these cuts the inner hash too, so a kernel that goes from the inner to the
// outer hash by itself is for SHA-512 only.
var (
	hmacSHA384     = hmacHash{hash: crypto.SHA384, size: sha512.Size384, initial512: &sha2.Initial384, new: sha512.New384}
	hmacSHA512     = hmacHash{hash: crypto.SHA512, size: sha512.Size, initial512: &sha2.Initial512, new: sha512.New}
	hmacSHA512_224 = hmacHash{hash: crypto.SHA512_224, size: sha512.Size224, initial512: &sha2.Initial512_224, new: sha512.New512_224}
	hmacSHA512_256 = hmacHash{hash: crypto.SHA512_256, size: sha512.Size256, initial512: &sha2.Initial512_256, new: sha512.New512_256}
)
