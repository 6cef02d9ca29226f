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

// A Hello has what the keys of hellos, answers, openings and packets are derived from.
type Hello struct {
	Secret         []byte
	Client, Server string // names
	Algorithm      Algorithm
	DataSize       int
}

// Info returns the info of HKDF.
func (h *Hello) Info() []byte {
	info := []byte("fastmac hello 3")
	info = append(append(info, byte(len(h.Client))), h.Client...)
	return append(append(info, byte(len(h.Server))), h.Server...)
}

// OKM returns the output of HKDF, 128 bytes.
func (h *Hello) OKM() []byte {
	okm, err := hkdf.Key(sha512.New, h.Secret, nil, string(h.Info()), 128)
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
	return append(head, tag(h.OKM()[32:64], hello[:17], head)...)
}

// Opening returns the opening of the session of a hello and its answer.
func (h *Hello) Opening(hello, answer []byte) []byte {
	return slices.Concat(hello[1:17], make([]byte, 8), tag(h.OKM()[64:96], hello[:17], answer[:17])[:h.Algorithm.TagSize()])
}

// Keys returns those of the packets in the session of a hello and its answer, to the server and to the client.
func (h *Hello) Keys(hello, answer []byte) (toServer, toClient Key) {
	toServer = Key{h.Algorithm, Session, h.OKM()[96:], slices.Concat(hello[:17], answer[:17]), h.Client, h.Server, answer[0], h.DataSize}
	toClient = toServer
	toClient.Sender, toClient.Receiver = h.Server, h.Client
	return toServer, toClient
}

func tag(key []byte, parts ...[]byte) []byte {
	mac := hmac.New(sha512.New, key)
	mac.Write(slices.Concat(parts...))
	return mac.Sum(nil)[:16]
}

// A HelloServer has the state of a server for one client.
type HelloServer struct {
	Hello
	Bits      int // of windows
	MaxForged uint64
	Epoch     uint8  // of the last session
	Next      []byte // its random bytes, or nil
	Opening   []byte // that of the open session, or nil
	Receiver  *Receiver

	tried    []byte // the last right opening since there are random bytes, or nil
	receiver *Receiver
}

func (s *HelloServer) epoch() uint8 { return s.Epoch%255 + 1 }

// Answer returns the answer to a hello, or nil. random is used if there are no random bytes.
func (s *HelloServer) Answer(hello, random []byte) []byte {
	if len(hello) != 33 || !bytes.Equal(hello, s.Hello.Hello(hello[1:17])) {
		return nil
	}
	if s.Next == nil {
		s.Next = random
	}
	return s.Hello.Answer(hello, s.epoch(), s.Next)
}

// Open returns the verdict on a packet, as a Receiver does.
func (s *HelloServer) Open(packet, data []byte) (msg []byte, counter uint64, result Result) {
	tagSize := s.Algorithm.TagSize()
	n := len(packet) - 8 - tagSize
	if n < 16 || packet[n] != 0 { // there is no opening
		if s.Receiver == nil {
			return nil, 0, NoSession
		}
		return s.Receiver.Open(packet, data)
	}
	packet, opening := packet[:n-16], packet[n-16:]
	if s.Opening != nil && bytes.Equal(opening, s.Opening) {
		return s.Receiver.Open(packet, data)
	}
	if s.Next == nil {
		return nil, 0, Forged
	}
	if s.tried == nil || !bytes.Equal(opening, s.tried) {
		hello, answer := append([]byte{0}, opening[:16]...), append([]byte{s.epoch()}, s.Next...)
		if !bytes.Equal(opening, s.Hello.Opening(hello, answer)) {
			return nil, 0, Forged
		}
		key, _ := s.Keys(hello, answer)
		s.tried, s.receiver = opening, &Receiver{Key: key, Window: Window{0, 1 << 48, s.Bits, nil, 0}, MaxForged: s.MaxForged}
	}
	if msg, counter, result = s.receiver.Open(packet, data); result == Good {
		s.Epoch, s.Opening, s.Receiver = s.epoch(), s.tried, s.receiver
		s.Next, s.tried, s.receiver = nil, nil, nil
	}
	return msg, counter, result
}

// Close ends the open session, and forgets the next one.
func (s *HelloServer) Close() {
	s.Next, s.Opening, s.Receiver, s.tried, s.receiver = nil, nil, nil, nil, nil
}
