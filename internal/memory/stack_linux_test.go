// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package memory

import (
	"context"
	"crypto"
	"crypto/fips140"
	"crypto/sha1"
	"crypto/subtle"
	"fmt"
	"hash"
	"os"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"example.com/fastmac"
	"example.com/fastmac/aesgcm"
	"example.com/fastmac/hkdf"
	"example.com/fastmac/hmac"
	"example.com/fastmac/internal/mactest"
	"example.com/fastmac/internal/umacref"
	"example.com/fastmac/pbkdf2"
)

// TestStack looks for secrets on the stack after each operation, with each kernel, and in FIPS 140 mode.
func TestStack(t *testing.T) {
	// crypto/aes then stores states in its frame.
	const otherAES = "cpu.aes=off"
	// The others are for crypto/sha1, sha256 and sha512 with AVX2, or without assembly.
	settings := longer([]string{"", "fips140=on", otherAES, "cpu.sha=off"}, "cpu.sha=off,cpu.avx2=off", "fips140=on,cpu.sha=off")
	if !mactest.StackProcess(t, settings...) {
		return
	}
	debug := os.Getenv("GODEBUG")
	if strings.HasSuffix(debug, otherAES) {
		t.Run("UMAC", func(t *testing.T) {
			mactest.ForAllKernels(t, mactest.UMAC, func(t *testing.T) {
				mactest.CheckStack(t, umacOps())
			})
		})
		return
	}
	if fips140.Enabled() || strings.Contains(debug, "cpu.sha=off") {
		t.Run("HMAC", func(t *testing.T) { mactest.CheckStack(t, hmacOps()) })
		return
	}
	t.Run("UMAC", func(t *testing.T) {
		mactest.ForAllKernels(t, mactest.UMAC, func(t *testing.T) { mactest.CheckStack(t, umacOps()) })
	})
	t.Run("HMAC", func(t *testing.T) {
		mactest.ForAllKernels(t, mactest.HMAC, func(t *testing.T) { mactest.CheckStack(t, hmacOps()) })
	})
	t.Run("GCM", func(t *testing.T) {
		mactest.ForAllKernels(t, mactest.GCM, func(t *testing.T) {
			mactest.CheckStack(t, gcmOps())
			mactest.CheckStack(t, []mactest.StackOp{sealInRuns})
		})
	})
}

// A random makes secrets.
type random = func(n int) []byte

// stackSizes are sizes of messages. More of these, and of keys, are for long runs.
var (
	stackSizes  = longer([]int{20, 200}, 0, 120, 1500, 2600)
	stackHashes = longer([]crypto.Hash{crypto.SHA224, crypto.SHA256, crypto.SHA384, crypto.SHA512}, crypto.SHA512_256)
	stackKeys   = longer([]int{20, 200}, 64, 128)
)

// longer returns list, in long runs with more.
func longer[T any](list []T, more ...T) []T {
	if mactest.Long() {
		return append(list, more...)
	}
	return list
}

func stackOp(name string, prepare func(random random) (run func(), may func() [][]byte)) mactest.StackOp {
	return mactest.StackOp{Name: name, Prepare: prepare}
}

// umacMay returns what may remain of a message's tag: the tag, the pad and the hash.
func umacMay(key []byte, tagSize int, nonce []byte, tag []byte) [][]byte {
	pad, hash := umacref.PDF(key, nonce, 16), make([]byte, 16)
	copy(hash, tag)
	if tagSize >= 12 {
		subtle.XORBytes(hash, hash, pad)
	} else {
		subtle.XORBytes(hash, tag, umacref.PDF(key, nonce, tagSize))
	}
	return [][]byte{tag, pad, hash, umacref.PDF(key, nonce, tagSize)}
}

