// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sshmac

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha512"
	"encoding/binary"
	"testing"

	"example.com/fastmac/internal/umacref"
)

// FuzzModes makes calls in any order, as a transport does that abandons packets, and
// compares each tag: with crypto/hmac, or with umacref, where the sequence number is the
// nonce and its missing bytes are zeros.
func FuzzModes(f *testing.F) {
	f.Add([]byte("0004message"), []byte{0, 4, 0, 7, 1, 0, 2, 0, 0, 2, 1, 0})
	f.Add(make([]byte, 2000), []byte{0, 2, 3, 0, 0, 2, 0, 255, 0, 255, 1, 0, 0, 1, 1, 0})
	f.Fuzz(func(t *testing.T, data, script []byte) {
		for _, m := range Modes() {
			key := bytes.Repeat([]byte{7}, m.KeySize)
			h := m.New(key)
			var written []byte
			left := data
			for i := 0; i+1 < len(script); i += 2 {
				switch script[i] % 4 {
				case 0:
					n := min(int(script[i+1])*3, len(left))
					h.Write(left[:n])
					written, left = append(written, left[:n]...), left[n:]
				case 1:
					want := referenceTag(m, key, written)
					prefix := written[:min(int(script[i+1]), len(written))]
					got := h.Sum(bytes.Clone(prefix))
					if !bytes.Equal(got[:len(prefix)], prefix) || !bytes.Equal(got[len(prefix):], want) {
						t.Fatalf("%s, script %x, call %d, %d bytes: %x, want %x and %x", m.Name, script, i/2, len(written), got, prefix, want)
					}
				case 2:
					h.Reset()
					written = written[:0]
				case 3:
					h = clone(t, h)
				}
			}
		}
	})
}

// referenceTag is the tag of a packet that begins with its sequence number.
func referenceTag(m Mode, key, packet []byte) []byte {
	if m.KeySize == hmacKeySize {
		h := hmac.New(sha512.New, key)
		h.Write(packet)
		return h.Sum(nil)
	}
	size := 8
	if m.Name == UMAC128 || m.Name == UMAC128ETM {
		size = 16
	}
	var number [sequenceSize]byte
	n := copy(number[:], packet)
	nonce := binary.BigEndian.AppendUint64(nil, uint64(binary.BigEndian.Uint32(number[:])))
	return umacref.UMAC(key, packet[n:], nonce, size)
}
