// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac

import (
	"crypto/rand"
	"crypto/subtle"
	"hash"
	"strconv"
)

// Sizes in bytes.
const (
	UMAC32Size  = 4  // a UMAC-32 tag
	UMAC64Size  = 8  // a UMAC-64 tag
	UMAC96Size  = 12 // a UMAC-96 tag
	UMAC128Size = 16 // a UMAC-128 tag

	UMACKeySize  = 16 // a UMAC key for AES-128; 24 and 32 bytes are for AES-192 and AES-256
	MaxNonceSize = 16 // the longest UMAC nonce; the shortest is 1 byte
)

const (
	maxUMACTagSize = UMAC128Size

	// Random nonces must be as long as the RFC allows.
	signNonceSize = MaxNonceSize
)

// KeySizeError is the error for a UMAC key that is not 16, 24 or 32 bytes long;
// its value is the size found.
type KeySizeError int

func (e KeySizeError) Error() string {
	return "fastmac: UMAC key of " + strconv.Itoa(int(e)) + " bytes: want 16, 24 or 32"
}

// TagSizeError is the error for a UMAC tag size that is not 4, 8, 12 or 16
// bytes; its value is the size found.
type TagSizeError int

func (e TagSizeError) Error() string {
	return "fastmac: UMAC tag size of " + strconv.Itoa(int(e)) + " bytes: want 4, 8, 12 or 16"
}

// NonceSizeError is the error for a UMAC nonce that is not 1 to 16 bytes long;
// its value is the size found.
type NonceSizeError int

func (e NonceSizeError) Error() string {
	return "fastmac: UMAC nonce of " + strconv.Itoa(int(e)) + " bytes: want 1 to 16"
}

// UMACKey is an expanded UMAC key, RFC 4418, for tags of one size.
//
// A nonce must never be used for two messages under one key: two tags with the
// same nonce can be enough to forge others.
//
// After set-up a UMACKey does not change; until [UMACKey.Destroy] it is safe for
// concurrent use. It must not be copied: a copy is out of Destroy's reach. All
// its methods but Init, Destroy and those that print its name panic if the key was
// never set up or has been destroyed.
type UMACKey struct {
	_ noCopy
	_ incomparable
	umacKeyName

	uhash uhashKey
	pad   padKey
}

// NewUMACKey expands a key of 16, 24 or 32 bytes (AES-128, AES-192, AES-256) for
// tags of tagSize bytes: 4, 8, 12 or 16. Other sizes give a [KeySizeError] or a
// [TagSizeError]. key is not retained.
func NewUMACKey(key []byte, tagSize int) (*UMACKey, error) {
	k := new(UMACKey)
	if err := k.Init(key, tagSize); err != nil {
		return nil, err
	}
	return k, nil
}

// Init is [NewUMACKey] into storage that the caller has placed. It replaces a
// former key, whose streams must never be used again, not even after a Reset; on an
// error it leaves k as it was. It does not allocate where AES instructions are in use.
//
// A struct that has a key by value in an unexported field prints the key's bytes,
// for fmt does not ask such fields how to print themselves: do not print it.
func (k *UMACKey) Init(key []byte, tagSize int) error {
	switch tagSize {
	case 4, 8, 12, 16:
	default:
		return TagSizeError(tagSize)
	}
	switch len(key) {
	case 16, 24, 32:
	default:
		return KeySizeError(len(key))
	}
	if k.tagSize != 0 {
		k.Destroy()
	}
	n := tagSize / 4
	var kdf aesKey
	kdf.init(key)
	var b subkeys
	subkey := b.derive(&kdf, [kdfIndexes]int{
		kdfPad:    len(key),
		kdfL2:     24 * n,
		kdfL3Key1: 64 * n,
		kdfL3Key2: 4 * n,
	})
	k.pad.aes.init(subkey[kdfPad])
	k.pad.tagSize = uint8(tagSize)
	k.uhash.init(n, &kdf, subkey[kdfL2], subkey[kdfL3Key1], subkey[kdfL3Key2])
	clear(b[:])
	kdf = aesKey{}
	k.tagSize = uint8(tagSize)
	return nil
}

