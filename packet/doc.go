// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package packet authenticates packets, such as UDP datagrams, with UMAC or GMAC. It does not
// encrypt: to encrypt, use an AEAD. A server, with one client:
//
//	c := packet.Config{
//		Secret:  secret,              // 32 random bytes, which the client has too
//		TagSize: fastmac.UMAC128Size, // for the internet
//	}
//	session, err := packet.NewUMACServer(c, "server", "client")
//	...
//	if answer, err := session.Answer(nil, in); err == nil {
//		... // in was a hello: send the answer
//	}
//	msg, counter, err := session.Open(in, nil) // drop a packet that gives an error
//	...
//	out, err := session.Seal(msg, nil) // out is the packet to send
//
// The client has a [UMACClient], with the names swapped. Where packets go one way, or the ends have a
// key for themselves, use a [UMACSender] and a [UMACReceiver].
//
// A sender appends a number and a tag to each message. A receiver checks the tag, and accepts
// each number once. The number is the nonce, and the sender chooses it. One thing is left to
// the caller: to say why the key is new, or where its counters are stored. See "Restarts".
//
// The guide, docs/packets.md in the module example.com/fastmac, says whether to take UMAC-64,
// UMAC-128 or GMAC, gives odds and times, and says how to change keys and serve many peers. The format,
// version 2, is in docs/packet-format.md there. The module of this package is at version 0: names
// may change.
//
// # What is promised
//
// The attacker reads, drops, delays, repeats, reorders, changes and invents packets in both
// directions, and knows all messages. It does not know the secret. Then
//
//   - Open returns only messages that the sender of this name has sealed, whole, and with the
//     same additional data.
//   - A receiver accepts each packet at most once, even after a restart: either the key is another
//     one, or a Store has the counters.
//   - The counters of a sender rise, and Open returns them, so a receiver can see the order of
//     packets, and gaps.
//   - A packet is accepted only in its own direction and session, and only from its sender. If
//     the receiver has a name, no other receiver accepts it.
//
// Confidentiality, delivery and order are not promised, and neither is that a packet is recent: a
// delayed one is accepted, once, while it is in the window. Whoever has the secret can seal under
// any name.
//
// # Restarts
//
// If a counter is used twice under one key, an attacker learns enough to forge packets under this
// key. And a receiver that forgets what it has accepted accepts it again. [Counters] say why neither
// happens:
//
//   - [NewSession], the first choice: a new key for each session, from random bytes of both ends.
//     Nothing is stored, and packets of earlier sessions are refused. [UMACClient] and [UMACServer]
//     exchange the bytes.
//   - [Stored]: the key stays, and counters go on above all that may have been used. A [Store]
//     keeps them for each end and direction. A restart without a Stop skips counters of a sender,
//     and a receiver then refuses what its Store says that it may have had. This fails if a Store
//     is set back.
//   - [SecretIsNew]: the key is new because the Secret is.
//
// The key depends on which of them it is. So a receiver without a Store accepts nothing from a
// sender that has one.
//
// Two senders with equal configurations and sessions repeat counters, in one process or in two. One
// value of Counters has no second sender, and no second receiver. So make one value for each session,
// and give each process of a server its own name.
//
// Nothing here notices that a snapshot of a virtual machine is restored. Both copies then use the
// same counters, so the key of this session is no longer safe. A copy that C code makes with
// fork(2) is noticed: its senders return [ErrCopied]. Its receivers go on, and accept what the
// parent's accept, but store nothing.
//
// # Threads
//
// Senders, receivers and sets of receivers are safe for concurrent use, except for Init and Destroy, and
// clients and servers also with Destroy. Seal never waits for a Store, and Open only if there is no
// counter left for the packet: see [Stored]. A sender that many cores use waits for its counter; batches
// wait less.
//
// # Errors and panics
//
// Input from outside causes an error, never a panic. [ErrForged] and [ErrEpoch] say nothing
// about the sender. A receiver returns [ErrReplayed], [ErrOld], [ErrRestarted], [ErrEnd] and [ErrExpired]
// only after a valid tag.
// Do not answer a packet that gave an error.
//
// Mistakes of the program itself panic: data of a wrong size, or a sender or receiver that
// was never set up or has been destroyed. Nothing has been written then, except by the functions
// [SealBatch] and [OpenBatch].
package packet
