// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build !purego

package gcm

import (
	"unsafe"

	"example.com/fastmac/internal/kernel"
)

func register() {
	kernel.Register(kernel.GCM, "", right, kernel.Kernel{Name: "armv8", Needs: kernel.Set{kernel.ARM64AES, kernel.ARM64PMULL}})
}

func (k *Key) hash(sum *[BlockSize]byte, groups []byte, _ int) {
	hashARMv8(k, sum, unsafe.SliceData(groups), len(groups))
}

func (k *Key) gmac(r *run, nonce *[NonceSize]byte)     { gmacARMv8(k, r, nonce) }
func (k *Key) gmacRest(r *run, nonce *[NonceSize]byte) { gmacARMv8(k, r, nonce) }

// There is one kernel for all texts.
func isLong(int) bool  { return false }
func isShort(int) bool { return false }

func sealLong(k *Key, r *run, nonce *[NonceSize]byte)  { sealARMv8(k, r, nonce) }
func sealShort(k *Key, r *run, nonce *[NonceSize]byte) { sealARMv8(k, r, nonce) }
func sealAny(k *Key, r *run, nonce *[NonceSize]byte)   { sealARMv8(k, r, nonce) }
func openLong(k *Key, r *run, nonce *[NonceSize]byte)  { openARMv8(k, r, nonce) }
func openShort(k *Key, r *run, nonce *[NonceSize]byte) { openARMv8(k, r, nonce) }
func openAny(k *Key, r *run, nonce *[NonceSize]byte)   { openARMv8(k, r, nonce) }

// initKey sets the powers of a key whose schedule and rounds are set.
//
//go:noescape
func initKey(key *Key)

//go:noescape
func hashARMv8(key *Key, sum *[BlockSize]byte, p *byte, n int)

//go:noescape
func gmacARMv8(key *Key, r *run, nonce *[NonceSize]byte)

//go:noescape
func sealARMv8(key *Key, r *run, nonce *[NonceSize]byte)

//go:noescape
func openARMv8(key *Key, r *run, nonce *[NonceSize]byte)
