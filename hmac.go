// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac

import (
	"crypto"
	"errors"
	"fmt"
	"hash"
	"slices"
	"strconv"
	"unsafe"

	"example.com/fastmac/internal/kernel"
	"example.com/fastmac/internal/lifetime"
	"example.com/fastmac/internal/opaque"
	"example.com/fastmac/internal/sha2"
	"example.com/fastmac/internal/wipe"
)

// HMACKey is an expanded key for HMAC, RFC 2104 and FIPS 198-1, with one of the hashes of FIPS 180-4:
// [crypto.SHA224], [crypto.SHA256], [crypto.SHA384], [crypto.SHA512], [crypto.SHA512_224] or
// [crypto.SHA512_256]. It holds the two states of the hash after the inner and the outer pad, and has
// 136 bytes. In FIPS 140 mode it holds the key itself, padded with zeros to a block of the hash, or
// the hash of a longer key.
//
// An HMACKey does not change once it is set up. It is safe for concurrent use until
// [HMACKey.Destroy]. Do not copy it: Destroy does not overwrite copies. It prints as
// "fastmac.HMACKey(SHA-256)". All methods except Init, Destroy, String and Format panic if the key
// was never set up or has been destroyed.
type HMACKey struct {
	_ opaque.NoCopy
	_ opaque.Incomparable
	hmacKeyName

	form   hmacForm
	life   lifetime.Lifetime
	states sha2.KeyRoom
}

// hmacForm is what a hash is: the size of a tag in bytes, then a bit that says whether its words have 64
// bits, then the crypto.Hash; 0 if there is no key. It is one number, so that what one load returns is of
// one key.
type hmacForm uint16

func formOf(f *sha2.Hash) hmacForm {
	form := hmacForm(f.Size) | hmacForm(f.ID)<<9
	if f.Wide() {
		form |= 1 << 8
	}
	return form
}

func (f hmacForm) size() int            { return int(uint8(f)) }
func (f hmacForm) wide() bool           { return f>>8&1 != 0 }
func (f hmacForm) hash() uint8          { return uint8(f >> 9) }
func (f hmacForm) isSHA1() bool         { return f.hash() == uint8(crypto.SHA1) }
func (f hmacForm) function() *sha2.Hash { return sha2.Of(crypto.Hash(f.hash())) }

// NewHMACKey expands a key of any length, including zero. Use at least 32 random bytes; RFC 2104
// section 3 advises as many as a tag has. A key that is longer than a block of the hash (64 bytes for
// SHA-224 and SHA-256, 128 for the others) is hashed first. NewHMACKey does not retain key.
//
// It returns an error that wraps [errors.ErrUnsupported] if h is not one of the hashes of [HMACKey],
// and an error if GODEBUG=fips140=only is set and the key is shorter than 14 bytes.
func NewHMACKey(h crypto.Hash, key []byte) (*HMACKey, error) {
	k := new(HMACKey)
	if err := k.Init(h, key); err != nil {
		return nil, err
	}
	return k, nil
}

// Init is like [NewHMACKey], except that it sets up k in place and replaces any previous key. After
// an error k is as before. Do not use streams of the previous key again, not even after Reset. k may
// be in memory that Go did not allocate: see "Placed state".
func (k *HMACKey) Init(h crypto.Hash, key []byte) error {
	f, err := hashOf(h, key)
	if err != nil {
		return err
	}
	if !k.life.ID().None() {
		k.Destroy() // the new key may be smaller
	}
	k.hmacKeyName, k.form = opaque.Of(hmacKeyText(h)), formOf(f)
	switch {
	case useFIPS:
		setFIPS(f, k.bytes(f), key)
	case f.Wide():
		sha2.Choose[uint64]()
		sha2.In[uint64](&k.states).Init(f.Initial512, f.Size, key)
	default:
		sha2.Choose[uint32]()
		sha2.In[uint32](&k.states).Init(f.Initial256, f.Size, key)
	}
	k.life.Begin()
	return nil
}

