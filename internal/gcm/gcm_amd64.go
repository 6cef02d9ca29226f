// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build !purego

package gcm

import (
	"unsafe"

	"example.com/fastmac/internal/kernel"
)

// Which kernels run, see [kernel.Kernel]. The one for AES-NI has no flag.
var useAVX512, useAVX2 bool

func register() {
	aesni := kernel.Set{kernel.X86AES, kernel.PCLMULQDQ, kernel.SSSE3, kernel.SSE41}
	avx2 := append(aesni[:4:4], kernel.AVX, kernel.AVX2, kernel.VAES, kernel.VPCLMULQDQ)
	avx512 := append(avx2[:8:8], kernel.AVX512F, kernel.AVX512BW, kernel.AVX512VL, kernel.BMI2)
	kernel.Register(kernel.GCM, "", right,
		kernel.Kernel{Name: "avx512", Needs: avx512, Use: &useAVX512},
		kernel.Kernel{Name: "avx2", Needs: avx2, Use: &useAVX2},
		kernel.Kernel{Name: "aesni", Needs: aesni},
	)
}

// shortText is the size of text up to which sealAVX2 and openAVX2 are faster than sealAVX512 and
// openAVX512, and of the data of GMAC up to which gmacAVX2 is faster than gmacAVX512. longData is that of
// additional data from which on hashAVX512 is faster than hashAVX2. Vectors of 32 bytes are slow for a while
// after those of 64, and the other way round: so what is absorbed before a text uses the same.
const (
	shortText = 64
	longData  = 512
)

func (k *Key) hash(sum *[BlockSize]byte, groups []byte, text int) {
	p, n := unsafe.SliceData(groups), len(groups)
	if useAVX512 && (n >= longData || text > shortText) {
		hashAVX512(k, sum, p, n)
	} else if useAVX2 {
		hashAVX2(k, sum, p, n)
	} else {
		hashAESNI(k, sum, p, n)
	}
}

// gmacRest is gmac for less than a group, which has just been stored in blocks: loads of more than a
// block would wait for all of them. With gmacAVX2 streams of 32 to 64 bytes take 19 to 28 % more time.
func (k *Key) gmacRest(r *run, nonce *[NonceSize]byte) { gmacAESNI(k, r, nonce) }

// With gmacAVX2 alone, GMAC of 1 KiB takes nearly twice as long, and of 4 KiB more than that.
func (k *Key) gmac(r *run, nonce *[NonceSize]byte) {
	if len(r.data) > shortText && useAVX512 {
		gmacAVX512(k, r, nonce)
	} else if useAVX2 {
		gmacAVX2(k, r, nonce)
	} else {
		gmacAESNI(k, r, nonce)
	}
}

// isLong and isShort report whether a text of n bytes is for the kernels of sealLong and sealShort. The others are
// for that of sealAny.
func isLong(n int) bool { return useAVX512 && n > shortText }
func isShort(int) bool  { return useAVX2 }

func sealLong(k *Key, r *run, nonce *[NonceSize]byte)  { sealAVX512(k, r, nonce) }
func sealShort(k *Key, r *run, nonce *[NonceSize]byte) { sealAVX2(k, r, nonce) }
func sealAny(k *Key, r *run, nonce *[NonceSize]byte)   { sealAESNI(k, r, nonce) }
func openLong(k *Key, r *run, nonce *[NonceSize]byte)  { openAVX512(k, r, nonce) }
func openShort(k *Key, r *run, nonce *[NonceSize]byte) { openAVX2(k, r, nonce) }
func openAny(k *Key, r *run, nonce *[NonceSize]byte)   { openAESNI(k, r, nonce) }

// initKey sets the powers of a key whose schedule and rounds are set.
//
//go:noescape
func initKey(key *Key)

//go:noescape
func hashAESNI(key *Key, sum *[BlockSize]byte, p *byte, n int)

//go:noescape
func gmacAESNI(key *Key, r *run, nonce *[NonceSize]byte)

//go:noescape
func sealAESNI(key *Key, r *run, nonce *[NonceSize]byte)

//go:noescape
func openAESNI(key *Key, r *run, nonce *[NonceSize]byte)

//go:noescape
func hashAVX2(key *Key, sum *[BlockSize]byte, p *byte, n int)

//go:noescape
func gmacAVX2(key *Key, r *run, nonce *[NonceSize]byte)

//go:noescape
func sealAVX2(key *Key, r *run, nonce *[NonceSize]byte)

//go:noescape
func openAVX2(key *Key, r *run, nonce *[NonceSize]byte)

//go:noescape
func hashAVX512(key *Key, sum *[BlockSize]byte, p *byte, n int)

//go:noescape
func gmacAVX512(key *Key, r *run, nonce *[NonceSize]byte)

//go:noescape
func sealAVX512(key *Key, r *run, nonce *[NonceSize]byte)

//go:noescape
func openAVX512(key *Key, r *run, nonce *[NonceSize]byte)
