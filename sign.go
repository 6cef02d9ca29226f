// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac

import (
	"crypto/rand"
	"slices"
)

// signNonceSize is the largest size that RFC 4418 allows, because the nonces are random.
const signNonceSize = UMACMaxNonceSize

// Sign draws a nonce of 16 bytes from [crypto/rand]. It appends the nonce and the tag of msg under
// it to dst, 16 + Size() bytes in all, and returns the extended slice. dst may overlap msg.
//
// As in JWT, to sign means to authenticate with a shared key: anyone who can verify can sign.
//
// A random nonce needs no counter, which a crash or a restored snapshot could set back. After a
// snapshot has been restored, the nonce is new only if the kernel was told of it, on Linux by
// VMGENID. Sign at most 2^48 messages with one key: then the probability that two nonces are equal
// is below 2^-33.
func (k *UMACKey) Sign(dst, msg []byte) []byte {
	k.mustLive()
	var sig [signNonceSize + maxUMACTagSize]byte
	nonce := sig[:signNonceSize]
	rand.Read(nonce)
	return append(dst, k.Tag(nonce, nonce, msg)...)
}

// VerifySigned reports whether sig is what [UMACKey.Sign] or [UMAC.Sign] appends for msg: a nonce
// of 16 bytes, then the tag. It returns false if sig has a wrong length.
func (k *UMACKey) VerifySigned(sig, msg []byte) bool {
	k.mustLive()
	if len(sig) != signNonceSize+int(k.pad.tagSize) {
		return false
	}
	return k.Verify(sig[signNonceSize:], sig[:signNonceSize], msg)
}

// Sign is [UMACKey.Sign] for a message in parts. It draws a nonce of 16 bytes from [crypto/rand],
// appends it and the tag of the message written so far to dst, 16 + Size() bytes in all, and
// returns the extended slice. It counts towards the same limit of 2^48 messages. The stream does
// not change.
func (u *UMAC) Sign(dst []byte) []byte {
	u.live()
	// Drawn after the message, whose parts may come slowly: a snapshot of the machine that is
	// made between two of them, and restored, must not repeat the nonce.
	var nonce [signNonceSize]byte
	rand.Read(nonce[:])
	dst = slices.Grow(dst, signNonceSize+u.Size())
	return u.Tag(append(dst, nonce[:]...), nonce[:])
}

// VerifySigned reports whether sig is what [UMACKey.Sign] or [UMAC.Sign] appends for the message
// written so far. It returns false if sig has a wrong length. The stream does not change.
//
// Use no part of the message before VerifySigned has returned true. The message that you use must
// be the one that was written: a file, for example, must not change in between.
func (u *UMAC) VerifySigned(sig []byte) bool {
	if len(sig) != signNonceSize+u.Size() {
		return false
	}
	return u.Verify(sig[signNonceSize:], sig[:signNonceSize])
}
