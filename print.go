// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac

import "example.com/fastmac/internal/opaque"

// Keys and streams embed one of these, and print as what String of its type returns.
type (
	umacKeyName       = opaque.Name[umacKeyText]
	umacName          = opaque.Name[umacText]
	hmacSHA512KeyName = opaque.Name[hmacSHA512KeyText]
	hmacSHA512Name    = opaque.Name[hmacSHA512Text]
	gmacKeyName       = opaque.Name[gmacKeyText]
	gmacName          = opaque.Name[gmacText]
)

type (
	umacKeyText       tagSize
	umacText          tagSize
	hmacSHA512KeyText struct{}
	hmacSHA512Text    struct{}
	gmacKeyText       struct{}
	gmacText          struct{}
)

func (t umacKeyText) String() string     { return "fastmac.UMACKey(" + tagSize(t).String() + ")" }
func (t umacText) String() string        { return "fastmac.UMAC(" + tagSize(t).String() + ")" }
func (hmacSHA512KeyText) String() string { return "fastmac.HMACSHA512Key(512-bit tag)" }
func (hmacSHA512Text) String() string    { return "fastmac.HMACSHA512(512-bit tag)" }
func (gmacKeyText) String() string       { return "fastmac.GMACKey(128-bit tag)" }
func (gmacText) String() string          { return "fastmac.GMAC(128-bit tag)" }
