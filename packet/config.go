// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package packet

import (
	"crypto"
	"crypto/sha512"
	"crypto/subtle"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"example.com/fastmac"
	"example.com/fastmac/internal/wipe"
)

// Sizes in bytes, and limits.
const (
	numberSize    = 8  // epoch and counter
	maxTagSize    = 16 // of UMAC-128 and GMAC
	maxDataSize   = 16 // at most the size of the shortest trailer, where the data is hashed
	minSecretSize = 16
	maxNameSize   = 255

	keySize  = 16 // AES-128
	saltSize = 4
	okmSize  = keySize + saltSize

	maxRange   = 1 << 48 // counters of a range
	maxEnd     = 1 << 56 // above all counters
	minWindow  = 1 << 10 // bits
	maxWindow  = 1 << 16
	maxForged  = 1 << 48 // the default for tags of 16 bytes
	maxForged8 = 1 << 32 // and for those of 8
)

// The algorithms, as the derivation of a key has them.
const (
	umac64  = 1
	umac128 = 2
	gmac    = 3
)

// A Config says who sends to whom, and how. The sender and the receiver of one direction have equal
// Configs, except for Window and MaxForged, which senders ignore, and the fields from Ahead on. The key is
// derived from all other fields. So senders whose Configs differ in one of them have different keys, and a receiver
// refuses everything from a sender with another Config.
//
// A Config prints as its name, and cannot be encoded or decoded, by encoding/json for example.
type Config struct {
	// Secret is at least 16 random bytes, which are not all equal; 32 are better. Do not use a
	// password. Secret is not retained: overwrite it after the call. The same Secret may serve many
	// names, sessions and algorithms, but only one of each with [SecretIsNew].
	Secret []byte

	// Sender is the name of the sender, 1 to 255 bytes. Receiver is the name of the receiver, at
	// most 255 bytes; it is empty if everybody who has the Secret receives. Two senders under one
	// Secret and session must differ in at least one of these names.
	Sender, Receiver string

	// Epoch is the number of the key. Each packet carries it. With [Stored], each epoch has stores of
	// its own.
	Epoch uint8

	// TagSize is the size of a tag in bytes: 8 or 16 for UMAC, and 16 for GMAC.
	TagSize int

	// DataSize is the size in bytes of the additional data of each packet, 0 to 16. This data is
	// authenticated and not sent. Put what is the same in all packets into Sender, where it costs
	// nothing.
	DataSize int

	// Window is the size of a receiver's window in bits, a power of two from 1024 to 65536; 0 means
	// 1024. A late packet is accepted if its counter is less than Window-63 below the highest
	// accepted one. Use at least the number of packets per second times the difference of delays in
	// seconds.
	Window int

	// MaxForged is the number of wrong tags after which a receiver stops for good; 0 means 2^32 for
	// tags of 8 bytes, and 2^48 for tags of 16. Anyone who can send it so many packets can stop it.
	// A receiver that is set up again counts from 0: with the same key, the probability of a
	// forgery then grows further.
	MaxForged uint64

	// Ahead is how many counters a sender with a [Store] reserves at a time, and a receiver at most; 0
	// means 2^32 for a sender and 2^20 for a receiver. All others ignore it. Leave it 0, or set 1 for a
	// receiver of few packets, of which none may be lost: each of them then waits for the Store.
	//
	// After a crash a sender skips up to 1.5 times as many, which is no loss. A receiver reserves as few
	// as its Store's speed allows, one at first, and later what arrives in the time of 16 writes of the
	// Store. After a crash it refuses what it had reserved: none if fewer than one packet arrived in that
	// time. After a burst these may be the packets of a long time.
	Ahead uint64

	// Near, if it is not nil, is told that the end is near, in a goroutine of its own: once with [ErrEnd]
	// when 2^44 counters are left, and of a receiver once with [ErrWorn] after half of MaxForged.
	Near func(end error)

	// MaxAge is how long after its constructor a sender or a receiver may be used; then Seal and Open
	// return [ErrExpired]. 0 means without end. Now is the clock for it, and for how long a Store takes;
	// nil means time.Now, whose clock may stand still while the system sleeps. With a MaxAge it is called
	// for each packet. It must not call the sender or receiver.
	MaxAge time.Duration
	Now    func() time.Time
}

// check returns an error if a sender cannot have c and n, or a receiver, whose window is checked
// elsewhere.
func (c *Config) check(algorithm byte, n *Counters, role byte) error {
	if err := c.checkSecret(); err != nil {
		return err
	}
	switch {
	case len(c.Sender) < 1 || len(c.Sender) > maxNameSize:
		return fmt.Errorf("packet: Sender of %d bytes: want 1 to %d", len(c.Sender), maxNameSize)
	case len(c.Receiver) > maxNameSize:
		return fmt.Errorf("packet: Receiver of %d bytes: want at most %d", len(c.Receiver), maxNameSize)
	case algorithm == 0:
		return fmt.Errorf("packet: UMAC with a TagSize of %d bytes: want 8 or 16", c.TagSize)
	case algorithm == gmac && c.TagSize != fastmac.GMACSize:
		return fmt.Errorf("packet: GMAC with a TagSize of %d bytes: want 16", c.TagSize)
	case c.DataSize < 0 || c.DataSize > maxDataSize:
		return fmt.Errorf("packet: DataSize of %d bytes: want 0 to %d", c.DataSize, maxDataSize)
	case c.Ahead > maxRange:
		return fmt.Errorf("packet: Ahead of %d counters: want at most 2^48", c.Ahead)
	case c.MaxAge < 0:
		return fmt.Errorf("packet: MaxAge of %v: want 0 or more", c.MaxAge)
	}
	return n.check(role)
}

