// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package operations

import (
	"crypto"
	"crypto/aes"
	"crypto/cipher"
	stdhmac "crypto/hmac"
	stdpbkdf2 "crypto/pbkdf2"
	"crypto/rand"
	_ "crypto/sha1" // for crypto.Hash
	_ "crypto/sha256"
	_ "crypto/sha512"
	"fmt"
	"hash"

	"example.com/fastmac"
	"example.com/fastmac/aesgcm"
	"example.com/fastmac/hmac"
	"example.com/fastmac/hwrand"
	"example.com/fastmac/pbkdf2"
)

// freshBatch is how many calls in goroutines of their own are measured at once: to wait for the first takes long.
const freshBatch = 128

// batchSize is the number of messages in a batch.
const batchSize = 16

// batch returns messages of that size, with tags.
func batch(size, tagSize int) []fastmac.Message {
	all := make([]fastmac.Message, batchSize)
	for i := range all {
		all[i] = fastmac.Message{Data: message(size), Tag: make([]byte, tagSize)}
	}
	return all
}

func umac() (all []Operation) {
	for _, tagSize := range []int{fastmac.UMAC64Size, fastmac.UMAC128Size} {
		name := fmt.Sprintf("UMAC-%d, ", 8*tagSize)
		newKey := func() *fastmac.UMACKey { return must(fastmac.NewUMACKey(key[:16], tagSize)) }
		all = append(all,
			Operation{Name: name + "one call", Own: func(size int) func(int) []byte {
				k, msg, nonce := newKey(), message(size), new(counter)
				return repeat(func() []byte { return k.Tag(tag, nonce.next()[4:], msg) })
			}},
			Operation{Name: name + "stream", Own: func(size int) func(int) []byte {
				u, msg, nonce := newKey().New(), message(size), new(counter)
				return repeat(func() []byte {
					u.Reset()
					u.Write(msg)
					return u.Tag(tag, nonce.next()[4:])
				})
			}},
			Operation{Name: fmt.Sprintf("%sbatch of %d", name, batchSize), Batch: batchSize, Own: func(size int) func(int) []byte {
				k, b := newKey(), batch(size, tagSize)
				nonces := make([]counter, len(b))
				return func(n int) []byte {
					for ; n > 0; n -= batchSize {
						for i := range b {
							b[i].Nonce = nonces[i].next()[4:]
						}
						k.TagBatch(b)
					}
					return b[batchSize-1].Tag
				}
			}},
		)
	}
	return all
}

// keys are what consists of AES: the set-up of keys, and pads, which are most of a short tag.
func keys() []Operation {
	all := []Operation{
		{Name: "UMAC-64, new key and a tag", Own: func(size int) func(int) []byte {
			k, msg, nonce := new(fastmac.UMACKey), message(size), new(counter)
			return repeat(func() []byte {
				check(k.Init(key[:16], fastmac.UMAC64Size))
				return k.Tag(tag, nonce.next()[4:], msg)
			})
		}},
		{Name: "UMAC-128, pad of a short message", Own: func(size int) func(int) []byte {
			k, msg, nonce := must(fastmac.NewUMACKey(key[:16], fastmac.UMAC128Size)), message(size), new(counter)
			return repeat(func() []byte { return k.Tag(tag, nonce.next()[4:], msg) })
		}, Size: 16},
	}
	if fastmac.RequireAES() == nil {
		all = append(all, Operation{Name: "random bytes", StdName: "crypto/rand",
			Std: func(size int) func(int) []byte {
				p := make([]byte, size)
				return repeat(func() []byte { rand.Read(p); return nil })
			},
			Own: func(size int) func(int) []byte {
				r, p := must(hwrand.New()), make([]byte, size)
				return repeat(func() []byte { r.Read(p); return nil })
			}})
	}
	return all
}

