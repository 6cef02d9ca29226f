// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package memory

import (
	"bytes"
	"crypto"
	"crypto/fips140"
	"crypto/sha1"
	"fmt"
	"hash"
	"testing"

	"example.com/fastmac"
	"example.com/fastmac/aesgcm"
	"example.com/fastmac/hmac"
	"example.com/fastmac/internal/mactest"
)

// TestDying destroys keys and streams while they are in use: nothing that depends on a dead key gets out.
// For kernels that are not the best the computations are only stopped half-way.
func TestDying(t *testing.T) {
	of := func(list func() []mactest.Dying) func(t *testing.T) {
		trials := mactest.DyingTrials()
		return func(t *testing.T) {
			mactest.TestDying(t, trials, list())
			trials = 0
		}
	}
	t.Run("UMAC", func(t *testing.T) {
		mactest.ForAllKernels(t, mactest.UMAC, of(func() (all []mactest.Dying) {
			for _, size := range mactest.UMACTagSizes {
				all = append(all, dyingMAC(func(k *fastmac.UMACKey, key []byte) error { return k.Init(key, size) },
					func() nonceStream { return mactest.Must(fastmac.NewUMAC(dyingKey, size)) })...)
			}
			return append(all, dyingSign()...)
		}))
	})
	t.Run("GCM", func(t *testing.T) {
		mactest.ForAllKernels(t, mactest.GCM, of(func() []mactest.Dying {
			return append(dyingMAC((*fastmac.GMACKey).Init,
				func() nonceStream { return mactest.Must(fastmac.NewGMAC(dyingKey)) }), dyingAEAD()...)
		}))
	})
	t.Run("HMAC", func(t *testing.T) {
		mactest.ForAllKernels(t, mactest.HMAC, of(func() (all []mactest.Dying) {
			for _, h := range []crypto.Hash{crypto.SHA256, crypto.SHA384, crypto.SHA512} {
				all = append(all, dyingHMAC(h)...)
			}
			return all
		}))
	})
	t.Run("SHA-1", func(t *testing.T) { mactest.TestDying(t, mactest.DyingTrials(), dyingSHA1()) })
}

// dyingKey is what all keys are made from, and otherKey what those that replace them are made from.
var (
	dyingKey = []byte("0123456789abcdef")
	otherKey = []byte("fedcba9876543210")
	nonce12  = []byte("nonce of 12.")
	written  = []byte("what was written to a stream before, more than a group of it")
)

// A nonceKey is a key of UMAC or GMAC, K, and a nonceStream a stream.
type nonceKey[K any] interface {
	*K
	Size() int
	Tag(dst, nonce, msg []byte) []byte
	Verify(tag, nonce, msg []byte) bool
	TagBatch(batch []fastmac.Message)
	VerifyBatch(batch []fastmac.Message) bool
	Destroy()
}

type nonceStream interface {
	hash.Cloner
	Tag(dst, nonce []byte) []byte
	Verify(tag, nonce []byte) bool
	Bind(nonce []byte) hash.Cloner
	Destroy()
}

// good is what gets out of a verdict.
func good(right bool) []byte {
	if right {
		return []byte{1}
	}
	return nil
}

// dyingKeys has a computation with a key that is destroyed, and one whose key is replaced.
func dyingKeys[K any, P interface {
	*K
	Destroy()
}](what string, init func(k P, key []byte) error, compute func(k P, in, out []byte) func() []byte) (all []mactest.Dying) {
	for _, how := range []string{"Destroy", "Init"} {
		all = append(all, mactest.Dying{Name: what + "/" + how, Replaced: how == "Init", New: func(in, out []byte) (func() []byte, func()) {
			k := P(new(K))
			if err := init(k, dyingKey); err != nil {
				panic(err)
			}
			return compute(k, in, out), func() {
				if how == "Destroy" {
					k.Destroy()
				} else if err := init(k, otherKey); err != nil {
					panic(err)
				}
			}
		}})
	}
	return all
}

