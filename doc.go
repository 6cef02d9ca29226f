// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package fastmac computes message authentication codes: UMAC (RFC 4418) with tags
// of 32, 64, 96 and 128 bits, and HMAC-SHA-512 (RFC 2104, FIPS 198-1).
//
// Most programs do not need this package. To encrypt and authenticate, take an
// AEAD of [crypto/cipher]; to authenticate where nothing is gained by speed, take
// [crypto/hmac]. UMAC is for those who tag much data, or many packets, and can
// give each message a nonce of its own. Package sshmac makes both MACs negotiable
// in golang.org/x/crypto/ssh.
//
// Each MAC has two types. A key ([UMACKey], [HMACSHA512Key]) is expanded once, is
// safe for concurrent use, and has methods that tag a message in one call. A
// stream ([UMAC], [HMACSHA512]) is made from a key, is a [hash.Hash] and a
// [hash.Cloner], and belongs to one goroutine at a time.
//
// # Nonces
//
// A UMAC nonce must never be used for two messages under one key: two tags with
// the same nonce can be enough to forge others, under every nonce. The rules of
// RFC 4418 section 6.3:
//
//   - All nonces under one key have one length, 1 to 16 bytes. A shorter nonce is
//     filled up with zeros, so 01 and 0100 are the same.
//   - A counter of 8 bytes is the usual nonce, as in SSH. It has to survive a
//     restart; where it may not, [UMACKey.Sign] draws nonces at random.
//   - Two senders have a key each, or nonces of different forms.
//   - The receiver checks that no nonce arrives twice (section 6.4).
//
// HMAC-SHA-512 has no nonce.
//
// # Batches
//
// SHA-512 hashes one message at a time no faster than its rounds follow on each
// other, but several at once in little more time. Who has some tags to compute at
// once (a token service, a receiver of webhooks, a key derivation for many users)
// gets them from [HMACSHA512Key.TagBatch] and [SumHMACSHA512Batch] in a fraction of
// the time, for any mixture of lengths.
//
// # Tag sizes
//
// In N attempts an attacker without the key forges a UMAC tag of 32, 64, 96 or 128
// bits with odds of at most N/2^30, N/2^60, N/2^90 or N/2^120, as long as AES is
// sound (RFC 4418 section 6.2). Take 64 bits where the first failure ends the
// connection, 128 where forgeries can be tried at leisure, and limit the number of
// attempts: after a first success others may be easy. A key has one tag size for
// good, and a tag is verified whole (section 6.5).
//
// # Secrets
//
// Time and memory accesses do not depend on keys and messages, only on lengths and
// nonces, provided that AES runs on AES instructions; [RequireHardware] tells.
// Destroy overwrites keys and streams. Keys and streams print as their names; the
// exceptions are listed in SECURITY.md.
//
// In Go's FIPS 140 mode UMAC works but is not approved, and HMAC-SHA-512 is
// [crypto/hmac], which allocates and sets the key up anew in each Tag: take a stream
// there.
package fastmac