// hashOf returns what h is, or an error if it is not supported, or not with the key.
func hashOf(h crypto.Hash, key []byte) (*sha2.Hash, error) {
	fipsAsked.Do(askFIPS)
	f := sha2.Of(h)
	if f == nil || len(key) < minApproved {
		return f, refuseHMAC(h, key)
	}
	return f, nil
}

// minApproved is the least number of bytes of a key where only approved algorithms may run, SP 800-131A
// section 10. crypto/hmac would panic too, but it sees the zero-padded key.
const minApproved = 112 / 8

// refuseHMAC returns why HMAC with a hash and keys is refused, or nil if it is not.
func refuseHMAC(h crypto.Hash, keys ...[]byte) error {
	if sha2.Of(h) == nil {
		return unsupportedError("HMAC with " + h.String() + " is not supported")
	}
	for _, key := range keys {
		if len(key) < minApproved && kernel.FIPSEnforced() {
			return errors.New("fastmac: HMAC key of " + strconv.Itoa(len(key)) + " bytes: want " + strconv.Itoa(minApproved) + " or more with GODEBUG=fips140=only")
		}
	}
	return nil
}

// bytes returns the storage of the key in FIPS 140 mode.
func (k *HMACKey) bytes(f *sha2.Hash) []byte {
	return (*[sha2.BlockSize512]byte)(unsafe.Pointer(&k.states))[:f.BlockSize()]
}

const deadHMACKey = "fastmac: use of an HMACKey that was destroyed or never set up"

// mustLive returns the ID of the key, and its form. It panics if there is no key.
func (k *HMACKey) mustLive() (lifetime.ID, hmacForm) {
	id, form := k.life.Expect(), k.form
	if form == 0 {
		panic(deadHMACKey)
	}
	return id, form
}

// Size returns the size of a tag in bytes: 28, 32, 48 or 64.
func (k *HMACKey) Size() int {
	_, form := k.mustLive()
	return form.size()
}

// Tag appends the tag of msg, Size() bytes, to dst and returns the extended slice. dst may overlap
// msg. Tag does not allocate if dst has room, except in FIPS 140 mode.
func (k *HMACKey) Tag(dst, msg []byte) []byte {
	id, form := k.mustLive()
	dst, tag := grow(dst, form.size())
	k.sum(form, tag, msg)
	if !k.life.Is(id) {
		panic(clearTag(tag, deadHMACKey))
	}
	return dst
}

// clearTag overwrites a tag whose key was destroyed meanwhile. It returns the text of a panic.
func clearTag(tag []byte, dead string) string {
	clear(tag)
	return dead
}

// grow appends a tag of size bytes to dst, which is to be set, and returns both.
func grow(dst []byte, size int) (all, tag []byte) {
	n := len(dst)
	dst = slices.Grow(dst, size)[:n+size]
	return dst, dst[n:]
}

// sumFIPS is sum in FIPS 140 mode.
func (k *HMACKey) sumFIPS(f *sha2.Hash, tag, msg []byte) { sumFIPS(f, tag, k.bytes(f), msg) }

// sum sets tag to the tag of msg.
func (k *HMACKey) sum(form hmacForm, tag, msg []byte) {
	switch {
	case useFIPS:
		k.sumFIPS(form.function(), tag, msg)
	case form.wide():
		w := sha2.In[uint64](&k.states)
		sha2.Sum(tag, &w.Inner, &w.Outer, sha2.BlockSize512, msg)
	default:
		w := sha2.In[uint32](&k.states)
		sha2.Sum(tag, &w.Inner, &w.Outer, sha2.BlockSize256, msg)
	}
}

// Verify reports whether tag is the tag of msg. It returns false if the tag is not Size() bytes long,
// so it refuses truncated tags. The comparison is constant time.
func (k *HMACKey) Verify(tag, msg []byte) bool {
	id, form := k.mustLive()
	var b sha2.Tag
	want := b[:form.size()]
	k.sum(form, want, msg)
	right := sha2.EqualTags(tag, want)
	if !k.life.Is(id) {
		panic(deadHMACKey)
	}
	return right
}

