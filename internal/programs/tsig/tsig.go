// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package tsig has keys for signatures of DNS messages, RFC 8945, by github.com/miekg/dns. Each is set up
// once.
package tsig

import (
	"crypto"
	"encoding/base64"
	"encoding/hex"
	"fmt"

	"example.com/fastmac"
	"github.com/miekg/dns"
)

// Keys has keys by name. It is a dns.TsigProvider for clients, servers and zone transfers. Goroutines can
// share it once all keys are added.
type Keys map[string]key

type key struct {
	algorithm string
	hmac      *fastmac.HMACKey
}

// Add adds a key with a name such as "transfer." and one algorithm, such as dns.HmacSHA256. The secret
// is in base64, as in the configuration of name servers.
func (k Keys) Add(name, algorithm, secret string) error {
	name, algorithm = dns.CanonicalName(name), dns.CanonicalName(algorithm)
	hash, ok := map[string]crypto.Hash{
		dns.HmacSHA224: crypto.SHA224, dns.HmacSHA256: crypto.SHA256, dns.HmacSHA384: crypto.SHA384, dns.HmacSHA512: crypto.SHA512,
	}[algorithm]
	if !ok {
		return fmt.Errorf("%s: %w", algorithm, dns.ErrKeyAlg)
	}
	raw, err := base64.StdEncoding.DecodeString(secret)
	if err == nil && len(raw) == 0 {
		err = dns.ErrSecret // anybody has it
	}
	if err != nil {
		return fmt.Errorf("key %s: %w", name, err)
	}
	h, err := fastmac.NewHMACKey(hash, raw)
	if err != nil {
		return err
	}
	k[name] = key{algorithm, h}
	return nil
}

// find returns the key that a record names.
func (k Keys) find(t *dns.TSIG) (*fastmac.HMACKey, error) {
	found, ok := k[dns.CanonicalName(t.Hdr.Name)]
	if !ok {
		return nil, dns.ErrSecret
	}
	if dns.CanonicalName(t.Algorithm) != found.algorithm {
		return nil, dns.ErrKeyAlg
	}
	return found.hmac, nil
}

func (k Keys) Generate(msg []byte, t *dns.TSIG) ([]byte, error) {
	h, err := k.find(t)
	if err != nil {
		return nil, err
	}
	return h.Tag(nil, msg), nil
}

func (k Keys) Verify(msg []byte, t *dns.TSIG) error {
	h, err := k.find(t)
	if err != nil {
		return err
	}
	tag, err := hex.DecodeString(t.MAC)
	if err != nil {
		return err
	}
	if !h.Verify(tag, msg) {
		return dns.ErrSig
	}
	return nil
}