// dyingBatch is a batch of messages, of which those in the middle are in.
func dyingBatch(nonce, in []byte, tag func(i int) []byte) []fastmac.Message {
	batch := make([]fastmac.Message, 20)
	for i := range batch {
		batch[i] = fastmac.Message{Nonce: nonce, Data: in, Tag: tag(i)}
		if i != len(batch)/2 {
			batch[i].Data = mactest.DyingInput()
		}
	}
	return batch
}

// dyingMAC has the computations with keys and streams that take a nonce.
func dyingMAC[K any, P nonceKey[K]](init func(k P, key []byte) error, newOwner func() nonceStream) (all []mactest.Dying) {
	newStream := func(k P) nonceStream {
		switch k := any(k).(type) {
		case *fastmac.UMACKey:
			return k.New()
		case *fastmac.GMACKey:
			return k.New()
		}
		panic("unreachable")
	}
	name := newOwner().(interface{ String() string }).String()
	key := func(what string, compute func(k P, in, out []byte) func() []byte) {
		all = append(all, dyingKeys(name+"/key/"+what, init, compute)...)
	}
	key("Tag", func(k P, in, out []byte) func() []byte {
		return func() []byte { return k.Tag(out[:0], nonce12, in) }
	})
	key("Tag, short", func(k P, in, out []byte) func() []byte {
		return func() []byte { return k.Tag(out[:0], nonce12, in[:100]) }
	})
	key("Verify", func(k P, in, out []byte) func() []byte {
		tag := k.Tag(nil, nonce12, mactest.DyingInput())
		return func() []byte { return good(k.Verify(tag, nonce12, in)) }
	})
	key("TagBatch", func(k P, in, out []byte) func() []byte {
		size := k.Size()
		batch := dyingBatch(nonce12, in, func(i int) []byte { return out[i*size:][:size] })
		return func() []byte { k.TagBatch(batch); return out[:len(batch)*size] }
	})
	key("VerifyBatch", func(k P, in, out []byte) func() []byte {
		tag := k.Tag(nil, nonce12, mactest.DyingInput())
		batch := dyingBatch(nonce12, in, func(int) []byte { return tag })
		return func() []byte { return verdicts(k.VerifyBatch, batch) }
	})

	// The nonce of a stream is in.
	stream := func(what string, compute func(s nonceStream, nonce, tag, out []byte) []byte) {
		for _, whose := range []string{"owner", "key destroyed", "key stays"} {
			all = append(all, mactest.Dying{Name: name + "/stream/" + whose + "/" + what, New: func(in, out []byte) (func() []byte, func()) {
				k := P(new(K))
				if err := init(k, dyingKey); err != nil {
					panic(err)
				}
				s := newStream(k)
				kill := s.Destroy
				switch whose {
				case "owner":
					s = newOwner()
					kill = s.Destroy
				case "key destroyed":
					kill = k.Destroy
				}
				s.Write(written)
				tag := k.Tag(nil, mactest.DyingInput()[:12], written)
				return func() []byte { return compute(s, in[:12], tag, out[:0]) }, kill
			}})
		}
	}
	stream("Tag", func(s nonceStream, nonce, _, out []byte) []byte { return s.Tag(out, nonce) })
	stream("Verify", func(s nonceStream, nonce, tag, _ []byte) []byte { return good(s.Verify(tag, nonce)) })

	// The message of a stream is in. Its end is a page that cannot be read: Write must not go beyond.
	for _, sizes := range [][2]int{{512, 600}, {992, 100}, {32, 1000}, {1024, 2000}} {
		all = append(all, mactest.Dying{Name: fmt.Sprintf("%s/stream/owner/Write %d and %d", name, sizes[0], sizes[1]), New: func(in, out []byte) (func() []byte, func()) {
			s := newOwner()
			s.Write(written)
			s.Write(mactest.DyingInput()[:sizes[0]])
			return func() []byte {
				s.Write(in[len(in)-sizes[1]:])
				return s.Tag(out[:0], nonce12)
			}, s.Destroy
		}})
	}
	return all
}

