// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package aesgcm_test

import (
	"fmt"
	"runtime/debug"
	"strings"
	"testing"

	"example.com/fastmac/aesgcm"
	"example.com/fastmac/internal/mactest"
	"golang.org/x/sys/unix"
)

// TestLimitCalls calls with 64 GiB of addresses that cannot be read. What is too long must
// be refused before anything is read, as crypto/cipher refuses it. What is not must be read,
// which faults. No call moves the text: after a fault in the Go runtime's copy towards higher
// addresses, which on some CPUs sets the direction flag, the process could not go on.
func TestLimitCalls(t *testing.T) { mactest.ForAllKernels(t, mactest.GCM, testLimitCalls) }

func testLimitCalls(t *testing.T) {
	limit := uint64(64<<30 - 32)
	if uint64(^uint(0)) < limit {
		t.Skip("needs 64-bit addresses")
	}
	mem, err := unix.Mmap(-1, 0, int(limit+1+28), unix.PROT_NONE, unix.MAP_ANON|unix.MAP_PRIVATE|unix.MAP_NORESERVE)
	if err != nil {
		t.Skip("needs 64 GiB of addresses:", err)
	}
	defer unix.Munmap(mem)
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	key, nonce := make([]byte, 32), make([]byte, 12)
	k, std := mactest.Must(aesgcm.NewKey(key)), newCipher(t, key)
	s := k.NewSealer()

	outcome := func(call func() error) (s string) {
		defer func() {
			if r := recover(); r != nil {
				if s = "panic"; strings.Contains(fmt.Sprint(r), "fault") || strings.Contains(fmt.Sprint(r), "invalid memory") {
					s = "fault"
				}
			}
		}()
		if err := call(); err != nil {
			return "error"
		}
		return "success"
	}
	for _, over := range []uint64{0, 1} {
		text, sealed := mem[:limit+over], mem[:limit+over+16]
		seal, open := "fault", "fault"
		if over > 0 {
			seal, open = "panic", "error"
		}
		for _, test := range []struct {
			name, want string
			call       func() error
		}{
			{"Seal", seal, func() error { k.Seal(text[:0], nonce, text, nil); return nil }},
			{"crypto/cipher's Seal", seal, func() error { std.Seal(text[:0], nonce, text, nil); return nil }},
			{"Sealer.Seal", seal, func() error { s.Seal(mem[:0], nil, mem[aesgcm.NonceSize:][:len(text)], nil); return nil }},
			{"Open", open, func() error { _, err := k.Open(sealed[:0], nonce, sealed, nil); return err }},
			{"crypto/cipher's Open", open, func() error { _, err := std.Open(sealed[:0], nonce, sealed, nil); return err }},
			{"Sealer.Open", open, func() error {
				_, err := s.Open(mem[aesgcm.NonceSize:][:0], nil, mem[:aesgcm.NonceSize+len(sealed)], nil)
				return err
			}},
		} {
			if got := outcome(test.call); got != test.want {
				t.Errorf("%s, %d bytes more than the limit: %s, want %s", test.name, over, got, test.want)
			}
		}
	}
}
