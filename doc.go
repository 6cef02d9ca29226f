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
// # Nonces
//
// Never use a UMAC nonce for two messages under one key: two tags with the same nonce
// can be enough to forge others, under every nonce. The rules of RFC 4418 section 6.3:
//
//   - All nonces under one key have the same length, 1 to 16 bytes. UMAC zero-pads
//     shorter ones, so that nonces of different lengths can be equal: 04 and 0400 are,
//     for all tag sizes, and 01 and 0100 for tags of 96 and 128 bits. This package
//     does not check that lengths are not mixed; the caller must not mix them.
//   - A counter of 8 bytes is the usual nonce, as in SSH. It must survive a restart.
//     If that is not certain, use [UMACKey.Sign], which draws random nonces.
//   - Two senders have different keys, or nonces that cannot be equal.
//   - The receiver checks that no nonce arrives twice (section 6.4).
//
// HMAC-SHA-512 has no nonce.
//
// # Batches
//
// One SHA-512 computation is bound by the latency of its rounds. On amd64 with AVX2 or
// AVX-512 several independent ones run side by side at little extra cost; elsewhere
// they run one after the other. Programs with several tags to compute at
// once (a token service, a receiver of webhooks) can use [HMACSHA512Key.TagBatch],
// [HMACSHA512Key.VerifyBatch] and [SumHMACSHA512Batch], for messages of any lengths.
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
// # Secrets
//
// Time and memory accesses depend on lengths and nonces, and not on keys and messages,
// if AES runs on AES instructions; [RequireHardware] reports whether it does. Destroy
// overwrites keys and streams. Keys and streams print as their names. The exceptions
// are listed in SECURITY.md in the module.
//
// In Go's FIPS 140 mode UMAC works but is not approved. HMAC-SHA-512 is then
// [crypto/hmac], which allocates; a key is set up anew in each Tag, so a stream is
// faster.
package fastmac
