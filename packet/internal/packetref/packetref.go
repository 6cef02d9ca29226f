// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package packetref is the format of docs/packet-format.md, transcribed literally, for tests to
// compare with. It uses crypto/hkdf, crypto/hmac, crypto/cipher and package umacref, and shares no code with
// package packet. Its window is the set of all counters that were accepted. It is slow, and
// wipes nothing.
package packetref

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha512"
	"encoding/binary"
	"slices"

	"example.com/fastmac/internal/umacref"
)

// An Algorithm is the number that the format has for a MAC.
type Algorithm byte

// The algorithms.
const (
	UMAC64 Algorithm = 1 + iota
	UMAC128
	GMAC
)

// TagSize returns the size of a tag in bytes.
func (a Algorithm) TagSize() int {
	if a == UMAC64 {
		return 8
	}
	return 16
}

// A Kind is the number that the format has for the reason why no counter is used twice.
type Kind byte

// The kinds.
const (
	Session Kind = 1 + iota
	Stored
	SecretOnce
)

// A Key has what the key of a sender is derived from.
type Key struct {
	Algorithm       Algorithm
	Kind            Kind
	Secret, Session []byte
	Sender          string
	Receiver        string
	Epoch           uint8
	DataSize        int
}

// Info returns the info of HKDF.
func (k *Key) Info() []byte {
	return append([]byte("fastmac packet 2"), k.rest()...)
}

// rest returns what is in info from kind on.
func (k *Key) rest() []byte {
	rest := []byte{byte(k.Kind), byte(k.Algorithm), k.Epoch, byte(k.DataSize)}
	rest = append(append(rest, byte(len(k.Sender))), k.Sender...)
	rest = append(append(rest, byte(len(k.Receiver))), k.Receiver...)
	return binary.BigEndian.AppendUint64(rest, uint64(len(k.Session)))
}

// StoreID returns what a store is told, for the role 1, a sender, or 2, a receiver.
func (k *Key) StoreID(role byte) []byte {
	h := hmac.New(sha512.New, k.Secret)
	h.Write([]byte("fastmac packet 2 store"))
	h.Write([]byte{role})
	h.Write(k.rest())
	return h.Sum(nil)[:16]
}

// OKM returns the output of HKDF, 20 bytes: the AES key and the salt.
func (k *Key) OKM() []byte {
	okm, err := hkdf.Key(sha512.New, k.Secret, k.Session, string(k.Info()), 20)
	if err != nil {
		panic(err)
	}
	return okm
}

// Nonce returns the nonce for a number of 8 bytes.
func (k *Key) Nonce(number []byte) []byte {
	if k.Algorithm == GMAC {
		return slices.Concat(k.OKM()[16:], number)
	}
	return number
}

// Tag returns the tag of a message with a number of 8 bytes.
func (k *Key) Tag(msg, data, number []byte) []byte {
	hashed := slices.Concat(msg, data)
	key := k.OKM()[:16]
	if k.Algorithm != GMAC {
		return umacref.UMAC(key, hashed, k.Nonce(number), k.Algorithm.TagSize())
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		panic(err)
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		panic(err)
	}
	return aead.Seal(nil, k.Nonce(number), nil, hashed)
}

// Seal returns the packet of a message.
func (k *Key) Seal(msg, data []byte, counter uint64) []byte {
	number := binary.BigEndian.AppendUint64(nil, uint64(k.Epoch)<<56|counter)
	return slices.Concat(msg, number, k.Tag(msg, data, number))
}

// A Result is the verdict on a packet.
type Result int

// The verdicts.
const (
	Good Result = iota
	Forged
	Replayed
	Old
	Restarted
	End
	Epoch
	Worn
	NoSession
)

// A Window has all counters that were accepted.
type Window struct {
	First, End uint64
	Bits       int

	accepted map[uint64]bool
	highest  uint64
}

// Accept returns the verdict on a packet with a right tag.
func (w *Window) Accept(counter uint64) Result {
	if counter < w.First {
		return Restarted
	}
	if counter >= w.End {
		return End
	}
	// The bits are in words of 64, and the last word is that of the highest counter.
	if back := uint64(w.Bits - 64); len(w.accepted) > 0 && counter+back < w.highest {
		return Old
	}
	if w.accepted[counter] {
		return Replayed
	}
	if w.accepted == nil {
		w.accepted = make(map[uint64]bool)
	}
	w.accepted[counter] = true
	w.highest = max(w.highest, counter)
	return Good
}

// Next returns one more than the highest accepted counter, or First.
func (w *Window) Next() uint64 {
	if len(w.accepted) == 0 {
		return w.First
	}
	return w.highest + 1
}

// A Receiver opens packets.
type Receiver struct {
	Key
	Window
	MaxForged uint64
	Forged    uint64
}

// Open returns the verdict on a packet, its message if it is good, and its counter if the tag is
// right.
func (r *Receiver) Open(packet, data []byte) (msg []byte, counter uint64, result Result) {
	n := len(packet) - 8 - r.Algorithm.TagSize()
	switch {
	case r.Forged >= r.MaxForged:
		return nil, 0, Worn
	case n < 0:
		return nil, 0, Forged
	case packet[n] != r.Epoch:
		return nil, 0, Epoch
	}
	msg, number, tag := packet[:n], packet[n:n+8], packet[n+8:]
	if !bytes.Equal(tag, r.Tag(msg, data, number)) {
		r.Forged++
		return nil, 0, Forged
	}
	counter = binary.BigEndian.Uint64(append([]byte{0}, number[1:]...))
	if result := r.Accept(counter); result != Good {
		return nil, counter, result
	}
	return msg, counter, Good
}
