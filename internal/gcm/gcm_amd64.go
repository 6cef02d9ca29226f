// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build !purego

package gcm

import (
	"crypto/subtle"
	"unsafe"

	"example.com/fastmac/internal/aesni"
	"example.com/fastmac/internal/wipe"
	"golang.org/x/sys/cpu"
)

// Streams reports whether Absorb and Finish can be used.
const Streams = true

// The kernels that this machine has.
var (
	hasAESNI  = aesni.Supported && cpu.X86.HasPCLMULQDQ
	hasAVX2   = hasAESNI && cpu.X86.HasAVX2 && cpu.X86.HasAVX && hasVAES256 && hasVPCLMULQDQ256
	hasAVX512 = hasAESNI && cpu.X86.HasAVX512F && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512VL &&
		cpu.X86.HasAVX512VAES && cpu.X86.HasAVX512VPCLMULQDQ && cpu.X86.HasAVX2 && cpu.X86.HasAVX
)

// Which kernels run. Plain variables, so that the compiler sees the calls and the
// arguments of the assembly stay on the stack; Select changes them.
var (
	useAVX512 = hasAVX512
	useAVX2   = hasAVX2
)

// VAES and VPCLMULQDQ for 256 bits. Package cpu reports them only together with AVX-512.
var hasVAES256, hasVPCLMULQDQ256 = func() (vaes, vpclmulqdq bool) {
	if !cpu.X86.HasAVX2 {
		return false, false // the CPU may have no leaf 7
	}
	ecx := cpuid7()
	return ecx&(1<<9) != 0, ecx&(1<<10) != 0
}()

func kernels() (names []string) {
	for _, k := range []struct {
		name string
		has  bool
	}{{"avx512", hasAVX512}, {"avx2", hasAVX2}, {"aesni", hasAESNI}} {
		if k.has {
			names = append(names, k.name)
		}
	}
	return names
}

func choose(name string) {
	useAVX512 = name == "avx512"
	useAVX2 = name == "avx2"
}

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
	k.seal(&tag, &zeroSum, nonce, data, uint64(len(data)), out, plaintext)
	copy(out[len(plaintext):], tag[:])
}

// Open sets out to the plaintext of ciphertext, which a tag follows, and reports whether
// the tag is right. If not, out is zero. len(out) is len(ciphertext)-TagSize. If out and
// ciphertext overlap, they begin at the same byte.
func (k *Key) Open(out, nonce, ciphertext, data []byte) bool {
	n := len(ciphertext) - TagSize
	var want [TagSize]byte
	got := [TagSize]byte(ciphertext[n:])
	k.open(&want, &zeroSum, nonce, data, uint64(len(data)), out, ciphertext[:n])
	if subtle.ConstantTimeCompare(got[:], want[:]) != 1 {
		clear(out)
		return false
	}
	return true
}

