// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package packet authenticates packets, such as datagrams of UDP, with UMAC-64, UMAC-128
// (RFC 4418) or GMAC (NIST SP 800-38D). It does not encrypt: to encrypt, use an AEAD.
//
// A sender appends a number and a tag to each message. A receiver checks the tag, and accepts
// each number once. The number is the nonce. No caller chooses it: what a caller must not do is to
// give a key a range of counters again. See "Restarts".
//
// The attacker that this is for reads, drops, delays, repeats, reorders, changes and invents
// packets in both directions, and knows all messages. It does not know the secret.
//
//   - Open returns only messages that the sender of this name has sealed, whole, and with the
//     same additional data.
//   - A receiver accepts each packet at most once. After a restart this holds if the key is
//     another one, or the range a stored one.
//   - The counters of a sender rise, and Open returns them. So the order of packets can be
//     seen, and gaps in it.
//   - Directions, senders, receivers with names, and sessions have different keys, and do not mix.
//
// Not promised are confidentiality, delivery, order, and that a packet is young: one that is
// delayed is accepted, once, while it is in the window. Whoever has the secret can seal under
// each name.
//
// The module of this package is at version 0: names may change. The format of packets is
// version 1, and is in docs/packet-format.md in the module example.com/fastmac.
//
// # Which MAC
//
//	              UMAC-64    UMAC-128   GMAC
//	overhead      16 bytes   24 bytes   24 bytes
//	one forgery   2^-60      2^-120     2^-121.7, with 1,200 bytes
//	in 2^32 tries 2^-28      2^-88      2^-89.7
//	needs         -          -          AES, CLMUL
//
// A packet, sealed and opened, takes these times in ns on an Intel Xeon (family 6, model 207,
// AVX-512) with Go 1.26.8, those of one peer in the quietest of ten runs. There GMAC is the fastest,
// by much if there are so many peers that their keys are not in the cache, because less of its keys
// is needed. On other CPUs measure it:
//
//	                                   UMAC-64  UMAC-128  GMAC
//	one peer, 64 bytes                 73       73        62
//	one peer, 1,200 bytes              171      251       165
//	100,000 peers, 64 bytes            348      352       233
//	100,000 peers, 1,200 bytes         622      653       352
//
//	go test -C packet -run '^$' -bench 'Packet|Many' .
//
// With 100,000 peers the packets are in batches of 32, see "Many peers".
//
// Tries add up over keys, and over all receivers of a sender. Use UMAC-64 in closed networks or for
// few peers, and UMAC-128 or GMAC on the internet. A receiver counts wrong tags, and stops for good
// at MaxForged of them. Whoever can send it so many packets can stop it.
//
// # Restarts
//
// A counter that is used twice under one key costs this key: an attacker learns enough to
// forge. There are two ways to prevent it.
//
//   - [Fresh]: a new key for each connection. The Session has what both ends chose afresh, such
//     as 16 random bytes of each. This is the first choice: nothing is stored. The packets of
//     earlier sessions are refused too.
//   - [Stored]: a range of counters under a static key. Store its end before it is used, and the
//     Epoch with it. This fails if the store is set back. A receiver with a stored range refuses
//     all that it may have accepted before.
//
// Two senders of equal configurations repeat counters too, in one process or in two. So the
// two ends of a connection need different names, and a server a name for each of its processes.
//
// Nothing here notices that a snapshot of a virtual machine is restored. Both copies then use the
// same counters, and the key of this session is lost. Where this can happen, make sessions short
// or use UMACKey.Sign of package fastmac. A copy that fork(2) makes, in C code, is noticed: its
// senders return [ErrCopied]. Its receivers go on, and accept what the parent's accept.
//
// # Change of keys
//
// Make the receiver with the next Epoch first, then the sender. Keep both receivers, choose
// between them by [Epoch], and destroy the old one after the longest delay of a packet.
// Choose a new Secret or Session before epoch 255 ends.
//
// # Threads
//
// Senders and receivers are safe for concurrent use, except for Init and Destroy. A sender that
// many cores use waits for its counter; batches wait less. Else make a sender for each queue,
// with names such as "server/3", and a receiver for each of them.
//
// # Many peers
//
// A server has a sender and a receiver for each peer. Begin each message with a number that
// it gave to the peer, and find the peer by it: the tag then covers the number. The functions
// [SealBatch] and [OpenBatch] are for packets of many peers, whose keys are not in the cache; the
// methods with these names are for packets of one peer.
//
// # Errors and panics
//
// What arrives from outside gives an error, never a panic. [ErrForged] and [ErrEpoch] say nothing
// about the sender. [ErrReplayed], [ErrOld] and [ErrEnd] of a receiver come only after a right tag. Do
// not answer a packet that gave an error. What the program itself got wrong panics: data of
// a wrong size, and a sender or receiver that was never set up or has been destroyed. Nothing has
// been written then, except by the functions [SealBatch] and [OpenBatch].
package packet
