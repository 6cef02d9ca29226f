// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package packet

import (
	"crypto"
	"crypto/rand"
	"crypto/sha512"
	"sync"
	"sync/atomic"
	"unsafe"

	"example.com/fastmac"
	"example.com/fastmac/internal/fork"
	"example.com/fastmac/internal/opaque"
)

// Sizes in bytes. An answer is as long as a hello, so nobody can use the server to multiply traffic.
const (
	HelloSize   = helloHeadSize + helloTagSize              // of a hello, and of its answer
	OpeningSize = helloRandomSize + numberSize + maxTagSize // at most, of what follows the first packets of a client
)

const (
	helloRandomSize = 16
	helloHeadSize   = 1 + helloRandomSize // 0 or the epoch, random bytes
	helloTagSize    = 16                  // of the 64 of HMAC-SHA-512. A Secret may have no more
	helloKeySize    = 32
	lastEpoch       = 255 // of sessions, which begin with 1: packets with an opening end with an epoch of 0
)

var draw = rand.Read // tests have another one

// UMACClient is the client's end of one session with UMAC: a sender and a receiver, and the hello with which the
// session begins. Send Hello, again if there is no answer, until Answer returns true. Then Seal and Open packets.
// After a restart, or if nothing comes back in the session, begin anew with another client.
//
// It is safe for concurrent use. Do not copy it. It prints as its name. All methods except Destroy, String and Format
// panic if it was never set up or has been destroyed. [UMACServer] says what is promised.
type UMACClient struct {
	_ opaque.NoCopy
	_ opaque.Incomparable
	client
	umacClientName
}

// GMACClient is [UMACClient] with GMAC.
type GMACClient struct {
	_ opaque.NoCopy
	_ opaque.Incomparable
	client
	gmacClientName
}

// UMACServer is the server's end of the sessions with one client, which has a Secret of its own. Answer what Answer
// takes, and give the rest to Open. Old and invented hellos, openings and packets change nothing.
//
// It is safe for concurrent use. Do not copy it: a copy, and a child after a fork, begin no session. It prints as its
// name. All methods except Destroy, String and Format panic if it was never set up or has been destroyed.
//
// # What is promised
//
// The attacker has all hellos, answers and packets of the past, and sends what it likes. It does not know the Secret.
//
//   - No counter is used twice under one key. The key of a session depends on the random bytes of both ends. A client
//     draws its own for each hello, and takes one answer. A server seals only in a session that a packet of the
//     client has opened, and opens one for its random bytes.
//   - No packet is accepted twice, even after restarts: a session needs the random bytes that the server has at that
//     time. It forgets them when a session opens, and draws others for the next hello.
//   - A client takes only an answer to its own hello: the tag covers both. Hellos, answers, openings and packets have
//     different keys, which depend on the order of the names, so none can be sent back to where it came from.
//   - Old hellos change nothing. The random bytes of the server stay until a session has opened. So a session for
//     which a client has an answer is not lost if others begin before it opens, and the one of them whose packet
//     comes first opens. Their keys differ.
//   - An invented opening is refused before anything else is computed, and counts only in Stats.
//   - After Close nothing is accepted that was sent before.
//   - The epoch is for order only. When it comes to 1 again after 255 sessions, the keys are different.
//
// To refuse a hello or an opening costs an HMAC-SHA-512 of a short message, and to answer a hello two. Who holds a
// right opening back can send wrong packets with it: the first of them costs the set-up of a receiver, which counts
// its own wrong tags. Who holds two back, and takes them in turn, has each packet cost that, and begin a new count.
//
// It is not promised that a session is recent: an attacker can hold an opening back, and deliver it as long as no
// other session has opened. Anybody can send an old hello from another address, so take the address of a client from
// packets that Open has accepted. Two programs with one Secret and one name close each other's sessions. Nothing
// notices that a snapshot of a virtual machine is restored: if a session was open, or a hello was answered, counters
// can repeat.
type UMACServer struct {
	_ opaque.NoCopy
	_ opaque.Incomparable
	server
	umacServerName
}

// GMACServer is [UMACServer] with GMAC.
type GMACServer struct {
	_ opaque.NoCopy
	_ opaque.Incomparable
	server
	gmacServerName
}

