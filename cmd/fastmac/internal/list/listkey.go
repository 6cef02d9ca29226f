// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package list

import (
	"crypto"
	"crypto/sha512"
	"encoding/hex"

	"example.com/fastmac"
	"example.com/fastmac/hkdf"
)

// From the key of a file, HKDF (RFC 5869) derives the identifier of the key and the key of
// lists.
//
// The tag of a list is HMAC-SHA-512 under the list key, whatever the algorithm of the
// files: also with umac32 nobody can guess it, and it needs no nonce, as HMAC has none. It is no
// tag of a file, and the tag of a file is none of a list, even if the file has the content of
// the list:
//
//   - The files' tags are under the key itself, and a list's is under a key that only HKDF
//     returns. HKDF first computes HMAC with listSalt as its key and the file's key as the
//     message. With hmac-sha512 the files' tags are HMAC with the file's key as its key. The two
//     begin with different blocks of SHA-512, as no random key is the salt, so no content of a file
//     makes the two the same. With hmac-sha256 the hash is another one. For UMAC and GMAC the key is
//     one of AES.
//   - So what is seen of the files' tags says nothing of the list key, if SHA-512 is what
//     HMAC and HKDF need, and SHA-256 what HMAC needs, and the other way around. Whoever can have files of their choice
//     tagged has the tag of no list, and whoever sees lists has the tag of no file.
//   - The identifier is derived in the same way under another info, and so says nothing of
//     either.
//
// The name of the algorithm is in both infos: nothing is shared by two algorithms under one
// key, although that is not allowed.
const (
	listSalt   = "fastmac list 1"
	idInfo     = "key identifier "
	listInfo   = "list tag "
	idSize     = 8 // in bytes: no key of anyone has the identifier of another by chance
	listKeyLen = sha512.Size
)

// derive returns the identifier of a key, in hex, and its list key. The identifier says whether two keys
// are equal, and nothing else, if the key cannot be guessed.
func derive(algorithm string, raw []byte) (id string, key *fastmac.HMACKey, err error) {
	idBytes, err := hkdf.Key(sha512.New, raw, []byte(listSalt), idInfo+algorithm, idSize)
	if err != nil {
		return "", nil, err
	}
	listKey, err := hkdf.Key(sha512.New, raw, []byte(listSalt), listInfo+algorithm, listKeyLen)
	if err != nil {
		return "", nil, err
	}
	defer clear(listKey)
	key, err = fastmac.NewHMACKey(crypto.SHA512, listKey)
	return hex.EncodeToString(idBytes), key, err
}
