// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package hwrand

import (
	cryptorand "crypto/rand"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"
)

// BenchmarkRead reads into one buffer. ChaCha8 of math/rand/v2 is not the same thing: it is
// not safe for concurrent use, is never reseeded, and keeps what it returned for a while.
// Of the names with goroutines, all goroutines use one Reader.
func BenchmarkRead(b *testing.B) {
	r, err := New()
	if err != nil {
		b.Skip(err)
	}
	for _, size := range []int{16, 32, 64, 256, 511, 512, 1024, 16384, 1 << 20} {
		for _, impl := range []struct {
			name string
			r    io.Reader
		}{
			{"hwrand", r},
			{"crypto-rand", cryptorand.Reader},
			{"chacha8", rand.NewChaCha8([32]byte{})},
		} {
			b.Run(fmt.Sprintf("size=%d/impl=%s", size, impl.name), func(b *testing.B) {
				p := make([]byte, size)
				b.SetBytes(int64(size))
				b.ReportAllocs()
				for b.Loop() {
					impl.r.Read(p)
				}
			})
		}
		for _, impl := range []struct {
			name string
			r    io.Reader
		}{{"hwrand", r}, {"crypto-rand", cryptorand.Reader}} {
			b.Run(fmt.Sprintf("size=%d/impl=%s/goroutines", size, impl.name), func(b *testing.B) {
				b.SetBytes(int64(size))
				b.RunParallel(func(pb *testing.PB) {
					p := make([]byte, size)
					for pb.Next() {
						impl.r.Read(p)
					}
				})
			})
		}
	}
}
