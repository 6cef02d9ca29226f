// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package packetref

import (
	"bytes"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha512"
	"slices"
)

// A Hello has what the keys of hellos and answers are derived from.
type Hello struct {
	Secret         []byte
	Client, Server string // names
}

// Info returns the info of HKDF.
func (h *Hello) Info() []byte {
	info := []byte("fastmac hello 2")
	info = append(append(info, byte(len(h.Client))), h.Client...)
	return append(append(info, byte(len(h.Server))), h.Server...)
}

// OKM returns the output of HKDF, 64 bytes.
func (h *Hello) OKM() []byte {
	okm, err := hkdf.Key(sha512.New, h.Secret, nil, string(h.Info()), 64)
	if err != nil {
		panic(err)
	}
	return okm
}

// Hello returns a hello with 16 random bytes.
func (h *Hello) Hello(random []byte) []byte {
	head := append([]byte{0}, random...)
	return append(head, tag(h.OKM()[:32], head)...)
}

// Answer returns the answer to a hello, with the epoch and 16 random bytes of the server.
func (h *Hello) Answer(hello []byte, epoch uint8, random []byte) []byte {
	head := append([]byte{epoch}, random...)
	return append(head, tag(h.OKM()[32:], hello[:17], head)...)
}

func tag(key []byte, parts ...[]byte) []byte {
	mac := hmac.New(sha512.New, key)
	mac.Write(slices.Concat(parts...))
	return mac.Sum(nil)[:16]
}

// A HelloClient has sent one hello.
type HelloClient struct {
	Hello
	Random []byte
	done   bool
}

// Session returns the session and the epoch of an answer. It does so once.
func (c *HelloClient) Session(answer []byte) (session []byte, epoch uint8, ok bool) {
	if c.done || len(answer) != 33 || !bytes.Equal(answer, c.Answer(c.Hello.Hello(c.Random), answer[0], answer[1:17])) {
		return nil, 0, false
	}
	c.done = true
	return slices.Concat(c.Random, answer[1:17]), answer[0], true
}

// A HelloServer has the state of a server for one client.
type HelloServer struct {
	Hello
	MaxForged uint64
	Forged    uint64
	Next      []byte // its random bytes; nil before the first answer
	Client    []byte // the client's of the open session
	Epoch     uint8
}

// Answer returns the answer to a hello, or nil. random is used if there are no random bytes yet.
func (s *HelloServer) Answer(hello, random []byte) []byte {
	if len(hello) != 33 || !bytes.Equal(hello, s.Hello.Hello(hello[1:17])) {
		return nil
	}
	if s.Next == nil {
		s.Next = random
	}
	return s.Hello.Answer(hello, s.Epoch+1, s.Next)
}

// Begin returns the verdict on an opening: Good if its session may open, with the epoch s.Epoch+1. open
// is true if it is the session that is open.
func (s *HelloServer) Begin(opening []byte) (open bool, result Result) {
	switch {
	case len(opening) != 32:
		return false, Forged
	case s.Client != nil && bytes.Equal(opening[:16], s.Client):
		return true, Good
	case s.Next == nil || !bytes.Equal(opening[16:], s.Next):
		return false, Epoch
	case bytes.Equal(opening[:16], opening[16:]) || bytes.Equal(opening[:16], make([]byte, 16)):
		return false, Forged
	case s.Forged >= s.MaxForged:
		return false, Worn
	}
	s.Forged++ // until Opened
	return false, Good
}

// Opened opens a session that Begin found good, whose packet had a right tag, and reports whether it
// did. random are the next random bytes.
func (s *HelloServer) Opened(opening, random []byte) bool {
	if !bytes.Equal(opening[16:], s.Next) {
		return false
	}
	s.Forged--
	s.Client, s.Next = opening[:16], random
	s.Epoch++
	return true
}
