// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package packet

import (
	"crypto"
	"crypto/rand"
	"crypto/sha512"
	"crypto/subtle"
	"errors"
	"fmt"
	"sync"

	"example.com/fastmac"
	"example.com/fastmac/internal/fork"
	"example.com/fastmac/internal/lifetime"
	"example.com/fastmac/internal/opaque"
	"example.com/fastmac/internal/wipe"
)

// Sizes in bytes of the messages with which a session begins. An answer is as long as a hello, so
// nobody can use the server to multiply traffic.
const (
	HelloSize   = helloHeadSize + helloTagSize // of a hello, and of its answer
	OpeningSize = 2 * helloRandomSize          // of what packets begin with until the client hears from the server
)

const (
	helloRandomSize = 16
	helloHeadSize   = 1 + helloRandomSize // 0 or the epoch, random bytes
	helloTagSize    = 16                  // of the 64 of HMAC-SHA-512. A Secret may have no more
	helloKeySize    = 32
)

// HelloSession is one session: 16 random bytes of each end, and the epoch, which the server chose.
// It is not secret. Make at most one sender and one receiver of it at each end: a second sender
// would repeat counters. The zero value is no session: with its Counters the constructors return an
// error.
type HelloSession struct {
	random  [OpeningSize]byte // the client's, then the server's
	process fork.Process      // the one that may use it
	epoch   uint8
}

// With returns what the constructors of senders and receivers need: c with the epoch of the
// session, and its Counters, which refer to s. So NewUMACReceiver(s.With(c)) returns a receiver. In
// a child after a fork the constructors return an error with these Counters.
func (s *HelloSession) With(c Config) (Config, Counters) {
	if s.process != fork.Current() {
		return c, Counters{}
	}
	c.Epoch = s.epoch
	return c, Counters{kind: kindSession, session: s.random[:], end: maxRange} // as NewSession, without its copy
}

// Opening appends the random bytes of the session, OpeningSize bytes, to dst and returns the
// extended slice. Each message of the client begins with them until a packet of the server in this
// session is accepted. From them the server knows which session the packet opens.
func (s *HelloSession) Opening(dst []byte) []byte { return append(dst, s.random[:]...) }

// HelloClient begins one session with a server: it makes a hello, and takes one answer. If there is
// no answer, send the same hello again. After a restart, or if no packet of the server comes in the
// session, begin anew with another HelloClient.
//
// It is safe for concurrent use, except for Destroy. It prints as its name. All methods except
// Destroy, String and Format panic if it was never set up or has been destroyed. [HelloServer] says
// what is promised.
type HelloClient struct {
	_ opaque.NoCopy
	_ opaque.Incomparable
	helloClientName

	mu      sync.Mutex
	key     [helloKeySize]byte // for the answer
	hello   [HelloSize]byte
	process fork.Process
	done    bool // there was an answer, and there is no key
	life    lifetime.Lifetime
}

type (
	helloClientName = opaque.Name[helloClientText]
	helloClientText struct{}
)

func (helloClientText) String() string { return "packet.HelloClient" }

// NewHelloClient returns a client with new random bytes. me is its name, and peer that of the
// server: 1 to 255 bytes each, not equal, or NewHelloClient returns an error. It uses only the
// Secret of c, which may be the one for packets too, and does not retain it. It returns an error if
// the Secret is shorter than 16 bytes.
func NewHelloClient(c Config, me, peer string) (*HelloClient, error) {
	if err := c.checkHello(me, peer); err != nil {
		return nil, err
	}
	h := &HelloClient{process: fork.Current()}
	rand.Read(h.hello[1:helloHeadSize])
	wipe.ReserveStack()
	var k helloKeys
	c.deriveHello(&k, me, peer)
	tag := tagHello(&k.hello, &h.hello)
	copy(h.hello[helloHeadSize:], tag[:])
	copy(h.key[:], k.answer[:])
	k.clear()
	wipe.Stack()
	h.life.Begin()
	return h, nil
}

