// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build (amd64 || arm64) && !purego

package aes

import "encoding/binary"

// stretch is Stretch. Kernels would take a third less time, of which there is little in a Read of a few bytes.
func stretch(p []byte) {
	var s Schedule
	rounds := s.Expand(p[:32]) // uses more stack than Encrypt
	for n := uint64(0); len(p) > 0; {
		run := p[:min(len(p), 4096)] // is in the cache when it is encrypted
		clear(run)
		for left := run; len(left) >= 4*BlockSize; left = left[4*BlockSize:] {
			blocks := (*[4 * BlockSize]byte)(left)
			binary.BigEndian.PutUint64(blocks[8:], n)
			binary.BigEndian.PutUint64(blocks[24:], n+1)
			binary.BigEndian.PutUint64(blocks[40:], n+2)
			binary.BigEndian.PutUint64(blocks[56:], n+3)
			n += 4
		}
		s.Encrypt(rounds, run)
		p = p[len(run):]
	}
	clear(s[:])
}
