// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package packet

import (
	"crypto/subtle"
	"runtime"
	"sync/atomic"
)

// A half is a sender or a receiver.
type half interface {
	Init(c Config, n Counters) error
	Stop() error
	Destroy()
}

type sealer interface {
	half
	Seal(packet, data []byte) ([]byte, error)
}

type opener interface {
	half
	Open(packet, data []byte) (msg []byte, counter uint64, err error)
}

// A session is what an end has of one.
type session struct {
	sender   sealer
	receiver opener
	heads    heads
	opening  [OpeningSize]byte // or less: see openingSize
}

// A maker returns a sender and a receiver without keys, each in memory of its own, for the cache lines of keys.
type maker func() (sealer, opener)

func umacHalves() (sealer, opener) { return new(UMACSender), new(UMACReceiver) }
func gmacHalves() (sealer, opener) { return new(GMACSender), new(GMACReceiver) }

// session returns one without keys. The runtime destroys the sender and the receiver in the end, because when
// another session is open, goroutines may still use this one.
func (m maker) session() *session {
	s := new(session)
	s.sender, s.receiver = m()
	runtime.SetFinalizer(s.sender, sealer.Destroy)
	runtime.SetFinalizer(s.receiver, opener.Destroy)
	return s
}

func (s *session) destroy() {
	s.sender.Destroy()
	s.receiver.Destroy()
}

// The states of a client.
const (
	noClient  = iota // never set up, or destroyed
	waiting          // for an answer
	answered         // no packet of the server has been accepted
	connected        // one has
)

// client is the body of UMACClient and GMACClient.
type client struct {
	state atomic.Uint32
	handshake
	hello [HelloSize]byte
	*session
}

func (k *client) init(c *Config, algorithm byte, m maker, me, peer string) error {
	if err := k.initKeys(c, algorithm, me, peer, me, peer); err != nil {
		return err
	}
	k.session = m.session()
	draw(k.hello[1:helloHeadSize])
	tag := helloTag(k.keys.hello(), k.hello[:helloHeadSize])
	copy(k.hello[helloHeadSize:], tag[:])
	k.state.Store(waiting)
	return nil
}

// Hello appends the hello, HelloSize bytes, to dst and returns the extended slice. It is the same each time. In a
// child after a fork it appends nothing.
func (k *client) Hello(dst []byte) []byte {
	if k.lock() != nil {
		return dst
	}
	defer k.mu.Unlock()
	return append(dst, k.hello[:]...)
}

// Answer takes what arrives, and reports whether it is the first answer of the server to the hello. Then the session
// has begun. For all that comes later, and in a child after a fork, it returns false: give that to Open. The
// comparison is constant time.
func (k *client) Answer(answer []byte) bool {
	if k.mustLive() != waiting || len(answer) != HelloSize || answer[0] == 0 || k.lock() != nil {
		return false
	}
	defer k.mu.Unlock()
	if k.state.Load() != waiting {
		return false
	}
	k.heads = headsOf(k.hello[:], answer)
	if tag := helloTag(k.keys.answer(), k.heads[:]); subtle.ConstantTimeCompare(answer[helloHeadSize:], tag[:]) != 1 {
		return false
	}
	k.session.opening = k.handshake.opening(&k.heads)
	send, receive, n := k.configs(&k.heads)
	if k.sender.Init(send, n) != nil || k.receiver.Init(receive, n) != nil || k.copied() {
		k.session.destroy()
		return false
	}
	k.keys = helloKeys{} // a second answer would begin the session again
	k.state.Store(answered)
	return true
}

// mustLive returns the state. It panics if there is no client.
func (k *client) mustLive() uint32 {
	state := k.state.Load()
	if state == noClient {
		panic(dead("client"))
	}
	return state
}

// Seal is that of the sender. Until the client has accepted a packet of the server, Seal appends an opening too,
// which needs OpeningSize more bytes of room at most. Before the answer it returns [ErrNoSession].
func (k *client) Seal(packet, data []byte) ([]byte, error) {
	state := k.mustLive()
	if state == waiting {
		return nil, ErrNoSession
	}
	opening := k.session.opening[:k.openingSize()]
	packet, err := k.sender.Seal(packet, data)
	if err == nil && state == answered {
		packet = append(packet, opening...)
	}
	return packet, err
}

