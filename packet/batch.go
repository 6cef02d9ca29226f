// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package packet

// A Packet is a packet of a batch, for SealBatch and OpenBatch. It has named fields, as
// Message of package fastmac has, because with several slices of slices a call can have them in a wrong
// order, and compile.
type Packet struct {
	Bytes   []byte // SealBatch: the message, then the packet. OpenBatch: the packet, then the message, or nil
	Data    []byte // DataSize bytes of additional data
	Counter uint64 // set by both; OpenBatch sets it to 0 if there is an error
	Err     error  // set by OpenBatch, as Open returns it
}

// lanes is the number of packets that a batch hands to the key at a time. Their messages, 80
// bytes each, are on the stack.
const lanes = 32