// verdicts returns what gets out of a batch.
func verdicts(verify func(batch []fastmac.Message) bool, batch []fastmac.Message) []byte {
	defer func() {
		if r := recover(); r != nil {
			for i := range batch {
				if batch[i].OK {
					panic("a message of a batch that panicked is OK")
				}
			}
			panic(r)
		}
	}()
	return good(verify(batch))
}

// dyingSign has what only UMAC has.
func dyingSign() []mactest.Dying {
	init := func(k *fastmac.UMACKey, key []byte) error { return k.Init(key, fastmac.UMAC64Size) }
	sign := dyingKeys("Sign", init, func(k *fastmac.UMACKey, in, out []byte) func() []byte {
		return func() []byte { return k.Sign(out[:0], in) }
	})
	verifier := mactest.Must(fastmac.NewUMACKey(dyingKey, fastmac.UMAC64Size))
	other := mactest.Must(fastmac.NewUMACKey(otherKey, fastmac.UMAC64Size))
	for i := range sign {
		sign[i].Right = func(sig []byte) bool {
			return verifier.VerifySigned(sig, mactest.DyingInput()) || sign[i].Replaced && other.VerifySigned(sig, mactest.DyingInput())
		}
	}
	return append(sign, dyingKeys("VerifySigned", init, func(k *fastmac.UMACKey, in, out []byte) func() []byte {
		sig := k.Sign(nil, mactest.DyingInput())
		return func() []byte { return good(k.VerifySigned(sig, in)) }
	})...)
}

// dyingHMAC has the computations of HMAC.
func dyingHMAC(h crypto.Hash) (all []mactest.Dying) {
	init := func(k *fastmac.HMACKey, key []byte) error { return k.Init(h, key) }
	key := func(what string, compute func(k *fastmac.HMACKey, in, out []byte) func() []byte) {
		all = append(all, dyingKeys(h.String()+"/key/"+what, init, compute)...)
	}
	key("Tag", func(k *fastmac.HMACKey, in, out []byte) func() []byte {
		return func() []byte { return k.Tag(out[:0], in) }
	})
	key("Verify", func(k *fastmac.HMACKey, in, out []byte) func() []byte {
		tag := k.Tag(nil, mactest.DyingInput())
		return func() []byte { return good(k.Verify(tag, in)) }
	})
	key("TagBatch", func(k *fastmac.HMACKey, in, out []byte) func() []byte {
		batch := dyingBatch(nil, in, func(i int) []byte { return out[i*h.Size():][:h.Size()] })
		return func() []byte { k.TagBatch(batch); return out[:len(batch)*h.Size()] }
	})
	key("VerifyBatch", func(k *fastmac.HMACKey, in, out []byte) func() []byte {
		tag := k.Tag(nil, mactest.DyingInput())
		batch := dyingBatch(nil, in, func(int) []byte { return tag })
		return func() []byte { return verdicts(k.VerifyBatch, batch) }
	})
	// Of many keys one is destroyed.
	keys := func(k *fastmac.HMACKey, n int) (keys []*fastmac.HMACKey) {
		for i := range n {
			keys = append(keys, k)
			if i != n/2 {
				keys[i] = mactest.Must(fastmac.NewHMACKey(h, dyingKey))
			}
		}
		return keys
	}
	// What has the other keys may be good, and has its tag.
	key("TagBatch of many", func(k *fastmac.HMACKey, in, out []byte) func() []byte {
		rest := make([]byte, h.Size())
		batch := dyingBatch(nil, in, func(i int) []byte { return rest })
		all := keys(k, len(batch))
		batch[len(batch)/2].Tag = out[:h.Size()]
		return func() []byte { fastmac.TagBatch(all, batch); return out[:h.Size()] }
	})
	key("VerifyBatch of many", func(k *fastmac.HMACKey, in, out []byte) func() []byte {
		tag := k.Tag(nil, mactest.DyingInput())
		batch := dyingBatch(nil, in, func(int) []byte { return tag })
		all := keys(k, len(batch))
		return func() []byte {
			fastmac.VerifyBatch(all, batch)
			return good(batch[len(batch)/2].OK)
		}
	})

	for _, whose := range []string{"owner", "key destroyed", "key stays"} {
		all = append(all, dyingStreams(h.String()+"/stream/"+whose, h.Size(), func() (s *fastmac.HMAC, kill func()) {
			k := mactest.Must(fastmac.NewHMACKey(h, dyingKey))
			s = k.New()
			switch whose {
			case "owner":
				s = mactest.Must(fastmac.NewHMAC(h, dyingKey))
			case "key destroyed":
				return s, k.Destroy
			}
			return s, s.Destroy
		})...)
	}
	return all
}