// mustLive panics if there is no key.
func (k *UMACKey) mustLive() {
	if k.tagSize == 0 {
		panic("fastmac: use of a UMACKey that was destroyed or never set up")
	}
}

// Size returns the size of a tag in bytes.
func (k *UMACKey) Size() int {
	k.mustLive()
	return int(k.tagSize)
}

// Tag appends to dst the tag of msg under nonce, Size() bytes, and returns the
// extended slice. It does not allocate if dst has room; without AES instructions it
// may, after a garbage collection. dst may overlap msg and nonce.
//
// A nonce of other than 1 to 16 bytes panics. The nonce must never have been
// used with this key before.
func (k *UMACKey) Tag(dst, nonce, msg []byte) []byte {
	k.mustLive()
	mustNonce(nonce)
	var tag [maxUMACTagSize]byte
	k.uhash.tag(&tag, msg, k.pad.pad(nonce))
	return appendTag(dst, &tag, k.tagSize)
}

// Verify reports whether tag is the tag of msg under nonce. It is false for a tag
// or a nonce of a wrong length. The comparison takes the same time wherever the
// tags differ.
func (k *UMACKey) Verify(tag, nonce, msg []byte) bool {
	k.mustLive()
	if len(tag) != int(k.tagSize) || !isNonce(nonce) {
		return false
	}
	var want [maxUMACTagSize]byte
	k.uhash.tag(&want, msg, k.pad.pad(nonce))
	return subtle.ConstantTimeCompare(tag, want[:k.tagSize]) == 1
}

// appendTag appends the first size bytes of tag. Copies of known sizes take a few
// instructions; for others the compiler calls a function.
func appendTag(dst []byte, tag *[maxUMACTagSize]byte, size uint8) []byte {
	switch size {
	case 4:
		return append(dst, tag[:4]...)
	case 8:
		return append(dst, tag[:8]...)
	case 12:
		return append(dst, tag[:12]...)
	}
	return append(dst, tag[:]...)
}

// Sign draws a fresh nonce of 16 bytes from [crypto/rand], appends it and then
// the tag of msg under it to dst, 16 + Size() bytes in all, and returns the
// extended slice. dst may overlap msg.
//
// Random nonces need no counter that a crash, a fork or a restored snapshot could
// set back. A key is good for 2^48 of them: the odds that two are equal stay
// below 2^-33.
func (k *UMACKey) Sign(dst, msg []byte) []byte {
	k.mustLive()
	var sig [signNonceSize + maxUMACTagSize]byte
	nonce, tag := sig[:signNonceSize], (*[maxUMACTagSize]byte)(sig[signNonceSize:])
	rand.Read(nonce)
	k.uhash.tag(tag, msg, k.pad.pad(nonce))
	return append(dst, sig[:signNonceSize+int(k.tagSize)]...)
}

// VerifySigned reports whether sig is what [UMACKey.Sign] gives for msg: a nonce
// of 16 bytes, then its tag. It is false for a sig of another length.
func (k *UMACKey) VerifySigned(sig, msg []byte) bool {
	k.mustLive()
	if len(sig) != signNonceSize+int(k.tagSize) {
		return false
	}
	return k.Verify(sig[signNonceSize:], sig[:signNonceSize], msg)
}

// New returns a stream that computes tags under k. It shares k and does not copy
// it. Many streams may use one key at once.
func (k *UMACKey) New() *UMAC {
	k.mustLive()
	return &UMAC{umacName: umacName{k.tagSize}, key: k}
}

// Destroy overwrites the key with zeros. Any later use of it or of its streams
// panics; a second Destroy does nothing. It must not run while the key is in use.
//
// It does not reach pads that streams of k have computed ahead: destroy those too.
// What else it cannot reach is listed in the package's SECURITY.md.
func (k *UMACKey) Destroy() { *k = UMACKey{} }