func hmacs(h crypto.Hash) []Operation {
	name := "HMAC-" + h.String() + ", "
	inFresh := func(once func(msg []byte) []byte) Setup {
		return func(size int) func(int) []byte {
			msg := message(size)
			return fresh(func() []byte { return once(msg) })
		}
	}
	return append([]Operation{
		{Name: name + "reused key", StdName: "crypto/hmac", Std: stdHMAC(h), Own: func(size int) func(int) []byte {
			k, msg := must(fastmac.NewHMACKey(h, key[:32])), message(size)
			return repeat(func() []byte { return k.Tag(tag, msg) })
		}},
		{Name: name + "stream of a reused key", StdName: "crypto/hmac", Std: stdHMAC(h), Own: func(size int) func(int) []byte {
			m, msg := must(fastmac.NewHMACKey(h, key[:32])).New(), message(size)
			return repeat(func() []byte {
				m.Reset()
				m.Write(msg)
				return m.Sum(tag)
			})
		}},
		{Name: name + "SumHMAC in a fresh goroutine", Batch: freshBatch, Size: 64, StdName: "crypto/hmac", Std: newHMAC(fresh, h, stdhmac.New),
			Own: inFresh(func(msg []byte) []byte { return fastmac.SumHMAC(h, tag, key[:32], msg) })},
		{Name: name + "NewHMACKey in a fresh goroutine", Batch: freshBatch, Size: 64, StdName: "crypto/hmac", Std: newHMAC(fresh, h, stdhmac.New),
			Own: inFresh(func(msg []byte) []byte { return must(fastmac.NewHMACKey(h, key[:32])).Tag(tag, msg) })},
		{Name: fmt.Sprintf("%sbatch of %d", name, batchSize), StdName: "crypto/hmac", Batch: batchSize, Std: stdHMAC(h),
			Own: func(size int) func(int) []byte {
				k, b := must(fastmac.NewHMACKey(h, key[:32])), batch(size, h.Size())
				return func(n int) []byte {
					for ; n > 0; n -= batchSize {
						k.TagBatch(b)
					}
					return b[batchSize-1].Tag
				}
			}},
	}, dropIns(h)...)
}

// A newer is New of package hmac, or of crypto/hmac.
type newer = func(func() hash.Hash, []byte) hash.Hash

func stdHMAC(h crypto.Hash) Setup { return reused(h, stdhmac.New) }

// reused calls Reset, Write and Sum.
func reused(h crypto.Hash, new newer) Setup {
	return func(size int) func(int) []byte {
		m, msg := new(h.New, key[:32]), message(size)
		return repeat(func() []byte {
			m.Reset()
			m.Write(msg)
			return m.Sum(tag)
		})
	}
}

// newHMAC calls New, Write and Sum.
func newHMAC(do func(once func() []byte) func(n int) []byte, h crypto.Hash, new newer) Setup {
	return func(size int) func(int) []byte {
		msg := message(size)
		return do(func() []byte {
			m := new(h.New, key[:32])
			m.Write(msg)
			return m.Sum(tag)
		})
	}
}

