// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package packet has what the program needs of version 2 of the module's package packet, on version 1. It
// goes when that has version 2: then the program imports example.com/fastmac/packet.
package packet

import (
	"crypto/sha256"
	"errors"
	"sync"

	one "example.com/fastmac/packet"
)

type (
	Config = one.Config
	Store  interface {
		Reserve(id [16]byte, n uint64) (first uint64, err error)
		Release(id [16]byte, next uint64) error
	}
	Counters   struct{ send, receive Store }
	UMACSender struct {
		*one.UMACSender
		store Store
		id    [16]byte
	}
	UMACReceiver struct {
		*one.UMACReceiver
		store Store
		id    [16]byte

		mu   sync.Mutex
		done sync.WaitGroup
		busy bool
		end  uint64
		err  error
	}
)

const (
	step  = 1 << 32
	ahead = 64
)

var ErrEnd = one.ErrEnd

func Stored(send, receive Store) Counters { return Counters{send, receive} }

func id(c Config, role string) [16]byte {
	sum := sha256.Sum256(append([]byte(role), c.Secret...))
	return [16]byte(sum[:16])
}

func NewUMACSender(c Config, n Counters) (*UMACSender, error) {
	if n.send == nil {
		return nil, errors.New("packet: no store for the sender")
	}
	s := &UMACSender{store: n.send, id: id(c, "send")}
	first, err := s.store.Reserve(s.id, step)
	if err != nil {
		return nil, err
	}
	s.UMACSender, err = one.NewUMACSender(c, one.Stored(first, step))
	return s, err
}

func (s *UMACSender) Stop() error { return s.store.Release(s.id, s.UMACSender.Stop()) }

func NewUMACReceiver(c Config, n Counters) (*UMACReceiver, error) {
	if n.receive == nil {
		return nil, errors.New("packet: no store for the receiver")
	}
	r := &UMACReceiver{store: n.receive, id: id(c, "receive")}
	first, err := r.store.Reserve(r.id, ahead)
	if err != nil {
		return nil, err
	}
	r.end = first + ahead
	r.UMACReceiver, err = one.NewUMACReceiver(c, one.Stored(first, ahead))
	return r, err
}

func (r *UMACReceiver) Open(p, data []byte) (msg []byte, counter uint64, err error) {
	msg, counter, err = r.UMACReceiver.Open(p, data)
	if err != nil && err != ErrEnd {
		return msg, counter, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.busy && counter+ahead/2 >= r.end {
		r.busy = true
		n := counter + ahead - r.end
		r.done.Go(func() {
			first, err := r.store.Reserve(r.id, n)
			r.mu.Lock()
			defer r.mu.Unlock()
			if err == nil {
				err = r.Extend(first + n)
				r.end = first + n
			}
			r.err, r.busy = err, false
		})
	}
	return msg, counter, err
}

func (r *UMACReceiver) StoreErr() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

func (r *UMACReceiver) Stop() error {
	next := r.UMACReceiver.Stop()
	r.done.Wait()
	return r.store.Release(r.id, next)
}
