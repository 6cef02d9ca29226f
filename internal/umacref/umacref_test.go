// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package umacref

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"example.com/fastmac/internal/mactest"
)

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestVectors compares with the RFC's table, with its erratum 3507, nettle's vectors,
// and the edge vectors, which reach what random messages do not: the marker of POLY,
// residues next to the primes, more than 2^24 bytes.
//
// Of nettle's vectors and of each group of edge vectors, it hashes one message of more than
// 1 MiB. The long run hashes all of them; short mode none, because the race detector and
// emulated CPUs take minutes for them.
func TestVectors(t *testing.T) {
	inGroup := make(map[string]int) // messages of more than 1 MiB
	for _, v := range mactest.UMACVectors(t) {
		if v.Size > 1<<20 && !strings.HasPrefix(v.Name, "rfc/") {
			if inGroup[v.Group]++; inGroup[v.Group] > 1 && !mactest.Long() {
				continue
			}
		}
		t.Run(v.Name, func(t *testing.T) {
			if testing.Short() && v.Size > 1<<20 {
				t.Skip("message of more than 1 MiB in short mode")
			}
			t.Parallel()
			msg := v.Msg()
			for taglen, want := range v.Tags {
				if got := UMAC(v.Key, msg, v.Nonce, taglen); !bytes.Equal(got, want) {
					t.Errorf("UMAC-%d: tag %x, want %x", 8*taglen, got, want)
				}
			}
		})
	}
}

// TestAppendixIntermediates checks each layer against the keys and the
// intermediate results that the RFC's appendix prints for a 64-bit tag.
func TestAppendixIntermediates(t *testing.T) {
	K := []byte("abcdefghijklmnop")
	Nonce := []byte("bcdefghi")
	M := bytes.Repeat([]byte("abc"), 500)
	check := func(name string, got []byte, want string) {
		t.Helper()
		if !bytes.Equal(got, unhex(t, want)) {
			t.Errorf("%s: %x, want %s", name, got, want)
		}
	}

	L1Key := KDF(K, 1, 1024+16)
	L2Key := KDF(K, 2, 2*24)
	L3Key1 := KDF(K, 3, 2*64)
	L3Key2 := KDF(K, 4, 2*4)
	for i, want := range []struct {
		NH                  string // K_1 to K_5
		K_256               string
		k64                 string
		k5to8               [4]string
		K2                  string
		L1Hash, L2Hash, L3H string
	}{
		{
			NH:     "acd79b4f6eda0d0e1625b60384f9fc93c6dfeca2",
			K_256:  "0bf0f56c",
			k64:    "0094b8dd0137bef8",
			k5to8:  [4]string{"056533c3a8", "07591e062e", "0c2d30f89d", "046786437c"},
			K2:     "2e79f461",
			L1Hash: "e6096f94edc45cac1bedcd0e7fdaa906",
			L2Hash: "0000000000000000a6c537d7986fa4aa",
			L3H:    "05f86309",
		},
		{
			NH:     "c6dfeca2964a710dad7ede4da1d3935e62ec8672",
			K_256:  "744c294f",
			k64:    "01036f4d000e7e72",
			k5to8:  [4]string{"0504bf4d4e", "0126e922ff", "030c0399e2", "04c1cb8fed"},
			K2:     "a74c03aa",
			L1Hash: "2665ead321cfae79c82f3b90261641e5",
			L2Hash: "00000000000000001d79eaf247b394bf",
			L3H:    "df9ad858",
		},
	} {
		l1key := L1Key[16*i : 16*i+1024]
		l2key := L2Key[24*i : 24*(i+1)]
		l3key1 := L3Key1[64*i : 64*(i+1)]
		l3key2 := L3Key2[4*i : 4*(i+1)]
		check("K_1 to K_5", l1key[:20], want.NH)
		check("K_256", l1key[1020:], want.K_256)
		check("k64", and(l2key[:8], unhex(t, "01ffffff01ffffff")), want.k64)
		for j, k := range want.k5to8 {
			k_j := str2uint(l3key1[8*(4+j) : 8*(5+j)])
			check(fmt.Sprintf("k_%d", 5+j), uint2str(k_j.Mod(k_j, prime(36)), 5), k)
		}
		check("K2", l3key2, want.K2)

		A := L1Hash(l1key, M)
		check("L1-HASH", A, want.L1Hash)
		B := L2Hash(l2key, A)
		check("L2-HASH", B, want.L2Hash)
		check("L3-HASH", L3Hash(l3key1, l3key2, B), want.L3H)
	}

	check("UHASH", UHASH(K, M, 8), "05f86309df9ad858")
	check("PDF", PDF(K, Nonce, 8), "d13745d4304f1842")
}

