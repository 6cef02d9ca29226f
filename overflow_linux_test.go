// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build 386 || arm

package fastmac

import (
	"bytes"
	"math"
	"syscall"
	"testing"

	"example.com/fastmac/internal/mactest"
)

// TestWriteOverflow writes as many bytes at once as an int of 32 bits can count, after a whole block.
func TestWriteOverflow(t *testing.T) {
	p, err := syscall.Mmap(-1, 0, math.MaxInt32, syscall.PROT_READ, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err != nil {
		t.Skipf("no room for 2 GiB: %v", err)
	}
	defer syscall.Munmap(p)
	k := mactest.Must(NewUMACKey(make([]byte, 16), UMAC64Size))
	got, want := k.New(), k.New()
	for _, u := range []*UMAC{got, want} {
		u.Write(make([]byte, l1Block))
	}
	got.Write(p)
	for rest := p; len(rest) > 0; {
		n := min(len(rest), 1<<20)
		want.Write(rest[:n])
		rest = rest[n:]
	}
	nonce := []byte("nonce")
	if got, want := got.Tag(nil, nonce), want.Tag(nil, nonce); !bytes.Equal(got, want) {
		t.Errorf("tag %x, want %x", got, want)
	}
}
