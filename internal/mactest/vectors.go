// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package mactest holds what the tests of this module share: the contract suite
// for hash.Hash and the loaders of the vectors in testdata. Only tests import it.
package mactest

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// UMACVector is a message with its UMAC tags.
type UMACVector struct {
	Name       string
	Key, Nonce []byte
	Tags       map[int][]byte // by tag size in bytes

	msg func() []byte
}

// Msg makes the message: up to 33 MB, so that not all are held at once.
func (v *UMACVector) Msg() []byte { return v.msg() }

// UMACVectors returns all UMAC vectors of testdata.
func UMACVectors(t testing.TB) []UMACVector {
	var vectors []UMACVector
	for _, name := range []string{"rfc/rfc4418_umac.json", "nettle/umac_nettle.json"} {
		var file struct {
			Tests []struct {
				TagSize         int // bits
				Key, Nonce, Tag hexBytes
				MsgPattern      hexBytes
				MsgLength       int
			}
		}
		load(t, name, &file)
		for i, test := range file.Tests {
			vectors = append(vectors, UMACVector{
				Name: fmt.Sprintf("%s#%d", name, i), Key: test.Key, Nonce: test.Nonce,
				Tags: map[int][]byte{test.TagSize / 8: test.Tag},
				msg: func() []byte {
					if test.MsgLength == 0 {
						return nil
					}
					n := test.MsgLength/len(test.MsgPattern) + 1
					return bytes.Repeat(test.MsgPattern, n)[:test.MsgLength]
				},
			})
		}
	}

	const edge = "edge/umac_edge.json"
	var file struct {
		Tests []struct {
			TcID       int
			Group      string
			Key, Nonce hexBytes
			Msg        []struct {
				Hex    hexBytes
				Repeat int // absent means once
			}
			Tags map[string]hexBytes // by size in bits
		}
	}
	load(t, edge, &file)
	for _, test := range file.Tests {
		v := UMACVector{
			Name: fmt.Sprintf("%s#%d/%s", edge, test.TcID, test.Group),
			Key:  test.Key, Nonce: test.Nonce,
			Tags: make(map[int][]byte),
			msg: func() []byte {
				var b []byte
				for _, part := range test.Msg {
					b = append(b, bytes.Repeat(part.Hex, max(part.Repeat, 1))...)
				}
				return b
			},
		}
		for size, tag := range test.Tags {
			var bits int
			if _, err := fmt.Sscan(size, &bits); err != nil {
				t.Fatalf("%s: tag size %q: %v", v.Name, size, err)
			}
			v.Tags[bits/8] = tag
		}
		vectors = append(vectors, v)
	}
	return vectors
}

// HMACVector is a message with its HMAC-SHA-512 tag.
type HMACVector struct {
	Name          string
	Key, Msg, Tag []byte
	// Valid is whether Tag is the tag or, if it is shorter, its beginning.
	Valid bool
}

// HMACVectors returns all HMAC-SHA-512 vectors of testdata.
func HMACVectors(t testing.TB) []HMACVector {
	var vectors []HMACVector
	for _, name := range []string{
		"rfc/rfc4231_hmac_sha512.json",
		"nettle/hmac_sha512_extra.json",
		"nist-cavp/hmac_sha512_cavp.json",
		"acvp/hmac_sha2_512_boringssl.json",
		"acvp/hmac_sha2_512_geomys.json",
	} {
		var file struct {
			Tests []struct {
				Algorithm          string // in ACVP's files, which have other SHA-2 as well
				Key, Msg, Tag, Mac hexBytes
			}
		}
		load(t, name, &file)
		for i, test := range file.Tests {
			if test.Algorithm != "" && test.Algorithm != "HMAC-SHA2-512" {
				continue
			}
			vectors = append(vectors, HMACVector{
				Name: fmt.Sprintf("%s#%d", name, i), Key: test.Key, Msg: test.Msg,
				Tag: append(test.Tag, test.Mac...), Valid: true,
			})
		}
	}

	const wycheproof = "wycheproof/hmac_sha512_test.json"
	var file struct {
		TestGroups []struct {
			Tests []struct {
				TcID          int
				Comment       string
				Key, Msg, Tag hexBytes
				Result        string
			}
		}
	}
	load(t, wycheproof, &file)
	for _, group := range file.TestGroups {
		for _, test := range group.Tests {
			vectors = append(vectors, HMACVector{
				Name: fmt.Sprintf("%s#%d/%s", wycheproof, test.TcID, test.Comment),
				Key:  test.Key, Msg: test.Msg, Tag: test.Tag, Valid: test.Result == "valid",
			})
		}
	}
	return vectors
}

// load decodes a file of testdata, which is found from any folder of the module.
func load(t testing.TB, name string, v any) {
	t.Helper()
	dir := "testdata"
	for {
		b, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		if err == nil {
			if err := json.Unmarshal(b, v); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			return
		}
		if !errors.Is(err, fs.ErrNotExist) || len(dir) > 64 {
			t.Fatalf("testdata/%s: %v", name, err)
		}
		dir = filepath.Join("..", dir)
	}
}

type hexBytes []byte

func (h *hexBytes) UnmarshalText(text []byte) (err error) {
	*h, err = hex.DecodeString(string(text))
	return err
}
