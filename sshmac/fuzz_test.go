// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sshmac

import (
	"bytes"
	"hash"
	"testing"

	"example.com/fastmac"
	"example.com/fastmac/internal/mactest"
)

// FuzzModes makes calls in any order, as a transport does that abandons packets, and
// compares each tag: with crypto/hmac, or with a one-shot of UMAC, where the sequence number
// is the nonce and its missing bytes are zeros.
func FuzzModes(f *testing.F) {
	mactest.Seeds(f)
	// Two bytes of a number after a packet, and a packet after an abandoned one.
	f.Add([]byte("\x00\xff\x000004message"), []byte{0, 4, 0, 7, 3, 0, 4, 0, 2, 3, 0, 0, 7, 4, 0, 9, 3, 4})
	f.Add([]byte("\x10\x00\x01"), []byte{0, 2, 5, 0, 0, 2, 0, 155, 0, 159, 3, 0, 0, 1, 3, 0})
	f.Add([]byte("\x10\x00\x00\xff"), []byte{0, 4, 1, 195, 4, 0, 4, 2, 100, 5, 9, 0, 161, 3, 0, 4, 0, 255, 3, 9})
	f.Fuzz(func(t *testing.T, code, script []byte) {
		msg := mactest.Message(code, 1<<13)
		for _, m := range allModes() {
			key := bytes.Repeat([]byte{7}, m.KeySize)
			reference := newReference(t, m, key)
			h := m.New(key)
			defer destroy(h)
			end := 0 // msg[:end] has been written
			s := mactest.Script(script)
			for call := 0; call < 60 && len(s) > 0; call++ {
				switch s.Byte() % 6 {
				case 0, 1, 2:
					n := min(s.Size(), len(msg)-end)
					h.Write(msg[end:][:n])
					end += n
				case 3:
					want := reference(msg[:end])
					prefix := msg[:min(s.Size(), end)]
					got := h.Sum(bytes.Clone(prefix))
					if !bytes.Equal(got[:len(prefix)], prefix) || !bytes.Equal(got[len(prefix):], want) {
						t.Fatalf("%s, script %x, call %d, %d bytes: %x, want %x and %x", m.Name, script, call, end, got, want, prefix)
					}
				case 4:
					h.Reset()
					end = 0
				case 5:
					c := clone(t, h)
					h.Write(msg[:min(s.Size(), len(msg))])
					h.Sum(nil)
					h = c
				}
			}
		}
	})
}

// destroy destroys a hash of a Mode.
func destroy(h hash.Hash) { h.(interface{ Destroy() }).Destroy() }

// newReference returns a function for the tag of a packet that begins with its sequence
// number.
func newReference(t *testing.T, m Mode, key []byte) func(packet []byte) []byte {
	t.Helper()
	if h := standard(m, key); h != nil {
		return func(packet []byte) []byte {
			h.Reset()
			h.Write(packet)
			return h.Sum(nil)
		}
	}
	size := fastmac.UMAC64Size
	if m.Name == UMAC128 || m.Name == UMAC128ETM {
		size = fastmac.UMAC128Size
	}
	k, err := fastmac.NewUMACKey(key, size)
	if err != nil {
		t.Fatal(err)
	}
	return func(packet []byte) []byte {
		var nonce [8]byte
		n := copy(nonce[4:], packet[:min(len(packet), sequenceSize)])
		return k.Tag(nil, nonce[:], packet[n:])
	}
}
