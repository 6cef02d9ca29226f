// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"runtime"
	"unsafe"

	"example.com/fastmac"
	"example.com/fastmac/internal/mactest"
)

// veryLong are more bytes than POLY-64 hashes, which is 2^24.
var veryLong = []int{1<<24 + 1, 1<<24 + 1024, 1<<24 + 3*1024 + 5}

var umacOperations = []operation{
	{"UMAC: Sign, VerifySigned, of streams too", umacSign},
	{"UMAC: WriteParallel", umacParallel},
	{"UMAC: more than 2^24 bytes", umacLong},
}

func umacSign() {
	for _, tagSize := range mactest.UMACTagSizes {
		for _, keySize := range []int{16, 24, 32} {
			k := mactest.Must(fastmac.NewUMACKey(secret(keySize), tagSize))
			for _, n := range lengths {
				msg := secret(n)
				sig := k.Sign(nil, msg)
				verify(sig, func(sig []byte) bool { return k.VerifySigned(sig, msg) })
				result(sig[16:])

				u := k.New()
				u.Write(msg[:n/3])
				u.Write(msg[n/3:])
				sig = u.Sign(nil)
				verify(sig, u.VerifySigned)
				result(sig[16:])
				u.Destroy()
			}
		}
	}
}

func umacParallel() {
	// With one processor the caller would be done before a helper begins.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(5))
	defer func(size int) { parallelSize = size }(parallelSize)
	parallelSize = 4 << 20
	msg := secret(33 << 20)
	for _, size := range mactest.UMACTagSizes {
		k := mactest.Must(fastmac.NewUMACKey(secret(16), size))
		for _, words := range []uint64{1 << 10, 1 << 20} { // in POLY-64, in POLY-128
			sum := make([]byte, 2*4*16) // factors and addends of four iterations, of which the key has fewer
			sumChunk(unsafe.Pointer(unsafe.SliceData(mactest.Field(k, "uhash"))), unsafe.Pointer(&sum[0]), msg[:256<<10], words)
			result(sum[8:16]) // the lower half of the first factor
		}
		u, part := k.New(), msg
		if size < fastmac.UMAC128Size { // one that reaches POLY-128 is enough
			part = msg[:6<<20]
		}
		u.Write(part[:1100])
		u.WriteParallel(part, 5) // so many that helpers come to POLY-64
		result(u.Tag(nil, nonce(8)))
		u.WriteParallel(part[5:6<<20], 3)
		result(u.Tag(nil, nonce(8)))
		u.Destroy()
	}
}

// umacLong reaches POLY-128.
func umacLong() {
	msg := secret(veryLong[len(veryLong)-1])
	for _, size := range []int{fastmac.UMAC64Size, fastmac.UMAC128Size} {
		key := secret(16)
		k, u := mactest.Must(fastmac.NewUMACKey(key, size)), mactest.Must(fastmac.NewUMAC(key, size))
		u.Write(msg[:1<<24])
		result(u.Tag(nil, nonce(8)))
		for _, n := range veryLong {
			if size == fastmac.UMAC128Size || n == len(msg) {
				result(k.Tag(nil, nonce(8), msg[:n]))
			}
			c := mactest.Must(u.Clone())
			c.Write(msg[1<<24 : n])
			result(c.Sum(nonce(8)))
			for _, p := range secrets(1, 1023, 512, 512, 31) {
				c.Write(p)
			}
			result(c.Sum(nonce(8)))
		}
		u.Destroy()
	}
}