func umacOps() (ops []mactest.StackOp) {
	for _, s := range []struct{ key, tag int }{{16, 8}, {24, 4}, {32, 16}, {16, 12}} {
		name := fmt.Sprintf("UMAC-%d, key of %d bytes: ", 8*s.tag, s.key)
		add := func(op string, prepare func(k *fastmac.UMACKey, random random, may func(tag []byte) [][]byte) (run func(), after func() [][]byte)) {
			ops = append(ops, stackOp(name+op, func(random random) (run func(), after func() [][]byte) {
				key := random(s.key)
				return prepare(mactest.Must(fastmac.NewUMACKey(key, s.tag)), random, func(tag []byte) [][]byte { return umacMay(key, s.tag, scanNonce, tag) })
			}))
		}
		ops = append(ops, stackOp(name+"Init", func(random random) (func(), func() [][]byte) {
			k, key := new(fastmac.UMACKey), random(s.key)
			return func() { k.Init(key, s.tag) }, none
		}), stackOp(name+"NewUMAC", func(random random) (func(), func() [][]byte) {
			key := random(s.key)
			return func() { fastmac.NewUMAC(key, s.tag) }, none
		}))
		add("Destroy", func(k *fastmac.UMACKey, random random, may func(tag []byte) [][]byte) (func(), func() [][]byte) {
			return k.Destroy, none
		})
		for _, n := range slices.Concat(stackSizes, []int{1500, 2600, 3*1024 - 70}) {
			add(fmt.Sprintf("Tag of %d bytes", n), func(k *fastmac.UMACKey, random random, may func(tag []byte) [][]byte) (func(), func() [][]byte) {
				tag, msg := make([]byte, s.tag), random(n)
				return func() { k.Tag(tag[:0], scanNonce, msg) }, func() [][]byte { return may(tag) }
			})
			add(fmt.Sprintf("Verify of %d bytes", n), func(k *fastmac.UMACKey, random random, may func(tag []byte) [][]byte) (func(), func() [][]byte) {
				msg := random(n)
				tag := k.Tag(nil, scanNonce, msg)
				return func() { mustBe(k.Verify(tag, scanNonce, msg)) }, func() [][]byte { return may(tag) }
			})
			add(fmt.Sprintf("Write of %d bytes after 70", n), func(k *fastmac.UMACKey, random random, may func(tag []byte) [][]byte) (func(), func() [][]byte) {
				u, msg := k.New(), random(70+n)
				u.Write(msg[:70])
				return func() { u.Write(msg[70:]) }, none
			})
			add(fmt.Sprintf("Tag of a stream of %d bytes", n), func(k *fastmac.UMACKey, random random, may func(tag []byte) [][]byte) (func(), func() [][]byte) {
				u, tag := k.New(), make([]byte, s.tag)
				u.Write(random(n))
				return func() { u.Tag(tag[:0], scanNonce) }, func() [][]byte { return may(tag) }
			})
			add(fmt.Sprintf("Clone of a stream of %d bytes", n), func(k *fastmac.UMACKey, random random, may func(tag []byte) [][]byte) (func(), func() [][]byte) {
				u := k.New()
				u.Write(random(n))
				return func() { u.Clone() }, none
			})
			add(fmt.Sprintf("Reset and Destroy of a stream of %d bytes", n), func(k *fastmac.UMACKey, random random, may func(tag []byte) [][]byte) (func(), func() [][]byte) {
				u := k.New()
				u.Write(random(n))
				return func() { u.Reset(); u.Destroy() }, none
			})
		}
		for _, n := range longer([]int{2, 9}, 1, 3, 16) {
			batch := func(k *fastmac.UMACKey, random random) (b mactest.UMACBatch) {
				b = mactest.NewUMACBatch(n, s.tag, func(i int) []byte { return scanBatchNonces()[i%8] }, func(i int) []byte { return random(stackSizes[i%len(stackSizes)]) })
				b.Nonces[n-1] = scanNonce
				return b
			}
			add(fmt.Sprintf("TagBatch of %d", n), func(k *fastmac.UMACKey, random random, may func(tag []byte) [][]byte) (func(), func() [][]byte) {
				b := batch(k, random)
				batch := mactest.Batch[fastmac.Message](b.Tags, b.Nonces, b.Msgs)
				return func() { k.TagBatch(batch) }, func() [][]byte { return append(b.Tags, may(b.Tags[n-1])...) }
			})
			add(fmt.Sprintf("VerifyBatch of %d", n), func(k *fastmac.UMACKey, random random, may func(tag []byte) [][]byte) (func(), func() [][]byte) {
				b := batch(k, random)
				mactest.TagBatch(k.TagBatch, b.Tags, b.Nonces, b.Msgs)
				batch := mactest.Batch[fastmac.Message](b.Tags, b.Nonces, b.Msgs)
				return func() { mustBe(k.VerifyBatch(batch)) }, func() [][]byte { return append(b.Tags, may(b.Tags[n-1])...) }
			})
		}
	}
	return ops
}

func none() [][]byte { return nil }

