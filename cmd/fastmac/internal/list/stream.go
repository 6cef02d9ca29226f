// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package list

import (
	"crypto/rand"
	"io"
	"slices"

	"example.com/fastmac"
)

// A Stream computes the tag of one file after the other.
type Stream struct {
	key *Key
	mac mac
	old *Stream // of the key of before, or nil
}

// A mac is the MAC of a message.
type mac interface {
	io.Writer
	Reset()
	Destroy()
	Tag(dst, nonce []byte) []byte
	Verify(tag, nonce []byte) bool
}

// An hmacStream has no nonce.
type hmacStream struct{ *fastmac.HMAC }

func (h hmacStream) Tag(dst, _ []byte) []byte  { return h.Sum(dst) }
func (h hmacStream) Verify(tag, _ []byte) bool { return h.HMAC.Verify(tag) }

// Stream returns a stream of the key. If old is not nil, it computes the tags under that key too.
func (k *Key) Stream(old *Key) *Stream {
	s := &Stream{key: k}
	if old != nil {
		s.old = old.Stream(nil)
	}
	switch {
	case k.umac != nil:
		s.mac = k.umac.New()
	case k.gmac != nil:
		s.mac = k.gmac.New()
	default:
		s.mac = hmacStream{k.hmac.New()}
	}
	return s
}

// Parallel reports whether WriteParallel uses several cores.
func (k *Key) Parallel() bool { return k.umac != nil }

// Write adds p to the message.
func (s *Stream) Write(p []byte) (int, error) {
	if s.old != nil {
		s.old.Write(p)
	}
	return s.mac.Write(p)
}

// WriteParallel adds p to the message, with UMAC on as many cores as workers.
func (s *Stream) WriteParallel(p []byte, workers int) {
	if s.old != nil {
		s.old.WriteParallel(p, workers)
	}
	if u, ok := s.mac.(*fastmac.UMAC); ok {
		u.WriteParallel(p, workers)
	} else {
		s.mac.Write(p)
	}
}

// Reset begins another message.
func (s *Stream) Reset() {
	if s.old != nil {
		s.old.Reset()
	}
	s.mac.Reset()
}

// Destroy overwrites what the stream has of its keys.
func (s *Stream) Destroy() {
	if s.old != nil {
		s.old.Destroy()
	}
	s.mac.Destroy()
}

// Sign draws a fresh nonce and returns it and the tag of the message. The nonce is drawn after the message:
// see [fastmac.UMAC.Sign].
func (s *Stream) Sign() (nonce, tag []byte) {
	size := s.key.nonce
	nonce = make([]byte, size, size+s.key.tagSize)
	rand.Read(nonce)
	return nonce, s.mac.Tag(slices.Clip(nonce), nonce)[size:]
}

// Verify reports whether the tag of a line is that of the message.
func (s *Stream) Verify(l *Line) bool { return s.mac.Verify(l.Tag, l.Nonce) }

// VerifyOld reports whether the tag of a line of before, by the old key if there is one, is that of the
// message.
func (s *Stream) VerifyOld(l *Line) bool {
	if s.old != nil {
		s = s.old
	}
	return s.Verify(l)
}
