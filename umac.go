// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac

import (
	"fmt"
	"hash"
	"strconv"
	"unsafe"

	"example.com/fastmac/internal/aes"
	"example.com/fastmac/internal/lifetime"
	"example.com/fastmac/internal/opaque"
	"example.com/fastmac/internal/wipe"
)

// Sizes in bytes.
const (
	UMAC32Size  = 4  // a UMAC-32 tag
	UMAC64Size  = 8  // a UMAC-64 tag
	UMAC96Size  = 12 // a UMAC-96 tag
	UMAC128Size = 16 // a UMAC-128 tag

	UMACMaxNonceSize = 16 // the longest UMAC nonce; the shortest is 1 byte
)

// UMACKey is an expanded key for UMAC, RFC 4418. All its tags have one size.
//
// Never use a nonce for two messages under one key: two tags with the same nonce can be enough to
// forge others.
//
// A UMACKey does not change once it is set up. It is safe for concurrent use until
// [UMACKey.Destroy]. Do not copy it: Destroy does not overwrite copies. It prints as its name and
// tag size, such as "fastmac.UMACKey(64-bit tag)". All methods except Init, Destroy, String and
// Format panic if the key was never set up or has been destroyed.
type UMACKey struct {
	_ opaque.NoCopy
	_ opaque.Incomparable

	pad   aesKey
	uhash uhashKey
	umacKeyName
}

// KeySizeError is the length in bytes of an AES key that is not 16, 24 or 32 bytes long. The
// functions of UMAC, GMAC and package aesgcm that set up keys return it.
type KeySizeError int

func (e KeySizeError) Error() string {
	return "fastmac: key of " + strconv.Itoa(int(e)) + " bytes: want 16, 24 or 32"
}

// NewUMACKey expands a key of 16, 24 or 32 bytes (AES-128, AES-192, AES-256) for tags of tagSize
// bytes: 4, 8, 12 or 16. It returns a [KeySizeError] for a key of any other length, and an error
// for any other tag size. It does not retain key.
//
// Never make keys of two tag sizes from the same bytes: the tag under one can be the beginning of the tag
// under the other.
func NewUMACKey(key []byte, tagSize int) (*UMACKey, error) {
	k := new(UMACKey)
	if err := k.Init(key, tagSize); err != nil {
		return nil, err
	}
	return k, nil
}

// Init is like [NewUMACKey], except that it sets up k in place and replaces any previous key. Do
// not use streams of the previous key again, not even after Reset. If Init returns an error, k is
// unchanged. Init does not allocate if AES instructions are in use.
//
// Do not print a struct that holds a key by value in an unexported field: fmt does not call the
// methods of such fields, and prints the bytes of the key.
//
// On amd64 and arm64, k may be in memory that Go did not allocate if [RequireAES] returns nil: see
// "Placed state". In all other cases k holds a pointer, and must be in Go's memory.
func (k *UMACKey) Init(key []byte, tagSize int) error {
	size, err := newTagSize(tagSize)
	if err != nil {
		return err
	}
	switch len(key) {
	case 16, 24, 32:
	default:
		return KeySizeError(len(key))
	}
	if k.pad.life.ID() != 0 { // or the memory is the caller's, and not zeros
		k.Destroy()
	}
	k.expand(key, size)
	k.umacKeyName = opaque.Of(umacKeyText(size))
	k.pad.life.Begin()
	return nil
}

// expand sets up k, which is zeros, except for its name. Keys are made in their own storage, or
// in that of a key that is made later: a variable would be copied when the stack grows.
//
//	storage     what is in it, in turn
//	k.pad       the key of KDF until all others are made, the key of PDF
//	k.uhash.l1  the inputs of KDF, the subkeys, the L1 key
//	padKey      the key of PDF while the L1 key is made, zeros
func (k *UMACKey) expand(key []byte, size tagSize) {
	if choose(); !aes.InUse() || !hasNH() { // kernels use most for the subkeys, which are in no variable
		wipe.ReserveStack() // for what the goroutine then does with the key too
	}
	n := size.iterations()
	kdf := &k.pad
	kdf.init(key)

	const run = 8 * aes.BlockSize
	s := (*subkeys)(unsafe.Pointer(&k.uhash.l1))
	begin, end := 0, int(unsafe.Offsetof(s.l3Key1))+n*len(s.l3Key1[0])
	if len(key) == aes.BlockSize {
		begin = len(s.padEnd)
	}
	end = begin + (end-begin+run-1)/run*run
	b := s.bytes()[begin:end]
	copy(b, subkeyInputs.bytes()[begin:end])
	kdf.encrypt(b)

	var padKey [2 * aes.BlockSize]byte
	copy(padKey[:], s.pad[:])
	copy(padKey[len(s.pad):], s.padEnd[:])
	k.uhash.n = n
	for i := range n {
		k.uhash.l2[i].set((*[24]byte)(s.l2[24*i:]))
		k.uhash.setL3(i, &s.l3Key1[i], (*[4]byte)(s.l3Key2[4*i:]))
	}
	deriveL1(&k.uhash.l1, kdf)
	k.pad.init(padKey[:len(key)])
	k.pad.setTagSize(size)
	clear(padKey[:])
	if !aes.InUse() {
		wipe.Stack() // after crypto/aes
	}
}