// NewUMACClient returns a client with new random bytes. me is its name, and peer that of the server: 1 to 255 bytes
// each, not equal. Sender and Receiver of c must be empty. Its Epoch and Ahead are not used. Secret may be the one
// for other packets too. The other errors are those of [UMACSender.Init] and [UMACReceiver.Init].
func NewUMACClient(c Config, me, peer string) (*UMACClient, error) {
	k := new(UMACClient)
	return unless(k.init(&c, c.umacAlgorithm(), umacHalves, me, peer), k)
}

// NewGMACClient is like [NewUMACClient].
func NewGMACClient(c Config, me, peer string) (*GMACClient, error) {
	k := new(GMACClient)
	return unless(k.init(&c, gmac, gmacHalves, me, peer), k)
}

// NewUMACServer returns the server's end of the sessions with one client. me is the name of the server, and peer that
// of the client. The errors are those of [NewUMACClient].
func NewUMACServer(c Config, me, peer string) (*UMACServer, error) {
	s := new(UMACServer)
	return unless(s.init(&c, c.umacAlgorithm(), umacHalves, me, peer), s)
}

// NewGMACServer is like [NewUMACServer].
func NewGMACServer(c Config, me, peer string) (*GMACServer, error) {
	s := new(GMACServer)
	return unless(s.init(&c, gmac, gmacHalves, me, peer), s)
}

// unless returns v, unless there is an error.
func unless[V any](err error, v *V) (*V, error) {
	if err != nil {
		return nil, err
	}
	return v, nil
}

// Sender returns the sender of the session, for batches and Stats. Its packets have no opening, so use it once Open
// has accepted a packet. Before the answer its methods panic. Do not call its Init or Destroy.
func (k *UMACClient) Sender() *UMACSender { return senderIn[*UMACSender](k.live()) }

// Receiver returns the receiver of the session, as Sender does.
func (k *UMACClient) Receiver() *UMACReceiver { return receiverIn[*UMACReceiver](k.live()) }

// Sender is like [UMACClient.Sender].
func (k *GMACClient) Sender() *GMACSender { return senderIn[*GMACSender](k.live()) }

// Receiver is like [UMACClient.Receiver].
func (k *GMACClient) Receiver() *GMACReceiver { return receiverIn[*GMACReceiver](k.live()) }

// Sender returns the sender of the open session, for batches and Stats, or nil. When another session opens that has
// another sender. Do not call its Init or Destroy.
func (s *UMACServer) Sender() *UMACSender { return senderIn[*UMACSender](s.open()) }

// Receiver returns the receiver of the open session, as Sender does. Packets with an opening are for Open: from them
// the receiver returns [ErrEpoch].
func (s *UMACServer) Receiver() *UMACReceiver { return receiverIn[*UMACReceiver](s.open()) }

// Sender is like [UMACServer.Sender].
func (s *GMACServer) Sender() *GMACSender { return senderIn[*GMACSender](s.open()) }

// Receiver is like [UMACServer.Receiver].
func (s *GMACServer) Receiver() *GMACReceiver { return receiverIn[*GMACReceiver](s.open()) }

// senderIn returns the sender of a session, or nil if there is no session.
func senderIn[P sealer](s *session) (p P) {
	if s != nil {
		p = s.sender.(P)
	}
	return p
}

// receiverIn is senderIn for the receiver.
func receiverIn[P opener](s *session) (p P) {
	if s != nil {
		p = s.receiver.(P)
	}
	return p
}

// A handshake is what both ends have for hellos.
type handshake struct {
	process atomic.Uint64 // what here returns where it may be used; 0 if there are no keys
	mu      sync.Mutex    // of the keys and of what the ends have
	keys    helloKeys
	config  Config // of what this end sends, without a Secret
}

// helloKeys are those of hellos, answers and openings, and the Secret of packets: the output of HKDF.
type helloKeys [4 * helloKeySize]byte

func (k *helloKeys) hello() []byte   { return k[:helloKeySize] }
func (k *helloKeys) answer() []byte  { return k[helloKeySize : 2*helloKeySize] }
func (k *helloKeys) opening() []byte { return k[2*helloKeySize : 3*helloKeySize] }
func (k *helloKeys) packets() []byte { return k[3*helloKeySize:] }

