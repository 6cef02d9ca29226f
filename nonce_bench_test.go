// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac_test

import (
	"encoding/binary"
	"fmt"
	"testing"
	"time"

	"example.com/fastmac"
	"example.com/fastmac/aesgcm"
	"example.com/fastmac/internal/mactest"
	"example.com/fastmac/internal/measure"
)

// nonceWrites are usual ways to write a nonce, which has 8 bytes or more, before its tag is computed.
var nonceWrites = []struct {
	name  string
	write func(nonce []byte, number uint64)
}{
	{"none", func([]byte, uint64) {}},
	{"PutUint64", func(nonce []byte, number uint64) { binary.BigEndian.PutUint64(nonce[len(nonce)-8:], number) }},
	{"PutUint32", func(nonce []byte, number uint64) { binary.BigEndian.PutUint32(nonce[len(nonce)-4:], uint32(number)) }},
	{"copy", func(nonce []byte, number uint64) { copy(nonce, copied[number%uint64(len(copied))][:]) }},
	{"increment", func(nonce []byte, number uint64) {
		for i := len(nonce) - 1; i >= 0; i-- {
			if nonce[i]++; nonce[i] != 0 {
				break
			}
		}
	}},
	// The compiler knows the upper bytes, and writes each of the others alone.
	{"PutUint64-of-uint32", func(nonce []byte, number uint64) {
		binary.BigEndian.PutUint64(nonce[len(nonce)-8:], uint64(uint32(number)))
	}},
	{"bytes", func(nonce []byte, number uint64) {
		for i := range 8 {
			nonce[len(nonce)-1-i] = byte(number >> (8 * i))
		}
	}},
}

// copied are nonces that were there long before.
var copied [64][16]byte

// BenchmarkNonceWrites tags, verifies, seals and opens 32 bytes with nonces that have just been written in the usual
// ways. A load waits for recent stores if no single one has all of its bytes. The metrics are the least times of
// slices of 10 microseconds, in turn, with what it takes to write. For goroutine-ns, another goroutine has written
// the nonces before.
func BenchmarkNonceWrites(b *testing.B) {
	key, msg, out := make([]byte, 16), make([]byte, 32), make([]byte, 0, 64)
	type call struct {
		name       string
		nonceSizes []int
		do         func(nonce []byte)
	}
	var calls []call
	for _, tagSize := range []int{8, 16} {
		k, tag := mactest.Must(fastmac.NewUMACKey(key, tagSize)), make([]byte, tagSize)
		alg := fmt.Sprint("umac", 8*tagSize)
		calls = append(calls,
			call{alg + "/call=Tag", []int{8, 12, 16}, func(nonce []byte) { k.Tag(out, nonce, msg) }},
			call{alg + "/call=Verify", []int{8, 12, 16}, func(nonce []byte) { k.Verify(tag, nonce, msg) }})
	}
	if fastmac.RequireGCM() == nil {
		k, tag, seal := mactest.Must(fastmac.NewGMACKey(key)), make([]byte, 16), mactest.Must(aesgcm.NewKey(key))
		calls = append(calls,
			call{"gmac/call=Tag", []int{12}, func(nonce []byte) { k.Tag(out, nonce, msg) }},
			call{"gmac/call=Verify", []int{12}, func(nonce []byte) { k.Verify(tag, nonce, msg) }},
			call{"aesgcm/call=Seal", []int{12}, func(nonce []byte) { seal.Seal(out, nonce, msg, nil) }},
			call{"aesgcm/call=Open", []int{12}, func(nonce []byte) { seal.Open(out, nonce, out[:48], nil) }})
	}
	for _, c := range calls {
		for _, size := range c.nonceSizes {
			b.Run(fmt.Sprintf("alg=%s/nonce=%d", c.name, size), func(b *testing.B) {
				names, cells := []string{"goroutine"}, []*measure.Cell{writtenElsewhere(size, c.do)}
				for _, w := range nonceWrites {
					nonce, number := make([]byte, 16)[:size], uint64(0)
					names = append(names, w.name)
					cells = append(cells, &measure.Cell{Batch: 1, Do: func(n int) {
						for range n {
							w.write(nonce, number)
							number++
							c.do(nonce)
						}
					}})
				}
				for b.Loop() {
					measure.InTurn(b.Context(), cells, 10*time.Microsecond, 100*time.Millisecond, func(time.Duration) {})
				}
				for i, name := range names {
					b.ReportMetric(measure.Quantile(cells[i].NS, 0), name+"-ns")
				}
			})
		}
	}
}

// writtenElsewhere has calls with nonces of which each has been written by another goroutine since it was used.
func writtenElsewhere(size int, do func(nonce []byte)) *measure.Cell {
	var nonces [4096][16]byte // more than the calls in a slice
	number, next := uint64(0), 0
	return &measure.Cell{
		Batch: 1,
		Before: func() {
			done := make(chan bool)
			go func() {
				for i := range nonces {
					binary.BigEndian.PutUint64(nonces[i][size-8:], number)
					number++
				}
				done <- true
			}()
			<-done
			next = 0
		},
		Do: func(n int) {
			for range n {
				do(nonces[next%len(nonces)][:size])
				next++
			}
		},
	}
}
