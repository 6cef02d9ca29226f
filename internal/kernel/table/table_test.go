// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package table

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestFind(t *testing.T) {
	for function, want := range map[string]string{
		"amd64 . nhPoly128AVX2":                     "nhPoly128 [avx2] [AVX2]",
		"amd64 . padEachVAES256":                    "padEach [vaes256] [AVX2 VAES]",
		"amd64 internal/aes expandKey192":           "expandKey [aesni] []",
		"amd64 internal/aes encryptWords":           "encryptWords [aesni] []",
		"amd64 internal/aes rdseed":                 "rdseed [] []",
		"amd64 internal/sha2 iterateLanes256AVX512": "iterateLanes [avx512 avx512lanes] [AVX2 AVX512]",
		"amd64 internal/kernel cpuid":               "cpuid [] []",
		"arm64 . nhAddNEON":                         "nhAdd [neon] []",
		"arm64 . tagNoncesNEON":                     "tagNonces [armv8] [AES]",
		"arm64 internal/gcm initKey":                "initKey [armv8] [AES PMULL]",
		"arm64 internal/sha2 pair512SHA512":         "pair [sha512] [SHA512]",
		"arm64 internal/aes rndrrs":                 "rndrrs [] [RNG]",
		"amd64 internal/sha2 avx512lanes":           "",
		"amd64 internal/sha2 iterate512LeanAVX512":  "iterate [avx512 avx512lean] [AVX2 AVX512]",
		"amd64 internal/sha2 block256LeanAVX512":    "",
		"amd64 internal/sha2 lanes256AVX1":          "",
		"amd64 internal/aes other":                  "",
		"amd64 internal/other lines":                "",
		"arm64 . nhAddAVX2":                         "",
		"s390x . nhAddAVX2":                         "",
	} {
		words := strings.Fields(function)
		f, err := Find(words[0], words[1], words[2])
		switch {
		case want == "":
			if err == nil || !strings.Contains(err.Error(), "internal/kernel/table") {
				t.Errorf("%s: %v, %v", function, f, err)
			}
		case err != nil:
			t.Error(err)
		default:
			if got := fmt.Sprint(f.Contract, " ", f.Kernels, " ", f.Classes); got != want {
				t.Errorf("%s: %s, want %s", function, got, want)
			}
		}
	}
}

// TestRows checks that the kernels of rows are in Kernels, and each of these in a row.
func TestRows(t *testing.T) {
	used := make(map[string]bool)
	for _, r := range Rows {
		for _, k := range r.Kernels {
			used[fmt.Sprint(r.GOARCH, r.Layer, k)] = true
			if !slices.Contains(Kernels[r.GOARCH][r.Layer], k) {
				t.Errorf("%s in %s for %s: no kernel %s of %s", r.Names, r.Folder, r.GOARCH, k, r.Layer)
			}
		}
	}
	for goarch, layers := range Kernels {
		for l, kernels := range layers {
			for _, k := range kernels {
				if !used[fmt.Sprint(goarch, l, k)] {
					t.Errorf("%s %s for %s: in no row", l, k, goarch)
				}
			}
		}
	}
}