// New returns a stream that computes tags under k. The stream refers to k, except that in FIPS 140
// mode crypto/hmac has a copy of the key, which Destroy does not overwrite. Any number of streams
// can use one key at the same time.
func (k *HMACKey) New() *HMAC {
	id, form := k.mustLive()
	switch {
	case useFIPS:
		m := new(HMAC)
		m.begin(form, id, &k.life, nil)
		f := form.function()
		m.std = newFIPS(f, k.bytes(f), make([]byte, sha2.BlockSize512))
		return m
	case form.wide():
		return newStream(sha2.In[uint64](&k.states), form, id, &k.life)
	default:
		return newStream(sha2.In[uint32](&k.states), form, id, &k.life)
	}
}

// Destroy overwrites the key with zeros, except for a number that tells keys in one place apart. Any later
// use of the key or its streams panics; a second Destroy does nothing. A call that uses the key meanwhile
// panics too, and gives nothing out: see "Destroy while in use".
func (k *HMACKey) Destroy() {
	k.life.End()
	k.hmacKeyName, k.form, k.states = hmacKeyName{}, 0, sha2.KeyRoom{}
}

// SumHMAC appends the HMAC of msg under key to dst and returns the extended slice. h and key are as
// for [NewHMACKey], whose errors are panics here. dst may overlap key and msg. To tag many messages
// under one key, use an [HMACKey], which is faster. To verify a tag, use [HMACKey.Verify], whose
// comparison is constant time. SumHMAC does not allocate if dst has room, except in FIPS 140 mode.
func SumHMAC(h crypto.Hash, dst, key, msg []byte) []byte {
	f, err := hashOf(h, key)
	if err != nil {
		panic(err.Error())
	}
	dst, tag := grow(dst, f.Size)
	switch {
	case useFIPS:
		sumUnderFIPS(f, tag, key, msg)
	case f.Wide():
		sha2.SumUnder(f.Initial512, tag, key, msg)
	default:
		sha2.SumUnder(f.Initial256, tag, key, msg)
	}
	return dst
}

// TagBatch writes the tag of batch[i].Data to batch[i].Tag, for each i. If a Tag is not Size() bytes
// long, or there is a Nonce, it panics before it writes anything. It does not allocate, except in
// FIPS 140 mode.
//
// On amd64 it hashes several messages side by side, whatever their lengths: with SHA-224 and SHA-256
// 16 (AVX-512), two (SHA instructions) or eight (AVX2 alone), with the other hashes eight (AVX-512) or four
// (AVX2). It is fastest if they have about the same length, and if their number is a multiple of that. On arm64 with
// SHA2 instructions, or with SHA512 instructions for the other hashes, it hashes messages 0 and 1 side
// by side, then 2 and 3, and so on, for as many blocks as the shorter of the two has.
//
// batch[i].Tag may overlap batch[i].Data, and no slice of another message. Messages may overlap
// each other.
func (k *HMACKey) TagBatch(batch []Message) {
	id, form := k.mustLive()
	mustHMACBatch("TagBatch", batch, form.size())
	k.run(form, batch, false)
	if !k.life.Is(id) {
		panic(clearTags(batch, deadHMACKey))
	}
}

// VerifyBatch sets batch[i].OK to whether batch[i].Tag is the tag of batch[i].Data, and reports
// whether all are OK. For an empty batch it returns true. A message is not OK if its Tag has a
// wrong length, or if it has a Nonce.
//
// VerifyBatch is nearly as fast as [HMACKey.TagBatch]. It changes nothing except OK, which is false
// until the tag has been verified. The comparisons are constant time. All slices may overlap.
func (k *HMACKey) VerifyBatch(batch []Message) bool {
	refuse(batch)
	id, form := k.mustLive()
	k.run(form, batch, true)
	if !k.life.Is(id) {
		panic(refuseTags(batch, deadHMACKey))
	}
	return allOK(batch)
}

// run computes a batch under one key.
func (k *HMACKey) run(form hmacForm, batch []Message, verify bool) {
	f := form.function()
	runHMACs(&sha2.Batch{Hash: f, Messages: messagesOf(batch), Verify: verify, Key: &k.states}, batch, func(tag []byte, i int) { k.sumFIPS(f, tag, batch[i].Data) })
}

