// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package pbkdf2 derives keys from passwords with PBKDF2, RFC 8018 section 5.2. [Key] has the signature,
// the results and the errors of [crypto/pbkdf2.Key]: to use it, change the import line. [KeyBatch]
// derives many keys side by side.
//
// The HMAC is this module's for the functions that New of package hmac knows, such as [crypto/sha256.New]. In
// all other cases, and with SHA-2 on CPUs for which there is no assembly for the hash, both functions use
// crypto/pbkdf2. SHA-1 is for old formats only.
package pbkdf2

import (
	"context"
	"crypto/fips140"
	"crypto/pbkdf2"
	"encoding/binary"
	"fmt"
	"hash"
	"slices"
	"unsafe"

	"example.com/fastmac/internal/made"
	"example.com/fastmac/internal/sha1"
	"example.com/fastmac/internal/sha2"
)

// Key returns a key of keyLength bytes, derived from a password and a salt with a number of iterations
// of HMAC with the hash that h makes.
//
// A salt should have at least 16 random bytes, NIST SP 800-132 section 5.1. iter should be as large
// as users can wait for; Key treats a number less than one as one. keyLength is 1 to 2^32 - 1 times
// the size of the hash, or Key returns an error. With GODEBUG=fips140=only there are more errors:
// see [crypto/pbkdf2.Key]. The time that Key takes does not depend on the contents of password and
// salt.
func Key[Hash hash.Hash](h func() Hash, password string, salt []byte, iter, keyLength int) ([]byte, error) {
	f, ok := any(h).(func() hash.Hash)
	if !ok || keyLength <= 0 {
		return pbkdf2.Key(h, password, salt, iter, keyLength)
	}
	known := hashOf(f)
	if known == nil || tooLong(keyLength, known) || !hasSteps(known, 1) {
		return pbkdf2.Key(h, password, salt, iter, keyLength)
	}
	key := make([]byte, keyLength)
	derive(never, known, []Derivation{{password, salt, iter, key}})
	return key, nil
}

// hashOf returns which hash f makes, or nil if only crypto/pbkdf2 may derive keys with it.
func hashOf(f func() hash.Hash) *sha2.Hash {
	if fips140.Enabled() {
		return nil
	}
	if known := made.Hash(f); known != nil {
		return known
	}
	if made.SHA1(f) {
		return sha1.Hash
	}
	return nil
}

// hasSteps reports whether this module is faster than crypto/pbkdf2 with so many keys.
func hasSteps(h *sha2.Hash, keys int) bool { return h == sha1.Hash || h.HasSteps(keys) }

// A Derivation is a key of a batch.
type Derivation struct {
	Password string
	Salt     []byte
	Iter     int    // at least 1
	Key      []byte // set by KeyBatch; its length is that of the key in bytes
}

// KeyBatch sets batch[i].Key to the key that [Key] would return, for each i. A server that verifies
// many logins gains from it: on amd64 it computes several keys side by side, on one core. With
// AVX-512 these are 16 with SHA-256 or 8 with SHA-512, and with the SHA instructions two with
// SHA-256, or two blocks of a key with SHA-1. It is fastest with a multiple of that number, and with the same
// number of iterations for all.
//
// If ctx is done, KeyBatch returns the error of ctx within some milliseconds, or after the current
// key where crypto/pbkdf2 derives the keys. It is an error if a Key has no bytes or too many, or if
// an Iter is less than 1. After an error all keys are zeros.
//
// No Key may overlap another slice of the batch.
func KeyBatch(ctx context.Context, h func() hash.Hash, batch []Derivation) error {
	err := keyBatch(ctx, h, batch)
	if err != nil {
		for i := range batch {
			clear(batch[i].Key)
		}
	}
	return err
}

func keyBatch(ctx context.Context, h func() hash.Hash, batch []Derivation) error {
	known := hashOf(h)
	for i := range batch {
		switch d := &batch[i]; {
		case len(d.Key) == 0:
			return fmt.Errorf("pbkdf2: derivation %d has no room for a key", i)
		case known != nil && tooLong(len(d.Key), known):
			return fmt.Errorf("pbkdf2: derivation %d: key of %d bytes is too long", i, len(d.Key))
		case d.Iter < 1:
			return fmt.Errorf("pbkdf2: derivation %d: %d iterations", i, d.Iter)
		}
	}
	if known != nil && hasSteps(known, len(batch)) {
		return derive(ctx.Err, known, batch)
	}
	for i := range batch {
		d := &batch[i]
		if err := ctx.Err(); err != nil {
			return err
		}
		key, err := pbkdf2.Key(h, d.Password, d.Salt, d.Iter, len(d.Key))
		if err != nil {
			return fmt.Errorf("pbkdf2: derivation %d: %w", i, err)
		}
		copy(d.Key, key)
		clear(key)
	}
	return nil
}