// UMAC is a stream: it computes the UMAC tag of what is written to it, RFC 4418.
// It is a [hash.Hash], but for the nonce, which is passed to Sum in place of the
// slice to append to; [UMAC.Bind] gives one with a conventional Sum.
//
// A nonce must never be used for two messages under one key: two tags with the
// same nonce can be enough to forge others.
//
// A UMAC is not safe for concurrent use. It must not be copied; use
// [UMAC.Clone]. All methods but Destroy and those that print its name panic once
// the stream or its key has been destroyed.
type UMAC struct {
	_ noCopy
	umacName

	key     *UMACKey
	ownsKey bool

	uhash uhash
	pads  pads
}

// NewUMAC32 returns a stream for UMAC-32, with tags of 4 bytes. The key is 16, 24
// or 32 bytes; another size gives a [KeySizeError].
//
// A tag of 4 bytes is guessed with odds of 2^-30 at each try: it is for callers
// that end a connection at the first failure. No nonce may be used twice with one
// key.
func NewUMAC32(key []byte) (*UMAC, error) { return newUMAC(key, 4) }

// NewUMAC64 returns a stream for UMAC-64, with tags of 8 bytes, as in SSH's
// umac-64. The key is 16, 24 or 32 bytes; another size gives a [KeySizeError]. No
// nonce may be used twice with one key.
func NewUMAC64(key []byte) (*UMAC, error) { return newUMAC(key, 8) }

// NewUMAC96 returns a stream for UMAC-96, with tags of 12 bytes. The key is 16, 24
// or 32 bytes; another size gives a [KeySizeError]. No nonce may be used twice
// with one key.
func NewUMAC96(key []byte) (*UMAC, error) { return newUMAC(key, 12) }

// NewUMAC128 returns a stream for UMAC-128, with tags of 16 bytes, as in SSH's
// umac-128. The key is 16, 24 or 32 bytes; another size gives a [KeySizeError]. No
// nonce may be used twice with one key.
func NewUMAC128(key []byte) (*UMAC, error) { return newUMAC(key, 16) }

func newUMAC(key []byte, tagSize int) (*UMAC, error) {
	// Side by side: a server with many streams finds both on one page. A clone
	// keeps this stream's memory alive together with the key.
	p := new(struct {
		stream UMAC
		key    UMACKey
	})
	if err := p.key.Init(key, tagSize); err != nil {
		return nil, err
	}
	p.stream = UMAC{umacName: umacName{p.key.tagSize}, key: &p.key, ownsKey: true}
	return &p.stream, nil
}

func (u *UMAC) mustLive() {
	if u.key == nil {
		panic("fastmac: use of a UMAC that was destroyed or never set up")
	}
	u.key.mustLive()
}

// Write adds p to the message. It never fails and does not retain p.
func (u *UMAC) Write(p []byte) (int, error) {
	u.mustLive()
	u.uhash.write(&u.key.uhash, p)
	return len(p), nil
}

// Sum returns the tag of what has been written, Size() bytes, under the nonce.
// The tag takes the nonce's place: it is written from the start of the nonce's
// storage if cap(nonce) is enough, and to new storage if not. The stream does not
// change: a second Sum with another nonce gives the tag for that one, and writing
// can go on.
//
// The nonce is 1 to 16 bytes, and never one that was used with this key before
// for another message. Any other length panics, so also Sum(nil).
func (u *UMAC) Sum(nonce []byte) []byte {
	return u.AppendTag(nonce[:0], nonce)
}

// AppendTag appends to dst the tag of what has been written, Size() bytes, under
// the nonce, and returns the extended slice. The stream does not change. dst may
// overlap the nonce.
//
// The nonce is as for [UMAC.Sum].
func (u *UMAC) AppendTag(dst, nonce []byte) []byte {
	u.mustLive()
	mustNonce(nonce)
	var tag [maxUMACTagSize]byte
	u.uhash.tag(&tag, &u.key.uhash, u.pads.pad(&u.key.pad, nonce))
	return appendTag(dst, &tag, u.key.tagSize)
}