const deadUMACKey = "fastmac: use of a UMACKey that was destroyed or never set up"

// mustLive returns the ID of the key. It panics if there is no key.
func (k *UMACKey) mustLive() lifetime.ID {
	id := k.pad.life.ID()
	if id.None() {
		panic(deadUMACKey)
	}
	return id
}

// Size returns the size of a tag in bytes.
func (k *UMACKey) Size() int {
	return int(k.size())
}

// size returns the size of a tag. It panics if there is no key. It is loaded once for a call, before the look
// at the end: a size that is loaded later can be that of another key, or 0.
func (k *UMACKey) size() tagSize {
	size := k.pad.tagSize
	if size == 0 {
		panic(deadUMACKey)
	}
	return size
}

// Tag appends the tag of msg under nonce, Size() bytes, to dst and returns the extended slice. dst
// may overlap msg and nonce.
//
// The nonce must be 1 to 16 bytes long, or Tag panics. Never use it for another message under this
// key.
//
// Tag does not allocate if dst has room, except that without AES instructions it may allocate after
// a garbage collection.
func (k *UMACKey) Tag(dst, nonce, msg []byte) []byte {
	id := k.pad.life.Expect()
	if !isNonce(nonce) { // isNonce is inlined, and mustNonce is not
		mustNonce(nonce)
	}
	var tag [maxUMACTagSize]byte
	if hasTagNonce() && len(msg) <= 2*l1Block {
		tagNonce(&tag, k, &noGroups, msg, uint64(len(msg)), nonce)
	} else if x := k.pad.pad(nonce); len(msg) <= l1Block {
		tagOnly(&tag, &k.uhash, &noGroups, msg, uint64(len(msg)), x)
	} else {
		k.uhash.tagLong(&tag, msg, x)
	}
	size := k.pad.tagSize
	if !k.pad.life.Is(id) {
		panic(deadUMACKey)
	}
	return size.append(dst, &tag)
}

// Verify reports whether tag is the tag of msg under nonce. It returns false if the tag or the
// nonce has a wrong length. The comparison is constant time.
func (k *UMACKey) Verify(tag, nonce, msg []byte) bool {
	size := k.size()
	if len(tag) != int(size) || !isNonce(nonce) {
		return false
	}
	var want [maxUMACTagSize]byte
	return len(k.Tag(want[:0], nonce, msg)) == int(size) && size.equal(tag, &want)
}

// New returns a stream that computes tags under k. The stream refers to k. Any number of streams
// can use one key at the same time.
func (k *UMACKey) New() *UMAC {
	id, size := k.mustLive(), k.size()
	return &UMAC{umacName: opaque.Of(umacText(size)), key: k, life: lifetime.OfStream(id)}
}

// Destroy overwrites the key with zeros, except for a number that tells keys in one place apart. Any later
// use of the key or its streams panics; a second Destroy does nothing. A call that uses the key meanwhile
// panics too, and gives nothing out: see "Destroy while in use".
//
// Streams of k compute pads in advance, which this Destroy does not overwrite: destroy those
// streams too. SECURITY.md in the module lists what else it cannot overwrite.
func (k *UMACKey) Destroy() {
	k.pad.life.End()
	k.pad.clear()
	wipe.Bytes((*[unsafe.Sizeof(*k)]byte)(unsafe.Pointer(k))[unsafe.Offsetof(k.uhash):]) // with what is between fields
}

// UMAC is a stream that computes the UMAC tag, RFC 4418, of what is written to it.
//
// It implements [hash.Hash], except that [UMAC.Sum] takes the nonce instead of a slice to append
// to. Use [UMAC.Tag] to append, and [UMAC.Bind] for code that calls Sum as hash.Hash defines it.
//
// Never use a nonce for two messages under one key: two tags with the same nonce can be enough to
// forge others.
//
// A UMAC is not safe for concurrent use. Do not copy it; use [UMAC.Clone]. It prints as its name
// and tag size, such as "fastmac.UMAC(64-bit tag)". All methods except Destroy, String and Format
// panic if the stream or its key has been destroyed.
type UMAC struct {
	_ opaque.NoCopy
	_ opaque.Incomparable

	umacName
	ownsKey bool
	life    lifetime.Lifetime
	key     *UMACKey
	uhash   uhash
	pads    pads
}