// runHMACs computes a batch, in FIPS 140 mode with a function that sets the tag of message i.
func runHMACs(b *sha2.Batch, batch []Message, fips func(tag []byte, i int)) {
	if useFIPS {
		batchFIPS(batch, b.Hash.Size, b.Verify, fips)
		return
	}
	b.Run()
}

// messagesOf returns the same messages. The compiler checks that the types have the same fields.
func messagesOf(batch []Message) []sha2.BatchMessage {
	return unsafe.Slice((*sha2.BatchMessage)(unsafe.SliceData(batch)), len(batch))
}

// allOK reports whether all messages are OK.
func allOK(batch []Message) bool {
	all := true
	for i := range batch {
		right := batch[i].OK // loaded first: no branch depends on whether all are right so far
		all = all && right
	}
	return all
}

// SumHMACBatch writes the HMAC of batch[i].Data under keys[i] to batch[i].Tag, for each i. It works
// like [HMACKey.TagBatch], and also expands keys side by side. h and keys are as for [NewHMACKey],
// whose errors are panics here. To verify, compare the tags with [crypto/hmac.Equal].
//
// If keys and batch have different lengths, it panics before it writes anything, as it does for a
// wrong Tag or Nonce. batch[i].Tag may overlap keys[i] and batch[i].Data, and no slice of another
// message or key.
func SumHMACBatch(h crypto.Hash, keys [][]byte, batch []Message) {
	if len(keys) != len(batch) {
		panic(fmt.Sprintf("fastmac: SumHMACBatch with %d keys and %d messages", len(keys), len(batch)))
	}
	fipsAsked.Do(askFIPS)
	if err := refuseHMAC(h, keys...); err != nil {
		panic(err.Error())
	}
	f := sha2.Of(h)
	mustHMACBatch("SumHMACBatch", batch, f.Size)
	runHMACs(&sha2.Batch{Hash: f, Messages: messagesOf(batch), Keys: keys}, batch, func(tag []byte, i int) { sumUnderFIPS(f, tag, keys[i], batch[i].Data) })
}

// mustHMACBatch panics if a Tag of the batch does not have size bytes, or if there is a Nonce.
func mustHMACBatch(f string, batch []Message, size int) {
	for i := range batch {
		m := &batch[i]
		if len(m.Tag) != size {
			panic(badTag(f, i, len(m.Tag), size))
		}
		if len(m.Nonce) != 0 {
			panic(badNonce(f, i, "HMAC", len(m.Nonce), "none"))
		}
	}
}

// HMAC is a stream that computes the HMAC, RFC 2104 and FIPS 198-1, of what is written to it, with
// the hash of its key. It implements [hash.Hash] and [hash.Cloner].
//
// An HMAC is not safe for concurrent use. Do not copy it; use [HMAC.Clone]. It prints as
// "fastmac.HMAC(SHA-256)". All methods except Destroy, String and Format panic if the stream or its
// key has been destroyed.
type HMAC struct {
	_ opaque.NoCopy
	_ opaque.Incomparable
	hmacName

	ownsKey bool
	form    hmacForm
	life    lifetime.Lifetime
	key     *lifetime.Lifetime // of the key
	message unsafe.Pointer     // the hmacMessage, which is allocated with the stream, or where crypto/hmac computes
	std     hash.Hash          // this
}

// messageOf returns what m, whose hash has words of that size, has of its message.
func messageOf[W sha2.Word](m *HMAC) *hmacMessage[W] { return (*hmacMessage[W])(m.message) }

// newStream returns a stream under a key.
func newStream[W sha2.Word](k *sha2.Key[W], form hmacForm, id lifetime.ID, life *lifetime.Lifetime) *HMAC {
	p := new(struct {
		stream  HMAC
		message hmacMessage[W]
	})
	p.stream.begin(form, id, life, unsafe.Pointer(&p.message))
	p.message.key = k
	p.message.reset()
	return &p.stream
}