// initKeys sets up the keys.
func (h *handshake) initKeys(c *Config, algorithm byte, me, peer, client, server string) error {
	send, receive, err := c.pair(me, peer)
	if err == nil {
		err = send.check(algorithm, &Counters{kind: kindSecret}, sending)
	}
	if err == nil {
		err = receive.checkWindow()
	}
	if err == nil && algorithm == gmac {
		err = fastmac.RequireGCM()
	}
	if err != nil {
		return err
	}
	h.keys.derive(c.Secret, client, server)
	h.config = send
	h.config.Secret = nil
	h.process.Store(h.here())
	return nil
}

// here is the process for which h is set up. A copy of h is at another address, and so is for none.
func (h *handshake) here() fork.Process {
	return fork.Current() + fork.Process(uintptr(unsafe.Pointer(h)))
}

// lock locks the mutex. It panics if there are no keys. In a child and for a copy it returns ErrCopied instead,
// because there the mutex may be locked for ever.
func (h *handshake) lock() error {
	if process := h.process.Load(); process != 0 && process != h.here() {
		return ErrCopied
	}
	if h.mu.Lock(); h.process.Load() == 0 {
		h.mu.Unlock()
		panic(dead("client or server"))
	}
	return nil
}

// copied reports whether this is a child, which may have what the parent has computed, or a copy.
func (h *handshake) copied() bool { return h.process.Load() != h.here() }

// destroy calls rest, and overwrites h, when nobody holds the mutex.
func (h *handshake) destroy(rest func()) {
	switch h.process.Load() {
	case 0:
		return
	case h.here(): // or the mutex may be locked for ever
		h.mu.Lock()
		defer h.mu.Unlock()
	}
	h.process.Store(0)
	rest() // first: what uses the configuration meanwhile then finds no key
	h.keys, h.config = helloKeys{}, Config{}
}

// heads are those of a hello and its answer: they make a session.
type heads [2 * helloHeadSize]byte

func headsOf(hello, answer []byte) (h heads) {
	copy(h[:helloHeadSize], hello)
	copy(h[helloHeadSize:], answer)
	return h
}

// configs returns what the sender and the receiver of a session need.
func (h *handshake) configs(session *heads) (send, receive Config, n Counters) {
	send = h.config
	send.Secret, send.Epoch = h.keys.packets(), session[helloHeadSize]
	receive = send
	receive.Sender, receive.Receiver = send.Receiver, send.Sender
	return send, receive, Counters{kind: kindSession, session: session[:], end: maxRange} // as NewSession, without its copy
}

// openingSize returns the size of an opening: random bytes, and then a trailer.
func (h *handshake) openingSize() int { return helloRandomSize + numberSize + h.config.TagSize }

// opening returns that of a session, which may be shorter. It looks like the end of a packet with the number 0, whose
// epoch no packet of a session has.
func (h *handshake) opening(session *heads) (opening [OpeningSize]byte) {
	copy(opening[:helloRandomSize], session[1:])
	tag := helloTag(h.keys.opening(), session[:])
	copy(opening[helloRandomSize+numberSize:h.openingSize()], tag[:])
	return opening
}

// derive sets k: HKDF-SHA-512 without a salt, RFC 5869. Other packets have another label, so none of their keys is
// equal to these. The hash is the one that packets need anyway.
func (k *helloKeys) derive(secret []byte, client, server string) {
	const label, block = "fastmac hello 3", sha512.Size
	var salt, prk [block]byte // zeros are no salt
	fastmac.SumHMAC(crypto.SHA512, prk[:0], salt[:], secret)
	var b [block + len(label) + 2*(1+maxNameSize) + 1]byte
	info := append(append(b[:block], label...), byte(len(client)))
	info = append(append(append(info, client...), byte(len(server))), server...)
	fastmac.SumHMAC(crypto.SHA512, k[:0], prk[:], append(info[block:], 1))
	copy(b[:], k[:block])
	fastmac.SumHMAC(crypto.SHA512, k[:block], prk[:], append(info, 2))
	clear(prk[:])
	clear(b[:])
}

func helloTag(key, msg []byte) (tag [helloTagSize]byte) {
	var sum [sha512.Size]byte
	fastmac.SumHMAC(crypto.SHA512, sum[:0], key, msg)
	copy(tag[:], sum[:])
	clear(sum[:]) // more than the tag
	return tag
}