func gcmOps() (ops []mactest.StackOp) {
	for _, size := range scanGCMKeySizes {
		name := fmt.Sprintf("key of %d bytes: ", size)
		add := func(op string, prepare func(key []byte, random random) (func(), func() [][]byte)) {
			ops = append(ops, stackOp(name+op, func(random random) (func(), func() [][]byte) { return prepare(random(size), random) }))
		}
		add("GMACKey.Init", func(key []byte, random random) (func(), func() [][]byte) {
			k := new(fastmac.GMACKey)
			return func() { k.Init(key) }, none
		})
		add("GMACKey.Destroy", func(key []byte, random random) (func(), func() [][]byte) {
			return mactest.Must(fastmac.NewGMACKey(key)).Destroy, none
		})
		for _, n := range longer(stackSizes, 1<<18+600) {
			gcmMay := func(key, tag []byte) [][]byte {
				secrets := gcmSecrets("", key, scanGCMNonce, nil, nil)
				mask := secrets[2].bytes
				sum := make([]byte, 16)
				subtle.XORBytes(sum, mask, tag)
				return [][]byte{tag, mask, sum}
			}
			msgOp := func(op string, prepare func(k *fastmac.GMACKey, msg, tag []byte) func()) {
				add(fmt.Sprintf("%s of %d bytes", op, n), func(key []byte, random random) (func(), func() [][]byte) {
					k, msg := mactest.Must(fastmac.NewGMACKey(key)), random(n)
					tag := k.Tag(nil, scanGCMNonce, msg)
					return prepare(k, msg, tag), func() [][]byte { return gcmMay(key, tag) }
				})
			}
			msgOp("GMACKey.Tag", func(k *fastmac.GMACKey, msg, tag []byte) func() { return func() { k.Tag(tag[:0], scanGCMNonce, msg) } })
			msgOp("GMACKey.Verify", func(k *fastmac.GMACKey, msg, tag []byte) func() {
				return func() { mustBe(k.Verify(tag, scanGCMNonce, msg)) }
			})
			msgOp("GMAC.Write", func(k *fastmac.GMACKey, msg, tag []byte) func() {
				m := k.New()
				m.Write(msg[:n/3])
				return func() { m.Write(msg[n/3:]) }
			})
			msgOp("GMAC.Tag", func(k *fastmac.GMACKey, msg, tag []byte) func() {
				m := k.New()
				m.Write(msg)
				return func() { m.Tag(tag[:0], scanGCMNonce) }
			})
			msgOp("GMAC.Clone, Reset, Destroy", func(k *fastmac.GMACKey, msg, tag []byte) func() {
				m := k.New()
				m.Write(msg)
				return func() { m.Clone(); m.Reset(); m.Destroy() }
			})
			for _, data := range longer([]int{20, 700}, 0) {
				sealOp := func(op string, prepare func(k *aesgcm.Key, msg, data, sealed []byte) func()) {
					add(fmt.Sprintf("%s of %d bytes and %d of data", op, n, data), func(key []byte, random random) (func(), func() [][]byte) {
						k, msg, data := mactest.Must(aesgcm.NewKey(key)), random(n), random(data)
						sealed := k.Seal(nil, scanGCMNonce, msg, data)
						return prepare(k, msg, data, sealed), func() [][]byte { return gcmMay(key, sealed[n:]) }
					})
				}
				sealOp("Seal", func(k *aesgcm.Key, msg, data, sealed []byte) func() {
					return func() { k.Seal(sealed[:0], scanGCMNonce, msg, data) }
				})
				sealOp("Open", func(k *aesgcm.Key, msg, data, sealed []byte) func() {
					return func() { must2(k.Open(msg[:0], scanGCMNonce, sealed, data)) }
				})
				sealOp("Sealer.Open", func(k *aesgcm.Key, msg, data, sealed []byte) func() {
					s, in := k.NewSealer(), slices.Concat(scanGCMNonce, sealed)
					return func() { must2(s.Open(msg[:0], nil, in, data)) }
				})
			}
		}
		for _, n := range []int{3, 9} {
			add(fmt.Sprintf("GMACKey.TagBatch of %d", n), func(key []byte, random random) (func(), func() [][]byte) {
				k := mactest.Must(fastmac.NewGMACKey(key))
				var tags, nonces, msgs [][]byte
				for i := range n {
					tags, nonces, msgs = append(tags, make([]byte, 16)), append(nonces, scanGCMNonce), append(msgs, random(stackSizes[i%len(stackSizes)]))
				}
				batch := mactest.Batch[fastmac.Message](tags, nonces, msgs)
				return func() { k.TagBatch(batch) }, func() [][]byte {
					last := gcmSecrets("", key, scanGCMNonce, nil, nil)[2].bytes
					sum := make([]byte, 16)
					subtle.XORBytes(sum, last, tags[n-1])
					return append(tags, last, sum)
				}
			})
		}
	}
	return ops
}

