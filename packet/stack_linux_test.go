// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package packet

import (
	"bytes"
	stdaes "crypto/aes"
	"crypto/hkdf"
	"crypto/sha512"
	"crypto/subtle"
	"encoding/binary"
	"strings"
	"testing"

	"example.com/fastmac/internal/mactest"
	"example.com/fastmac/internal/umacref"
	"example.com/fastmac/packet/internal/packetref"
)

// TestStack looks for secrets on the stack after each operation, with each kernel, and in FIPS 140 mode.
func TestStack(t *testing.T) {
	if !mactest.StackProcess(t, "", "fips140=on") {
		return
	}
	// Portable kernels with others beside them: if all are portable, what is first may grow the stack for the rest.
	mactest.ForAllKernels(t, mactest.UMAC, func(t *testing.T) {
		for _, a := range algorithms()[:2] {
			mactest.CheckStack(t, stackOps(a))
		}
	})
	mactest.ForAllKernels(t, mactest.HMAC, func(t *testing.T) {
		mactest.CheckStack(t, stackOps(packetref.UMAC64))
		mactest.CheckStack(t, helloOps())
	})
	if len(algorithms()) == 3 {
		mactest.ForAllKernels(t, mactest.GCM, func(t *testing.T) { mactest.CheckStack(t, stackOps(packetref.GMAC)) })
	}
}

type secretsFrom = func(n int) []byte

// stackMay returns what may remain of a packet's tag: the tag, its pad, and the hash.
func stackMay(a packetref.Algorithm, c Config, n Counters, counter uint64, packet []byte) [][]byte {
	ref := refKeyOf(a, c, n)
	prk := mactest.Must(hkdf.Extract(sha512.New, c.Secret, n.session))
	key := mactest.Must(hkdf.Expand(sha512.New, prk, string(ref.Info()), sha512.Size))[:keySize]
	nonce := ref.Nonce(numberOf(c, counter))
	tag := packet[len(packet)-a.TagSize():]
	var pad []byte
	if a == packetref.GMAC {
		pad = append(bytes.Clone(nonce), 0, 0, 0, 1)
		mactest.Must(stdaes.NewCipher(key)).Encrypt(pad, pad)
	} else {
		pad = umacref.PDF(key, nonce, a.TagSize())
	}
	hash := make([]byte, len(tag))
	subtle.XORBytes(hash, pad, tag)
	return [][]byte{tag, pad, hash, nonce} // a nonce of GMAC begins with a salt, which is no key
}

func numberOf(c Config, counter uint64) []byte {
	return binary.BigEndian.AppendUint64(nil, uint64(c.Epoch)<<56|counter)
}

func none() [][]byte { return nil }

func stackOps(a packetref.Algorithm) (ops []mactest.StackOp) {
	const batchSize = 9
	add := func(op string, prepare func(c Config, n Counters, random secretsFrom) (func(), func() [][]byte)) {
		for kind, counters := range map[string]func() Counters{"": SecretIsNew, " of a session": func() Counters { return NewSession(pattern(32)) }, " with a Store": func() Counters { return Stored(new(memory), new(memory)) }} {
			ops = append(ops, mactest.StackOp{Name: name(a) + ", " + op + kind, Prepare: func(random func(n int) []byte) (func(), func() [][]byte) {
				c := config()
				c.Secret, c.TagSize, c.Receiver = random(32), a.TagSize(), "server"
				return prepare(c, counters(), random)
			}})
		}
	}
	packets := func(random secretsFrom) (batch []Packet) {
		for i := range batchSize {
			batch = append(batch, Packet{Bytes: append(make([]byte, 0, 400), random(30*i)...)})
		}
		return batch
	}
	tags := func(batch []Packet) (tags [][]byte) {
		for i := range batch {
			tags = append(tags, batch[i].Bytes[len(batch[i].Bytes)-a.TagSize():])
		}
		return tags
	}
	add("derive", func(c Config, n Counters, random secretsFrom) (func(), func() [][]byte) {
		okm := new([okmSize]byte)
		return func() { c.derive(okm, byte(a), &n) }, func() [][]byte { return [][]byte{okm[:]} }
	})
	add("ID of a Store", func(c Config, n Counters, random secretsFrom) (func(), func() [][]byte) {
		var id [16]byte
		return func() { id = c.storeID(byte(a), &n, sending) }, func() [][]byte { return [][]byte{id[:]} }
	})
	id := func(c Config, n Counters, role byte) func() [][]byte { // which is public
		return func() [][]byte { id := c.storeID(byte(a), &n, role); return [][]byte{id[:]} }
	}
	add("sender", func(c Config, n Counters, random secretsFrom) (func(), func() [][]byte) {
		return func() { newSender(a, c, n) }, id(c, n, sending)
	})
	add("receiver", func(c Config, n Counters, random secretsFrom) (func(), func() [][]byte) {
		return func() { newReceiver(a, c, n) }, id(c, n, receiving)
	})
	add("Seal", func(c Config, n Counters, random secretsFrom) (func(), func() [][]byte) {
		s, packet := newSender(a, c, n), append(make([]byte, 0, 200), random(100)...)
		return func() { packet = mactest.Must(s.Seal(packet, nil)) }, func() [][]byte { return stackMay(a, c, n, 0, packet) }
	})
	add("Trailer", func(c Config, n Counters, random secretsFrom) (func(), func() [][]byte) {
		s, msg, out := newSender(a, c, n), random(100), make([]byte, 0, 64)
		return func() { out = mactest.Must(s.Trailer(out, msg)) }, func() [][]byte { return stackMay(a, c, n, 0, out) }
	})
	add("SealBatch", func(c Config, n Counters, random secretsFrom) (func(), func() [][]byte) {
		s, batch := newSender(a, c, n), packets(random)
		return func() { sealAll(s, batch) }, func() [][]byte {
			return append(tags(batch), stackMay(a, c, n, batchSize-1, batch[batchSize-1].Bytes)...)
		}
	})
	for _, wrong := range []byte{0, 1} {
		add([]string{"Open", "Open of a forged packet"}[wrong], func(c Config, n Counters, random secretsFrom) (func(), func() [][]byte) {
			packet := mactest.Must(newSender(a, c, n).Seal(random(100), nil))
			forged := bytes.Clone(packet)
			forged[0] ^= wrong
			r := newReceiver(a, c, n)
			return func() { r.Open(forged, nil) }, func() [][]byte {
				may := stackMay(a, c, n, 0, packet)
				if wrong == 0 {
					return may
				}
				ref := refKeyOf(a, c, n)
				return append(may, stackMay(a, c, n, 0, ref.Tag(forged[:100], nil, numberOf(c, 0)))...)
			}
		})
	}
	add("OpenBatch", func(c Config, n Counters, random secretsFrom) (func(), func() [][]byte) {
		batch := packets(random)
		sealAll(newSender(a, c, n), batch)
		may := append(tags(batch), stackMay(a, c, n, batchSize-1, batch[batchSize-1].Bytes)...)
		r := newReceiver(a, c, n)
		return func() { r.OpenBatch(batch) }, func() [][]byte { return may }
	})
	add("Destroy", func(c Config, n Counters, random secretsFrom) (func(), func() [][]byte) {
		s, r := newSender(a, c, n), newReceiver(a, c, n)
		return func() { s.Destroy(); r.Destroy() }, none
	})
	return ops
}

