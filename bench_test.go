// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac_test

import (
	"crypto"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"encoding/binary"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"example.com/fastmac"
	"example.com/fastmac/aesgcm"
	"example.com/fastmac/internal/kernel"
	"example.com/fastmac/internal/mactest"
	"example.com/fastmac/internal/measure"
)

// benchSizes has both sides of each step.
var benchSizes = []int{
	16, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 511, 512, 513,
	1023, 1024, 1025, 1500, 2047, 2048, 2049, 4096, 16384, 1 << 20,
}

// BenchmarkMAC tags messages under one key, each with the nonce after the last.
// Kernels and commits are compared by internal/compare. The names are for benchstat, where a slash ends
// a value. These compare UMAC with GMAC of crypto/cipher, GMAC with that, and HMAC-SHA-512 with crypto/hmac:
//
//	go test -run '^$' -bench 'MAC/.*/.*/size=(64|1024|16384)$' -count 10 -benchtime 100ms . > new.txt
//	go run golang.org/x/perf/cmd/benchstat@latest -filter '.unit:sec/op -/impl:fastmac' -row /size -col '/alg@(gmac umac64 umac128)' new.txt
//	go run golang.org/x/perf/cmd/benchstat@latest -filter '.unit:sec/op /alg:gmac' -row /size -col /impl new.txt
//	go run golang.org/x/perf/cmd/benchstat@latest -filter '.unit:sec/op /alg:hmac-sha512' -row /size -col /impl new.txt
func BenchmarkMAC(b *testing.B) {
	nonce := make([]byte, 12) // GCM's; UMAC uses its last 8 bytes
	next := func() { binary.BigEndian.PutUint64(nonce[4:], binary.BigEndian.Uint64(nonce[4:])+1) }
	tag := make([]byte, 0, 64)
	key := make([]byte, 64)
	bench := func(alg, impl string, mac func(msg []byte)) {
		for _, size := range benchSizes {
			b.Run(fmt.Sprintf("alg=%s/impl=%s/size=%d", alg, impl, size), func(b *testing.B) {
				msg := make([]byte, size)
				b.SetBytes(int64(size))
				b.ReportAllocs()
				for b.Loop() {
					mac(msg)
				}
			})
		}
	}

	hw := kernel.NewReport()
	for _, size := range mactest.UMACTagSizes {
		k := mactest.Must(fastmac.NewUMACKey(key[:16], size))
		u := k.New()
		alg := fmt.Sprint("umac", 8*size)
		bench(alg, hw.NH, func(msg []byte) {
			next()
			u.Reset()
			u.Write(msg)
			u.Tag(tag, nonce[4:])
		})
		bench(alg+"-oneshot", hw.NH, func(msg []byte) {
			next()
			k.Tag(tag, nonce[4:], msg)
		})
	}
	for alg, h := range hmacHashes {
		impl := hw.SHA512
		if h == crypto.SHA256 {
			impl = hw.SHA256
		}
		k := mactest.Must(fastmac.NewHMACKey(h, key))
		m := k.New()
		bench(alg, impl, func(msg []byte) {
			m.Reset()
			m.Write(msg)
			m.Sum(tag)
		})
		bench(alg+"-oneshot", impl, func(msg []byte) { k.Tag(tag, msg) })
		std := hmac.New(h.New, key)
		bench(alg, "crypto.hmac", func(msg []byte) {
			std.Reset()
			std.Write(msg)
			std.Sum(tag)
		})
	}

	block, err := aes.NewCipher(key[:16])
	if err != nil {
		b.Fatal(err)
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		b.Fatal(err)
	}
	bench("gmac", "crypto.cipher", func(msg []byte) {
		next()
		gcm.Seal(tag, nonce, nil, msg)
	})
	if fastmac.RequireGCM() == nil {
		k := mactest.Must(fastmac.NewGMACKey(key[:16]))
		bench("gmac-oneshot", "fastmac", func(msg []byte) {
			next()
			k.Tag(tag, nonce, msg)
		})
		m := k.New()
		bench("gmac", "fastmac", func(msg []byte) {
			next()
			m.Reset()
			m.Write(msg)
			m.Tag(tag, nonce)
		})
	}
}

// hmacHashes are the hashes of HMAC that are measured.
var hmacHashes = map[string]crypto.Hash{"hmac-sha256": crypto.SHA256, "hmac-sha384": crypto.SHA384, "hmac-sha512": crypto.SHA512}

