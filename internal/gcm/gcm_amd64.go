// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build !purego

package gcm

import (
	"crypto/subtle"
	"unsafe"

	"example.com/fastmac/internal/aesni"
	"example.com/fastmac/internal/kernel"
	"example.com/fastmac/internal/wipe"
)

// Streams reports whether Absorb and Finish can be used.
const Streams = true

// Which kernels run, see [kernel.Kernel]. The one for AES-NI has no flag.
var useAVX512, useAVX2 bool

func init() {
	aesni := kernel.Set{kernel.X86AES, kernel.PCLMULQDQ, kernel.SSSE3, kernel.SSE41}
	avx2 := append(aesni[:4:4], kernel.AVX, kernel.AVX2, kernel.VAES, kernel.VPCLMULQDQ)
	avx512 := append(avx2[:8:8], kernel.AVX512F, kernel.AVX512BW, kernel.AVX512VL)
	kernel.Register(kernel.GCM, "",
		kernel.Kernel{Name: "avx512", Needs: avx512, Use: &useAVX512},
		kernel.Kernel{Name: "avx2", Needs: avx2, Use: &useAVX2},
		kernel.Kernel{Name: "aesni", Needs: aesni},
	)
}

// Missing returns the names of the CPU features that every kernel needs and that are missing. No
// key can be set up unless there are none.
func Missing() []string { return kernel.Missing(kernel.GCM) }

// A Key is an AES key for GCM. The zero Key must not be used except for Init, Live and
// Destroy.
type Key struct {
	//lint:ignore U1000 only the assembly uses it
	powers   [8][BlockSize]byte // H^8 to H^1 of GHASH, as the kernels keep them
	schedule aesni.Schedule
	rounds   uint32 // of AES: 10, 12 or 14; 0 if there is no key
}

// Init sets up a key of 16, 24 or 32 bytes. Missing must have returned nothing. The error
// is always nil.
func (k *Key) Init(key []byte) error {
	*k = Key{} // of a longer key, the last words would remain
	k.rounds = uint32(k.schedule.Expand(key))
	initKey(k)
	return nil
}

// Live reports whether there is a key.
func (k *Key) Live() bool { return k.rounds != 0 }

// Destroy overwrites the key.
func (k *Key) Destroy() { *k = Key{} }

// Seal sets out to the ciphertext of plaintext followed by the tag. len(out) is
// len(plaintext)+TagSize. If out and plaintext overlap, they begin at the same byte.
func (k *Key) Seal(out, nonce, plaintext, data []byte) {
	var tag [TagSize]byte
	k.crypt(false, &tag, &zeroSum, nonce, data, uint64(len(data)), out, plaintext)
	copy(out[len(plaintext):], tag[:])
}

// Open sets out to the plaintext of ciphertext, which a tag follows, and reports whether
// the tag is right. If not, out is zero. len(out) is len(ciphertext)-TagSize. If out and
// ciphertext overlap, they begin at the same byte.
func (k *Key) Open(out, nonce, ciphertext, data []byte) bool {
	n := len(ciphertext) - TagSize
	var want [TagSize]byte
	got := [TagSize]byte(ciphertext[n:])
	k.crypt(true, &want, &zeroSum, nonce, data, uint64(len(data)), out, ciphertext[:n])
	if subtle.ConstantTimeCompare(got[:], want[:]) != 1 {
		clear(out)
		return false
	}
	return true
}

// Tag sets tag to the GMAC of msg.
func (k *Key) Tag(tag *[TagSize]byte, nonce, msg []byte) {
	k.crypt(false, tag, &zeroSum, nonce, msg, uint64(len(msg)), nil, nil)
}

// Absorb adds groups to sum, which is GHASH of additional data, and zero at the beginning.
// len(groups) is a multiple of GroupSize.
func (k *Key) Absorb(sum *[BlockSize]byte, groups []byte) {
	for len(groups) > maxRun {
		k.hash(sum, groups[:maxRun])
		groups = groups[maxRun:]
	}
	k.hash(sum, groups)
}

// Finish sets tag to the GMAC of length bytes, of which rest is the end, and Absorb has
// added the others to sum.
func (k *Key) Finish(tag, sum *[BlockSize]byte, nonce, rest []byte, length uint64) {
	k.crypt(false, tag, sum, nonce, rest, length, nil, nil)
}

// zeroSum is GHASH of nothing.
var zeroSum [BlockSize]byte

