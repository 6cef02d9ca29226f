// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"crypto"
	"hash"
	"time"
	"unsafe"

	"example.com/fastmac"
	"example.com/fastmac/hwrand"
	"example.com/fastmac/packet"
	_ "example.com/fastmac/sshmac"
)

// What nothing here can make the module call with what is secret, or at all: those for keys that another
// goroutine destroys while they are in use, those that x/crypto calls, and what a helper of WriteParallel does before
// 2^24 bytes, if it comes so far.

//go:linkname newHMAC example.com/fastmac/sshmac.newHMAC
func newHMAC(h crypto.Hash) func(key []byte) hash.Hash

//go:linkname newReader example.com/fastmac/hwrand.newReader
func newReader(now func() time.Duration, seed, cpu func(p []byte)) *hwrand.Reader

// parallelSize is the size from which on WriteParallel has helpers.
//
//go:linkname parallelSize example.com/fastmac.parallelSize
var parallelSize int

//go:linkname sumChunk example.com/fastmac.(*uhashKey).sum
func sumChunk(k, sum unsafe.Pointer, p []byte, words uint64)

//go:linkname clearTag example.com/fastmac.clearTag
func clearTag(tag []byte, dead string) string

//go:linkname clearTags example.com/fastmac.clearTags
func clearTags(batch []fastmac.Message, dead string) string

//go:linkname refuseTags example.com/fastmac.refuseTags
func refuseTags(batch []fastmac.Message, dead string) string

//go:linkname clearTrailer example.com/fastmac/packet.clearTrailer
func clearTrailer(room []byte) any

//go:linkname clearTrailers example.com/fastmac/packet.clearTrailers
func clearTrailers(batch []packet.Packet, overhead int) any

//go:linkname refuseAll example.com/fastmac/packet.refuseAll
func refuseAll(batch []packet.Packet) any

//go:linkname empty example.com/fastmac/packet.empty
func empty(batch []packet.Packet)

func destroyedInUse() {
	cleared := func(size int, clear func(p []byte)) {
		p := secret(size)
		clear(p)
		public(p)
	}
	cleared(16, func(p []byte) { clearTag(p, "") })
	cleared(16, func(p []byte) { clearTags([]fastmac.Message{{Tag: p}}, "") })
	cleared(24, func(p []byte) { clearTrailer(p) })
	cleared(24, func(p []byte) { clearTrailers([]packet.Packet{{Bytes: p}}, len(p)) })
	refuseTags([]fastmac.Message{{Data: secret(16), Tag: secret(16)}}, "")
	empty([]packet.Packet{{Bytes: secret(16)}})
	refuseAll([]packet.Packet{{Bytes: secret(16)}})
}