// dropIns are the packages hmac and pbkdf2.
func dropIns(h crypto.Hash) []Operation {
	name := "HMAC-" + h.String() + ", "
	const iterations = 32
	writes := func(new newer) Setup {
		return func(count int) func(int) []byte {
			m, p := new(h.New, key[:32]), message(1)
			return repeat(func() []byte {
				m.Reset()
				for range count {
					m.Write(p)
				}
				return m.Sum(tag)
			})
		}
	}
	derive := func(do func(once func() []byte) func(n int) []byte, derive func(func() hash.Hash, string, []byte, int, int) ([]byte, error), size int) Setup {
		return func(iterations int) func(int) []byte {
			return do(func() []byte { return must(derive(h.New, "password", key, iterations, size)) })
		}
	}
	return []Operation{
		{Name: name + "new key, package hmac", StdName: "crypto/hmac", Std: newHMAC(repeat, h, stdhmac.New), Own: newHMAC(repeat, h, hmac.New)},
		{Name: name + "stream of package hmac", StdName: "crypto/hmac", Std: stdHMAC(h), Own: reused(h, hmac.New)},
		{Name: name + "new key in a fresh goroutine, package hmac", Batch: freshBatch, Size: 64, StdName: "crypto/hmac", Std: newHMAC(fresh, h, stdhmac.New), Own: newHMAC(fresh, h, hmac.New)},
		{Name: name + "few writes of one byte, package hmac", Unit: "writes", Size: 50, StdName: "crypto/hmac", Std: writes(stdhmac.New), Own: writes(hmac.New)},
		{Name: name + "many writes of one byte, package hmac", Unit: "writes", Size: 1000, StdName: "crypto/hmac", Std: writes(stdhmac.New), Own: writes(hmac.New)},
		{Name: "PBKDF2-" + name[:len(name)-2], Unit: "iterations", Size: iterations, StdName: "crypto/pbkdf2", Std: derive(repeat, stdpbkdf2.Key, h.Size()), Own: derive(repeat, pbkdf2.Key, h.Size())},
		{Name: "PBKDF2-" + name + "two blocks", Unit: "iterations", Size: iterations, StdName: "crypto/pbkdf2", Std: derive(repeat, stdpbkdf2.Key, 2*h.Size()), Own: derive(repeat, pbkdf2.Key, 2*h.Size())},
		{Name: "PBKDF2-" + name + "in a fresh goroutine", Unit: "iterations", Batch: freshBatch, Size: 1, StdName: "crypto/pbkdf2", Std: derive(fresh, stdpbkdf2.Key, h.Size()), Own: derive(fresh, pbkdf2.Key, h.Size())},
	}
}

// gcms are GMAC and AES-GCM. The standard library makes a GMAC by a Seal without text.
func gcms() []Operation {
	stdKey := func() cipher.AEAD { return must(cipher.NewGCM(must(aes.NewCipher(key[:16])))) }
	ownKey := func() cipher.AEAD { return must(aesgcm.NewKey(key[:16])) }
	// seal calls newKey before each, or only once.
	seal := func(newKey func() cipher.AEAD, each bool, size int) func(int) []byte {
		k, msg, nonce := newKey(), message(size), new(counter)
		sealed := make([]byte, 0, size+16)
		return repeat(func() []byte {
			if each {
				k = newKey()
			}
			return k.Seal(sealed, nonce.next(), msg, nil)
		})
	}
	open := func(k cipher.AEAD, size int) func(int) []byte {
		nonce, text := new(counter).next(), make([]byte, 0, size)
		sealed := k.Seal(nil, nonce, message(size), nil)
		return repeat(func() []byte { return must(k.Open(text, nonce, sealed, nil)) })
	}
	return []Operation{
		{Name: "GMAC, one call", StdName: "crypto/cipher",
			Std: func(size int) func(int) []byte {
				k, msg, nonce := stdKey(), message(size), new(counter)
				return repeat(func() []byte { return k.Seal(tag, nonce.next(), nil, msg) })
			},
			Own: func(size int) func(int) []byte {
				k, msg, nonce := must(fastmac.NewGMACKey(key[:16])), message(size), new(counter)
				return repeat(func() []byte { return k.Tag(tag, nonce.next(), msg) })
			}},
		{Name: "AES-GCM, Seal", StdName: "crypto/cipher",
			Std: func(size int) func(int) []byte { return seal(stdKey, false, size) },
			Own: func(size int) func(int) []byte { return seal(ownKey, false, size) }},
		{Name: "AES-GCM, Open", StdName: "crypto/cipher",
			Std: func(size int) func(int) []byte { return open(stdKey(), size) },
			Own: func(size int) func(int) []byte { return open(ownKey(), size) }},
		{Name: "AES-GCM, new key and Seal", StdName: "crypto/cipher",
			Std: func(size int) func(int) []byte { return seal(stdKey, true, size) },
			Own: func(size int) func(int) []byte { return seal(ownKey, true, size) }},
	}
}
