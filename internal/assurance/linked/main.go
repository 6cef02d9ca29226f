// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Command linked is never run. Its functions call all assembly of the module, so that the
// linker keeps all of it, and command verify disassembles the result.
package main

import (
	"crypto/cipher"
	"hash"
	"runtime"

	"example.com/fastmac"
	"example.com/fastmac/aesgcm"
	"example.com/fastmac/hwrand"
	"example.com/fastmac/pbkdf2"
)

func main() {
	runtime.KeepAlive([]any{
		fastmac.NewUMACKey, (*fastmac.UMACKey).Tag, (*fastmac.UMACKey).TagBatch, (*fastmac.UMAC).Write, (*fastmac.UMAC).Sum,
		fastmac.NewGMACKey, (*fastmac.GMACKey).Tag, (*fastmac.GMAC).Write, (*fastmac.GMAC).Sum,
		fastmac.NewHMACKey, (*fastmac.HMACKey).Tag, (*fastmac.HMACKey).TagBatch, fastmac.TagBatch[*fastmac.UMACKey],
		pbkdf2.Key[hash.Hash],
		aesgcm.NewKey, (*aesgcm.Key).Seal, (*aesgcm.Key).Open,
		hwrand.New, (*hwrand.Reader).Read,
		cipher.NewGCM, cipher.AEAD.Seal, // for command mca, which compares with it
	})
}
