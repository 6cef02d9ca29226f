// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package packet

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"example.com/fastmac/internal/opaque"
)

// UMACReceivers is a set of receivers of different epochs, for a change of key: each packet goes to
// the receiver of its epoch. The zero value is an empty set. It is safe for concurrent use. Do not
// copy it.
type UMACReceivers struct {
	_ opaque.NoCopy
	_ opaque.Incomparable

	receivers[UMACReceiver, *UMACReceiver]
}

// GMACReceivers is a set of receivers of different epochs, for a change of key: each packet goes to
// the receiver of its epoch. The zero value is an empty set. It is safe for concurrent use. Do not
// copy it.
type GMACReceivers struct {
	_ opaque.NoCopy
	_ opaque.Incomparable

	receivers[GMACReceiver, *GMACReceiver]
}

// Add adds a receiver. It returns an error if the set already has a receiver of the same epoch, or
// one with other sizes of tag or data. It panics if the receiver was never set up or has been
// destroyed. Do not call Init or Destroy of the receiver while it is in the set.
//
// The caller must not have set a finalizer on the receiver. If it is from a constructor, and not
// set up in place by Init, a finalizer of package runtime overwrites its key after the last pointer
// to the receiver is gone. The caller must destroy a receiver that Init has set up, once no call of
// Open or OpenBatch that began before Remove is running any more.
func (s *UMACReceivers) Add(r *UMACReceiver) error { return s.add(r) }

// Add is like [UMACReceivers.Add].
func (s *GMACReceivers) Add(r *GMACReceiver) error { return s.add(r) }

// Open calls Open of the receiver of the packet's epoch. It returns [ErrEpoch] if there is none.
func (s *UMACReceivers) Open(packet, data []byte) (msg []byte, counter uint64, err error) {
	r, err := s.find(packet, data)
	if err != nil {
		return nil, 0, err
	}
	return r.Open(packet, data)
}

// Open calls Open of the receiver of the packet's epoch. It returns [ErrEpoch] if there is none.
func (s *GMACReceivers) Open(packet, data []byte) (msg []byte, counter uint64, err error) {
	r, err := s.find(packet, data)
	if err != nil {
		return nil, 0, err
	}
	return r.Open(packet, data)
}

// receivers is the set. R is the type of a receiver.
type receivers[R any, P interface {
	*R
	OpenBatch(batch []Packet) int
	Destroy()
	set() (*window, *form)
}] struct {
	list    atomic.Pointer[epochs[P]] // nil at first; replaced, never changed
	unknown atomic.Uint64

	mu   sync.Mutex    // of Add and Remove
	gone ReceiverStats // of receivers that were removed
}

// epochs are the receivers of a set, which have one form except for the epoch.
type epochs[P any] struct {
	form form
	all  []inEpoch[P]
}

type inEpoch[P any] struct {
	epoch    uint8
	receiver P
}

func (l *epochs[P]) of(epoch uint8) (none P) {
	for i := range l.all {
		if l.all[i].epoch == epoch {
			return l.all[i].receiver
		}
	}
	return none
}

func (r *UMACReceiver) set() (*window, *form) { return &r.window, &r.form }
func (r *GMACReceiver) set() (*window, *form) { return &r.window, &r.form }

// add is Add.
func (s *receivers[R, P]) add(r P) error {
	w, f := r.set()
	w.mustLive()
	s.mu.Lock()
	defer s.mu.Unlock()
	next := &epochs[P]{form: *f}
	if old := s.list.Load(); old != nil {
		if old.form.tagSize != f.tagSize || old.form.dataSize != f.dataSize {
			return fmt.Errorf("packet: a receiver with a TagSize of %d and a DataSize of %d bytes: the set has %d and %d", f.tagSize, f.dataSize, old.form.tagSize, old.form.dataSize)
		}
		if old.of(f.epoch) != nil {
			return errors.New("packet: the set has a receiver of this epoch")
		}
		next.all = slices.Clone(old.all)
	}
	next.all = append(next.all, inEpoch[P]{f.epoch, r})
	s.list.Store(next)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.alone && !w.wiped {
		w.wiped = true
		runtime.SetFinalizer(r, P.Destroy)
	}
	return nil
}

// Remove takes out the receiver of an epoch, and reports whether there was one. Calls that are
// opening a packet with it go on. If the receiver has a [Store], call its Stop method before
// Remove.
func (s *receivers[R, P]) Remove(epoch uint8) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.list.Load()
	if old == nil || old.of(epoch) == nil {
		return false
	}
	w, _ := old.of(epoch).set()
	s.gone.add(w.Stats())
	all := slices.DeleteFunc(slices.Clone(old.all), func(e inEpoch[P]) bool { return e.epoch == epoch })
	if s.list.Store(&epochs[P]{old.form, all}); len(all) == 0 {
		s.list.Store(nil)
	}
	return true
}

// find returns the receiver for a packet, or an error if there is none.
func (s *receivers[R, P]) find(packet, data []byte) (r P, err error) {
	if l := s.list.Load(); l != nil {
		l.form.mustData(data)
		n := len(packet) - l.form.overhead()
		if n < 0 {
			s.unknown.Add(1)
			return nil, ErrForged
		}
		if r := l.of(packet[n]); r != nil {
			return r, nil
		}
	}
	s.unknown.Add(1)
	return nil, ErrEpoch
}

// OpenBatch opens batch[i].Bytes, as Open does, in the order of the batch, and reports the results
// as OpenBatch of a receiver does. It is fast where packets of one epoch follow each other.
func (s *receivers[R, P]) OpenBatch(batch []Packet) (good int) {
	l := s.list.Load()
	if l != nil {
		l.form.mustAll(batch)
	}
	for first, end := 0, 0; first < len(batch); first = end {
		r, err := s.find(batch[first].Bytes, batch[first].Data)
		if end = first + 1; err != nil {
			p := &batch[first]
			p.Bytes, p.Counter, p.Err = nil, 0, err
			continue
		}
		_, f := r.set()
		for end < len(batch) {
			if n := len(batch[end].Bytes) - f.overhead(); n < 0 || batch[end].Bytes[n] != f.epoch {
				break
			}
			end++
		}
		good += r.OpenBatch(batch[first:end])
	}
	return good
}

// Stats returns the sums over all receivers that are or were in the set, and what the one has left that
// has least. Packets of epochs that the set did not have count as Unknown. The numbers of removed
// receivers are as they were at Remove.
func (s *receivers[R, P]) Stats() ReceiverStats {
	s.mu.Lock()
	defer s.mu.Unlock()
	sum := s.gone
	sum.Unknown += s.unknown.Load()
	if l := s.list.Load(); l != nil {
		sum.Left, sum.ForgedLeft = math.MaxUint64, math.MaxUint64
		for _, e := range l.all {
			w, _ := e.receiver.set()
			one := w.Stats()
			sum.add(one)
			sum.Left, sum.ForgedLeft = min(sum.Left, one.Left), min(sum.ForgedLeft, one.ForgedLeft)
		}
	}
	return sum
}

func (s *ReceiverStats) add(more ReceiverStats) {
	s.Accepted += more.Accepted
	s.Replayed += more.Replayed
	s.Old += more.Old
	s.Restarted += more.Restarted
	s.Forged += more.Forged
	s.Ended += more.Ended
	s.Unknown += more.Unknown
}
