// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package packet

import "errors"

// Errors of Seal, Open and their batches. They are never wrapped, so you can compare them with ==.
var (
	// ErrForged means that the tag is wrong, or that the packet is too short to have one. Only
	// wrong tags count towards MaxForged.
	ErrForged = errors.New("packet: the tag is wrong, or the packet is too short")

	// ErrEpoch means that the packet has another epoch. Its tag has not been checked.
	ErrEpoch = errors.New("packet: another epoch")

	// ErrReplayed means that the tag is right, and that a packet with this counter has been
	// accepted before.
	ErrReplayed = errors.New("packet: accepted before")

	// ErrOld means that the tag is right, and that the counter is below the receiver's window. If there
	// are many, the window is too small.
	ErrOld = errors.New("packet: older than the window")

	// ErrRestarted means that the tag is right, and that the counter is below the first that this
	// receiver may accept, because what its [Store] had says that it may have been accepted before the
	// receiver was started, or by another receiver. After a crash, a few packets that were not accepted
	// get it too: see Config.Ahead.
	ErrRestarted = errors.New("packet: perhaps accepted before the receiver's start")

	// ErrEnd of a sender means that it has fewer counters left than there are packets. ErrEnd of a
	// receiver means that the tag is right, and that the counter is not below the end of its range.
	// With a [Store], StoreErr says why there are no more. Without one, or if StoreErr returns nil, the
	// key has been used up: set up a new sender and receiver, with a new Secret or session. After Stop
	// the range has ended for good.
	ErrEnd = errors.New("packet: at the end of the range of counters")

	// ErrCopied means that the sender, client or server is a copy of the one that was set up, or that this
	// process is a copy of the one that set it up, made by fork(2): counters would repeat. Set up a new
	// one, with a new session.
	ErrCopied = errors.New("packet: the sender is a copy, or this process is one, by a fork")

	// ErrUnknown means that the sender or the receiver is nil, in the functions SealBatch and
	// OpenBatch.
	ErrUnknown = errors.New("packet: no sender or receiver")

	// ErrExpired means that the sender or the receiver is older than Config.MaxAge: set up a new one, with
	// a new session. Of a receiver it means too that the tag is right.
	ErrExpired = errors.New("packet: the key has reached its MaxAge: a new one is needed")

	// ErrNoSession means that no session is open, in which a client or a server could seal or open the
	// packet. Its tag has not been checked.
	ErrNoSession = errors.New("packet: no session is open")

	// ErrWorn means that the receiver has had MaxForged wrong tags, and refuses everything.
	ErrWorn = errors.New("packet: too many wrong tags: a new key is needed")
)

// authentic returns the counter that Open returns with an error: 0, unless the tag is right.
func authentic(counter uint64, err error) uint64 {
	switch err {
	case ErrReplayed, ErrOld, ErrRestarted, ErrEnd, ErrExpired:
		return counter
	}
	return 0
}