// helloOps are those of clients and servers. Their random bytes are others each time, and with these what depends on
// them and the secret; what depends on the secret alone is found.
func helloOps() (ops []mactest.StackOp) {
	add := func(op string, prepare func(k *UMACClient, s *UMACServer, c Config) func()) {
		ops = append(ops, mactest.StackOp{Name: op, Prepare: func(random func(n int) []byte) (func(), func() [][]byte) {
			c := Config{Secret: random(32), TagSize: 16}
			return prepare(mactest.Must(NewUMACClient(c, testClient, testServer)), mactest.Must(NewUMACServer(c, testServer, testClient)), c), none
		}})
	}
	ops = append(ops, mactest.StackOp{Name: "tag of a hello", Prepare: func(random func(n int) []byte) (func(), func() [][]byte) {
		key, msg := random(helloKeySize), random(helloHeadSize)
		var tag [helloTagSize]byte
		return func() { tag = helloTag(key, msg) }, func() [][]byte { return [][]byte{tag[:]} }
	}})
	ops = append(ops, mactest.StackOp{Name: "keys of hellos", Prepare: func(random func(n int) []byte) (func(), func() [][]byte) {
		keys, secret := new(helloKeys), random(32)
		return func() { keys.derive(secret, testClient, testServer) }, func() [][]byte { return [][]byte{keys[:]} }
	}})
	for _, names := range []string{"a", strings.Repeat("a", maxNameSize)} {
		add("NewUMACClient", func(k *UMACClient, s *UMACServer, c Config) func() {
			return func() { NewUMACClient(c, names, testServer) }
		})
	}
	add("NewUMACServer", func(k *UMACClient, s *UMACServer, c Config) func() {
		return func() { NewUMACServer(c, testServer, testClient) }
	})
	add("Hello", func(k *UMACClient, s *UMACServer, c Config) func() { return func() { k.Hello(nil) } })
	add("Answer of a server", func(k *UMACClient, s *UMACServer, c Config) func() {
		hello := k.Hello(nil)
		return func() { mactest.Must(s.Answer(nil, hello)) }
	})
	add("Answer of a client", func(k *UMACClient, s *UMACServer, c Config) func() {
		answer := mactest.Must(s.Answer(nil, k.Hello(nil)))
		return func() { k.Answer(answer) }
	})
	open := func(k *UMACClient, s *UMACServer) {
		if !k.Answer(mactest.Must(s.Answer(nil, k.Hello(nil)))) {
			panic("no session")
		}
	}
	add("Seal", func(k *UMACClient, s *UMACServer, c Config) func() {
		open(k, s)
		return func() { mactest.Must(k.Seal(make([]byte, 100), nil)) }
	})
	add("Open", func(k *UMACClient, s *UMACServer, c Config) func() {
		open(k, s)
		packet := mactest.Must(k.Seal(make([]byte, 100), nil))
		return func() { s.Open(packet, nil) }
	})
	add("Close and Destroy", func(k *UMACClient, s *UMACServer, c Config) func() {
		open(k, s)
		return func() { s.Close(); s.Destroy(); k.Destroy() }
	})
	return ops
}

func sealAll(s sender, batch []Packet) {
	if err := s.SealBatch(batch); err != nil {
		panic(err)
	}
}