// TestKeyLengths covers keys of 24 and 32 bytes, for which there are no vectors. KDF is
// AES in counter mode, with the index in the upper half of the counter block and
// counts from 1 on, so crypto/cipher can compute it too; and PDF follows from it.
func TestKeyLengths(t *testing.T) {
	Nonce := []byte("123456789")
	for _, keylen := range []int{16, 24, 32} {
		K := []byte("abcdefghijklmnopqrstuvwxyz012345")[:keylen]
		keystream := func(index uint64, numbytes int) []byte {
			block, err := aes.NewCipher(K)
			if err != nil {
				t.Fatal(err)
			}
			iv := binary.BigEndian.AppendUint64(nil, index)
			iv = binary.BigEndian.AppendUint64(iv, 1)
			Y := make([]byte, numbytes)
			cipher.NewCTR(block, iv).XORKeyStream(Y, Y)
			return Y
		}
		for _, index := range []uint64{0, 1, 4, 1<<64 - 1} {
			for _, numbytes := range []int{0, 1, 15, 16, 17, 32, 1072, 16 * 257} {
				if got, want := KDF(K, index, numbytes), keystream(index, numbytes); !bytes.Equal(got, want) {
					t.Errorf("KEYLEN %d: KDF(K, %d, %d) = %x, want %x", keylen, index, numbytes, got, want)
				}
			}
		}

		sub, err := aes.NewCipher(keystream(0, keylen))
		if err != nil {
			t.Fatal(err)
		}
		// The nonce ends in '9' = 0x39, so index is 1 for both short pads,
		// and the enciphered block ends in 0x38.
		short, long := make([]byte, 16), make([]byte, 16)
		sub.Encrypt(short, []byte("123456788\x00\x00\x00\x00\x00\x00\x00"))
		sub.Encrypt(long, []byte("123456789\x00\x00\x00\x00\x00\x00\x00"))
		for taglen, want := range map[int][]byte{4: short[4:8], 8: short[8:], 12: long[:12], 16: long} {
			if got := PDF(K, Nonce, taglen); !bytes.Equal(got, want) {
				t.Errorf("KEYLEN %d: PDF of %d bytes = %x, want %x", keylen, taglen, got, want)
			}
		}
	}
}

// TestPrime checks the table of section 2.2 against its definition: prime(n)
// is prime, and no number between it and 2^n is.
func TestPrime(t *testing.T) {
	for _, n := range []uint{36, 64, 128} {
		p := prime(n)
		if !p.ProbablyPrime(20) {
			t.Errorf("prime(%d) = %v is composite", n, p)
		}
		for q := new(big.Int).Add(p, big.NewInt(1)); q.Cmp(pow2(n)) < 0; q.Add(q, big.NewInt(1)) {
			if q.ProbablyPrime(20) {
				t.Errorf("prime(%d) = %v, but %v is a larger prime", n, p, q)
			}
		}
	}
}