// BenchmarkKey sets up a key: in new storage, and in place.
func BenchmarkKey(b *testing.B) {
	key := make([]byte, 64)
	for _, size := range mactest.UMACTagSizes {
		b.Run(fmt.Sprint("alg=umac", 8*size, "/call=New"), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				mactest.Must(fastmac.NewUMACKey(key[:16], size))
			}
		})
		b.Run(fmt.Sprint("alg=umac", 8*size, "/call=Init"), func(b *testing.B) {
			b.ReportAllocs()
			var k fastmac.UMACKey
			for b.Loop() {
				k.Init(key[:16], size)
			}
		})
	}
	if fastmac.RequireGCM() == nil {
		b.Run("alg=gmac/call=New", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				mactest.Must(fastmac.NewGMACKey(key[:16]))
			}
		})
		b.Run("alg=gmac/call=Init", func(b *testing.B) {
			b.ReportAllocs()
			var k fastmac.GMACKey
			for b.Loop() {
				k.Init(key[:16])
			}
		})
	}
	for alg, h := range hmacHashes {
		b.Run("alg="+alg+"/call=New", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				mactest.Must(fastmac.NewHMACKey(h, key))
			}
		})
		tag, msg := make([]byte, 0, 64), make([]byte, 32)
		b.Run("alg="+alg+"/call=Sum", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				fastmac.SumHMAC(h, tag, key[:32], msg)
			}
		})
	}
}