// Hello appends the hello, HelloSize bytes, to dst and returns the extended slice. It is the same
// each time.
func (h *HelloClient) Hello(dst []byte) []byte {
	id := h.mustLive()
	hello := h.hello
	h.mustBe(id)
	return append(dst, hello[:]...)
}

// Session returns the session of an answer. ok is false if it is not an answer of the server to
// this hello, in a child after a fork, and after a call that returned true: a second answer could
// begin the same session again. It does not allocate. The comparison is constant time.
func (h *HelloClient) Session(answer []byte) (s HelloSession, ok bool) {
	id := h.mustLive()
	if len(answer) != HelloSize {
		return s, false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.done {
		return s, false
	}
	wipe.ReserveStack()
	want := tagAnswer(&h.key, &h.hello, (*[HelloSize]byte)(answer))
	wipe.Stack()
	right := subtle.ConstantTimeCompare(answer[helloHeadSize:], want[:]) == 1
	random, process := [helloRandomSize]byte(h.hello[1:]), h.process
	current := fork.Current()
	h.mustBe(id) // or the key may be zeros, with which anybody can answer
	if !right || process != current {
		return s, false
	}
	h.key, h.done = [helloKeySize]byte{}, true
	copy(s.random[:], random[:])
	copy(s.random[helloRandomSize:], answer[1:helloHeadSize])
	s.epoch, s.process = answer[0], process
	return s, true
}

// mustLive returns the ID of the client. It panics if there is no hello.
func (h *HelloClient) mustLive() lifetime.ID {
	id := h.life.ID()
	if id.None() {
		panic(dead("HelloClient"))
	}
	return id
}

// mustBe panics if the client was destroyed meanwhile.
func (h *HelloClient) mustBe(id lifetime.ID) {
	if !h.life.Is(id) {
		panic(dead("HelloClient"))
	}
}

// Destroy overwrites the client and its key with zeros. Any later use panics; a second Destroy does
// nothing. A call that uses the client meanwhile panics too. After an answer there is no key to
// overwrite.
func (h *HelloClient) Destroy() {
	h.life.End()
	h.key, h.hello, h.process, h.done = [helloKeySize]byte{}, [HelloSize]byte{}, 0, false
}

// HelloServer has what a server knows about the sessions of one client, in 64 bytes. The zero value
// is ready. It is safe for concurrent use. Do not copy it. In a child after a fork it begins
// nothing.
//
// For each client with a Secret of its own the server does this:
//
//   - It answers a hello with what Answer returns. That changes nothing, whoever sent the hello.
//   - A packet that begins with an opening may open a session. Begin returns the session. Make a
//     receiver for it, and open the packet, with its opening, as part of the message. If it is good,
//     call Opened. Only if that returns true, replace the old receiver by this one, and seal.
//
// # What is promised
//
// The attacker has all hellos, answers and packets of the past, and sends what it likes. It does
// not know the Secret.
//
//   - No counter is used twice under one key. The key of a session depends on the random bytes of
//     both ends. A client draws its own for each hello, and takes one answer. A server seals only
//     after Opened, which accepts one session for its random bytes and then draws others.
//   - No packet is accepted twice, even after restarts: a session needs the random bytes that the
//     server has at that time, and has had in no session before. So an old opening costs a
//     comparison, and a session that was open is never opened again.
//   - A client takes only an answer to its own hello: the tag covers both. Hellos and answers have
//     different keys, which depend on the order of the names, so neither can be sent back to where
//     it came from. Packets have other keys from the same Secret.
//   - Old hellos change nothing. The random bytes of the server stay until a session has opened. So
//     a session for which a client has an answer is not lost if others begin before it opens, and
//     the one of them whose packet comes first opens. Their keys differ.
//   - The epoch is for order only. When it comes to 0 again after 256 sessions, the keys are different.
//
// To refuse a hello with a wrong tag costs three times HMAC-SHA-512 of a short message, and to answer
// one four times. A wrong packet with an opening costs the set-up of a receiver, but only if the attacker
// has seen an answer since the last session opened; otherwise Begin refuses it at once. Wrong
// packets may each have another key, so no receiver counts them. Begin does, for as long as the
// server runs: at Config.MaxForged of them no session of this client opens any more, and the one
// that is open goes on.
//
// It is not promised that a session is recent: an attacker can hold an opening back, and deliver it
// as long as no other session has opened. Anybody can send an old hello from another address, so
// take the address of a client from packets that Open has accepted. Two programs with one Secret
// and one name close each other's sessions. Nothing notices that a snapshot of a virtual machine is
// restored: if that happens in the middle of a hello, counters can repeat.
type HelloServer struct {
	_ opaque.NoCopy
	_ opaque.Incomparable

	mu      sync.Mutex
	next    [helloRandomSize]byte // the server's part of the next session
	client  [helloRandomSize]byte // the client's part of the open session
	forged  uint64                // sessions that Begin returned and that have not opened
	process fork.Process          // 0: there is no next
	epoch   uint8                 // of the open session
	open    bool                  // there is one
}

// Answer appends the answer to a hello, HelloSize bytes, to dst and returns the extended slice. me
// is the name of the server, and peer that of the client. Answer uses the Secret of c, as
// [NewHelloClient] does, with the same errors.
//
// If the hello is not from this client, Answer returns dst unchanged and [ErrForged]. In a child
// after a fork it returns [ErrCopied]. Send nothing then. It allocates only if dst has no room. The
// comparison is constant time.
func (h *HelloServer) Answer(dst, hello []byte, c Config, me, peer string) ([]byte, error) {
	if err := c.checkHello(me, peer); err != nil {
		return dst, err
	}
	if len(hello) != HelloSize || hello[0] != 0 {
		return dst, ErrForged
	}
	wipe.ReserveStack()
	var k helloKeys
	c.deriveHello(&k, peer, me)
	var answer [HelloSize]byte
	err := h.answer(&answer, (*[HelloSize]byte)(hello), &k)
	k.clear()
	wipe.Stack()
	if err != nil {
		return dst, err
	}
	return append(dst, answer[:]...), nil
}

func (h *HelloServer) answer(answer, hello *[HelloSize]byte, k *helloKeys) error {
	if want := tagHello(&k.hello, hello); subtle.ConstantTimeCompare(hello[helloHeadSize:], want[:]) != 1 {
		return ErrForged
	}
	h.mu.Lock()
	if h.process == 0 {
		rand.Read(h.next[:])
		h.process = fork.Current()
	}
	answer[0] = h.epoch + 1
	copy(answer[1:], h.next[:])
	process := h.process
	h.mu.Unlock()
	tag := tagAnswer(&k.answer, hello, answer)
	copy(answer[helloHeadSize:], tag[:])
	if process != fork.Current() {
		return ErrCopied
	}
	return nil
}

// Begin returns the session that a packet opens if it is good. opening is what the packet begins
// with, OpeningSize bytes. If open is true there is nothing to begin, and s is the zero value: the
// receiver of the open session opens the packet. None of this is authenticated.
//
// Begin uses TagSize and MaxForged of c: each session that Begin returns counts as a wrong tag,
// unless Opened returns true for it. At MaxForged, 0 meaning what [Config] says, Begin returns
// [ErrWorn]. It returns [ErrEpoch] for a session other than the next one, such as a past one,
// [ErrForged] for what is not an opening, and [ErrCopied] in a child after a fork. It does not
// allocate.
func (h *HelloServer) Begin(opening []byte, c Config) (s HelloSession, open bool, err error) {
	if len(opening) != OpeningSize {
		return s, false, ErrForged
	}
	client, server := opening[:helloRandomSize], opening[helloRandomSize:]
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.process == 0: // nothing was answered
		return s, false, ErrEpoch
	case h.process != fork.Current():
		return s, false, ErrCopied
	case h.open && subtle.ConstantTimeCompare(client, h.client[:]) == 1:
		return s, true, nil
	case subtle.ConstantTimeCompare(server, h.next[:]) != 1:
		return s, false, ErrEpoch
	case subtle.ConstantTimeCompare(client, server) == 1, constant(client):
		return s, false, ErrForged // no client has these, and the constructors refuse them
	case h.forged >= c.forgedLimit():
		return s, false, ErrWorn
	}
	h.forged++
	copy(s.random[:], opening)
	s.epoch, s.process = h.epoch+1, h.process
	return s, false, nil
}