// NewUMAC returns a stream with its own key, of 16, 24 or 32 bytes. tagSize is the size of a tag in
// bytes: 4, 8, 12 or 16. In SSH, umac-64 has 8 and umac-128 has 16. NewUMAC does what [NewUMACKey]
// and [UMACKey.New] do, in one allocation, and returns the errors of NewUMACKey. Never use a nonce
// for two messages under one key.
func NewUMAC(key []byte, tagSize int) (*UMAC, error) {
	// A clone keeps the memory of this stream alive together with the key.
	p := new(umacWithKey)
	if err := p.key.Init(key, tagSize); err != nil {
		return nil, err
	}
	p.stream = UMAC{umacName: opaque.Of(umacText(p.key.pad.tagSize)), key: &p.key, life: lifetime.OfStream(p.key.mustLive()), ownsKey: true}
	return &p.stream, nil
}

// umacWithKey is a stream and its key in one allocation, for servers with many. The stream is
// first, because sshmac sets a finalizer for it, which the runtime calls only for the start of
// an allocation. The room between them puts the key where one that NewUMACKey allocates is in
// its cache lines, 8 bytes after the start of one.
type umacWithKey struct {
	stream UMAC
	_      [32]byte
	key    UMACKey
}

// keyOf returns u.key. It knows where the key of a umacWithKey is: the CPU predicts that the
// addresses are equal, and does not wait for u.key to load from the key. With 100,000 streams
// in random order a message of 64 bytes takes a tenth less time.
func keyOf(u *UMAC) *UMACKey {
	const offset = unsafe.Offsetof(umacWithKey{}.key)
	if uintptr(unsafe.Pointer(u.key)) == uintptr(unsafe.Pointer(u))+offset {
		return (*UMACKey)(unsafe.Add(unsafe.Pointer(u), offset))
	}
	return u.key
}

const deadUMAC = "fastmac: use of a UMAC that was destroyed or never set up, or whose key was"

// live returns the key. It panics if there is none, or another one since the stream began.
func (u *UMAC) live() *UMACKey {
	k := keyOf(u)
	if k == nil || !u.life.IsOf(&k.pad.life) {
		panic(deadUMAC)
	}
	return k
}

// mustHaveLived panics if the stream or its key was destroyed, also meanwhile.
func (u *UMAC) mustHaveLived(k *UMACKey) {
	if !u.life.IsStillOf(&k.pad.life) {
		panic(deadUMAC)
	}
}

// Write adds p to the message. It never fails and does not retain p.
func (u *UMAC) Write(p []byte) (int, error) {
	k := u.live()
	if !u.uhash.hold(p) {
		u.uhash.write(&k.uhash, p)
	}
	return len(p), nil
}

// WriteString is Write of the bytes of s, without a copy.
func (u *UMAC) WriteString(s string) (int, error) { return u.Write(bytesOf(s)) }

// bytesOf returns the bytes of s, which are only read.
func bytesOf(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }

// Tag appends the tag of the message written so far, Size() bytes, to dst and returns the extended
// slice. The stream does not change: you can write more, and call Tag again with another nonce. dst
// may overlap nonce.
//
// The nonce must be 1 to 16 bytes long, or Tag panics. Never use it for another message under this
// key.
func (u *UMAC) Tag(dst, nonce []byte) []byte {
	k := keyOf(u)
	if k == nil {
		panic(deadUMAC)
	}
	if !isNonce(nonce) { // isNonce is inlined, and mustNonce is not
		mustNonce(nonce)
	}
	h := &u.uhash
	h.end(&k.uhash)
	var tag [maxUMACTagSize]byte
	if hasTagNonce() && h.l2.words == 0 {
		tagNonce(&tag, k, &h.l1, h.rest(), h.length(), nonce)
	} else if x := u.pads.pad(&k.pad, nonce); h.l2.words == 0 {
		tagOnly(&tag, &k.uhash, &h.l1, h.rest(), h.length(), x)
	} else {
		k.uhash.tagLast(&tag, &h.l2, &h.l1, h.rest(), h.length(), x)
	}
	size := k.pad.tagSize
	u.mustHaveLived(k)
	return size.append(dst, &tag)
}

