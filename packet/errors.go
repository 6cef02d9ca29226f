// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package packet

import "errors"

// Errors of Seal, Open and their batches. They are returned as they are, so they can be
// compared with ==.
var (
	// ErrForged: the tag is wrong, or the packet is too short to have one. Only wrong tags
	// count towards MaxForged.
	ErrForged = errors.New("packet: the tag is wrong, or the packet is too short")

	// ErrEpoch: the packet names another epoch. Its tag has not been checked.
	ErrEpoch = errors.New("packet: another epoch")

	// ErrReplayed: the tag is right, and a packet with this counter has been accepted before.
	ErrReplayed = errors.New("packet: accepted before")

	// ErrOld: the tag is right, and the counter is below the window or below the range of the
	// receiver. If there are many, the window is too small, or the receiver has just started.
	ErrOld = errors.New("packet: older than the window or the range")

	// ErrEnd: the sender has fewer counters left than there are packets; or the tag is right, and
	// the counter is not below the end of the receiver's range; or Stop was called.
	ErrEnd = errors.New("packet: at the end of the range of counters")

	// ErrCopied: this process is a copy of the one that set up the sender, made by fork(2), and
	// would repeat its counters. Set up a new sender, with a new Session.
	ErrCopied = errors.New("packet: the sender belongs to the process that this one is a copy of")

	// ErrUnknown: the sender or the receiver is nil, in a batch over many.
	ErrUnknown = errors.New("packet: no sender or receiver")

	// ErrWorn: the receiver has had MaxForged wrong tags, and refuses everything.
	ErrWorn = errors.New("packet: too many wrong tags: a new key is needed")
)

// authentic returns the counter that Open returns with an error: 0, unless the tag is right.
func authentic(counter uint64, err error) uint64 {
	switch err {
	case ErrReplayed, ErrOld, ErrEnd:
		return counter
	}
	return 0
}
