// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/binary"
	"fmt"
	"hash"
	"io"
	"math/bits"
	"strconv"
)

const (
	maxUMACTagSize   = 16
	maxUMACNonceSize = 16

	// signNonceSize is the size of the nonces that Sign draws: at random they
	// have to be as long as the RFC allows.
	signNonceSize = maxUMACNonceSize
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

// umacKeyName and umacName are embedded in keys and streams to print in their
// stead: methods of the outer types would take a copy of the secrets.
type (
	umacKeyName struct{ tagSize uint8 } // bytes; 0 if there is no key
	umacName    struct{ tagSize uint8 }
)

func (n umacKeyName) String() string               { return umacString("UMACKey", n.tagSize) }
func (n umacKeyName) Format(s fmt.State, _ rune)   { io.WriteString(s, n.String()) }
func (n umacKeyName) MarshalText() ([]byte, error) { return []byte(n.String()), nil }

func (n umacName) String() string               { return umacString("UMAC", n.tagSize) }
func (n umacName) Format(s fmt.State, _ rune)   { io.WriteString(s, n.String()) }
func (n umacName) MarshalText() ([]byte, error) { return []byte(n.String()), nil }

func umacString(name string, tagSize uint8) string {
	if tagSize == 0 {
		return "fastmac." + name + "(no key)"
	}
	return "fastmac." + name + "(" + strconv.Itoa(8*int(tagSize)) + "-bit tag)"
}

// noCopy makes go vet report copies of the struct that has a field of this type.
type noCopy struct{}

func (*noCopy) Lock()   {}
func (*noCopy) Unlock() {}

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
	umacKeyName
	_ noCopy

	// What a short message needs comes first.
	l3  l3Key
	l1  l1Key
	pad aesKey // of the pad derivation function
	l2  [maxIterations]l2Key
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
	iterations := tagSize / 4
	var kdf aesKey
	kdf.init(key)
	k.l1.derive(&kdf)
	var buf subkeys
	subkey := buf.derive(&kdf, [kdfIndexes]int{
		kdfPad:    len(key),
		kdfL2:     24 * iterations,
		kdfL3Key1: 64 * iterations,
		kdfL3Key2: 4 * iterations,
	})
	k.pad.init(subkey[kdfPad])
	for i := range iterations {
		const mask = 0x01ffffff01ffffff // RFC 4418 section 5.3.1
		b := (*[24]byte)(subkey[kdfL2][24*i:])
		k.l2[i].k64 = binary.BigEndian.Uint64(b[:]) & mask
		k.l2[i].k128.hi = binary.BigEndian.Uint64(b[8:]) & mask
		k.l2[i].k128.lo = binary.BigEndian.Uint64(b[16:]) & mask
	}
	for i := range iterations {
		b := (*[64]byte)(subkey[kdfL3Key1][64*i:])
		for j := range 4 {
			k.l3.high[j][i] = reduce36(binary.BigEndian.Uint64(b[8*j:]))
			k.l3.low[j][i] = reduce36(binary.BigEndian.Uint64(b[8*j+32:]))
		}
		k.l3.k2[i] = binary.BigEndian.Uint32(subkey[kdfL3Key2][4*i:])
	}
	clear(buf[:])
	kdf = aesKey{}
	k.tagSize = uint8(tagSize)
	return nil
}

// iterations is how often UHASH runs its layers, RFC 4418 section 5.1.
func (k *UMACKey) iterations() int { return int(k.tagSize) / 4 }

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
	mustNonce(nonce)
	var tag [maxUMACTagSize]byte
	k.tag(&tag, nonce, msg)
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
	k.tag(&want, nonce, msg)
	return subtle.ConstantTimeCompare(tag, want[:k.tagSize]) == 1
}

func (k *UMACKey) tag(tag *[maxUMACTagSize]byte, nonce, msg []byte) {
	k.mustLive()
	pad := k.newPad(nonce)
	var sums l1Words
	if len(msg) > l1Block || !tagWords(tag, &sums, k, 0, msg, 8*uint64(len(msg)), pad, nil) {
		k.tagLong(tag, msg, pad)
	}
}

// tagLong is tag for messages of any length.
func (k *UMACKey) tagLong(tag *[maxUMACTagSize]byte, msg []byte, pad pad) {
	var l2 l2State
	var sums l1Words
	if len(msg) > l1Block {
		whole := len(msg) &^ (l1Block - 1)
		l2.absorbBlocks(k, msg[:whole])
		msg = msg[whole:]
	}
	k.finish(tag, &l2, &sums, 0, msg, len(msg), pad)
}

// finish computes the tag of a message, RFC 4418 section 4, from its whole blocks
// in l2 and what is after these, length bytes: sums, the NH hash of inBlock of them,
// whole groups, and last, the others. A message of one block has it there.
func (k *UMACKey) finish(tag *[maxUMACTagSize]byte, l2 *l2State, sums *l1Words, inBlock int, last []byte, length int, pad pad) {
	n := k.iterations()
	var y *[maxIterations]uint128 // where POLY-64 has begun and goes on
	switch {
	case l2.words > 0 && length == 0 && l2.words <= poly64Words:
		// POLY-64 has all words. From here on its result is as the word of a
		// message of one block.
		sums = new(l1Words)
		for i := range sums[:n] {
			sums[i] = reduce64(l2.y[i].lo)
		}
		inBlock = l1Block // no bytes
	case l2.words >= poly64Words:
		k.finish128(tag, l2, sums, inBlock, last, length, pad)
		return
	case l2.words > 0:
		y = &l2.y
	}
	if tagWords(tag, sums, k, inBlock/l1Group, last, 8*uint64(length), pad, y) {
		return
	}
	words := *sums
	if len(last) > 0 || inBlock == 0 {
		nhAdd(&words, k, inBlock/l1Group, last)
	}
	var h [maxIterations]uint32
	for i := range h[:n] {
		word := words[i] + 8*uint64(length)
		if y != nil {
			word = reduce64(poly64(y[i].lo, k.l2[i].k64, word))
		}
		h[i] = k.l3.l3Short(i, word)
	}
	k.xorPad(tag, &h, pad)
}