// Opened opens a session that Begin returned. Call it when a packet of the session is good. It
// returns false if another packet has opened one in the meantime: then drop the receiver, and give
// the packet to Begin again. It does not allocate.
func (h *HelloServer) Opened(s HelloSession) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.process == 0 || subtle.ConstantTimeCompare(s.random[helloRandomSize:], h.next[:]) != 1 {
		return false
	}
	copy(h.client[:], s.random[:])
	h.epoch, h.open = s.epoch, true
	if h.forged > 0 { // Begin has counted this session
		h.forged--
	}
	rand.Read(h.next[:])
	return h.process == fork.Current()
}

// checkHello returns an error if c and the names cannot have a hello.
func (c *Config) checkHello(me, peer string) error {
	if err := c.checkSecret(); err != nil {
		return err
	}
	switch {
	case len(me) < 1 || len(me) > maxNameSize || len(peer) < 1 || len(peer) > maxNameSize:
		return fmt.Errorf("packet: names of %d and %d bytes: want 1 to %d", len(me), len(peer), maxNameSize)
	case me == peer:
		return errors.New("packet: both ends have the same name, so their hellos could be reflected")
	}
	return nil
}

// helloKeys are the keys of hellos and of answers for a client and a server: the output of HKDF.
type helloKeys struct{ hello, answer [helloKeySize]byte }

