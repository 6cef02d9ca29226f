// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sha512

// A Digest hashes a message in pieces, from a chaining value on. Reset comes first.
type Digest struct {
	n     uint64 // bytes of the message so far
	state [8]uint64
	block Buffer // of which n modulo its size is in use

	std *stdDigest // in place of these where crypto/sha512 is in use
}

// Reset begins a message whose first n bytes, whole blocks, are in state.
func (d *Digest) Reset(state *[8]uint64, n uint64) {
	if d.std == nil && active == Stdlib {
		d.std = newStdDigest()
	}
	if d.std != nil {
		d.std.reset(state, n)
		return
	}
	d.n, d.state = n, *state
}

// Write adds p to the message.
func (d *Digest) Write(p []byte) {
	if d.std != nil {
		d.std.h.Write(p)
		return
	}
	used := int(d.n % BlockSize)
	d.n += uint64(len(p))
	if used > 0 {
		n := copy(d.block[used:], p)
		p = p[n:]
		if used+n == BlockSize {
			Block(&d.state, d.block[:])
		}
	}
	if len(p) >= BlockSize {
		Block(&d.state, p)
		p = p[len(p)&^(BlockSize-1):]
	}
	copy(d.block[:], p)
}

// Sum sets out to the hash of the message so far. The digest does not change.
func (d *Digest) Sum(out *[Size]byte) {
	if d.std != nil {
		d.std.sum(out)
		return
	}
	used := d.n % BlockSize
	Sum(out, &d.state, d.n-used, d.block[:used])
}

// CopyTo makes to a copy of d.
func (d *Digest) CopyTo(to *Digest) {
	*to = *d
	if d.std != nil {
		to.std = d.std.clone()
	}
}

// Destroy overwrites d with zeros.
func (d *Digest) Destroy() {
	if d.std != nil {
		Wipe(d.std.h)
	}
	*d = Digest{}
}