// BenchmarkStreams tags 64-byte packets with 100,000 streams of a key each in
// turn, as a server with as many connections does: no key is in the cache.
func BenchmarkStreams(b *testing.B) {
	const streams = 100_000
	msg, nonce, tag := make([]byte, 64), make([]byte, 12), make([]byte, 0, 64)
	number := uint64(0)
	next := func() int {
		i := number % streams
		binary.BigEndian.PutUint64(nonce[4:], number/streams)
		number++
		return int(i)
	}
	for _, size := range []int{8, 16} {
		b.Run(fmt.Sprint("alg=umac", 8*size), func(b *testing.B) {
			all := make([]*fastmac.UMAC, streams)
			for i := range all {
				all[i] = mactest.Must(fastmac.NewUMAC(binary.BigEndian.AppendUint64(make([]byte, 8), uint64(i)), size))
			}
			b.ReportAllocs()
			for b.Loop() {
				u := all[next()]
				u.Reset()
				u.Write(msg)
				u.Tag(tag, nonce[4:])
			}
		})
	}
	b.Run("alg=gmac", func(b *testing.B) {
		all := make([]cipher.AEAD, streams)
		for i := range all {
			block, err := aes.NewCipher(binary.BigEndian.AppendUint64(make([]byte, 8), uint64(i)))
			if err != nil {
				b.Fatal(err)
			}
			if all[i], err = cipher.NewGCM(block); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportAllocs()
		for b.Loop() {
			all[next()].Seal(tag, nonce, nil, msg)
		}
	})
}

// BenchmarkCores uses one key on all cores.
func BenchmarkCores(b *testing.B) {
	k := mactest.Must(fastmac.NewUMACKey(make([]byte, 16), 8))
	b.SetBytes(16384)
	b.RunParallel(func(pb *testing.PB) {
		msg, nonce, tag := make([]byte, 16384), make([]byte, 8), make([]byte, 0, 64)
		for pb.Next() {
			k.Tag(tag, nonce, msg)
		}
	})
}

// BenchmarkBatch tags and verifies messages in batches. The times are of a whole batch, of
// which ns/msg is the part of one message.
func BenchmarkBatch(b *testing.B) {
	for _, tagSize := range mactest.UMACTagSizes {
		k := mactest.Must(fastmac.NewUMACKey(make([]byte, 16), tagSize))
		for _, n := range []int{8, 64} {
			for _, size := range []int{16, 64, 256, 1024, 1500} {
				nonces := make([]byte, 8*n)
				batch := mactest.NewUMACBatch(n, tagSize, func(i int) []byte { return nonces[8*i:][:8] }, func(int) []byte { return make([]byte, size) })
				msgs, number := mactest.Batch[fastmac.Message](batch.Tags, batch.Nonces, batch.Msgs), uint64(0)
				next := func() {
					for i := range n {
						binary.BigEndian.PutUint64(batch.Nonces[i], number)
						number++
					}
				}
				for _, test := range []struct {
					name string
					call func()
				}{
					{"Tag", func() {
						for i, msg := range batch.Msgs {
							k.Tag(batch.Tags[i][:0], batch.Nonces[i], msg)
						}
					}},
					{"TagBatch", func() { k.TagBatch(msgs) }},
					{"VerifyBatch", func() { k.VerifyBatch(msgs) }},
				} {
					b.Run(fmt.Sprintf("alg=umac%d/msgs=%d/size=%d/call=%s", 8*tagSize, n, size, test.name), func(b *testing.B) {
						b.SetBytes(int64(n * size))
						b.ReportAllocs()
						for b.Loop() {
							next()
							test.call()
						}
						b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/msg")
					})
				}
			}
		}
	}
}

// BenchmarkNonces draws nonces on one core and on all cores.
func BenchmarkNonces(b *testing.B) {
	for _, size := range []int{12, 16} {
		n := fastmac.NewNonceSequence(size)
		b.Run(fmt.Sprintf("size=%d/cores=1", size), func(b *testing.B) {
			b.ReportAllocs()
			dst := make([]byte, 0, 16)
			for b.Loop() {
				n.Next(dst)
			}
		})
		b.Run(fmt.Sprintf("size=%d/cores=all", size), func(b *testing.B) {
			b.RunParallel(func(pb *testing.PB) {
				dst := make([]byte, 0, 64)
				for pb.Next() {
					n.Next(dst)
				}
			})
		})
	}
}

// BenchmarkReplayWindow accepts counters in order, and counters that are late by a random
// number below the size of the window.
func BenchmarkReplayWindow(b *testing.B) {
	for _, size := range []int{64, 1024, 1 << 16} {
		late := make([]uint64, 1<<12)
		for i := range late {
			late[i] = rand.Uint64N(uint64(size))
		}
		b.Run(fmt.Sprintf("bits=%d/order=in", size), func(b *testing.B) {
			b.ReportAllocs()
			w, counter := fastmac.NewReplayWindow(size), uint64(0)
			for b.Loop() {
				w.Accept(counter)
				counter++
			}
		})
		b.Run(fmt.Sprintf("bits=%d/order=random", size), func(b *testing.B) {
			b.ReportAllocs()
			w, counter := fastmac.NewReplayWindow(size), uint64(size)
			for b.Loop() {
				w.Accept(counter - late[counter%uint64(len(late))])
				counter++
			}
		})
	}
}

var keysOfMany = flag.Int("manykeys", 100_000, "the number of `keys` of BenchmarkManyKeys")

// BenchmarkManyKeys tags messages of 64 bytes with 100,000 keys, in random order and in turn, one
// by one and in batches of 32, beside GMAC of crypto/cipher. All keys are alive, and each
// contender in turn has 25 batches, so that what else the machine does is the same for all. No
// key is used again soon. The metrics are the lower quartiles of the times of a message.
//
// With -args -manykeys 1000000 the keys do not fit into an L3 cache of 260 MiB, which has room for
// 100,000 keys of UMAC. A million keys of each kind take some 4 GB.
//
// On an Intel Xeon (family 6, model 207) with Go 1.26.8, of groups of 4 keys that are loaded 1 to
// 6 groups ahead, those of 2 ahead were the best in both orders. Groups of 8, 1 ahead, took 5 % less
// time for UMAC-64 in random order and 9 % less for GMAC, and in turn up to 3 % more.
func BenchmarkManyKeys(b *testing.B) {
	const n, batches = 32, 25
	count := *keysOfMany / (n * batches) * (n * batches)
	if count == 0 {
		b.Fatalf("%d keys: want at least %d", *keysOfMany, n*batches)
	}
	key := func(i int) []byte { return binary.BigEndian.AppendUint64(make([]byte, 8), uint64(i)) }
	for _, order := range []string{"random", "turn"} {
		b.Run("order="+order, func(b *testing.B) {
			numbers := rand.New(rand.NewPCG(1, 2)).Perm(count)
			if order == "turn" {
				slices.Sort(numbers)
			}
			type contender struct {
				name  string
				batch []fastmac.Message
				run   func(first int, batch []fastmac.Message)
				times []time.Duration
			}
			var contenders []*contender
			add := func(name string, nonceSize, tagSize int, run func(first int, batch []fastmac.Message)) {
				c := &contender{name: name, batch: make([]fastmac.Message, n), run: run}
				for i := range c.batch {
					c.batch[i] = fastmac.Message{Nonce: make([]byte, nonceSize), Data: make([]byte, 64), Tag: make([]byte, tagSize)}
				}
				contenders = append(contenders, c)
			}
			umac := inOrder(numbers, func(i int) *fastmac.UMACKey { return mactest.Must(fastmac.NewUMACKey(key(i), 8)) })
			add("umac64.Tag", 8, 8, func(first int, batch []fastmac.Message) {
				for i, k := range umac[first:][:n] {
					k.Tag(batch[i].Tag[:0], batch[i].Nonce, batch[i].Data)
				}
			})
			add("umac64.TagBatch", 8, 8, func(first int, batch []fastmac.Message) { fastmac.TagBatch(umac[first:][:n], batch) })
			add("umac64.VerifyBatch", 8, 8, func(first int, batch []fastmac.Message) { fastmac.VerifyBatch(umac[first:][:n], batch) })
			if fastmac.RequireGCM() == nil {
				gmac := inOrder(numbers, func(i int) *fastmac.GMACKey { return mactest.Must(fastmac.NewGMACKey(key(i))) })
				add("gmac.Tag", 12, 16, func(first int, batch []fastmac.Message) {
					for i, k := range gmac[first:][:n] {
						k.Tag(batch[i].Tag[:0], batch[i].Nonce, batch[i].Data)
					}
				})
				add("gmac.TagBatch", 12, 16, func(first int, batch []fastmac.Message) { fastmac.TagBatch(gmac[first:][:n], batch) })
				add("gmac.VerifyBatch", 12, 16, func(first int, batch []fastmac.Message) { fastmac.VerifyBatch(gmac[first:][:n], batch) })
			}
			std := inOrder(numbers, func(i int) cipher.AEAD {
				return mactest.Must(cipher.NewGCM(mactest.Must(aes.NewCipher(key(i)))))
			})
			add("crypto.gmac", 12, 16, func(first int, batch []fastmac.Message) {
				for i, k := range std[first:][:n] {
					k.Seal(batch[i].Tag[:0], batch[i].Nonce, nil, batch[i].Data)
				}
			})
			for alg, h := range hmacHashes {
				hmac := inOrder(numbers, func(i int) *fastmac.HMACKey { return mactest.Must(fastmac.NewHMACKey(h, key(i))) })
				add(alg+".Tag", 0, h.Size(), func(first int, batch []fastmac.Message) {
					for i, k := range hmac[first:][:n] {
						k.Tag(batch[i].Tag[:0], batch[i].Data)
					}
				})
				add(alg+".TagBatch", 0, h.Size(), func(first int, batch []fastmac.Message) { fastmac.TagBatch(hmac[first:][:n], batch) })
			}

			b.ReportAllocs()
			number, rounds := uint64(0), count/(n*batches)
			turn := func(round int) {
				for i, c := range contenders {
					at := (round + i*rounds/len(contenders)) % rounds * n * batches
					start := time.Now()
					for first := at; first < at+n*batches; first += n {
						for j := range c.batch {
							if nonce := c.batch[j].Nonce; len(nonce) > 0 {
								binary.BigEndian.PutUint64(nonce[len(nonce)-8:], number)
								number++
							}
						}
						c.run(first, c.batch)
					}
					c.times = append(c.times, time.Since(start))
				}
			}
			for round := range rounds { // what is new in memory takes longer
				turn(round)
			}
			for _, c := range contenders {
				c.times = nil
			}
			for round := 0; b.Loop(); round++ {
				turn(round)
			}
			for _, c := range contenders {
				slices.Sort(c.times)
				b.ReportMetric(float64(c.times[len(c.times)/4].Nanoseconds())/(n*batches), c.name+"-ns/msg")
			}
		})
	}
}

// inOrder makes keys from number 0 on, and returns those with the numbers.
func inOrder[K any](numbers []int, newKey func(i int) K) (keys []K) {
	all := make([]K, len(numbers))
	for i := range all {
		all[i] = newKey(i)
	}
	for _, i := range numbers {
		keys = append(keys, all[i])
	}
	return keys
}

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
