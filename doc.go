// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package fastmac computes message authentication codes: UMAC (RFC 4418) with tags
// of 32, 64, 96 and 128 bits, GMAC (NIST SP 800-38D), and HMAC-SHA-512 (RFC 2104,
// FIPS 198-1).
//
// Most programs do not need this package. To encrypt and authenticate, use an AEAD of
// [crypto/cipher], or package aesgcm; to authenticate when speed does not matter, use
// [crypto/hmac]. UMAC and GMAC are for programs that authenticate many packets or large
// amounts of data, and can give each message a fresh nonce. Package hwrand has random bytes
// for programs that need many keys.
//
// A server of golang.org/x/crypto/ssh needs one call of package sshmac, ConfigureServer.
// Most OpenSSH clients, with nothing configured there, then use UMAC or AES-GCM in place of
// chacha20-poly1305, for about half of the server's CPU time.
//
// Each MAC has two types. A key ([UMACKey], [GMACKey], [HMACSHA512Key]) is expanded once,
// is safe for concurrent use, and tags a message in one call. A stream ([UMAC], [GMAC],
// [HMACSHA512]) is made from a key, is for messages that arrive in parts, and belongs to
// one goroutine at a time.
//
// The streams implement [hash.Hash] and [hash.Cloner]. Sum of a UMAC or GMAC stream differs
// from Sum of other hashes: it takes the nonce instead of a slice to append to, and
// overwrites it. Use [UMAC.Tag] or [GMAC.Tag] to append and to keep the nonce.
// Code that calls Sum(nil) or Sum(header) needs the hash that [UMAC.Bind] or [GMAC.Bind]
// returns.
//
// # Which MAC
//
//	                  UMAC-64      UMAC-128     GMAC          HMAC-SHA-512
//	standard          RFC 4418     RFC 4418     SP 800-38D    FIPS 198-1
//	tag               8 bytes      16 bytes     16 bytes      64 bytes
//	nonce             1-16 bytes   1-16 bytes   12 bytes      none
//	nonce used twice  forgeries    forgeries    forgeries     -
//	needs             -            -            AES, CLMUL    -
//	64 bytes          20 ns        21 ns        22 ns         314 ns
//	16 KiB            416 ns       746 ns       642 ns        19169 ns
//
// Use HMAC-SHA-512 if you cannot give each message a fresh nonce, or if a tag must also be
// a key or a commitment to the message. Use GMAC if a NIST standard is required and
// HMAC-SHA-512 is too slow. Otherwise use UMAC-64 or UMAC-128, see "Tag sizes".
//
// The times are of one-shots under one key on an AMD EPYC (Zen 4, AVX-512) with Go 1.26.8,
// as internal/peers/RESULTS.md in the module has them. GMAC has no code for
// CPUs without instructions for AES and for carry-less multiplication: [RequireGCM]
// reports whether they are there. On s390x and ppc64 it is crypto/cipher, and a stream keeps up
// to 4 KiB of its message.
//
// # Keys and nonces
//
// Never use a nonce of UMAC or GMAC for two messages under one key. A tag is the hash of
// the message xor a pad, which depends only on the key and the nonce. In two tags under
// the same nonce the pads cancel out, and an attacker knows the xor of the two hashes.
// From such pairs it can learn the key of the hash, and then forge tags under every nonce
// for which it has seen a tag. For GMAC one such pair is enough, and so it is for the tags
// of AES-GCM. RFC 4418 section 6.3 has two more rules:
//
//   - All nonces under one UMAC key have the same length, 1 to 16 bytes. UMAC pads shorter
//     ones with zeros, so two nonces of different lengths can be equal: the bytes 04 and
//     04 00 for all tag sizes, and 01 and 01 00 for tags of 96 and 128 bits. This package
//     does not check that all lengths are equal.
//   - Two senders have different keys, or nonces that are never equal.
//
// The sources of nonces, and what must not happen to each:
//
//	source                  what must not happen
//	a counter of 8 bytes    it is set back, by a crash or a restored backup or snapshot
//	a NonceSequence         its memory is restored from a snapshot
//	Sign                    more than 2^48 messages are signed under one key, or a snapshot
//	                        of the machine is restored and its kernel does not know
//
// If a counter continues after a restart, store it before you use it. A [NonceSequence]
// counts from a random number and stores nothing. Two of them, in different processes or
// after a restart, can return the same nonce; its documentation has the probability.
// [UMACKey.Sign] and [UMAC.Sign] draw each nonce of 16 bytes from [crypto/rand], and return it
// with the tag: use them for files and records. A snapshot has the kernel's random generator
// too. Linux changes it when the hypervisor reports that a snapshot has been restored, by
// VMGENID.
//
// A receiver must refuse messages that arrive twice (section 6.4). The sender numbers its
// messages, in the nonce or in the message. After it has verified a tag, the receiver
// passes the number to [ReplayWindow.Accept], which accepts each number once. The messages of
// a batch go there in the order in which they arrived.
//
// For packets, such as datagrams of UDP, the module example.com/fastmac/packet has a sender and a
// receiver that do all this, with 8 bytes beside the tag.
//
// Change a UMAC or GMAC key after 2^48 messages and attempts. Up to then an attacker
// distinguishes its pads from random ones with an advantage of at most 2^-33, if AES is
// secure. Also change it after
// a number of wrong tags: after 2^20 of UMAC-64, for example, one was accepted with a
// probability of at most 2^-40. An attacker who has forged one tag has learned something
// about the key, and may need fewer attempts for the next. Nonces of GMAC have only 12
// bytes: do not draw them from crypto/rand for more than 2^32 messages (SP 800-38D section
// 8.3), where the probability of a repetition reaches 2^-33.
//
// HMAC-SHA-512 has no nonce, and no limit that a program could reach. Use a key of at
// least 32 random bytes; RFC 2104 section 3 advises 64. A password is not a key.
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
// A GMAC tag of a message of n blocks of 16 bytes is forged in N attempts with a
// probability of at most N*(n+1)/2^128, so long messages cost some of it: 2^-96 remains for
// one attempt at 64 GiB.
//
// # Moving from crypto/hmac
//
// Replace hmac.New(sha512.New, key) by [NewHMACSHA512](key). All else stays: Reset, Sum(nil),
// and [crypto/hmac.Equal]; [HMACSHA512.Verify] does both in one call. With many messages under
// one key, [NewHMACSHA512Key] saves the set-up of the key. A function that takes a
// func() hash.Hash, such as those of crypto/hkdf and crypto/pbkdf2, wants a hash there and not
// a MAC.
//
// # Batches
//
// One SHA-512 computation is bound by the latency of its rounds. On amd64 with AVX2 or
// AVX-512 several independent ones run side by side at little extra cost, and on arm64 with
// SHA512 instructions two, which are next to each other in the batch; elsewhere they run one
// after the other. Programs with several tags to compute at once (a token service,
// a receiver of webhooks) can use [HMACSHA512Key.TagBatch], [HMACSHA512Key.VerifyBatch]
// and [SumHMACSHA512Batch], for messages of any lengths. A batch is a slice of [Message].
//
// A server that sends or receives many packets at once, with sendmmsg or from a queue, can
// use [UMACKey.TagBatch] and [UMACKey.VerifyBatch]. With AVX-512, on an AMD EPYC (Zen 4), a
// UMAC-64 tag of 64 bytes takes about half the time of [UMACKey.Tag] in batches of 64, and
// one of a kilobyte about a fifth less. On the same CPU with AVX-512 switched off, where AVX2 and
// VAES remain, they take a third less and a fifth less. With AVX2 alone batches gain nothing.
//
// If each message has another key, as those of a server with many peers, use the functions
// [TagBatch] and [VerifyBatch]. They load the keys of the next messages while they hash. What
// that gains depends on where the keys are. An Intel Xeon (family 6, model 207, Go 1.26.8) has an
// L3 cache of 260 MiB, which is room for 100,000 keys. There a tag of 64 bytes, in batches of 32
// with the keys in random order, takes 0.63 of the time of Tag with UMAC-64, and 0.55 with
// GMAC. With the keys in the order of their addresses it takes 0.86 with UMAC-64, and 0.83 with
// GMAC. To measure it:
//
//	go test -run '^$' -bench ManyKeys .
//
// Under so many keys GMAC takes less time than UMAC-64, because less of a key is needed: in these
// batches 64 ns and 79 ns. HMAC-SHA-512 hashes messages under different keys side by side too, as
// with one key, but not in FIPS 140 mode.
//
// # Large messages
//
// [UMAC.WriteParallel] hashes a large message, or a file that is mapped into memory, on
// several cores. The tag is the same.
//
// # Secrets
//
// If AES runs on AES instructions, time and memory accesses depend on lengths and nonces,
// and not on keys and messages. [RequireAES] reports whether it does. A program that
// must not run without AES instructions calls it when it starts.
//
// Keys and streams print as their names. As JSON they are {}, so a key cannot be saved by
// accident: keep the bytes that it was made from.
//
// Destroy overwrites a key or a stream. A scan of the memory of the process then finds no
// 16 bytes of it, with two exceptions. Copies that the Go runtime makes, of the registers
// of a goroutine that it interrupts and of a stack that it moves, remain until their
// memory is used again; in a program built with GOEXPERIMENT=runtimesecret these are
// overwritten too if the calls are inside Do of runtime/secret. And so do the pad and the
// hash of the last message. SECURITY.md in the module has the details, and what was
// measured.
//
// Overwrite the bytes that a key was made from. If they are in a local array, or a local
// make([]byte, n) of up to 32 bytes, they may lie on a stack, which is copied when it grows:
// overwriting them does not reach the copies.
//
// # Placed state
//
// A key, also one of package aesgcm, can be in memory that the caller provides. Init sets
// it up there, and Destroy overwrites it there. So keys can be in memory that is locked,
// left out of core dumps, wiped in the children of forks, and between pages that cannot be
// accessed. The example PlacedState, in example_linux_test.go, does this on Linux.
//
// Align the memory to 8 bytes. If it is zero before Init, methods panic until the key is set up.
// Destroy must be able to write to it. For memory that Go did not allocate:
//
//   - An [HMACSHA512Key] may be there: it has no pointers.
//   - A [UMACKey] may be there on amd64 and arm64 if [RequireAES] returns nil. Elsewhere AES
//     is crypto/aes, and the key has a pointer, which the garbage collector must see.
//   - A [GMACKey] and a key of package aesgcm may be there on amd64 and arm64. Elsewhere they
//     point to keys of crypto/cipher.
//   - Streams are always in Go's memory, and point to their key. Destroy them before you
//     unmap the memory of the key.
//
// # Errors and panics
//
// A key of a wrong length, a tag size, a CPU, a build tag or a FIPS mode that does not fit
// is an error of a constructor, of Init, or of [RequireAES] and [RequireGCM]. HMAC-SHA-512 is
// the exception: its constructors return no error, see "FIPS 140". The error wraps
// [errors.ErrUnsupported] if it is the machine, the build or the mode that cannot, and is a
// [KeySizeError] if the key is wrong.
//
// What arrives from outside, a tag, a nonce, a signature or a ciphertext of any length, goes
// to a function that verifies or opens. It then returns false or an error. There is one
// exception: Open of a key of package aesgcm panics on a nonce that is not 12 bytes long, as
// the AEADs of crypto/cipher do, so check the length of a nonce that arrives from outside.
//
// What a program itself got wrong panics before anything is written: the nonce of Tag, Sum,
// Bind and Seal, the lengths in a batch, the sizes of a [NonceSequence] or a [ReplayWindow],
// a key or stream that was never set up or has been destroyed.
//
// No call of Write, and no Read of package hwrand, returns an error. Clone returns one only
// for HMAC-SHA-512 in FIPS 140 mode.
//
// # What may change
//
// The texts of errors and panics, what [Hardware] returns, the sizes of structs, and the type
// of what Bind returns are not part of the API.
//
// # FIPS 140
//
// In Go's FIPS 140 mode, which is on with GODEBUG=fips140=on or only:
//
//   - HMAC-SHA-512 is [crypto/hmac]. It is validated if the program was built with a
//     validated version of the Go Cryptographic Module, as with GOFIPS140=v1.0.0;
//     [crypto/fips140.Version] returns the version. It allocates, and each
//     [HMACSHA512Key.Tag] sets the key up again, so a stream is faster. With
//     GOFIPS140=v1.0.0 a stream cannot be cloned. With fips140=only a key of less than 14
//     bytes panics.
//   - UMAC works in both modes. It is not an approved algorithm.
//   - GMAC and AES-GCM are approved algorithms. On amd64 and arm64 they work in both modes,
//     and are this module's, which are not validated. On other architectures they are
//     crypto/cipher's, which does not approve of nonces that the caller chooses: they work
//     with fips140=on, and with fips140=only [RequireGCM] and the functions that make keys
//     return an error.
//   - Package hwrand works in both modes. It is not validated.
//
// So a program that may use only what is validated uses HMAC-SHA-512 and nothing else of
// this module. In FIPS 140 mode a build with the tag purego panics at startup.
package fastmac
