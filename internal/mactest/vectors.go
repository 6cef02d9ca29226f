// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package mactest holds what the tests of this module share: the contract suite
// for hash.Hash and the loader of the vectors in testdata. Only tests import it.
package mactest

import (
	"bytes"
	"cmp"
	"crypto"
	_ "crypto/sha256" // for SHA2
	_ "crypto/sha512"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// file is a file of testdata with its number of tags, or of keys. A new file gets a row here and one in
// testdata/README.md.
type file struct {
	name string
	tags int
}

var (
	umacFiles = []file{
		{"rfc/rfc4418_umac.json", 32},
		{"nettle/umac_nettle.json", 220},
		{"edge/umac_edge.json", 1764},
	}
	hmacFiles = []file{
		{"rfc/rfc2202_hmac.json", 7},
		{"rfc/rfc4231_hmac.json", 28},
		{"nettle/hmac_extra.json", 36},
		{"nist-cavp/hmac_sha512_cavp.json", 375},
		{"acvp/hmac_sha2_512_boringssl.json", 7},
		{"acvp/hmac_sha2_512_geomys.json", 39},
		{"wycheproof/hmac_sha1_test.json", 170},
		{"wycheproof/hmac_sha224_test.json", 172},
		{"wycheproof/hmac_sha256_test.json", 174},
		{"wycheproof/hmac_sha384_test.json", 174},
		{"wycheproof/hmac_sha512_test.json", 174},
		{"wycheproof/hmac_sha512_224_test.json", 173},
		{"wycheproof/hmac_sha512_256_test.json", 175},
	}
	pbkdf2Files = []file{
		{"wycheproof/pbkdf2_hmacsha1_test.json", 64},
		{"wycheproof/pbkdf2_hmacsha224_test.json", 58},
		{"wycheproof/pbkdf2_hmacsha256_test.json", 60},
		{"wycheproof/pbkdf2_hmacsha384_test.json", 58},
		{"wycheproof/pbkdf2_hmacsha512_test.json", 58},
		{"bip39/bip39_pbkdf2.json", 24},
		{"counts/pbkdf2_hmacsha1_counts.json", 8},
		{"counts/pbkdf2_hmacsha256_counts.json", 8},
		{"counts/pbkdf2_hmacsha512_counts.json", 8},
	}
	hkdfFiles = []file{
		{"rfc/rfc5869_hkdf.json", 7},
		{"wycheproof/hkdf_sha1_test.json", 87},
		{"wycheproof/hkdf_sha256_test.json", 86},
		{"wycheproof/hkdf_sha384_test.json", 83},
		{"wycheproof/hkdf_sha512_test.json", 83},
	}
	gcmFiles = []file{
		{"nist-cavp/aes256_gcm_cavp.json", 750},
		{"wycheproof/aes_gcm_test.json", 316},
		{"wycheproof/aes_gmac_test.json", 414},
	}
)

// UMACVector is a message with its UMAC tags.
type UMACVector struct {
	Name       string
	Group      string // which branch the message reaches, in edge only
	Key, Nonce []byte
	Size       int            // of the message in bytes
	Tags       map[int][]byte // by tag size in bytes

	parts []part
}

// part is a part of a message: some bytes, repeated up to a size.
type part struct {
	pattern hexBytes
	size    int
}

// Msg returns the message in new storage: with up to 33 MB, not all fit in memory.
func (v *UMACVector) Msg() []byte {
	msg := make([]byte, v.Size)
	rest := msg
	for _, p := range v.parts {
		// Each copy doubles what is there.
		for n := copy(rest[:p.size], p.pattern); n > 0 && n < p.size; {
			n += copy(rest[n:p.size], rest[:n])
		}
		rest = rest[p.size:]
	}
	return msg
}

// UMACVectors returns all UMAC vectors of testdata.
func UMACVectors(t testing.TB) (vectors []UMACVector) {
	t.Helper()
	for _, f := range umacFiles {
		tags := 0
		for _, row := range umacRows(t, f.name) {
			tags += len(row.Tags)
			if n := len(vectors); n > 0 && vectors[n-1].merge(row) {
				continue
			}
			vectors = append(vectors, row)
		}
		f.check(t, tags)
	}
	return vectors
}

// merge adds the tags of w if it has the input of v and other tag sizes. It reports
// whether it did.
func (v *UMACVector) merge(w UMACVector) bool {
	if !bytes.Equal(v.Key, w.Key) || !bytes.Equal(v.Nonce, w.Nonce) || v.Size != w.Size || len(v.parts) != 1 ||
		len(w.parts) != 1 || !bytes.Equal(v.parts[0].pattern, w.parts[0].pattern) {
		return false
	}
	for size := range w.Tags {
		if v.Tags[size] != nil {
			return false
		}
	}
	for size, tag := range w.Tags {
		v.Tags[size] = tag
	}
	return true
}

// umacRows reads a file in either of two formats: a pattern and one tag, or parts
// of a message and several tags.
func umacRows(t testing.TB, name string) (vectors []UMACVector) {
	t.Helper()
	var content struct {
		Tests []struct {
			TcID       int
			Group      string
			Key, Nonce hexBytes
			MsgLength  int

			MsgPattern hexBytes
			TagSize    int // bits
			Tag        hexBytes

			Msg []struct {
				Hex    hexBytes
				Repeat *int // absent means once
			}
			Tags map[string]hexBytes // by size in bits
		}
	}
	load(t, name, &content)
	for i, test := range content.Tests {
		v := UMACVector{
			Name: fmt.Sprintf("%s#%d", name, i), Group: test.Group,
			Key: test.Key, Nonce: test.Nonce,
			Size: test.MsgLength, Tags: make(map[int][]byte),
		}
		if test.Tags == nil {
			v.parts = []part{{test.MsgPattern, test.MsgLength}}
			test.Tags = map[string]hexBytes{strconv.Itoa(test.TagSize): test.Tag}
		} else {
			v.Name = fmt.Sprintf("%s#%d/%s", name, test.TcID, test.Group)
			for _, p := range test.Msg {
				size := len(p.Hex)
				if p.Repeat != nil {
					size *= *p.Repeat
				}
				v.parts = append(v.parts, part{p.Hex, size})
			}
		}
		size := 0
		for _, p := range v.parts {
			size += p.size
		}
		if size != v.Size {
			t.Fatalf("%s: message of %d bytes, want %d", v.Name, size, v.Size)
		}
		for bits, tag := range test.Tags {
			if strconv.Itoa(8*len(tag)) != bits {
				t.Fatalf("%s: tag %x for %s bits", v.Name, tag, bits)
			}
			v.Tags[len(tag)] = tag
		}
		vectors = append(vectors, v)
	}
	return vectors
}

// SHA2 are the hashes that HMAC of the root package has: SHA-1 is only in the drop-in packages.
var SHA2 = []crypto.Hash{crypto.SHA224, crypto.SHA256, crypto.SHA384, crypto.SHA512, crypto.SHA512_224, crypto.SHA512_256}

// HMACVector is a message with its HMAC tag.
type HMACVector struct {
	Name          string
	Hash          crypto.Hash
	Key, Msg, Tag []byte
	// Valid reports whether Tag is the tag or its beginning.
	Valid bool
}

// hmacRow is a test in any of the formats.
type hmacRow struct {
	TcID      int
	Comment   string
	Algorithm string // if it is not that of the file
	Key, Msg  hexBytes
	Tag, Mac  hexBytes // one of them
	Result    string   // in Wycheproof's
}

// HMACVectors returns the HMAC vectors of testdata with one of these hashes, or with SHA-2.
func HMACVectors(t testing.TB, hashes ...crypto.Hash) (vectors []HMACVector) {
	t.Helper()
	if len(hashes) == 0 {
		hashes = SHA2
	}
	for _, f := range hmacFiles {
		var content struct {
			Algorithm  string
			Tests      []hmacRow
			TestGroups []struct{ Tests []hmacRow }
		}
		load(t, f.name, &content)
		rows := content.Tests
		for _, group := range content.TestGroups {
			rows = append(rows, group.Tests...)
		}
		f.check(t, len(rows))
		for i, row := range rows {
			h := hmacHash(t, cmp.Or(row.Algorithm, content.Algorithm))
			if !slices.Contains(hashes, h) {
				continue
			}
			vectors = append(vectors, HMACVector{
				Name: fmt.Sprintf("%s#%d/%d %s", f.name, i, row.TcID, row.Comment), Hash: h,
				Key: row.Key, Msg: row.Msg, Tag: append(row.Tag, row.Mac...),
				Valid: row.Result == "" || row.Result == "valid",
			})
		}
	}
	return vectors
}

// PBKDF2Vector is a key that was derived from a password.
type PBKDF2Vector struct {
	Name           string
	Hash           crypto.Hash
	Password, Salt []byte
	Iter           int
	Key            []byte
}

// PBKDF2Vectors returns all PBKDF2 vectors of testdata.
func PBKDF2Vectors(t testing.TB) (vectors []PBKDF2Vector) {
	t.Helper()
	type row struct {
		TcID               int
		Password, Salt, DK hexBytes
		IterationCount     int
		Result             string
	}
	for _, f := range pbkdf2Files {
		var content struct {
			Algorithm  string
			Tests      []row
			TestGroups []struct{ Tests []row }
		}
		load(t, f.name, &content)
		rows := content.Tests
		for _, group := range content.TestGroups {
			rows = append(rows, group.Tests...)
		}
		f.check(t, len(rows))
		h := hmacHash(t, strings.TrimPrefix(content.Algorithm, "PBKDF2-"))
		for _, r := range rows {
			if r.Result != "valid" {
				t.Fatalf("testdata/%s: test %d is %s", f.name, r.TcID, r.Result)
			}
			vectors = append(vectors, PBKDF2Vector{fmt.Sprintf("%s#%d", f.name, r.TcID), h, r.Password, r.Salt, r.IterationCount, r.DK})
		}
	}
	return vectors
}

// HKDFVector is a key that was derived from a secret.
type HKDFVector struct {
	Name               string
	Hash               crypto.Hash // SHA-1 too
	Secret, Salt, Info []byte
	Pseudorandom       []byte // what the first step makes, or nil
	Key                []byte // nil if Size is too large
	Size               int
}

// HKDFVectors returns all HKDF vectors of testdata.
func HKDFVectors(t testing.TB) (vectors []HKDFVector) {
	t.Helper()
	type row struct {
		TcID                      int
		Hash                      string // if it is not that of the file
		IKM, Salt, Info, PRK, OKM hexBytes
		Size                      int    // in Wycheproof's
		Result                    string // in Wycheproof's
	}
	for _, f := range hkdfFiles {
		var content struct {
			Algorithm  string
			Tests      []row
			TestGroups []struct{ Tests []row }
		}
		load(t, f.name, &content)
		rows := content.Tests
		for _, group := range content.TestGroups {
			rows = append(rows, group.Tests...)
		}
		f.check(t, len(rows))
		for i, r := range rows {
			h := crypto.SHA1
			if name := cmp.Or(r.Hash, strings.TrimPrefix(content.Algorithm, "HKDF-")); name != h.String() {
				h = hmacHash(t, "HMAC-"+name)
			}
			v := HKDFVector{fmt.Sprintf("%s#%d/%d", f.name, i, r.TcID), h, r.IKM, r.Salt, r.Info, r.PRK, r.OKM, cmp.Or(r.Size, len(r.OKM))}
			if r.Result == "invalid" {
				v.Key = nil
			}
			vectors = append(vectors, v)
		}
	}
	return vectors
}

// hmacHash returns the hash of an algorithm, which Wycheproof names HMACSHA256, ACVP
// HMAC-SHA2-256, and the others HMAC-SHA-256.
func hmacHash(t testing.TB, algorithm string) crypto.Hash {
	t.Helper()
	for _, h := range append([]crypto.Hash{crypto.SHA1}, SHA2...) {
		bits := strings.TrimPrefix(h.String(), "SHA-")
		if algorithm == "HMACSHA"+bits || algorithm == "HMAC-SHA2-"+bits || algorithm == "HMAC-SHA-"+bits {
			return h
		}
	}
	t.Fatalf("testdata has tags of %q", algorithm)
	return 0
}

// GCMVector is a plaintext with additional data, sealed with AES-GCM. If the plaintext is
// empty, Tag is the GMAC of the additional data.
type GCMVector struct {
	Name             string
	Key, Nonce, Data []byte
	Plaintext        []byte // may be nil if the vector is not valid
	Ciphertext, Tag  []byte
	// Valid reports whether Ciphertext and Tag are right.
	Valid bool
}

// gcmRow is a test in any of the formats.
type gcmRow struct {
	TcID           int
	Comment        string
	Key, IV, AAD   hexBytes
	Plaintext, Msg hexBytes // one of them; in Wycheproof's GMAC Msg is the additional data
	Ciphertext, CT hexBytes // one of them
	Tag            hexBytes
	Result         string // in Wycheproof's
	Valid          *bool  // in CAVP's tests of decryption
}

// GCMVectors returns all AES-GCM and GMAC vectors of testdata.
func GCMVectors(t testing.TB) (vectors []GCMVector) {
	t.Helper()
	for _, f := range gcmFiles {
		var content struct {
			Algorithm        string // in Wycheproof's
			Encrypt, Decrypt []gcmRow
			TestGroups       []struct{ Tests []gcmRow }
		}
		load(t, f.name, &content)
		rows := append(content.Encrypt, content.Decrypt...)
		for _, group := range content.TestGroups {
			rows = append(rows, group.Tests...)
		}
		for i, row := range rows {
			if content.Algorithm == "AES-GMAC" {
				row.AAD, row.Msg = row.Msg, nil
			}
			vectors = append(vectors, GCMVector{
				Name: fmt.Sprintf("%s#%d/%d %s", f.name, i, row.TcID, row.Comment),
				Key:  row.Key, Nonce: row.IV, Data: row.AAD,
				Plaintext: append(row.Plaintext, row.Msg...), Ciphertext: append(row.Ciphertext, row.CT...), Tag: row.Tag,
				Valid: row.Result == "valid" || row.Result == "" && (row.Valid == nil || *row.Valid),
			})
		}
		f.check(t, len(rows))
	}
	return vectors
}

func (f file) check(t testing.TB, tags int) {
	t.Helper()
	if tags != f.tags {
		t.Fatalf("testdata/%s: %d tags, want %d", f.name, tags, f.tags)
	}
}

// load decodes a file of testdata.
func load(t testing.TB, name string, v any) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(testdata(t), filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, v); err != nil {
		t.Fatalf("testdata/%s: %v", name, err)
	}
}

// testdata returns the path of the module's testdata, from any of its folders.
func testdata(t testing.TB) string {
	t.Helper()
	for dir := "testdata"; len(dir) < 64; dir = filepath.Join("..", dir) {
		_, err := os.Stat(filepath.Join(dir, "rfc"))
		if err == nil {
			return dir
		}
		if !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
	}
	t.Fatal("no testdata")
	return ""
}

type hexBytes []byte

func (h *hexBytes) UnmarshalText(text []byte) (err error) {
	*h, err = hex.DecodeString(string(text))
	return err
}

// TamperSizes are sizes in bytes of messages that the tests of tampering have, next to the limits of the kernels.
var TamperSizes = [64]int{
	0, 1, 2, 3, 4, 7, 8, 9, 12, 15, 16, 17, 20, 24, 28, 31, 32, 33, 40, 47, 48, 49, 55, 63, 64, 65, 80, 95, 96, 97,
	111, 112, 113, 127, 128, 129, 159, 160, 191, 192, 193, 223, 224, 239, 240, 255, 256, 257, 320, 383, 384, 511, 512, 513, 700,
	1000, 1023, 1024, 1025, 1056, 1500, 2047, 2048, 2049,
}
