// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package list

import (
	"crypto"
	"crypto/sha256"
	"crypto/sha512"
	"fmt"
	"strings"

	"example.com/fastmac"
)

// An algorithm is a MAC, with sizes in bytes.
type algorithm struct {
	name                string
	key, nonce, tagSize int
	hash                crypto.Hash // of HMAC
}

// A nonce of UMAC has 16 bytes because it is random, as in [fastmac.UMACKey.Sign].
var algorithms = []*algorithm{
	{"umac32", 16, fastmac.UMACMaxNonceSize, fastmac.UMAC32Size, 0},
	{"umac64", 16, fastmac.UMACMaxNonceSize, fastmac.UMAC64Size, 0},
	{"umac96", 16, fastmac.UMACMaxNonceSize, fastmac.UMAC96Size, 0},
	{"umac128", 16, fastmac.UMACMaxNonceSize, fastmac.UMAC128Size, 0},
	{"gmac", 16, fastmac.GMACNonceSize, fastmac.GMACSize, 0},
	{"hmac-sha256", 32, 0, sha256.Size, crypto.SHA256},
	{"hmac-sha512", 64, 0, sha512.Size, crypto.SHA512},
}

// Names returns the names of the algorithms.
func Names() (names []string) {
	for _, a := range algorithms {
		names = append(names, a.name)
	}
	return names
}

func byName(name string) *algorithm {
	for _, a := range algorithms {
		if a.name == name {
			return a
		}
	}
	return nil
}

// CheckName returns an error if no algorithm has this name.
func CheckName(name string) error {
	if byName(name) == nil {
		return fmt.Errorf("no algorithm %q: want one of %s", name, strings.Join(Names(), ", "))
	}
	return nil
}

// checkKeySize returns an error if a key in a file cannot have this size.
func (a *algorithm) checkKeySize(size int) error {
	switch {
	case a.nonce > 0 && size != 16 && size != 24 && size != 32:
		return fmt.Errorf("a key of %d bytes: want 16, 24 or 32 for %s", size, a.name)
	case a.nonce == 0 && size < 32:
		return fmt.Errorf("a key of %d bytes: want at least 32 for %s", size, a.name)
	}
	return nil
}