// Open is that of the receiver. Before the answer it returns [ErrNoSession].
func (k *client) Open(packet, data []byte) (msg []byte, counter uint64, err error) {
	state := k.mustLive()
	if state == waiting {
		return nil, 0, ErrNoSession
	}
	if msg, counter, err = k.receiver.Open(packet, data); err == nil && state == answered {
		k.state.CompareAndSwap(answered, connected)
	}
	return msg, counter, err
}

// live returns the session. It panics if there is no client.
func (k *client) live() *session { k.mustLive(); return k.session }

// Destroy ends the session, and overwrites the client and its keys with zeros. Any later use panics; a second Destroy
// does nothing. A call that uses the client meanwhile panics too: see "Destroy while in use" of package fastmac.
func (k *client) Destroy() {
	k.handshake.destroy(func() {
		k.state.Store(noClient)
		k.session.destroy()
		k.hello = [HelloSize]byte{}
	})
}

// server is the body of UMACServer and GMACServer.
type server struct {
	current atomic.Pointer[session] // the open session, or nil
	handshake
	halves maker               // of the algorithm
	head   [helloHeadSize]byte // of answers: the epoch and the random bytes of the next session, or 0
	epoch  byte                // of the last session
	tried  *session            // that of the last right opening, which has not opened; it has no sender. Or nil
	stats  ServerStats
}

// ServerStats counts what a server has had. Its receiver counts the packets of the open session.
type ServerStats struct {
	Hellos        uint64 // that were answered
	WrongHellos   uint64 // with a wrong tag. A packet of HelloSize bytes that begins with 0 is one to Answer
	Openings      uint64 // with a right tag, of a session that was not open
	WrongOpenings uint64 // with a wrong tag, or of a session that cannot open any more
	Sessions      uint64 // that have opened. The other Openings were with a wrong packet
	Unknown       uint64 // packets for which there was no session
}

func (s *server) init(c *Config, algorithm byte, m maker, me, peer string) error {
	s.halves = m
	return s.initKeys(c, algorithm, me, peer, peer, me)
}

// Answer takes what arrives. If it is a hello of the client, Answer appends the answer, HelloSize bytes, to dst and
// returns the extended slice: send it. If not, it returns [ErrForged], and if it has another size than a hello that
// costs nothing: it is for Open. In a child after a fork Answer returns [ErrCopied]. It allocates only if dst has no
// room. The comparison is constant time.
func (s *server) Answer(dst, hello []byte) ([]byte, error) {
	if len(hello) != HelloSize || hello[0] != 0 {
		s.open()
		return nil, ErrForged
	}
	if err := s.lock(); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	if tag := helloTag(s.keys.hello(), hello[:helloHeadSize]); subtle.ConstantTimeCompare(hello[helloHeadSize:], tag[:]) != 1 {
		s.stats.WrongHellos++
		return nil, ErrForged
	}
	if s.head[0] == 0 {
		s.head[0] = s.epoch%lastEpoch + 1
		draw(s.head[1:])
	}
	heads := headsOf(hello, s.head[:])
	tag := helloTag(s.keys.answer(), heads[:])
	if s.copied() {
		return nil, ErrCopied
	}
	s.stats.Hellos++
	return append(append(dst, s.head[:]...), tag[:]...), nil
}

// open returns the open session, or nil. It panics if there is no server.
func (s *server) open() *session {
	p := s.current.Load()
	if p == nil && s.process.Load() == 0 {
		panic(dead("server"))
	}
	return p
}