// A run is what one call of the assembly encrypts or decrypts.
type run struct {
	nonce              *byte
	data               []byte // additional data
	dst, src           *byte
	n                  int    // of src, in bytes
	blocks             uint32 // of the text in the runs before
	dataBits, textBits uint64 // of the whole message
}

// crypt encrypts or decrypts src and sets tag to the tag of the ciphertext and of dataLen
// bytes. Absorb has added those before data to sum.
func (k *Key) crypt(open bool, tag, sum *[BlockSize]byte, nonce, data []byte, dataLen uint64, dst, src []byte) {
	if len(data) > maxRun || len(src) > maxRun {
		k.cryptRuns(open, tag, sum, nonce, data, dataLen, dst, src)
		return
	}
	// Field by field: the compiler would make a literal somewhere else, and copy it in pieces
	// of 16 bytes, which would have to wait for the stores of 8.
	var r run
	r.nonce = &nonce[:NonceSize][0]
	r.data, r.dataBits = data, 8*dataLen
	r.dst, r.src, r.n = unsafe.SliceData(dst), unsafe.SliceData(src), len(src)
	r.textBits = 8 * uint64(len(src))
	k.run(open, tag, sum, &r)
}

// cryptRuns is crypt for what is too long for one run.
func (k *Key) cryptRuns(open bool, tag, sum *[BlockSize]byte, nonce, data []byte, dataLen uint64, dst, src []byte) {
	wipe.ReserveStack()
	first := [NonceSize]byte(nonce) // dst may overlap the nonce
	state := *sum
	groups := len(data) &^ (maxRun - 1)
	k.Absorb(&state, data[:groups])
	r := run{nonce: &first[0], data: data[groups:], dataBits: 8 * dataLen, textBits: 8 * uint64(len(src))}
	for ; len(src) > maxRun; dst, src = dst[maxRun:], src[maxRun:] {
		r.dst, r.src, r.n = &dst[0], &src[0], maxRun
		k.run(open, nil, &state, &r)
		r.data = nil
		r.blocks += maxRun / BlockSize
	}
	r.dst, r.src, r.n = unsafe.SliceData(dst), unsafe.SliceData(src), len(src)
	k.run(open, tag, &state, &r)
	clear(state[:])
}

func (k *Key) hash(sum *[BlockSize]byte, groups []byte) {
	p, n := unsafe.SliceData(groups), len(groups)
	if useAVX512 {
		hashAVX512(k, sum, p, n)
	} else if useAVX2 {
		hashAVX2(k, sum, p, n)
	} else {
		hashAESNI(k, sum, p, n)
	}
}

func (k *Key) run(open bool, tag, sum *[BlockSize]byte, r *run) {
	switch {
	case useAVX512 && open:
		openAVX512(k, tag, sum, r)
	case useAVX512:
		sealAVX512(k, tag, sum, r)
	case useAVX2 && open:
		openAVX2(k, tag, sum, r)
	case useAVX2:
		sealAVX2(k, tag, sum, r)
	case open:
		openAESNI(k, tag, sum, r)
	default:
		sealAESNI(k, tag, sum, r)
	}
}

// The assembly. hash is Absorb for at most maxRun bytes, n a multiple of GroupSize. seal
// and open are one run. Without a tag they set sum to GHASH after it; then r.n is a
// multiple of 512. Otherwise they set tag, and do not change sum.

// initKey sets the powers of a key whose schedule and rounds are set.
//
//go:noescape
func initKey(key *Key)

//go:noescape
func hashAESNI(key *Key, sum *[BlockSize]byte, p *byte, n int)

//go:noescape
func sealAESNI(key *Key, tag, sum *[BlockSize]byte, r *run)

//go:noescape
func openAESNI(key *Key, tag, sum *[BlockSize]byte, r *run)

//go:noescape
func hashAVX2(key *Key, sum *[BlockSize]byte, p *byte, n int)

//go:noescape
func sealAVX2(key *Key, tag, sum *[BlockSize]byte, r *run)

//go:noescape
func openAVX2(key *Key, tag, sum *[BlockSize]byte, r *run)

//go:noescape
func hashAVX512(key *Key, sum *[BlockSize]byte, p *byte, n int)

//go:noescape
func sealAVX512(key *Key, tag, sum *[BlockSize]byte, r *run)

//go:noescape
func openAVX512(key *Key, tag, sum *[BlockSize]byte, r *run)