// tooLong reports whether a key of n bytes has more than 2^32 - 1 blocks, RFC 8018 section 5.2.
func tooLong(n int, h *sha2.Hash) bool {
	return uint64(n) > (1<<32-1)*uint64(h.Size)
}

// derive sets the keys of a batch, until stopped returns an error. It has no context, because contexts have
// deadlines, and a program would get package time linked in.
func derive(stopped func() error, h *sha2.Hash, batch []Derivation) error {
	switch {
	case h == sha1.Hash:
		return runSHA1(stopped, batch)
	case h.Wide():
		return run(stopped, h.Initial512, h.Size, batch)
	default:
		return run(stopped, h.Initial256, h.Size, batch)
	}
}

func never() error { return nil }

// steps is how many iterations of each block are made between two calls of stopped. They take up to
// some milliseconds. Fewer would slow lanes down, into which the blocks are put each time.
const steps = 1024

// A deriver has the blocks of keys that are under way, side by side.
type deriver[W sha2.Word] struct {
	blocks [sha2.MaxLanes]sha2.Iteration[W]
	left   [sha2.MaxLanes]int    // iterations of a block
	out    [sha2.MaxLanes][]byte // where it belongs

	key  sha2.Key[W] // of the last derivation that was begun
	msg  []byte      // its salt and the number of the next block
	rest []byte      // its blocks that have not been begun
	iter int
}

// newDeriver returns a deriver on the heap. In a function that is inlined it could be on the stack, which the
// garbage collector may copy.
//
//go:noinline
func newDeriver[W sha2.Word]() *deriver[W] { return new(deriver[W]) }

// run is derive for a hash of size bytes with that initial value.
func run[W sha2.Word](stopped func() error, initial *sha2.State[W], size int, batch []Derivation) error {
	d := newDeriver[W]()
	defer func() { *d = deriver[W]{} }()
	for active := 0; ; {
		for ; active < len(d.blocks) && (len(d.rest) > 0 || len(batch) > 0); active++ {
			if len(d.rest) == 0 {
				d.begin(initial, size, &batch[0])
				batch = batch[1:]
			}
			d.beginBlock(active, size)
		}
		if active == 0 {
			return nil
		}
		if err := stopped(); err != nil {
			return err
		}
		n := min(steps, slices.Min(d.left[:active]))
		sha2.Iterate(d.blocks[:active], size, n)
		for i := active - 1; i >= 0; i-- {
			if d.left[i] -= n; d.left[i] == 0 {
				d.blocks[i].Sum(d.out[i])
				active--
				d.blocks[i] = d.blocks[active]
				d.left[i], d.out[i] = d.left[active], d.out[active]
			}
		}
	}
}

// begin makes the blocks of a derivation the next ones.
func (d *deriver[W]) begin(initial *sha2.State[W], size int, from *Derivation) {
	d.key.Init(initial, size, unsafe.Slice(unsafe.StringData(from.Password), len(from.Password)))
	d.msg = append(append(d.msg[:0], from.Salt...), 0, 0, 0, 0)
	d.rest, d.iter = from.Key, from.Iter
}

// beginBlock puts the next block of the derivation into place i.
func (d *deriver[W]) beginBlock(i, size int) {
	number := d.msg[len(d.msg)-4:]
	binary.BigEndian.PutUint32(number, binary.BigEndian.Uint32(number)+1)
	d.blocks[i].Key = d.key
	d.blocks[i].Start(size, d.msg)
	d.left[i] = max(d.iter, 1) - 1
	n := min(size, len(d.rest))
	d.out[i], d.rest = d.rest[:n], d.rest[n:]
}

// runSHA1 is derive for SHA-1, key by key.
func runSHA1(stopped func() error, batch []Derivation) error {
	for i := range batch {
		if err := batch[i].setSHA1(stopped); err != nil {
			return err
		}
	}
	return nil
}

func (d *Derivation) setSHA1(stopped func() error) error {
	b := sha1.NewBlocks(unsafe.Slice(unsafe.StringData(d.Password), len(d.Password)))
	defer b.Clear()
	number := uint32(0)
	for rest := d.Key; len(rest) > 0; {
		count := min((len(rest)+sha1.Size-1)/sha1.Size, sha1.MaxBlocks)
		for i := range count {
			number++
			b.Start(i, d.Salt, number)
		}
		for left := max(d.Iter, 1) - 1; ; left -= steps {
			if err := stopped(); err != nil {
				return err
			}
			if left <= 0 {
				break
			}
			b.Iterate(count, min(left, steps))
		}
		rest = rest[b.Copy(rest, count):]
	}
	return nil
}