// newOwner returns a stream with its own key.
func newOwner[W sha2.Word](f *sha2.Hash, initial *sha2.State[W], key []byte) *HMAC {
	p := new(struct { // one allocation, as for UMAC
		stream  HMAC
		message hmacMessage[W]
		key     sha2.Key[W]
		life    lifetime.Lifetime
	})
	p.stream.beginOwner(f, &p.life, unsafe.Pointer(&p.message))
	sha2.Choose[W]()
	p.key.Init(initial, f.Size, key)
	p.message.key = &p.key
	p.message.reset()
	return &p.stream
}

// newAround is around, for package hmac, which links to it, also for SHA-1. A variable is linked only into
// programs that use it.
//
//lint:ignore U1000 see above
var newAround = around

// around returns a stream with its own key around one of crypto/hmac, or another whose secrets wipe.Value and
// wipe.Clone overwrite.
func around(f *sha2.Hash, std hash.Hash) *HMAC {
	p := new(struct { // so that a clone keeps the stream reachable, as it does with a key
		stream HMAC
		life   lifetime.Lifetime
	})
	p.stream.beginOwner(f, &p.life, nil)
	p.stream.std = std
	return &p.stream
}

// begin sets up a stream.
func (m *HMAC) begin(form hmacForm, id lifetime.ID, key *lifetime.Lifetime, message unsafe.Pointer) {
	m.hmacName, m.form, m.life, m.key, m.message = opaque.Of(hmacText(form.hash())), form, lifetime.OfStream(id), key, message
}

// beginOwner sets up a stream with its own key.
func (m *HMAC) beginOwner(f *sha2.Hash, key *lifetime.Lifetime, message unsafe.Pointer) {
	key.Begin()
	m.begin(formOf(f), key.ID(), key, message)
	m.ownsKey = true
}

// NewHMAC returns a stream with its own key. h and key, and errors, are as for [NewHMACKey]. It does
// not retain key.
func NewHMAC(h crypto.Hash, key []byte) (*HMAC, error) {
	f, err := hashOf(h, key)
	if err != nil {
		return nil, err
	}
	switch {
	case useFIPS:
		return around(f, newUnderFIPS(f, key)), nil
	case f.Initial512 != nil:
		return newOwner(f, f.Initial512, key), nil
	default:
		return newOwner(f, f.Initial256, key), nil
	}
}

const deadHMAC = "fastmac: use of an HMAC that was destroyed or never set up, or whose key was"

// mustLive panics if there is no key, or another one since the stream began.
func (m *HMAC) mustLive() {
	if m.key == nil || !m.life.IsOf(m.key) {
		panic(deadHMAC)
	}
}

// Write adds p to the message. It never fails and does not retain p.
func (m *HMAC) Write(p []byte) (int, error) {
	m.mustLive()
	switch {
	case m.std != nil && useFIPS:
		return writeFIPS(m.std, p)
	case m.std != nil:
		return m.std.Write(p)
	case m.form.wide():
		messageOf[uint64](m).write(p)
	default:
		messageOf[uint32](m).write(p)
	}
	return len(p), nil
}

// WriteString is Write of the bytes of s, without a copy.
func (m *HMAC) WriteString(s string) (int, error) { return m.Write(bytesOf(s)) }

// Sum appends the tag of the message written so far, Size() bytes, to b and returns the extended
// slice. The stream does not change.
func (m *HMAC) Sum(b []byte) []byte {
	m.mustLive()
	b, tag := grow(b, m.form.size())
	switch std := m.std; {
	case std != nil && m.form.isSHA1():
		std.Sum(tag[:0:len(tag)]) // that of package sha1 does not panic while it is wiped
	case std != nil:
		appendFIPS(std, tag)
	case m.form.wide():
		messageOf[uint64](m).sum(tag)
	default:
		messageOf[uint32](m).sum(tag)
	}
	if !m.life.IsStillOf(m.key) {
		panic(clearTag(tag, deadHMAC))
	}
	return b
}

// Verify reports whether tag is the tag of the message written so far. It returns false if the tag
// is not Size() bytes long, so it refuses truncated tags. The stream does not change. The comparison
// is constant time.
func (m *HMAC) Verify(tag []byte) bool {
	m.mustLive()
	var b sha2.Tag
	want := b[:m.form.size()]
	switch std := m.std; {
	case std != nil:
		tagFIPS(std, want)
	case m.form.wide():
		messageOf[uint64](m).sum(want)
	default:
		messageOf[uint32](m).sum(want)
	}
	right := sha2.EqualTags(tag, want)
	if !m.life.IsStillOf(m.key) {
		panic(deadHMAC)
	}
	return right
}

