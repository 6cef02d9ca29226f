// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package fastmac computes message authentication codes: UMAC (RFC 4418) with tags
// of 32, 64, 96 and 128 bits, and HMAC-SHA-512 (RFC 2104, FIPS 198-1).
//
// Most programs do not need this package. To encrypt and authenticate, use an AEAD of
// [crypto/cipher]; to authenticate when speed does not matter, use [crypto/hmac]. UMAC
// is for programs that authenticate many packets or large amounts of data, and can
// give each message a fresh nonce. Package sshmac makes both MACs negotiable in
// golang.org/x/crypto/ssh.
//
// Each MAC has two types. A key ([UMACKey], [HMACSHA512Key]) is expanded once, is safe
// for concurrent use, and tags a message in one call. A stream ([UMAC], [HMACSHA512])
// is made from a key, is for messages that arrive in parts, and belongs to one
// goroutine at a time.
//
// Both streams implement [hash.Hash] and [hash.Cloner]. Sum of a UMAC stream differs
// from Sum of other hashes: it takes the nonce instead of a slice to append to, and
// overwrites it. Use [UMAC.AppendTag] to append and to keep the nonce. Code
// that calls Sum(nil) or Sum(header) needs the hash that [UMAC.Bind] returns.
//
// # Keys and nonces
//
// A UMAC nonce is used for one message under one key. With two tags under the same nonce
// an attacker knows the xor of the two hashes, because the pad cancels out. From such
// pairs it can learn the key of the hash, and then forge tags under every nonce under
// which it has seen one. The rules of RFC 4418 section 6.3:
//
//   - All nonces under one key have the same length, 1 to 16 bytes. UMAC zero-pads
//     shorter ones, so that nonces of different lengths can be equal: 04 and 0400 are,
//     for all tag sizes, and 01 and 0100 for tags of 96 and 128 bits. This package
//     does not check that lengths are not mixed; the caller must not mix them.
//   - Two senders have different keys, or nonces that cannot be equal.
//
// Where the nonces come from, and what breaks them:
//
//	source                       what may not happen
//	a counter of 8 bytes         it is set back: by a crash, a restored backup or snapshot
//	Nonces, 12 to 16 bytes       a snapshot of the running process is restored, or its memory forked
//	Sign, SignReader             more than 2^48 messages under one key
//
// [Nonces] counts from a random number and needs no storage; its documentation has the
// probability that two of them, in different processes or after a restart, return the
// same nonce. [UMACKey.Sign] and [UMACKey.SignReader] draw each nonce of 16 bytes from
// crypto/rand. A counter that continues after a restart must be stored before it is used.
//
// A receiver refuses messages that arrive twice (section 6.4): the sender numbers them,
// as nonces or in the message, and [ReplayWindow] accepts each number once.
//
// Change a UMAC key after 2^48 messages: up to then an attacker can tell its pads from
// random ones with an advantage of at most 2^-33, if AES is secure. Change it also after
// a number of wrong tags that the next section gives: an attacker who has forged one tag
// has learned something of the key, and the next may need fewer attempts.
//
// HMAC-SHA-512 has no nonce, and no limit that a program could reach. Its key has at
// least 32 random bytes. A password is not a key.
//
// # Tag sizes
//
// In N attempts an attacker without the key forges a UMAC tag of 32, 64, 96 or 128
// bits with a probability of at most N/2^30, N/2^60, N/2^90 or N/2^120, if AES is
// secure (RFC 4418 section 6.2). Use 64 bits if the first failure ends the connection,
// and 128 bits if an attacker can try many times. Limit the number of attempts: after
// a first success others may be easy. A key has one tag size, and tags are never
// truncated (section 6.5).
//
// # Batches
//
// One SHA-512 computation is bound by the latency of its rounds. On amd64 with AVX2 or
// AVX-512 several independent ones run side by side at little extra cost; elsewhere
// they run one after the other. Programs with several tags to compute at
// once (a token service, a receiver of webhooks) can use [HMACSHA512Key.TagBatch],
// [HMACSHA512Key.VerifyBatch] and [SumHMACSHA512Batch], for messages of any lengths.
//
// # Secrets
//
// Time and memory accesses depend on lengths and nonces, and not on keys and messages,
// if AES runs on AES instructions. [RequireHardware] reports whether it does, and a
// program that must not run without calls [MustHardware] at its start. Keys and streams
// print as their names.
//
// Destroy overwrites keys and streams. After that no part of them is in the memory of
// the process, except for copies that the Go runtime makes: of the registers, when it
// interrupts a goroutine, and of a stack that it moves. They remain until something else
// is there. In a program that is built with GOEXPERIMENT=runtimesecret, a call inside
// Do of runtime/secret overwrites these too. SECURITY.md in the module lists the
// exceptions, and what was measured.
//
// # Placed state
//
// Init sets a key up where the caller has put it, and Destroy overwrites it there. So keys
// can be in memory that is locked, not in core dumps, and not inherited by forks, between
// pages that cannot be accessed: see the example PlacedState, for Linux. An HMACSHA512Key
// has no pointers. A UMACKey may be outside Go's memory only where [Hardware] reports
// that AES is "aesni": with crypto/aes it has a pointer that the garbage collector must
// see. Streams are in Go's memory and point to their key: destroy them before that memory
// is unmapped.
//
// # FIPS 140
//
// In Go's FIPS 140 mode UMAC works but is not approved. HMAC-SHA-512 is then
// [crypto/hmac], which allocates; a key is set up anew in each Tag, so a stream is
// faster.
package fastmac
