// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package list

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"example.com/fastmac"
)

// A Key is a key and its algorithm. It is safe for concurrent use until Destroy.
type Key struct {
	*algorithm
	umac *fastmac.UMACKey // one of these
	gmac *fastmac.GMACKey
	hmac *fastmac.HMACKey

	ID   string           // the identifier, in hex
	list *fastmac.HMACKey // of the tags of lists
}

// A NoAlgorithmError is the error for a key in hex for which no algorithm was named.
type NoAlgorithmError string

func (e NoAlgorithmError) Error() string {
	return fmt.Sprintf("%s has a key without an algorithm: name it with -a", string(e))
}

// Algorithm returns the name of the algorithm.
func (k *Key) Algorithm() string { return k.name }

// NewKey returns the text of a key file with a new random key for the algorithm of this name: one line, the
// name, the key in hex and its identifier.
func NewKey(name string) ([]byte, error) {
	raw := make([]byte, byName(name).key)
	defer clear(raw)
	rand.Read(raw)
	id, list, err := derive(name, raw)
	if err != nil {
		return nil, err
	}
	list.Destroy()
	return fmt.Appendf(nil, "%s %x %s\n", name, raw, id), nil
}

// ParseKey returns the key in the text of a key file. Its errors do not have parts of the
// text, which may be those of a key.
func ParseKey(text []byte, name string) (*Key, error) {
	if err := CheckEncoding(text, "keygen -o FILE"); err != nil {
		return nil, err
	}
	fields := bytes.Fields(text)
	if len(fields) == 0 {
		return nil, errors.New("the key file is empty")
	}
	if bytes.ContainsAny(bytes.TrimSpace(text), "\r\n") || len(fields) > 3 {
		return nil, errors.New("no key: want one line with an algorithm, a key in hex and its identifier, or with a key in hex")
	}
	digits, id := fields[0], ""
	if len(fields) > 1 {
		named := string(fields[0])
		if byName(named) == nil {
			return nil, fmt.Errorf("the key is for an unknown algorithm: want one of %s", strings.Join(Names(), ", "))
		}
		if name != "" && name != named {
			return nil, fmt.Errorf("the key is for %s: never use a key with two algorithms", named)
		}
		name, digits = named, fields[1]
	}
	if len(fields) > 2 {
		id = string(fields[2])
	}
	if name == "" {
		return nil, NoAlgorithmError("")
	}
	raw := make([]byte, hex.DecodedLen(len(digits)))
	defer clear(raw)
	if _, err := hex.Decode(raw, digits); err != nil {
		return nil, errors.New("no key: it has characters that are not hex digits, or an odd number of them")
	}
	k, err := newKey(byName(name), raw)
	if err != nil {
		return nil, err
	}
	if id != "" && strings.ToLower(id) != k.ID {
		k.Destroy()
		return nil, errors.New("the identifier belongs to another key: the key or the identifier has changed")
	}
	return k, nil
}

func newKey(a *algorithm, raw []byte) (*Key, error) {
	if err := a.checkKeySize(len(raw)); err != nil {
		return nil, err
	}
	k := &Key{algorithm: a}
	var err error
	switch {
	case a.hash != 0:
		k.hmac, err = fastmac.NewHMACKey(a.hash, raw)
	case a.name == "gmac":
		k.gmac, err = fastmac.NewGMACKey(raw)
	default:
		k.umac, err = fastmac.NewUMACKey(raw, a.tagSize)
	}
	if err != nil {
		return nil, err
	}
	if k.ID, k.list, err = derive(a.name, raw); err != nil {
		return nil, err
	}
	return k, nil
}

// Destroy overwrites the key.
func (k *Key) Destroy() {
	k.list.Destroy()
	switch {
	case k.umac != nil:
		k.umac.Destroy()
	case k.gmac != nil:
		k.gmac.Destroy()
	default:
		k.hmac.Destroy()
	}
}
