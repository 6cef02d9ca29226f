// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package kernel

import (
	"crypto/fips140"
	"runtime"
	"strings"
)

// A Report names the implementation in use for each layer: "avx512", "avx512lanes", "avx2", "aesni", "neon",
// "armv8", "sha", "sha2" and "sha512" are assembly of this module, "generic" is its portable Go, "stdlib" is the
// Go standard library, which may have its own assembly, and "none" is that there is no
// implementation for this machine.
//
// NHLacks, AESLacks, SHA256Lacks, SHA512Lacks and GCMLacks have what is missing for the best implementation
// that this module has for any machine. They are empty if that one is in use. Otherwise each is
// one of these:
//
//   - The usual names of the missing instruction sets, as in "AVX512F, AVX512BW".
//   - "assembly for s390x", or another architecture: this module has none of this layer for it.
//   - "assembly (tag purego)": the build tag left it out.
//   - "validation (FIPS 140 mode)": only the standard library's HMAC is validated.
//   - "approval (fips140=only)": crypto/cipher refuses nonces that the caller chooses.
type Report struct {
	NH  string // L1 of UMAC: avx512 (avx2 for some sizes), avx2, neon or generic
	AES string // key derivation and pads of UMAC: aesni, armv8 or stdlib

	// HMAC with SHA-224 and SHA-256: avx512, sha, avx512lanes or avx2 (for batches), sha2 or stdlib.
	SHA256 string `json:",omitempty"`

	SHA512 string // HMAC with SHA-384 and SHA-512: avx512, avx2, sha512 or stdlib

	// GMAC and package aesgcm: avx512 (avx2 for short messages), avx2, aesni, armv8, stdlib, or
	// none if they cannot be used.
	GCM string `json:",omitempty"`

	NHLacks     string `json:",omitempty"`
	AESLacks    string `json:",omitempty"` // of the expansion of keys, of batches and of package hwrand
	SHA256Lacks string `json:",omitempty"`
	SHA512Lacks string `json:",omitempty"`
	GCMLacks    string `json:",omitempty"`

	// Wrong has the kernels that are not used because they compute wrongly on this machine, as in
	// "NH avx2, AES vaes256".
	Wrong string `json:",omitempty"`
}

// NewReport returns the report for this machine.
func NewReport() Report {
	r := Report{
		NH: Active(NH), NHLacks: Lacks(NH),
		AES: Active(AES), AESLacks: Lacks(AES),
		SHA256: Active(SHA256), SHA256Lacks: Lacks(SHA256),
		SHA512: Active(SHA512), SHA512Lacks: Lacks(SHA512),
		GCM: Active(GCM), GCMLacks: Lacks(GCM),
	}
	var wrong []string
	for l := range Layer(Layers) {
		for _, name := range Wrong(l) {
			wrong = append(wrong, l.String()+" "+name)
		}
	}
	r.Wrong = strings.Join(wrong, ", ")
	// The names of variants are for tests.
	if r.AES == "vaes" || r.AES == "vaes256" {
		r.AES = "aesni"
	}
	if r.NH == "avx512block" {
		r.NH = "avx512"
	}
	if r.SHA512 == "avx512lanes" {
		r.SHA512 = "avx512"
	}
	if r.GCM == "stdlib" && FIPSEnforced() {
		r.GCM, r.GCMLacks = "none", "approval (fips140=only)" // crypto/cipher refuses it
	}
	if fips140.Enabled() {
		r.SHA256, r.SHA256Lacks = "stdlib", "validation (FIPS 140 mode)"
		r.SHA512, r.SHA512Lacks = r.SHA256, r.SHA256Lacks
	}
	return r
}

// String returns the report in one line.
func (r Report) String() string {
	var b strings.Builder
	b.WriteString(runtime.GOOS + "/" + runtime.GOARCH)
	for i, layer := range [...]struct{ name, runs, lacks string }{
		{"UMAC", r.NH, r.NHLacks},
		{"AES", r.AES, r.AESLacks},
		{"HMAC-SHA-256", r.SHA256, r.SHA256Lacks},
		{"HMAC-SHA-512", r.SHA512, r.SHA512Lacks},
		{"AES-GCM", r.GCM, r.GCMLacks},
	} {
		if i == 0 {
			b.WriteString(": ")
		} else {
			b.WriteString("; ")
		}
		b.WriteString(layer.name + " " + layer.runs)
		if layer.lacks != "" {
			b.WriteString(" (lacks " + layer.lacks + ")")
		}
	}
	if r.Wrong != "" {
		b.WriteString("; not used, because they compute wrongly: " + r.Wrong)
	}
	return b.String()
}