// checkSecret returns an error if the Secret is none. It compares in constant time.
func (c *Config) checkSecret() error {
	if len(c.Secret) < minSecretSize {
		return fmt.Errorf("packet: Secret of %d bytes: want at least %d", len(c.Secret), minSecretSize)
	}
	if constant(c.Secret) {
		return errors.New("packet: all bytes of the Secret are equal: want random ones")
	}
	return nil
}

// constant reports whether all bytes are equal: then each is equal to the next one.
func constant(b []byte) bool { return subtle.ConstantTimeCompare(b[1:], b[:len(b)-1]) == 1 }

// checkWindow returns an error if a receiver cannot have the window of c.
func (c *Config) checkWindow() error {
	if w := c.Window; w != 0 && (w < minWindow || w > maxWindow || w&(w-1) != 0) {
		return fmt.Errorf("packet: Window of %d bits: want a power of two from %d to %d", w, minWindow, maxWindow)
	}
	return nil
}

// forgedLimit returns the number of wrong tags after which a receiver stops.
func (c *Config) forgedLimit() uint64 {
	switch {
	case c.MaxForged != 0:
		return c.MaxForged
	case c.TagSize == maxTagSize:
		return maxForged
	}
	return maxForged8
}

// umacAlgorithm returns the algorithm for the tag size, or 0.
func (c *Config) umacAlgorithm() byte {
	switch c.TagSize {
	case fastmac.UMAC64Size:
		return umac64
	case fastmac.UMAC128Size:
		return umac128
	}
	return 0
}

// pair returns the configurations of the two directions of one end.
func (c *Config) pair(me, peer string) (send, receive Config, err error) {
	if c.Sender != "" || c.Receiver != "" {
		return send, receive, errors.New("packet: the names of a pair are me and peer: leave Sender and Receiver empty")
	}
	if peer == "" {
		return send, receive, errors.New("packet: the peer of a pair has no name")
	}
	if me == peer {
		return send, receive, errors.New("packet: both ends have the same name, so their packets could be reflected")
	}
	send, receive = *c, *c
	send.Sender, send.Receiver = me, peer
	receive.Sender, receive.Receiver = peer, me
	return send, receive, nil
}

// newPair is NewUMACPair or NewGMACPair, which differ in the functions.
func newPair[S interface{ Destroy() }, R any](c Config, me, peer string, n Counters, newSender func(Config, Counters) (S, error), newReceiver func(Config, Counters) (R, error)) (s S, r R, err error) {
	send, receive, err := c.pair(me, peer)
	if err != nil {
		return s, r, err
	}
	// The sender comes first: if the receiver fails, a Store has skipped counters of the sender, and
	// none that packets arrive with.
	sender, err := newSender(send, n)
	if err != nil {
		return s, r, err
	}
	receiver, err := newReceiver(receive, n)
	if err != nil {
		sender.Destroy()
		n.giveBack(sending)
		return s, r, err
	}
	return sender, receiver, nil
}

// Labels of what is derived from a Secret.
const (
	keyLabel   = "fastmac packet 2"
	storeLabel = "fastmac packet 2 store"
)

// An info has room for what a key is derived from, and the number of the block of HKDF.
type info [len(storeLabel) + 1 + 4 + 2*(1+maxNameSize) + 8 + 1]byte

// appendInfo appends all that makes a key, except the Secret and the bytes of the session.
func (c *Config) appendInfo(b []byte, algorithm byte, n *Counters) []byte {
	b = append(b, n.kind, algorithm, c.Epoch, byte(c.DataSize))
	b = append(append(b, byte(len(c.Sender))), c.Sender...)
	b = append(append(b, byte(len(c.Receiver))), c.Receiver...)
	// As the salt, sessions with different numbers of zeros at the end are equal, and long ones
	// are equal to their hashes.
	return binary.BigEndian.AppendUint64(b, uint64(len(n.session)))
}

// derive sets okm to the key and the salt of the sender: HKDF-SHA-512, RFC 5869.
func (c *Config) derive(okm *[okmSize]byte, algorithm byte, n *Counters) {
	wipe.ReserveStack() // also for the caller, which sets up a key from okm
	// HMAC pads the key with zeros, so this is the same key. It is long enough for FIPS 140 mode.
	var salt [sha512.Size]byte
	session := n.session
	if len(session) < len(salt) {
		copy(salt[:], session)
		session = salt[:]
	}
	var prk, out [sha512.Size]byte
	fastmac.SumHMAC(crypto.SHA512, prk[:0], session, c.Secret)

	var b info
	msg := c.appendInfo(append(b[:0], keyLabel...), algorithm, n)
	fastmac.SumHMAC(crypto.SHA512, out[:0], prk[:], append(msg, 1)) // the first block of HKDF-Expand
	copy(okm[:], out[:])
	clear(prk[:])
	clear(out[:])
}

