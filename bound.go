// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac

import (
	"fmt"
	"hash"
)

// A nonceStream is a UMAC or a GMAC.
type nonceStream interface {
	hash.Cloner
	Tag(dst, nonce []byte) []byte
	Destroy()
	fmt.Stringer
	fmt.Formatter
}

// boundHash is the hash that Bind returns: a stream with a nonce. The stream is not embedded,
// because only these methods are those of the hash. Those that print its name have value
// receivers, as those of package opaque.
type boundHash struct {
	stream    nonceStream
	nonce     [UMACMaxNonceSize]byte
	nonceSize int
}

// bind returns a hash for the nonce, of up to UMACMaxNonceSize bytes. No one else uses s.
func bind(s nonceStream, nonce []byte) *boundHash {
	b := &boundHash{stream: s}
	b.nonceSize = copy(b.nonce[:], nonce)
	return b
}

func (b *boundHash) Write(p []byte) (int, error) { return b.stream.Write(p) }
func (b *boundHash) Sum(in []byte) []byte        { return b.stream.Tag(in, b.nonce[:b.nonceSize]) }
func (b *boundHash) Reset()                      { b.stream.Reset() }
func (b *boundHash) Size() int                   { return b.stream.Size() }
func (b *boundHash) BlockSize() int              { return b.stream.BlockSize() }

func (b *boundHash) Clone() (hash.Cloner, error) {
	s, err := b.stream.Clone()
	if err != nil {
		return nil, err
	}
	return bind(s.(nonceStream), b.nonce[:b.nonceSize]), nil
}

// Destroy overwrites the hash but not the key.
func (b *boundHash) Destroy() {
	b.stream.Destroy()
	*b = boundHash{stream: b.stream}
}

func (b boundHash) String() string                { return b.stream.String() }
func (b boundHash) Format(s fmt.State, verb rune) { b.stream.Format(s, verb) }