// dyingSHA1 has the computations of streams of package hmac.
func dyingSHA1() (all []mactest.Dying) {
	if fips140.Enabled() {
		return nil // it is crypto/hmac's
	}
	for _, whose := range []string{"owner", "clone", "clone's owner destroyed"} {
		all = append(all, dyingStreams(whose, crypto.SHA1.Size(), func() (s *fastmac.HMAC, kill func()) {
			owner := hmac.New(sha1.New, dyingKey).(*fastmac.HMAC)
			clone := mactest.Must(owner.Clone()).(*fastmac.HMAC)
			switch whose {
			case "owner":
				return owner, owner.Destroy
			case "clone":
				return clone, clone.Destroy
			}
			return clone, owner.Destroy
		})...)
	}
	return all
}

// dyingStreams has the computations of a stream that newStream returns, with tags of size bytes. Nothing that it has
// left to read is in, except for a tag, and room for one.
func dyingStreams(name string, size int, newStream func() (s *fastmac.HMAC, kill func())) (all []mactest.Dying) {
	stream := func(what string, compute func(s *fastmac.HMAC, in, tag []byte) []byte) {
		if fips140.Enabled() {
			return // crypto/hmac may panic with a text of its own
		}
		all = append(all, mactest.Dying{Name: name + "/" + what, New: func(in, out []byte) (func() []byte, func()) {
			s, kill := newStream()
			s.Write(written)
			tag := s.Sum(nil)
			return func() []byte { return compute(s, in, tag) }, kill
		}, Misses: what != "Sum"})
	}
	stream("Sum", func(s *fastmac.HMAC, in, _ []byte) []byte {
		defer func() {
			if r := recover(); r != nil {
				if left := in[:size]; !bytes.Equal(left, mactest.DyingInput()[:size]) && !bytes.Equal(left, make([]byte, size)) {
					panic("a tag is left")
				}
				panic(r)
			}
		}()
		return s.Sum(in[:0])
	})
	stream("Verify", func(s *fastmac.HMAC, _, tag []byte) []byte { return good(s.Verify(tag)) })
	stream("Clone", func(s *fastmac.HMAC, _, _ []byte) []byte { return mactest.Must(s.Clone()).Sum(nil) })
	return all
}