// sealInRuns is Seal of more than one call of the assembly takes, after additional data.
var sealInRuns = stackOp("Seal in runs", func(random random) (func(), func() [][]byte) {
	key, msg, data := random(16), random(1<<18+600), random(700)
	k, sealed := mactest.Must(aesgcm.NewKey(key)), make([]byte, 0, len(msg)+16)
	return func() { sealed = k.Seal(sealed, scanGCMNonce, msg, data) }, func() [][]byte {
		mask, tag := gcmSecrets("", key, scanGCMNonce, nil, nil)[2].bytes, sealed[len(msg):]
		sum := make([]byte, 16)
		subtle.XORBytes(sum, mask, tag)
		return [][]byte{tag, mask, sum}
	}
})

func must2(_ []byte, err error) { must(err) }

func hmacOps() (ops []mactest.StackOp) {
	for _, h := range stackHashes {
		for _, size := range stackKeys {
			name := fmt.Sprintf("%v, key of %d bytes: ", h, size)
			add := func(op string, prepare func(key []byte, random random) (func(), func() [][]byte)) {
				ops = append(ops, stackOp(name+op, func(random random) (func(), func() [][]byte) { return prepare(random(size), random) }))
			}
			key := func(key []byte) *fastmac.HMACKey { return mactest.Must(fastmac.NewHMACKey(h, key)) }
			add("Init", func(key []byte, random random) (func(), func() [][]byte) {
				k := new(fastmac.HMACKey)
				return func() { k.Init(h, key) }, none
			})
			add("New", func(k []byte, random random) (func(), func() [][]byte) {
				hk := key(k)
				return func() { hk.New() }, none
			})
			add("NewHMAC", func(key []byte, random random) (func(), func() [][]byte) {
				return func() { fastmac.NewHMAC(h, key) }, none
			})
			if hasAssembly(h) && !fips140.Enabled() { // or crypto/hmac, crypto/hkdf and crypto/pbkdf2 compute, and wipe nothing
				add("hmac.New", func(key []byte, random random) (func(), func() [][]byte) {
					return func() { hmac.New(h.New, key) }, none
				})
				derivations(add, h.New, h.Size())
			}
			for _, n := range stackSizes {
				msgOp := func(op string, prepare func(key, msg, tag []byte) func()) {
					add(fmt.Sprintf("%s of %d bytes", op, n), func(k []byte, random random) (func(), func() [][]byte) {
						msg := random(n)
						tag := key(k).Tag(nil, msg)
						return prepare(k, msg, tag), func() [][]byte { return [][]byte{tag} }
					})
				}
				msgOp("Tag", func(k, msg, tag []byte) func() { hk := key(k); return func() { hk.Tag(tag[:0], msg) } })
				msgOp("Verify", func(k, msg, tag []byte) func() { hk := key(k); return func() { mustBe(hk.Verify(tag, msg)) } })
				msgOp("SumHMAC", func(k, msg, tag []byte) func() { return func() { fastmac.SumHMAC(h, tag[:0], k, msg) } })
				msgOp("Write", func(k, msg, tag []byte) func() {
					m := key(k).New()
					m.Write(msg[:n/3])
					return func() { m.Write(msg[n/3:]) }
				})
				msgOp("Sum", func(k, msg, tag []byte) func() {
					m := key(k).New()
					m.Write(msg)
					return func() { m.Sum(tag[:0]) }
				})
				msgOp("Verify of a stream", func(k, msg, tag []byte) func() {
					m := key(k).New()
					m.Write(msg)
					return func() { mustBe(m.Verify(tag)) }
				})
				msgOp("Clone", func(k, msg, tag []byte) func() {
					m := key(k).New()
					m.Write(msg)
					return func() { m.Clone() }
				})
				msgOp("Reset, Destroy", func(k, msg, tag []byte) func() {
					m := key(k).New()
					m.Write(msg)
					return func() { m.Reset(); m.Destroy() }
				})
			}
			for _, n := range longer([]int{2, 17}, 1, 3, 9) {
				batch := func(random random) (tags, msgs [][]byte) {
					for i := range n {
						tags, msgs = append(tags, make([]byte, h.Size())), append(msgs, random(stackSizes[i%len(stackSizes)]))
					}
					return tags, msgs
				}
				add(fmt.Sprintf("TagBatch of %d", n), func(k []byte, random random) (func(), func() [][]byte) {
					hk := key(k)
					tags, msgs := batch(random)
					batch := mactest.Batch[fastmac.Message](tags, nil, msgs)
					return func() { hk.TagBatch(batch) }, func() [][]byte { return tags }
				})
				add(fmt.Sprintf("VerifyBatch of %d", n), func(k []byte, random random) (func(), func() [][]byte) {
					hk := key(k)
					tags, msgs := batch(random)
					mactest.TagBatch(hk.TagBatch, tags, nil, msgs)
					batch := mactest.Batch[fastmac.Message](tags, nil, msgs)
					return func() { mustBe(hk.VerifyBatch(batch)) }, func() [][]byte { return tags }
				})
				add(fmt.Sprintf("SumHMACBatch of %d", n), func(k []byte, random random) (func(), func() [][]byte) {
					tags, msgs := batch(random)
					keys := slices.Repeat([][]byte{k}, n)
					keys[1%n] = random(200) // is hashed while the one before is there
					batch := mactest.Batch[fastmac.Message](tags, nil, msgs)
					return func() { fastmac.SumHMACBatch(h, keys, batch) }, func() [][]byte { return tags }
				})
			}
		}
	}
	if fips140.Enabled() {
		return ops
	}
	for _, size := range stackKeys {
		name := fmt.Sprintf("SHA-1, key of %d bytes: ", size)
		add := func(op string, prepare func(key []byte, random random) (func(), func() [][]byte)) {
			ops = append(ops, stackOp(name+op, func(random random) (func(), func() [][]byte) { return prepare(random(size), random) }))
		}
		add("hmac.New", func(key []byte, random random) (func(), func() [][]byte) {
			return func() { hmac.New(sha1.New, key) }, none
		})
		for _, n := range append(slices.Clip(stackSizes), 450) { // from 256 bytes on other assembly may run
			add(fmt.Sprintf("Write of %d bytes", n), func(key []byte, random random) (func(), func() [][]byte) {
				m, msg := hmac.New(sha1.New, key), random(n)
				m.Write(msg[:n/3])
				return func() { m.Write(msg[n/3:]) }, none
			})
			add(fmt.Sprintf("Sum of %d bytes", n), func(key []byte, random random) (func(), func() [][]byte) {
				m, tag := hmac.New(sha1.New, key), make([]byte, 20)
				m.Write(random(n))
				return func() { m.Sum(tag[:0]) }, func() [][]byte { return [][]byte{tag} }
			})
			add(fmt.Sprintf("Clone of %d bytes", n), func(key []byte, random random) (func(), func() [][]byte) {
				m := hmac.New(sha1.New, key)
				m.Write(random(n))
				return func() { m.(hash.Cloner).Clone() }, none
			})
		}
		derivations(add, sha1.New, sha1.Size)
	}
	return ops
}

