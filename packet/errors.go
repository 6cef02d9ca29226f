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
	// receiver. If there are many, the window is too small.
	ErrOld = errors.New("packet: older than the window or the range")

	// ErrEnd: the sender has used all counters of its range; or the tag is right, and the
	// counter is above the range of the receiver.
	ErrEnd = errors.New("packet: at the end of the range of counters")

	// ErrWorn: the receiver has had MaxForged wrong tags, and refuses everything.
	ErrWorn = errors.New("packet: too many wrong tags: a new key is needed")
)