// Open is that of the receiver of the open session. If the packet has an opening, it may open another session first:
// if both are right, and no other session has opened since the answer. Seal uses that session from then on, and
// packets of the session before are refused.
//
// Open returns [ErrNoSession] if no session is open, and [ErrForged] for a wrong opening, also one of a session that
// cannot open any more. It allocates when a session opens.
func (s *server) Open(packet, data []byte) (msg []byte, counter uint64, err error) {
	p, n := s.open(), len(packet)-numberSize-s.config.TagSize
	var opening []byte
	if n >= helloRandomSize && packet[n] == 0 {
		packet, opening = packet[:n-helloRandomSize], packet[n-helloRandomSize:]
	}
	if p.takes(opening) {
		return p.receiver.Open(packet, data)
	}
	form := s.config.form()
	form.mustData(data)
	if err := s.lock(); err != nil {
		return nil, 0, err
	}
	defer s.mu.Unlock()
	switch p = s.current.Load(); {
	case p.takes(opening): // meanwhile
		return p.receiver.Open(packet, data)
	case opening == nil:
		s.stats.Unknown++
		return nil, 0, ErrNoSession
	case !s.tried.takes(opening) && !s.try(opening):
		s.stats.WrongOpenings++
		return nil, 0, ErrForged
	}
	s.stats.Openings++
	next := s.tried
	if msg, counter, err = next.receiver.Open(packet, data); err != nil {
		return nil, counter, err
	}
	send, _, r := s.configs(&next.heads)
	if err := next.sender.Init(send, r); err != nil {
		return nil, 0, err
	}
	if s.copied() {
		return nil, 0, ErrCopied
	}
	s.stats.Sessions++
	s.epoch, s.head, s.tried = s.head[0], [helloHeadSize]byte{}, nil
	s.current.Store(next)
	if p != nil {
		p.receiver.Stop() // also for those who have a pointer to it. They may still seal
	}
	return msg, counter, nil
}

// takes reports whether packets with this opening, or without one, are for s.
func (s *session) takes(opening []byte) bool {
	return s != nil && (opening == nil || subtle.ConstantTimeCompare(opening, s.opening[:len(opening)]) == 1)
}

// try makes tried the session of an opening. It returns false if the opening is wrong.
func (s *server) try(opening []byte) bool {
	if s.head[0] == 0 { // nothing was answered
		return false
	}
	heads := headsOf(nil, s.head[:])
	copy(heads[1:helloHeadSize], opening)
	want := s.opening(&heads)
	if subtle.ConstantTimeCompare(opening, want[:len(opening)]) != 1 {
		return false
	}
	if s.tried == nil {
		s.tried = s.halves.session()
	}
	s.tried.heads, s.tried.opening = heads, want
	_, receive, n := s.configs(&s.tried.heads)
	if s.tried.receiver.Init(receive, n) != nil { // no client has these random bytes
		s.tried = nil
		return false
	}
	return true
}

// Seal is that of the sender of the open session. If there is none it returns [ErrNoSession].
func (s *server) Seal(packet, data []byte) ([]byte, error) {
	if p := s.open(); p != nil {
		return p.sender.Seal(packet, data)
	}
	return nil, ErrNoSession
}

// Close ends the open session, and forgets the random bytes of the next one: all packets that were sent before are
// refused, also those with which a session would open. The client begins anew with a hello.
func (s *server) Close() {
	if s.lock() == nil { // if not, this is a child, which opens no session
		defer s.mu.Unlock()
		s.forget()
	}
	if p := s.current.Swap(nil); p != nil {
		p.sender.Stop() // also for those who have a pointer to it
		p.receiver.Stop()
	}
}

// forget forgets the next session.
func (s *server) forget() {
	s.head = [helloHeadSize]byte{}
	if s.tried != nil {
		s.tried.destroy()
		s.tried = nil
	}
}

// Stats returns how much the server has had.
func (s *server) Stats() ServerStats {
	if s.lock() != nil {
		return ServerStats{}
	}
	defer s.mu.Unlock()
	return s.stats
}

// Destroy overwrites the server, its keys and those of the open session with zeros. Any later use panics; a second
// Destroy does nothing. A call of Seal or Open meanwhile panics too: see "Destroy while in use" of package fastmac.
// The runtime overwrites the keys of earlier sessions, when nobody has a pointer to them.
func (s *server) Destroy() {
	s.destroy(func() {
		if p := s.current.Swap(nil); p != nil {
			p.destroy()
		}
		s.forget()
		s.epoch, s.stats, s.halves = 0, ServerStats{}, nil
	})
}