// Tag sets tag to the GMAC of msg.
func (k *Key) Tag(tag *[TagSize]byte, nonce, msg []byte) {
	k.seal(tag, &zeroSum, nonce, msg, uint64(len(msg)), nil, nil)
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

// Finish sets tag to the GMAC of length bytes, of which rest is the end, and Absorb has
// added the others to sum.
func (k *Key) Finish(tag, sum *[BlockSize]byte, nonce, rest []byte, length uint64) {
	k.seal(tag, sum, nonce, rest, length, nil, nil)
}

// zeroSum is GHASH of nothing.
var zeroSum [BlockSize]byte

// absorbRuns absorbs the beginning of data that is too long for one run, and returns the
// rest.
func (k *Key) absorbRuns(sum *[BlockSize]byte, data []byte) (rest []byte) {
	n := len(data) &^ (maxRun - 1)
	k.Absorb(sum, data[:n])
	return data[n:]
}

func (k *Key) seal(tag, sum *[BlockSize]byte, nonce, data []byte, dataLen uint64, dst, src []byte) {
	nonce = nonce[:NonceSize]
	if len(data) > maxRun {
		wipe.ReserveStack()
		run := *sum
		rest := k.absorbRuns(&run, data)
		k.seal(tag, &run, nonce, rest, dataLen, dst, src)
		clear(run[:])
		return
	}
	if useAVX512 {
		sealAVX512(k, tag, sum, &nonce[0], unsafe.SliceData(data), len(data), 8*dataLen, unsafe.SliceData(dst), unsafe.SliceData(src), len(src))
	} else if useAVX2 {
		sealAVX2(k, tag, sum, &nonce[0], unsafe.SliceData(data), len(data), 8*dataLen, unsafe.SliceData(dst), unsafe.SliceData(src), len(src))
	} else {
		sealAESNI(k, tag, sum, &nonce[0], unsafe.SliceData(data), len(data), 8*dataLen, unsafe.SliceData(dst), unsafe.SliceData(src), len(src))
	}
}

func (k *Key) open(tag, sum *[BlockSize]byte, nonce, data []byte, dataLen uint64, dst, src []byte) {
	nonce = nonce[:NonceSize]
	if len(data) > maxRun {
		wipe.ReserveStack()
		run := *sum
		rest := k.absorbRuns(&run, data)
		k.open(tag, &run, nonce, rest, dataLen, dst, src)
		clear(run[:])
		return
	}
	if useAVX512 {
		openAVX512(k, tag, sum, &nonce[0], unsafe.SliceData(data), len(data), 8*dataLen, unsafe.SliceData(dst), unsafe.SliceData(src), len(src))
	} else if useAVX2 {
		openAVX2(k, tag, sum, &nonce[0], unsafe.SliceData(data), len(data), 8*dataLen, unsafe.SliceData(dst), unsafe.SliceData(src), len(src))
	} else {
		openAESNI(k, tag, sum, &nonce[0], unsafe.SliceData(data), len(data), 8*dataLen, unsafe.SliceData(dst), unsafe.SliceData(src), len(src))
	}
}

// cpuid7 returns ECX of leaf 7 of CPUID.
func cpuid7() (ecx uint32)

// The assembly. hash is Absorb for at most maxRun bytes; n is a multiple of GroupSize. seal and open set tag to the
// tag of data, which follows what sum was made from and has dataBits bits together with
// that, and of the ciphertext of n bytes, in dst or in src. sum is not changed.

// initKey sets the powers of a key whose schedule and rounds are set.
//
//go:noescape
func initKey(key *Key)

//go:noescape
func hashAESNI(key *Key, sum *[BlockSize]byte, p *byte, n int)

//go:noescape
func sealAESNI(key *Key, tag, sum *[BlockSize]byte, nonce, data *byte, dataLen int, dataBits uint64, dst, src *byte, n int)

//go:noescape
func openAESNI(key *Key, tag, sum *[BlockSize]byte, nonce, data *byte, dataLen int, dataBits uint64, dst, src *byte, n int)

//go:noescape
func hashAVX2(key *Key, sum *[BlockSize]byte, p *byte, n int)

//go:noescape
func sealAVX2(key *Key, tag, sum *[BlockSize]byte, nonce, data *byte, dataLen int, dataBits uint64, dst, src *byte, n int)

//go:noescape
func openAVX2(key *Key, tag, sum *[BlockSize]byte, nonce, data *byte, dataLen int, dataBits uint64, dst, src *byte, n int)

//go:noescape
func hashAVX512(key *Key, sum *[BlockSize]byte, p *byte, n int)

//go:noescape
func sealAVX512(key *Key, tag, sum *[BlockSize]byte, nonce, data *byte, dataLen int, dataBits uint64, dst, src *byte, n int)

//go:noescape
func openAVX512(key *Key, tag, sum *[BlockSize]byte, nonce, data *byte, dataLen int, dataBits uint64, dst, src *byte, n int)