func (k *helloKeys) clear() { *k = helloKeys{} }

// deriveHello sets k: HKDF-SHA-512 without a salt, RFC 5869. Packets have another label, so none of
// their keys is equal to these. The hash is the one that packets need anyway.
func (c *Config) deriveHello(k *helloKeys, client, server string) {
	wipe.ReserveStack()
	var salt, prk, okm [sha512.Size]byte // zeros are no salt
	fastmac.SumHMAC(crypto.SHA512, prk[:0], salt[:], c.Secret)

	const label = "fastmac hello 2"
	var b [len(label) + 2*(1+maxNameSize) + 1]byte
	info := append(b[:0], label...)
	info = append(append(info, byte(len(client))), client...)
	info = append(append(info, byte(len(server))), server...)
	fastmac.SumHMAC(crypto.SHA512, okm[:0], prk[:], append(info, 1))
	copy(k.hello[:], okm[:])
	copy(k.answer[:], okm[helloKeySize:])

	clear(prk[:])
	clear(okm[:])
	wipe.Stack()
}

// tagHello returns the tag of a hello.
func tagHello(key *[helloKeySize]byte, hello *[HelloSize]byte) [helloTagSize]byte {
	return helloTag(key, hello[:helloHeadSize])
}

// tagAnswer returns the tag of an answer: it says to which hello it is one.
func tagAnswer(key *[helloKeySize]byte, hello, answer *[HelloSize]byte) [helloTagSize]byte {
	var heads [2 * helloHeadSize]byte
	copy(heads[:], hello[:helloHeadSize])
	copy(heads[helloHeadSize:], answer[:helloHeadSize])
	return helloTag(key, heads[:])
}

func helloTag(key *[helloKeySize]byte, msg []byte) [helloTagSize]byte {
	var sum [sha512.Size]byte
	fastmac.SumHMAC(crypto.SHA512, sum[:0], key[:], msg)
	return [helloTagSize]byte(sum[:helloTagSize])
}