// Sum returns the tag of the message written so far, Size() bytes, under nonce. If cap(nonce) is large
// enough, it overwrites nonce: it writes the tag to nonce[:Size()], which may be more than len(nonce)
// bytes. If not, it writes to new memory. To keep the nonce, for example a counter, use [UMAC.Tag].
// Nonces are as for Tag.
//
// Unlike Sum of other hashes, it does not append: in Sum(header) the header is the nonce. Sum
// panics if the nonce is not 1 to 16 bytes long, so Sum(nil) panics.
func (u *UMAC) Sum(nonce []byte) []byte {
	if !isNonce(nonce) {
		panic("fastmac: UMAC.Sum takes the nonce, 1 to 16 bytes, and got " + strconv.Itoa(len(nonce)) + ": for code that calls Sum(nil) use Bind")
	}
	return u.Tag(nonce[:0], nonce)
}

// Verify reports whether tag is the tag of the message written so far under nonce. It returns false
// if the tag or the nonce has a wrong length. The stream does not change. The comparison is
// constant time.
func (u *UMAC) Verify(tag, nonce []byte) bool {
	size := u.live().size()
	if len(tag) != int(size) || !isNonce(nonce) {
		return false
	}
	var want [maxUMACTagSize]byte
	return len(u.Tag(want[:0], nonce)) == int(size) && size.equal(tag, &want)
}

// Bind returns a [hash.Hash] whose Sum(b) appends the tag under nonce to b, as other hashes do. It
// begins with a copy of the message written to u so far. After that the two share only the key.
//
// The nonce is as for [UMAC.Tag]: Bind panics if it has a wrong length. Tag only one message with
// the hash. After Reset use it to verify, not to tag again. The hash has a method Destroy, which
// interface{ Destroy() } reaches: it overwrites the hash but not the key.
func (u *UMAC) Bind(nonce []byte) hash.Cloner {
	mustNonce(nonce)
	return bind(u.clone(), nonce)
}

// Reset returns the stream to its initial state, and overwrites what it holds of the message and
// its hash. Pads that it has computed in advance remain, for the next messages, until
// [UMAC.Destroy].
func (u *UMAC) Reset() {
	u.live()
	u.uhash.reset()
}

// Size returns the size of a tag in bytes.
func (u *UMAC) Size() int {
	return u.live().Size()
}

// BlockSize returns 1024, the size in bytes of the blocks of RFC 4418's L1-HASH.
func (u *UMAC) BlockSize() int {
	u.live()
	return l1Block
}

// Clone returns a copy of the stream, a *UMAC, which shares the key. Destroy of a clone does not
// overwrite the key; Destroy of the stream that [NewUMAC] returned does. The error is always nil.
func (u *UMAC) Clone() (hash.Cloner, error) {
	return u.clone(), nil
}

// clone is Clone. It looks only afterwards whether the key lives.
func (u *UMAC) clone() *UMAC {
	k := keyOf(u)
	if k == nil {
		panic(deadUMAC)
	}
	// Without the pads, so that each pad is in one place, and is wiped there.
	c := &UMAC{umacName: u.umacName, key: k, life: lifetime.OfStream(u.life.ID()), uhash: u.uhash}
	if !u.life.IsStillOf(&k.pad.life) {
		c.uhash.clear()
		panic(deadUMAC)
	}
	return c
}

// Destroy overwrites the stream with zeros, except for sizes and where its key is, and also its key if
// [NewUMAC] returned the stream. Any later use panics; a second Destroy does nothing.
func (u *UMAC) Destroy() {
	u.life.EndStream()
	if u.ownsKey {
		u.key.Destroy()
	}
	u.umacName, u.pads = umacName{}, pads{} // the key's place is no secret
	u.uhash.clear()
}

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

func (b *boundHash) Write(p []byte) (int, error)       { return b.stream.Write(p) }
func (b *boundHash) WriteString(s string) (int, error) { return b.stream.Write(bytesOf(s)) }
func (b *boundHash) Sum(in []byte) []byte              { return b.stream.Tag(in, b.nonce[:b.nonceSize]) }
func (b *boundHash) Reset()                            { b.stream.Reset() }
func (b *boundHash) Size() int                         { return b.stream.Size() }
func (b *boundHash) BlockSize() int                    { return b.stream.BlockSize() }

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

// What a key and a stream print as: see package opaque.
type (
	umacKeyName = opaque.Name[umacKeyText]
	umacName    = opaque.Name[umacText]

	umacKeyText tagSize
	umacText    tagSize
)

func (t umacKeyText) String() string { return "fastmac.UMACKey(" + tagSize(t).String() + ")" }
func (t umacText) String() string    { return "fastmac.UMAC(" + tagSize(t).String() + ")" }