// dyingAEAD has the computations of AES-GCM.
func dyingAEAD() (all []mactest.Dying) {
	key := func(what string, compute func(k *aesgcm.Key, in, out []byte) func() []byte) {
		all = append(all, dyingKeys("aesgcm/"+what, (*aesgcm.Key).Init, compute)...)
	}
	key("Seal", func(k *aesgcm.Key, in, out []byte) func() []byte {
		return func() []byte { return k.Seal(out[:0], nonce12, in, nil) }
	})
	key("Seal with data", func(k *aesgcm.Key, in, out []byte) func() []byte {
		return func() []byte { return k.Seal(out[:0], nonce12, out[:100], in) }
	})
	opened := func(opened []byte, err error) []byte {
		if err != nil {
			return nil
		}
		return opened
	}
	key("Open with data", func(k *aesgcm.Key, in, out []byte) func() []byte {
		sealed := k.Seal(nil, nonce12, written, mactest.DyingInput())
		return func() []byte { return opened(k.Open(out[:0], nonce12, sealed, in)) }
	})
	sealed := mactest.Must(aesgcm.NewKey(dyingKey)).Seal(nil, nonce12, bytes.Repeat(written, 10), nil)
	key("Open", func(k *aesgcm.Key, in, out []byte) func() []byte {
		return func() []byte { return opened(k.Open(out[:0], nonce12, in[:len(sealed)], nil)) }
	})
	key("Open in place", func(k *aesgcm.Key, in, out []byte) func() []byte {
		return func() []byte {
			defer func() {
				if r := recover(); r != nil {
					if left := in[:len(sealed)-aesgcm.Overhead]; !bytes.Equal(left, make([]byte, len(left))) && !bytes.Equal(left, sealed[:len(left)]) {
						panic("a text is left")
					}
					panic(r)
				}
			}()
			return opened(k.Open(in[:0], nonce12, in[:len(sealed)], nil))
		}
	})
	for i := len(all) - 4; i < len(all); i++ {
		all[i].In = sealed
	}
	key("Sealer.Seal", func(k *aesgcm.Key, in, out []byte) func() []byte {
		s := k.NewSealer()
		return func() []byte {
			defer clear(out[:aesgcm.NonceSize]) // which is no secret
			return bytes.Clone(s.Seal(out[:0], nil, in, nil))
		}
	})
	for i := len(all) - 2; i < len(all); i++ {
		all[i].Right = func(sealed []byte) bool {
			for _, key := range [][]byte{dyingKey, otherKey} {
				opened, err := mactest.Must(aesgcm.NewKey(key)).NewSealer().Open(nil, nil, sealed, nil)
				if err == nil && bytes.Equal(opened, mactest.DyingInput()) {
					return true
				}
			}
			return false
		}
	}
	key("Sealer.Open", func(k *aesgcm.Key, in, out []byte) func() []byte {
		s := k.NewSealer()
		sealed := s.Seal(nil, nil, written, mactest.DyingInput())
		return func() []byte { return opened(s.Open(out[:0], nil, sealed, in)) }
	})
	return all
}

// TestNoKey computes with keys that were destroyed, or never set up, messages of all forms: some calls find out at
// the end only.
func TestNoKey(t *testing.T) {
	msg := make([]byte, 1<<24+5000) // POLY-128 begins at 16 MiB
	sizes := []int{0, 1, 32, 100, 1024, 1025, 2048, 2049, 5000}
	mactest.ForAllKernels(t, mactest.UMAC, func(t *testing.T) {
		destroyed := mactest.Must(fastmac.NewUMACKey(dyingKey, fastmac.UMAC128Size))
		destroyed.Destroy()
		for _, k := range []*fastmac.UMACKey{destroyed, new(fastmac.UMACKey)} {
			for _, n := range sizes {
				for nonce := 1; nonce <= 16; nonce += 5 {
					mactest.MustPanic(t, "Tag", "destroyed", func() { k.Tag(nil, dyingKey[:nonce], msg[:n]) })
				}
			}
		}
		mactest.MustPanic(t, "Tag", "destroyed", func() { destroyed.Tag(nil, nonce12, msg) })
		s := mactest.Must(fastmac.NewUMACKey(dyingKey, fastmac.UMAC128Size))
		u := s.New()
		u.Write(msg)
		s.Destroy()
		mactest.MustPanic(t, "Tag of a stream", "destroyed", func() { u.Tag(nil, nonce12) })
	})
	mactest.ForAllKernels(t, mactest.GCM, func(t *testing.T) {
		destroyed, never := mactest.Must(aesgcm.NewKey(dyingKey)), new(aesgcm.Key)
		destroyed.Destroy()
		for _, k := range []*aesgcm.Key{destroyed, never} {
			for _, n := range sizes {
				mactest.MustPanic(t, "Seal", "destroyed", func() { k.Seal(nil, nonce12, msg[:n], msg[:n%3000]) })
				mactest.MustPanic(t, "GMAC", "destroyed", func() { new(fastmac.GMACKey).Tag(nil, nonce12, msg[:n]) })
			}
		}
	})
}
