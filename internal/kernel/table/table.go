// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package table says for which kernels each function of assembly is, and which instructions it may
// have. Tests and internal/assurance read it; no program for users has it.
package table

import (
	"fmt"
	"regexp"
	"slices"

	"example.com/fastmac/internal/kernel"
)

// Kernels are the names of the kernels of each layer in the calls of [kernel.Register], best first.
var Kernels = map[string]map[kernel.Layer][]string{
	"amd64": {
		kernel.NH:     {"avx512", "avx512block", "avx2"},
		kernel.AES:    {"vaes", "vaes256", "aesni"},
		kernel.SHA256: {"avx512", "sha", "avx512lanes", "avx2"},
		kernel.SHA512: {"avx512", "avx512lean", "avx2"},
		kernel.GCM:    {"avx512", "avx2", "aesni"},
	},
	"arm64": {
		kernel.NH: {"neon"}, kernel.AES: {"armv8"}, kernel.SHA256: {"sha2"}, kernel.SHA512: {"sha512"}, kernel.GCM: {"armv8"},
	},
}

// A Row is functions of assembly.
type Row struct {
	GOARCH string
	Folder string // of their package
	Names  string // a regular expression: its group is the contract, by which proofs find a function

	// Kernels are those for which the functions are: they may need what each of these needs. Better ones of
	// the layer call them too. Without kernels they run on every CPU.
	Layer   kernel.Layer
	Kernels []string

	// Classes are those of their instructions, beyond what every CPU of arm64 has, or SSE to SSE4.1, AES and
	// PCLMULQDQ: AVX2 (with AVX and BMI), AVX512, VAES (with VPCLMULQDQ) and SHA of amd64; AES, PMULL, SHA2, SHA512
	// and RNG of arm64.
	Classes []string
}

type list = []string

// Rows have each function once.
var Rows = []Row{
	{"amd64", ".", `(\w+)AVX512`, kernel.NH, list{"avx512", "avx512block"}, list{"AVX2", "AVX512"}},
	{"amd64", ".", `(\w+)AVX2`, kernel.NH, list{"avx2"}, list{"AVX2"}},
	{"amd64", ".", `(\w+)VAES`, kernel.AES, list{"vaes"}, list{"AVX2", "VAES", "AVX512"}},
	{"amd64", ".", `(\w+)VAES256`, kernel.AES, list{"vaes256"}, list{"AVX2", "VAES"}},
	{"amd64", ".", `(\w+)AESNI`, kernel.AES, list{"aesni"}, nil},
	{"amd64", "internal/aes", `(\w+)VAES256`, kernel.AES, list{"vaes256"}, list{"AVX2", "VAES"}},
	{"amd64", "internal/aes", `(expandKey)(?:128|192|256)|(encryptBlocks|encryptWords)`, kernel.AES, list{"aesni"}, nil},
	{"amd64", "internal/aes", `(rdseed)`, kernel.AES, nil, nil}, // asks for RDSEED
	{"amd64", "internal/gcm", `(\w+)AVX512`, kernel.GCM, list{"avx512"}, list{"AVX2", "VAES", "AVX512"}},
	{"amd64", "internal/gcm", `(\w+)AVX2`, kernel.GCM, list{"avx2"}, list{"AVX2", "VAES"}},
	{"amd64", "internal/gcm", `(\w+)AESNI|(initKey)`, kernel.GCM, list{"aesni"}, nil},
	{"amd64", "internal/sha1", `(\w+)SHA`, kernel.SHA256, list{"sha"}, list{"AVX2", "SHA"}},
	{"amd64", "internal/sha2", `(\w+)256AVX512`, kernel.SHA256, list{"avx512", "avx512lanes"}, list{"AVX2", "AVX512"}},
	{"amd64", "internal/sha2", `(\w+)256SHA`, kernel.SHA256, list{"sha"}, list{"AVX2", "SHA"}},
	{"amd64", "internal/sha2", `(\w+)256AVX2`, kernel.SHA256, list{"avx2"}, list{"AVX2"}},
	{"amd64", "internal/sha2", `(\w+)512(?:Lean)?AVX512`, kernel.SHA512, list{"avx512", "avx512lean"}, list{"AVX2", "AVX512"}},
	{"amd64", "internal/sha2", `(\w+)512AVX2`, kernel.SHA512, list{"avx2"}, list{"AVX2"}},
	{"amd64", "internal/kernel", `(cpuid)`, 0, nil, nil},
	{"amd64", "internal/prefetch", `(lines)`, 0, nil, nil},

	{"arm64", ".", `(nh\w+|fill|tagOnly|tagNext|tagWords)NEON`, kernel.NH, list{"neon"}, nil},
	{"arm64", ".", `(tagNonces?)NEON`, kernel.AES, list{"armv8"}, list{"AES"}},
	{"arm64", "internal/aes", `(expandKey|encryptBlocks|encryptWords)`, kernel.AES, list{"armv8"}, list{"AES"}},
	{"arm64", "internal/aes", `(rndrrs)`, kernel.AES, nil, list{"RNG"}}, // asks for it
	{"arm64", "internal/gcm", `(\w+)ARMv8|(initKey)`, kernel.GCM, list{"armv8"}, list{"AES", "PMULL"}},
	{"arm64", "internal/sha2", `(\w+)256SHA2`, kernel.SHA256, list{"sha2"}, list{"SHA2"}},
	{"arm64", "internal/sha2", `(\w+)512SHA512`, kernel.SHA512, list{"sha512"}, list{"SHA512"}},
	{"arm64", "internal/prefetch", `(lines)`, 0, nil, nil},
	{"arm64", "internal/lifetime", `(loads|stores)`, 0, nil, nil},
}

// A Function is a function of assembly with its row.
type Function struct {
	*Row
	Contract string // what it computes: its name without the kernel
}

var names []*regexp.Regexp

func init() {
	for _, r := range Rows {
		names = append(names, regexp.MustCompile(`^(?:`+r.Names+`)$`))
	}
}

// Find returns the row of a function, in the folder of a package. Each must be in one.
func Find(goarch, folder, name string) (f Function, err error) {
	for i := range Rows {
		m := names[i].FindStringSubmatch(name)
		if r := &Rows[i]; m == nil || r.GOARCH != goarch || r.Folder != folder {
			continue
		}
		if f.Row != nil {
			return f, fmt.Errorf("%s, in %s, is in two rows for %s of internal/kernel/table", name, folder, goarch)
		}
		f = Function{&Rows[i], m[1+slices.IndexFunc(m[1:], func(group string) bool { return group != "" })]}
	}
	if f.Row == nil {
		return f, fmt.Errorf("%s, in %s, is in no row for %s of internal/kernel/table: give it the name of one, or add one", name, folder, goarch)
	}
	return f, nil
}
