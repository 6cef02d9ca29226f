// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package fastmac computes message authentication codes: UMAC (RFC 4418) with tags of 32, 64,
// 96 and 128 bits, GMAC (NIST SP 800-38D), and HMAC (RFC 2104, FIPS 198-1) with SHA-224, SHA-256,
// SHA-384, SHA-512, SHA-512/224 and SHA-512/256.
//
//	k, err := fastmac.NewUMACKey(key, fastmac.UMAC128Size) // key: 16 random bytes
//	if err != nil {
//		return err
//	}
//	defer k.Destroy()
//	nonce := binary.BigEndian.AppendUint64(nil, number) // each number once, with this key
//	tag := k.Tag(nil, nonce, msg)
//	if !k.Verify(tag, nonce, msg) {
//		return errors.New("the message is forged")
//	}
//
// Most programs do not need this package. To encrypt and authenticate, use an AEAD of
// [crypto/cipher], or package aesgcm; to authenticate when speed does not matter, use
// [crypto/hmac]. UMAC and GMAC are for programs that authenticate many packets or large
// amounts of data, and can give each message a fresh nonce.
//
// Other packages: hmac, hkdf and pbkdf2 have the functions of those of crypto with these names,
// aesgcm has AES-GCM, and hwrand random bytes. In modules of their own there are sshmac for
// golang.org/x/crypto/ssh, and packet for datagrams. The folder docs has a page for each
// question: which MAC and which sizes (choosing.md), nonces, speed, platforms, FIPS 140.
//
// # Keys and streams
//
// Each MAC has two types. A key ([UMACKey], [GMACKey], [HMACKey]) is expanded once,
// is safe for concurrent use, and tags a message in one call. A stream ([UMAC], [GMAC],
// [HMAC]) is made from a key, is for messages that arrive in parts, and belongs to
// one goroutine at a time.
//
// The streams implement [hash.Hash] and [hash.Cloner]. Sum of a UMAC or GMAC stream is
// different from Sum of other hashes: its argument is the nonce, which it overwrites with the
// tag. It does not append. Use [UMAC.Tag] or [GMAC.Tag] to append and to keep the nonce. Code
// that calls Sum(nil) or Sum(header) needs the hash that [UMAC.Bind] or [GMAC.Bind] returns.
//
// HMAC has no nonce, and Sum of its streams appends.
//
// # Nonces
//
// Never use a nonce of UMAC or GMAC for two messages under one key: two tags with the same
// nonce can be enough to forge others. RFC 4418 section 6.3 has two more rules, which this package
// does not check:
//
//   - All nonces under one UMAC key have the same length.
//   - Two senders have different keys, or nonces that are never equal.
//
// If messages have numbers, use these. A UMAC nonce has 1 to 16 bytes, and a GMAC nonce has 12.
// Otherwise use a [NonceSequence], or for UMAC [UMACKey.Sign] and [UMAC.Sign], which draw each
// nonce from [crypto/rand] and return it with the tag.
//
// A receiver must refuse messages that arrive twice (section 6.4). After it has verified a
// tag, it passes the number of the message to [ReplayWindow.Accept], for the messages of a batch
// in the order in which they arrived.
//
// docs/nonces.md has more: restarts, snapshots, several senders, and what to do after a
// nonce was used twice. docs/choosing.md says which tag size to use, and when to change a key.
//
// # Batches
//
// TagBatch and VerifyBatch of a key are for many messages at once, each with a nonce and a
// tag: a [Message]. If the CPU can compute several side by side, they take less time than a
// call for each: with HMAC for messages of any length, and with UMAC for short ones.
// docs/speed.md says on which CPUs, and how much less.
//
// The functions [TagBatch] and [VerifyBatch] are for messages that each have their own key,
// for example on a server with many peers. They load the keys of the next messages into the
// cache while they hash. [SumHMACBatch] is for keys that are used once.
//
// [UMAC.WriteParallel] hashes a large message, or a file that is mapped into memory, on
// several cores. The tag is the same.
//
// # CPUs
//
// UMAC and HMAC run on every CPU. UMAC needs AES instructions to run in constant
// time, which [RequireAES] reports. GMAC needs instructions for AES and for carry-less
// multiplication, which [RequireGCM] reports; there is no slow code for CPUs without them. On
// s390x and ppc64, GMAC is crypto/cipher's, and a stream keeps up to 4 KiB of its message.
//
// # Secrets
//
// On amd64 and arm64, if AES runs on AES instructions, time and memory accesses of UMAC and GMAC
// depend on lengths and nonces, and not on keys and messages. HMAC needs no AES.
// docs/platforms.md has the other architectures, and CPUs that need a mode for this.
//
// Keys and streams print as their names. As JSON they are {}, so a key cannot be saved by
// accident: keep the bytes that it was made from.
//
// Destroy overwrites a key or a stream. The caller must overwrite the bytes that a key was made
// from. If they are in a local array, or a local make([]byte, n) of up to 32 bytes, they may
// lie on a stack, which is copied when it grows: overwriting them does not reach the copies.
// SECURITY.md has what remains in memory, and what was measured.
//
// # Destroy while in use
//
// Destroy, and Init of a key that is replaced, wait for nobody. A call that uses the key at that time in
// another goroutine ends in one of two ways: it returns what it would have returned before, or it fails as
// a call on a destroyed key does. That is a panic; functions that verify or open may also refuse, with
// false or an error. When it fails, what it has computed and written to dst, or to the tags of a batch, has
// been overwritten with zeros, and the messages of a batch that it verified are not OK. No result of a key
// that is partly overwritten gets out, and nothing outside of the key is read. The same holds for a stream
// whose key, or which itself, is destroyed, and for package aesgcm and the senders and receivers of packets.
// After an Init, streams of the previous key panic. The functions [TagBatch] and [VerifyBatch] keep the
// results of messages that they had done before.
//
// This is for programs that end while a goroutine is still at work. It has limits:
//
//   - The panic ends the program if nobody recovers it. To end in order, wait for the goroutines, and
//     then call Destroy.
//   - The race detector reports such a program, rightly.
//   - What other goroutines read of dst before the call has returned is not promised.
//   - Init of a key at the same time as another Init or Destroy of it can leave a key that is partly zeros.
//   - A call that uses a stream, and is still running when Destroy of the stream has returned, may write to
//     the stream: a part of the message, and pads.
//   - Memory that the caller provides must stay until the last call has ended, see "Placed state":
//     nothing notices that it was unmapped, or is used for something else.
//   - In FIPS 140 mode, and where AES is crypto/aes, keys of the standard library are overwritten while it
//     uses them, and it may panic with a text of its own.
//   - A call does not notice that its key was replaced if 2^29 keys, or a multiple of it, are set up in the
//     same place before the call has returned.
//   - In a child after a fork keys are as they were at that moment: one that another thread was about to
//     destroy may still live, and one that it was setting up never does.
//
// # Placed state
//
// A key, also one of package aesgcm, can be in memory that the caller provides: locked, left
// out of core dumps, or between pages that cannot be accessed. Init sets it up there, and
// Destroy overwrites it there. The example PlacedState, in example_linux_test.go, does this on
// Linux.
//
// Align the memory to 8 bytes. If it is zero before Init, methods panic until the key is set up.
// Destroy must be able to write to it. For memory that Go did not allocate:
//
//   - An [HMACKey] may be there: it has no pointers.
//   - A [UMACKey] may be there on amd64 and arm64 if [RequireAES] returns nil. Elsewhere AES
//     is crypto/aes, and the key has a pointer, which the garbage collector must see.
//   - A [GMACKey] and a key of package aesgcm may be there on amd64 and arm64. Elsewhere they
//     point to keys of crypto/cipher.
//   - Streams are always in Go's memory, and point to their key. Destroy them before you
//     unmap the memory of the key, and unmap it when no call uses the key or a stream of it any more.
//
// # Errors and panics
//
// A key or a tag size that is wrong, and a CPU, a build or a FIPS mode that does not support the
// MAC, are errors of constructors, of Init, and of [RequireAES] and [RequireGCM]. The error is a
// [KeySizeError] if the key is wrong, and wraps [errors.ErrUnsupported] if the CPU, the build or
// the mode is the reason. A hash that HMAC does not have is an error that wraps it too.
//
// A function that verifies or opens takes a tag, a nonce, a signature or a ciphertext of any
// length from outside. If it is not valid, the function returns false or an error. There is one
// exception: Open of a key of package aesgcm panics on a nonce that is not 12 bytes long, as
// the AEADs of crypto/cipher do: check the length of a nonce that arrives from outside.
//
// Mistakes of the program itself panic before anything is written: a wrong nonce of Tag, Sum,
// Bind or Seal, wrong lengths in a batch, a wrong size of a [NonceSequence] or a [ReplayWindow],
// or a key or stream that was never set up or has been destroyed. The functions [TagBatch] and
// [VerifyBatch] are the exception: they panic when they come to the message with the mistake, and
// have then written what is before it.
//
// No call of Write, and no Read of package hwrand, returns an error. Clone returns one only
// for HMAC in FIPS 140 mode.
//
// # What may change
//
// The texts of errors and panics, what [Hardware] returns, the sizes of structs, and the type
// of what Bind returns are not part of the API.
//
// # FIPS 140
//
// In Go's FIPS 140 mode HMAC is [crypto/hmac], which belongs to Go's cryptographic module.
// What this module computes itself is not validated. docs/fips-140.md has the modes.
package fastmac