// Reset returns the stream to its initial state: an empty message. It overwrites what the stream
// holds of the message and its hash, except where crypto/hmac computes: in FIPS 140 mode, and where
// package hmac says.
func (m *HMAC) Reset() {
	m.mustLive()
	switch {
	case m.std != nil && useFIPS:
		resetFIPS(m.std)
	case m.std != nil:
		m.std.Reset()
	case m.form.wide():
		messageOf[uint64](m).reset()
	default:
		messageOf[uint32](m).reset()
	}
}

// Size returns the size of a tag in bytes: 28, 32, 48 or 64, and 20 with SHA-1, which package hmac has.
func (m *HMAC) Size() int {
	m.mustLive()
	return m.form.size()
}

// BlockSize returns the size of a block of the hash in bytes: 64 for SHA-1, SHA-224 and SHA-256, and 128
// for the others.
func (m *HMAC) BlockSize() int {
	m.mustLive()
	if m.form.wide() {
		return sha2.BlockSize512
	}
	return sha2.BlockSize256
}

// Clone returns a copy of the stream, an *HMAC, which shares the key. Destroy of a clone does not
// overwrite the key; Destroy of the stream that [NewHMAC] returned does. The error is nil, except in
// FIPS 140 mode in a program built with GOFIPS140=v1.0.0, whose crypto/hmac cannot be cloned: then
// it wraps [errors.ErrUnsupported].
func (m *HMAC) Clone() (hash.Cloner, error) {
	if m.key == nil || m.std == nil && m.message == nil {
		panic(deadHMAC)
	}
	id := m.life.ID() // whether the key lives is seen afterwards
	var c *HMAC
	switch {
	case m.std != nil:
		h, err := cloneFIPS(m.std)
		if err != nil {
			return nil, err
		}
		c = new(HMAC)
		c.begin(m.form, id, m.key, nil)
		c.std = h
	case m.form.wide():
		c = cloneStream[uint64](m, id)
	default:
		c = cloneStream[uint32](m, id)
	}
	if !m.life.IsStillOf(m.key) {
		c.Destroy()
		panic(deadHMAC)
	}
	return c, nil
}

func cloneStream[W sha2.Word](m *HMAC, id lifetime.ID) *HMAC {
	c := newStream(messageOf[W](m).key, m.form, id, m.key)
	*messageOf[W](c) = *messageOf[W](m)
	return c
}

// Destroy overwrites the stream with zeros, except for which hash it has and where its key is, and also its
// key if [NewHMAC] or package hmac returned the stream. Any later use panics; a second Destroy does nothing.
func (m *HMAC) Destroy() {
	if m.key == nil {
		return // was never set up
	}
	m.life.EndStream()
	if m.ownsKey {
		m.key.End()
	}
	switch {
	case m.std != nil && m.ownsKey:
		wipe.Value(m.std)
	case m.std != nil:
		wipe.Clone(m.std)
	case m.message == nil: // for the second time
	case m.form.wide():
		messageOf[uint64](m).destroy(m.ownsKey)
	default:
		messageOf[uint32](m).destroy(m.ownsKey)
	}
	m.hmacName, m.std = hmacName{}, nil // what it is, and where its key is, stays for calls that run
}

// What a key and a stream print as: see package opaque.
type (
	hmacKeyName = opaque.Name[hmacKeyText]
	hmacName    = opaque.Name[hmacText]

	hmacKeyText uint8 // a crypto.Hash, or 0
	hmacText    uint8
)

func (t hmacKeyText) String() string { return "fastmac.HMACKey" + hashName(uint8(t)) }
func (t hmacText) String() string    { return "fastmac.HMAC" + hashName(uint8(t)) }

// hashName returns the name of a hash in parentheses, and nothing if there is none.
func hashName(h uint8) string {
	if h == 0 {
		return ""
	}
	return "(" + crypto.Hash(h).String() + ")"
}
