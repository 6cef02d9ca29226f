// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package hwrand

import (
	cryptorand "crypto/rand"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
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

// BenchmarkKey reads keys of 32 bytes from a Reader and from crypto/rand in turn, 1,000
// at a time. It reports the quietest and the median of these rounds, in ns for each key,
// and the quotients.
func BenchmarkKey(b *testing.B) {
	r, err := New()
	if err != nil {
		b.Skip(err)
	}
	const keys = 1000
	var times [2][]float64
	key := make([]byte, 32)
	for b.Loop() {
		for i, read := range []func([]byte) (int, error){r.Read, cryptorand.Read} {
			begin := time.Now()
			for range keys {
				read(key)
			}
			times[i] = append(times[i], float64(time.Since(begin).Nanoseconds())/keys)
		}
	}
	for i := range times {
		slices.Sort(times[i])
	}
	at := func(name string, i int) {
		b.ReportMetric(times[0][i], name+"-ns/key")
		b.ReportMetric(times[1][i], name+"-crypto-rand-ns/key")
		b.ReportMetric(times[0][i]/times[1][i], name+"-quotient")
	}
	at("quietest", 0)
	at("median", len(times[0])/2)
	b.ReportMetric(0, "ns/op")
}
