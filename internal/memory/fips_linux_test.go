// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package memory

import (
	"crypto"
	"crypto/hmac"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"example.com/fastmac"
	"example.com/fastmac/internal/mactest"
)

// Processes in FIPS 140 mode: crypto/hmac keeps padded keys and the end of a message, which nothing can overwrite.
// What this module copies for it, keys, long messages and tags, must not be there.
const (
	scanFIPS        = "fips"
	scanFIPSControl = "fips control" // keeps them

	scanFIPSMsg = 1000 // bytes of messages, of which those in the middle are looked for
)

// fipsSecrets returns, by kind, what the processes have, for a hash and a key.
func fipsSecrets(in *scanSecrets, h crypto.Hash, key []byte) (pieces []piece) {
	m := hmac.New(h.New, key)
	m.Write(in.msg[:scanFIPSMsg])
	pieces = append(pieces, piece{"key", key}, piece{"message", in.msg[256 : scanFIPSMsg-256]}, piece{"tag", m.Sum(nil)})
	for _, p := range hmacPads(h, key) {
		if p.kind == "hash of a key" {
			pieces = append(pieces, p)
		}
	}
	return pieces
}

// TestDestroyScanFIPS is TestDestroyScan in FIPS 140 mode.
func TestDestroyScanFIPS(t *testing.T) {
	for _, mode := range []string{scanFIPS, scanFIPSControl} {
		in := new(scanSecrets)
		rand.NewChaCha8([32]byte{5}).Read(mactest.Storage(in))
		secrets, kinds := new(mactest.Secrets), make(map[string]bool)
		for _, h := range scanHashes {
			for _, size := range scanHMACKeySizes {
				for _, p := range fipsSecrets(in, h, in.hmacKey[:size]) {
					kinds[p.kind] = true
					secrets.Add(p.kind, fmt.Sprintf("%v, key of %d bytes", h, size), p.bytes)
				}
			}
		}
		for i := range mactest.Storage(in) {
			mactest.Storage(in)[i] ^= scanMask
		}
		found := secrets.ScanTest(t, mactest.Storage(in), 1, scanEnv+"="+mode, mactest.ScanDebug+"fips140=on", "FASTMAC_TEST_KERNELS=")[0]
		for kind := range kinds {
			finds := found[kind]
			if kind == "tag" { // one that Verify expects may remain on the stack
				finds = finds.InHeap()
			}
			if (len(finds) > 0) != (mode == scanFIPSControl) {
				t.Errorf("%s: %s: %v", mode, kind, finds)
			}
		}
	}
}

// useFIPS uses and destroys keys and streams, and returns copies of the secrets if keep is set.
func (s *scanned) useFIPS(keep bool) (kept [][]piece) {
	for _, h := range scanHashes {
		for _, size := range scanHMACKeySizes {
			key, msg := s.in.hmacKey[:size], s.in.msg[:scanFIPSMsg]
			if keep {
				pieces := fipsSecrets(s.in, h, key)
				for i := range pieces {
					pieces[i].bytes = slices.Clone(pieces[i].bytes)
				}
				kept = append(kept, pieces)
			}
			s.do(func() {
				tag := make([]byte, h.Size())
				k, m := mactest.Must(fastmac.NewHMACKey(h, key)), mactest.Must(fastmac.NewHMAC(h, key))
				n := k.New()
				m.Write(msg)
				n.Write(msg)
				fastmac.SumHMAC(h, tag[:0], key, msg)
				batch := mactest.Batch[fastmac.Message]([][]byte{tag}, nil, [][]byte{msg})
				mustBe(k.Verify(k.Tag(tag[:0], msg), msg) && m.Verify(m.Sum(tag[:0])) && n.Verify(n.Sum(tag[:0])) && k.VerifyBatch(batch))
				k.TagBatch(batch)
				fastmac.SumHMACBatch(h, [][]byte{key}, batch)
				m.Destroy()
				n.Destroy()
				k.Destroy()
				clear(tag)
			})
		}
	}
	s.group.Wait()
	return kept
}