// Verify reports whether tag is the tag of what has been written under the nonce.
// It is false for a tag or a nonce of a wrong length. The stream does not change.
// The comparison takes the same time wherever the tags differ.
func (u *UMAC) Verify(tag, nonce []byte) bool {
	u.mustLive()
	if len(tag) != int(u.key.tagSize) || !isNonce(nonce) {
		return false
	}
	var want [maxUMACTagSize]byte
	u.uhash.tag(&want, &u.key.uhash, u.pads.pad(&u.key.pad, nonce))
	return subtle.ConstantTimeCompare(tag, want[:u.key.tagSize]) == 1
}

// Bind returns a conventional [hash.Hash], which is a [hash.Cloner] too: its
// Sum(b) appends to b the tag for this nonce. It starts from a copy of what has
// been written to u; from then on the two are independent, but for the key, which
// they share.
//
// The nonce is as for [UMAC.Sum], but a wrong length gives a [NonceSizeError].
// With one nonce only one message may be tagged: after a Reset the hash may be
// used to verify, not to tag again. It has no Destroy; what it holds goes with the
// garbage collector.
func (u *UMAC) Bind(nonce []byte) (hash.Hash, error) {
	u.mustLive()
	if !isNonce(nonce) {
		return nil, NonceSizeError(len(nonce))
	}
	b := &boundUMAC{umacName: u.umacName, u: u.clone(), nonceSize: len(nonce)}
	copy(b.nonce[:], nonce)
	return b, nil
}

// Reset makes the stream that of an empty message.
func (u *UMAC) Reset() {
	u.mustLive()
	u.uhash.reset()
}

// Size returns the size of a tag in bytes.
func (u *UMAC) Size() int {
	u.mustLive()
	return int(u.key.tagSize)
}

// BlockSize returns 1024, the size in bytes of the blocks of RFC 4418's L1-HASH.
func (u *UMAC) BlockSize() int {
	u.mustLive()
	return l1Block
}

// Clone returns a copy of the stream, a *UMAC. The key is shared: it is wiped by
// Destroy of the stream that a NewUMAC function made, not by Destroy of a clone.
// The error is always nil.
func (u *UMAC) Clone() (hash.Cloner, error) {
	u.mustLive()
	return u.clone(), nil
}

func (u *UMAC) clone() *UMAC {
	// Without the pads, so that each pad is in one place, and is wiped there.
	return &UMAC{umacName: u.umacName, key: u.key, uhash: u.uhash}
}

// Destroy overwrites the stream with zeros, and the key as well if one of the
// NewUMAC functions made it for this stream. Any later use panics; a second
// Destroy does nothing.
func (u *UMAC) Destroy() {
	if u.ownsKey {
		u.key.Destroy()
	}
	u.wipe()
}

func (u *UMAC) wipe() { *u = UMAC{} }

// boundUMAC is the hash that Bind returns. It keeps its stream in a field of its
// own so that the stream's methods are not among its own.
type boundUMAC struct {
	umacName
	u         *UMAC
	nonce     [MaxNonceSize]byte
	nonceSize int
}

func (b *boundUMAC) Write(p []byte) (int, error) { return b.u.Write(p) }
func (b *boundUMAC) Sum(in []byte) []byte        { return b.u.AppendTag(in, b.nonce[:b.nonceSize]) }
func (b *boundUMAC) Reset()                      { b.u.Reset() }
func (b *boundUMAC) Size() int                   { return b.u.Size() }
func (b *boundUMAC) BlockSize() int              { return b.u.BlockSize() }

func (b *boundUMAC) Clone() (hash.Cloner, error) {
	b.u.mustLive()
	c := *b
	c.u = b.u.clone()
	return &c, nil
}

func isNonce(nonce []byte) bool { return 1 <= len(nonce) && len(nonce) <= MaxNonceSize }

func mustNonce(nonce []byte) {
	if !isNonce(nonce) {
		panic(NonceSizeError(len(nonce)).Error() + "; pass a nonce of its own for each message")
	}
}