// derivations adds HKDF and PBKDF2.
func derivations(add func(op string, prepare func(key []byte, random random) (func(), func() [][]byte)), h func() hash.Hash, size int) {
	salt := []byte(scanSalt)
	for _, n := range longer([]int{3 * size}, 1, size) {
		var out []byte
		outs := func() [][]byte { return [][]byte{out} }
		if h().Size() != sha1.Size {
			add("hkdf.Extract", func(key []byte, random random) (func(), func() [][]byte) {
				return func() { out, _ = hkdf.Extract(h, key, salt) }, outs
			})
			add(fmt.Sprintf("hkdf.Expand of %d bytes", n), func(key []byte, random random) (func(), func() [][]byte) {
				return func() { out, _ = hkdf.Expand(h, key, scanInfo, n) }, outs
			})
			add(fmt.Sprintf("hkdf.Key of %d bytes", n), func(key []byte, random random) (func(), func() [][]byte) {
				return func() { out, _ = hkdf.Key(h, key, salt, scanInfo, n) }, outs
			})
		}
		for _, iterations := range longer([]int{3}, 1) {
			add(fmt.Sprintf("pbkdf2.Key of %d bytes, %d iterations", n, iterations), func(key []byte, random random) (func(), func() [][]byte) {
				password := unsafe.String(&key[0], len(key))
				return func() { out, _ = pbkdf2.Key(h, password, salt, iterations, n) }, outs
			})
		}
	}
	for _, n := range longer([]int{2, 17}, 3) {
		add(fmt.Sprintf("pbkdf2.KeyBatch of %d", n), func(key []byte, random random) (func(), func() [][]byte) {
			var batch []pbkdf2.Derivation
			var keys [][]byte
			for i := range n {
				key[0] ^= byte(i)
				batch = append(batch, pbkdf2.Derivation{Password: string(key), Salt: salt, Iter: 3, Key: make([]byte, 1+7*i)})
				keys = append(keys, batch[i].Key)
			}
			return func() { must(pbkdf2.KeyBatch(context.Background(), h, batch)) }, func() [][]byte { return keys }
		})
	}
}