// TestPOLYZero has the smallest k, under which only the last word matters.
func TestPOLYZero(t *testing.T) {
	msg := append(bytes.Repeat([]byte{7}, 8), 0, 0, 0, 0, 0, 0, 1, 2)
	if y := POLY(64, pow2(63), new(big.Int), msg); y.Int64() != 0x102 {
		t.Errorf("%v, want %v", y, 0x102)
	}
}

// TestPanics checks the panics of each function. The first word of a name is in the message.
func TestPanics(t *testing.T) {
	b := func(n int) []byte { return make([]byte, n) }
	one := big.NewInt(1)
	for name, f := range map[string]func(){
		"UMAC key of 0":           func() { UMAC(nil, nil, b(8), 8) },
		"UMAC key of 15":          func() { UMAC(b(15), nil, b(8), 8) },
		"UMAC nonce of 0":         func() { UMAC(b(16), nil, nil, 8) },
		"UMAC nonce of 17":        func() { UMAC(b(16), nil, b(17), 8) },
		"UMAC tag of 0":           func() { UMAC(b(16), nil, b(8), 0) },
		"UMAC tag of 20":          func() { UMAC(b(16), nil, b(8), 20) },
		"UHASH key of 33":         func() { UHASH(b(33), nil, 8) },
		"UHASH tag of 6":          func() { UHASH(b(16), nil, 6) },
		"KDF key of 17":           func() { KDF(b(17), 0, 16) },
		"KDF numbytes of -1":      func() { KDF(b(16), 0, -1) },
		"PDF key of 8":            func() { PDF(b(8), b(8), 8) },
		"PDF nonce of 0":          func() { PDF(b(16), nil, 8) },
		"PDF tag of 5":            func() { PDF(b(16), b(8), 5) },
		"L1-HASH key of 1040":     func() { L1Hash(b(1040), nil) },
		"NH key of 1023":          func() { NH(b(1023), b(32)) },
		"NH message of 31":        func() { NH(b(1024), b(31)) },
		"NH message of 1056":      func() { NH(b(1024), b(1056)) },
		"L2-HASH key of 23":       func() { L2Hash(b(23), b(16)) },
		"POLY of L2-HASH of 12":   func() { L2Hash(b(24), b(12)) },
		"POLY wordbits of 32":     func() { POLY(32, one, one, b(16)) },
		"POLY maxwordrange of 0":  func() { POLY(64, big.NewInt(0), one, b(16)) },
		"POLY maxwordrange of 2^": func() { POLY(64, pow2(64), one, b(16)) },
		"POLY k of -1":            func() { POLY(64, one, big.NewInt(-1), b(16)) },
		"POLY k of p":             func() { POLY(64, one, prime(64), b(16)) },
		"POLY message of 8":       func() { POLY(128, one, one, b(8)) },
		"L3-HASH K1 of 63":        func() { L3Hash(b(63), b(4), b(16)) },
		"L3-HASH K2 of 5":         func() { L3Hash(b(64), b(5), b(16)) },
		"L3-HASH message of 8":    func() { L3Hash(b(64), b(4), b(8)) },
		"ENDIAN-SWAP of 6":        func() { endianSwap(b(6)) },
		"xor of 2 and 1":          func() { xor(b(2), b(1)) },
		"and of 2 and 1":          func() { and(b(2), b(1)) },
		"+_64 of 9 and 8":         func() { add64(b(9), b(8)) },
		"+_64 of 8 and 9":         func() { add64(b(8), b(9)) },
		"prime of 32":             func() { prime(32) },
		"ENCIPHER key of 15":      func() { encipher(b(15), b(16)) },
		"ENCIPHER P of 17":        func() { encipher(b(16), b(17)) },
		"math/big in uint2str":    func() { uint2str(big.NewInt(256), 1) },
		"uint2str negative":       func() { uint2str(big.NewInt(-1), 1) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				message := fmt.Sprint(recover())
				if word, _, _ := strings.Cut(name, " "); !strings.Contains(message, word) {
					t.Errorf("panic with %q, want %s in it", message, word)
				}
			}()
			f()
		})
	}
}
