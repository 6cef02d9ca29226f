// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/subtle"
	"encoding/binary"
	"fmt"
	"hash"
	"testing"
	"unsafe"

	"example.com/fastmac/internal/gcm"
	"example.com/fastmac/internal/mactest"
	"example.com/fastmac/internal/sha512"
)

// ForAllSHA512 runs f as a subtest for each implementation of HMAC-SHA-512.
func ForAllSHA512(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	EachSHA512(t, func(name string) { t.Run(name, f) })
}

// EachSHA512 calls f with each implementation of HMAC-SHA-512 in use. The last one is
// crypto/hmac, as in FIPS 140 mode.
func EachSHA512(t testing.TB, f func(name string)) {
	t.Helper()
	if !useFIPS {
		mactest.EachKernel(t, mactest.HMAC, f)
		defer func() { useFIPS = false }()
		useFIPS = true
	}
	f("crypto/hmac")
}

// GMACWipes reports whether a GMACKey holds its secrets itself, and overwrites them.
const GMACWipes = gcm.Streams

// HMACBatchLanes returns how many lanes a batch of n messages uses, and how many of them must
// be in use.
func HMACBatchLanes(n int) (lanes, minLanes int) { return batchLanes(n) }

// HMACAllocates reports whether the HMAC-SHA-512 in use allocates.
func HMACAllocates() bool { return useFIPS }

// UMACKeyState returns how many bytes of a UMACKey for AES-128 tags of n iterations use: the
// key schedule of the pads and the keys of L1, L2 and L3.
func UMACKeyState(n int) int {
	const schedule, l1, shift = 11 * aes.BlockSize, l1Block, l1Group / 2
	l2, l3 := unsafe.Sizeof(l2Key{}), (unsafe.Sizeof(l3Key{})+unsafe.Sizeof(l3Words{}))/maxIterations
	return schedule + l1 + shift*(n-1) + n*int(l2+l3)
}

// ReplayWords returns the number of words of a window.
func ReplayWords(w *ReplayWindow) int { return len(w.words) }

// ParallelWorkerSize is what WriteParallel allocates for each worker, in bytes.
const ParallelWorkerSize = 4 * int(unsafe.Sizeof(chunkWords{}))

// FIPSHash returns the HMAC that h uses in FIPS 140 mode, and otherwise nil. CloneFIPS
// clones it.
func FIPSHash(h *HMACSHA512) hash.Hash { return h.fips }

var CloneFIPS = cloneFIPS

// SetupUMAC and SetupHMAC have what setting up a key makes and does not keep.

type SetupUMAC struct{ kdf aesKey }

func NewSetupUMAC(key []byte) *SetupUMAC {
	s := new(SetupUMAC)
	s.kdf.init(key)
	return s
}

type SetupHMAC struct{ inner, outer sha512.Buffer }

func NewSetupHMAC(key []byte) *SetupHMAC {
	s := new(SetupHMAC)
	writeInnerPad(&s.inner, key)
	s.outer = s.inner
	flipPad(&s.outer)
	return s
}

// SetupBatch has the pads that a batch computes and does not keep.
type SetupBatch struct{ pads umacTags }

// NewSetupBatch returns the pads of k for up to eight nonces.
func NewSetupBatch(k *UMACKey, nonces [][]byte) *SetupBatch {
	s := new(SetupBatch)
	k.pad.padEach(&s.pads, nonces)
	return s
}

// SetupGCM has what AES-GCM computes and does not keep.
type SetupGCM struct{ hashKey, hash, mask, stream [aes.BlockSize]byte }

func NewSetupGCM(key, nonce, plaintext, data []byte) *SetupGCM {
	block, err := aes.NewCipher(key)
	if err != nil {
		panic(err)
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		panic(err)
	}
	s := new(SetupGCM)
	block.Encrypt(s.hashKey[:], s.hashKey[:])
	block.Encrypt(s.mask[:], binary.BigEndian.AppendUint32(bytes.Clone(nonce), 1))
	block.Encrypt(s.stream[:], binary.BigEndian.AppendUint32(bytes.Clone(nonce), 2))
	tag := aead.Seal(nil, nonce, plaintext, data)[len(plaintext):]
	subtle.XORBytes(s.hash[:], s.mask[:], tag)
	return s
}

// Secrets calls add for all secrets in v, which is a stream with its key, or one of the
// types whose names begin with Setup.
func Secrets(v any, add func(kind string, secret []byte)) {
	switch v := v.(type) {
	case *UMAC:
		k := v.key
		add("L1 key", storage(&k.uhash.l1))
		add("L2 key", storage(&k.uhash.l2))
		add("L3 key", storage(&k.uhash.l3.k2))
		add("L3 key", storage(&k.uhash.l3.low))
		add("L3 key", storage(&k.uhash.l3High))
		add("pad key", storage(&k.pad.aes.schedule))
		for i := range v.pads.count {
			add("pads ahead", v.pads.blocks[(v.pads.number+uint64(i))%padsAhead][:])
		}
		add("UHASH state", storage(&v.uhash.l1.sums))
		add("UHASH state", storage(&v.uhash.l2.y))
	case *HMACSHA512:
		add("inner chaining value", storage(&v.key.inner))
		add("outer chaining value", storage(&v.key.outer))
		add("HMAC state", storage(&v.state))
	case *GMAC:
		add("powers", storage(&v.key.gcm)[:8*gcm.BlockSize])
		add("schedule", storage(&v.key.gcm)[8*gcm.BlockSize:])
		if v.length > 0 {
			add("GHASH state", v.sum[:])
		}
	case *SetupGCM:
		add("GHASH key", v.hashKey[:])
		add("GHASH", v.hash[:])
		add("tag mask", v.mask[:])
		add("key stream", v.stream[:])
	case *SetupBatch:
		for i := range umacLanes {
			add("batch pads", v.pads[i][:])
		}
	case *SetupUMAC:
		add("KDF key", storage(&v.kdf.schedule))
	case *SetupHMAC:
		add("inner pad", v.inner[:])
		add("outer pad", v.outer[:])
	default:
		panic(fmt.Sprintf("fastmac: no secrets known in %T", v))
	}
}

func storage[T any](v *T) []byte { return unsafe.Slice((*byte)(unsafe.Pointer(v)), unsafe.Sizeof(*v)) }

// NewNoncesAt returns a Nonces for nonces of size bytes that began with first, which has 16
// bytes, and has returned used nonces since.
func NewNoncesAt(size int, first []byte, used uint64) *Nonces {
	n := &Nonces{size: size, high: binary.BigEndian.Uint64(first), low: binary.BigEndian.Uint64(first[8:])}
	n.used.Store(used)
	return n
}