// finish128 is finish for more words than POLY-64 takes.
func (k *UMACKey) finish128(tag *[maxUMACTagSize]byte, l2 *l2State, sums *l1Words, inBlock int, last []byte, length int, pad pad) {
	end := *l2
	if length > 0 {
		words := *sums
		if len(last) > 0 {
			nhAdd(&words, k, inBlock/l1Group, last)
		}
		for i := range words {
			words[i] += 8 * uint64(length)
		}
		end.absorb128(k, &words)
	}
	var h [maxIterations]uint32
	for i := range h[:k.iterations()] {
		h[i] = k.l3.l3(i, end.sum128(i, &k.l2[i]))
	}
	k.xorPad(tag, &h, pad)
}

// xorPad makes the tag, RFC 4418 section 4, of UHASH's words.
func (k *UMACKey) xorPad(tag *[maxUMACTagSize]byte, h *[maxIterations]uint32, pad pad) {
	if k.tagSize == 4 {
		binary.LittleEndian.PutUint32(tag[:], bits.ReverseBytes32(h[0])^uint32(pad.first))
		return
	}
	// In words of 8 bytes: the caller copies the tag, and a load that spans two
	// recent stores has to wait for both.
	binary.LittleEndian.PutUint64(tag[:], bits.ReverseBytes64(uint64(h[0])<<32|uint64(h[1]))^pad.first)
	if k.tagSize > 8 {
		binary.LittleEndian.PutUint64(tag[8:], bits.ReverseBytes64(uint64(h[2])<<32|uint64(h[3]))^pad.second)
	}
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
	var sig [signNonceSize + maxUMACTagSize]byte
	rand.Read(sig[:signNonceSize])
	k.tag((*[maxUMACTagSize]byte)(sig[signNonceSize:]), sig[:signNonceSize], msg)
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
	umacName

	key     *UMACKey
	ownsKey bool

	// The last block: inBlock bytes are in its NH hash l1, inGroup more, less
	// than a group, wait in group, before zeros. Blocks before it are in l2. The first block
	// stays here until another byte follows, for it passes by L2 if it is the
	// only one.
	inBlock, inGroup int
	l1               l1Words
	group            [l1Group]byte

	pads pads
	l2   l2State
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
	u.absorb(p)
	return len(p), nil
}

// absorb hashes whole groups where they lie.
func (u *UMAC) absorb(p []byte) {
	if u.inGroup > 0 {
		n := copy(u.group[u.inGroup:], p)
		u.inGroup += n
		p = p[n:]
		if u.inGroup < l1Group {
			return
		}
		u.inGroup = 0
		u.absorbGroups(u.group[:])
	}
	if whole := len(p) &^ (l1Group - 1); whole > 0 {
		if u.inBlock == 0 && whole < l1Block {
			nhAdd(&u.l1, u.key, 0, p[:whole])
			u.inBlock = whole
		} else {
			u.absorbGroups(p[:whole])
		}
		p = p[whole:]
	}
	if len(p) > 0 {
		fill(&u.group, p)
		u.inGroup = len(p)
	}
}

func (u *UMAC) absorbGroups(p []byte) {
	if u.inBlock > 0 {
		if n := min(len(p), l1Block-u.inBlock); n > 0 {
			nhAdd(&u.l1, u.key, u.inBlock/l1Group, p[:n])
			u.inBlock += n
			p = p[n:]
		}
		if len(p) == 0 {
			return
		}
		u.endBlock()
	}
	if len(p) > l1Block || len(p) == l1Block && u.l2.words > 0 {
		whole := len(p) &^ (l1Block - 1)
		u.l2.absorbBlocks(u.key, p[:whole])
		p = p[whole:]
	}
	if len(p) > 0 {
		nhAdd(&u.l1, u.key, 0, p)
		u.inBlock = len(p)
	}
}

// endBlock moves a full block on to L2.
func (u *UMAC) endBlock() {
	for i := range u.l1 {
		u.l1[i] += 8 * l1Block
	}
	u.l2.absorbWord(u.key, &u.l1)
	u.l1, u.inBlock = l1Words{}, 0
}

// tag computes the tag of the message so far, and leaves the message as it is.
func (u *UMAC) tag(tag *[maxUMACTagSize]byte, nonce []byte) {
	if u.inBlock == l1Block && u.inGroup > 0 {
		u.endBlock()
	}
	var last []byte
	if u.inGroup > 0 {
		last = u.group[:] // zeros after the message, as L1 wants them
	}
	u.key.finish(tag, &u.l2, &u.l1, u.inBlock, last, u.inBlock+u.inGroup, u.pads.pad(u.key, nonce))
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
	u.tag(&tag, nonce)
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
	u.tag(&want, nonce)
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
	u.inBlock, u.inGroup, u.l1, u.l2.words = 0, 0, l1Words{}, 0
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
	c := *u
	c.ownsKey = false
	c.pads = pads{} // so that each pad is in one place, and wiped there once used
	return &c
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
	nonce     [maxUMACNonceSize]byte
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

func isNonce(nonce []byte) bool { return 1 <= len(nonce) && len(nonce) <= maxUMACNonceSize }

func mustNonce(nonce []byte) {
	if !isNonce(nonce) {
		panic(NonceSizeError(len(nonce)).Error() + "; pass a nonce of its own for each message")
	}
}