// storeID returns what a Store is told: it is public, and another one for each key and role.
func (c *Config) storeID(algorithm byte, n *Counters, role byte) (id [16]byte) {
	var b info
	msg := c.appendInfo(append(append(b[:0], storeLabel...), role), algorithm, n)
	var out [sha512.Size]byte
	copy(id[:], fastmac.SumHMAC(crypto.SHA512, out[:0], c.Secret, msg))
	clear(out[:])
	return id
}

// form is what senders and receivers know of a packet.
type form struct{ tagSize, dataSize, epoch uint8 }

func (c *Config) form() form { return form{uint8(c.TagSize), uint8(c.DataSize), c.Epoch} }

func (f *form) overhead() int { return numberSize + int(f.tagSize) }

// number returns the number of a packet.
func (f *form) number(counter uint64) uint64 { return uint64(f.epoch)<<56 | counter }

// A nonce is that of GMAC. That of UMAC is the number, which is behind the salt.
type nonce [saltSize + numberSize]byte

// set sets the two parts as the kernels of GMAC load them.
func (b *nonce) set(salt uint32, number uint64) {
	binary.BigEndian.PutUint32(b[:], salt)
	binary.BigEndian.PutUint64(b[saltSize:], number)
}

// An alignedNonce has an aligned number, which the CPU forwards faster from the store to the load: without
// it, GMAC takes 5 % longer to seal and open 64 bytes. In batches, where loads come later, it gains nothing.
type alignedNonce struct {
	_ [0]uint64
	_ [numberSize - saltSize]byte
	nonce
}

// counterOf returns the counter in a number.
func counterOf(number uint64) uint64 { return number % maxEnd }

// parse returns the number in a packet, or ErrForged if it is too short, or ErrEpoch.
func (f *form) parse(packet []byte) (uint64, error) {
	n := len(packet) - f.overhead()
	if n < 0 {
		return 0, ErrForged
	}
	number := binary.BigEndian.Uint64(packet[n:])
	if uint8(number>>56) != f.epoch {
		return 0, ErrEpoch
	}
	return number, nil
}

// room appends the bytes of a trailer to a message, for the sender to set.
func (f *form) room(msg []byte) []byte {
	n := len(msg) + f.overhead()
	if n <= cap(msg) {
		return msg[:n]
	}
	return slices.Grow(msg, f.overhead())[:n]
}

// dead is the text of a panic: who has no key. It is here and not in a function that panics, because
// behind a call that does not return the compiler would load all variables again.
//
//go:noinline
func dead(who string) any {
	return "packet: use of a " + who + " that was destroyed or never set up"
}

// mustData panics unless data has the size of c.DataSize.
func (f *form) mustData(data []byte) {
	if len(data) != int(f.dataSize) {
		panic(wrongData(len(data), int(f.dataSize)))
	}
}

// wrongData is the text of a panic.
//
//go:noinline
func wrongData(have, want int) any {
	return fmt.Sprintf("packet: data of %d bytes: want %d", have, want)
}

// mustAll is mustData for a batch.
func (f *form) mustAll(batch []Packet) {
	for i := range batch {
		f.mustDataOf(i, &batch[i])
	}
}

// mustDataOf is mustData for packet i of a batch.
func (f *form) mustDataOf(i int, p *Packet) {
	if len(p.Data) != int(f.dataSize) {
		panic(wrongDataOf(i, len(p.Data), int(f.dataSize)))
	}
}

// wrongDataOf is the text of a panic.
//
//go:noinline
func wrongDataOf(i, have, want int) any {
	return fmt.Sprintf("packet: batch: packet %d: data of %d bytes: want %d", i, have, want)
}

// mustHaveNoData panics if packets have additional data, for which Trailer has no room.
func (f *form) mustHaveNoData() {
	if f.dataSize != 0 {
		panic(fmt.Sprintf("packet: Trailer with a DataSize of %d bytes: want 0", f.dataSize))
	}
}

// Epoch returns the epoch that a packet carries. tagSize is the size of its tag in bytes; Epoch
// panics if it is not 8 or 16. ok is false if the packet is too short to have an epoch. The epoch
// is not authenticated: use it only to choose the receiver.
func Epoch(packet []byte, tagSize int) (epoch uint8, ok bool) {
	if tagSize != fastmac.UMAC64Size && tagSize != maxTagSize {
		panic(fmt.Sprintf("packet: Epoch with a tag of %d bytes: want 8 or 16", tagSize))
	}
	n := len(packet) - numberSize - tagSize
	if n < 0 {
		return 0, false
	}
	return packet[n], true
}
