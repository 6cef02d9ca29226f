// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac

import (
	"bytes"
	"crypto/rand"
	"io"
	"strconv"
)

// signNonceSize is the largest size that RFC 4418 allows, because the nonces are random.
const signNonceSize = MaxNonceSize

// Sign draws a fresh nonce of 16 bytes from [crypto/rand]. It appends the nonce and the
// tag of msg under that nonce to dst, 16 + Size() bytes in all, and returns the extended
// slice. dst may overlap msg. As in JWT, to sign means to authenticate with a shared key:
// anyone who can verify can sign.
//
// A random nonce needs no counter, which a crash, a fork or a restored snapshot could
// set back. After a restored snapshot it is new only if the kernel has been informed, on
// Linux by VMGENID. Sign at most 2^48 messages with one key: then the probability that two
// nonces are equal is below 2^-33.
func (k *UMACKey) Sign(dst, msg []byte) []byte {
	k.mustLive()
	var sig [signNonceSize + maxUMACTagSize]byte
	nonce, tag := sig[:signNonceSize], (*[maxUMACTagSize]byte)(sig[signNonceSize:])
	rand.Read(nonce)
	k.uhash.tag(tag, msg, k.pad.pad(nonce))
	return append(dst, sig[:signNonceSize+int(k.pad.tagSize)]...)
}

// VerifySigned reports whether sig is a result of [UMACKey.Sign] for msg: a nonce of 16
// bytes, then its tag. It returns false for a sig of another length.
func (k *UMACKey) VerifySigned(sig, msg []byte) bool {
	k.mustLive()
	if len(sig) != signNonceSize+int(k.pad.tagSize) {
		return false
	}
	return k.Verify(sig[signNonceSize:], sig[:signNonceSize], msg)
}

// SignReader is like [UMACKey.Sign] for the message that r returns up to [io.EOF]. It
// appends a nonce and a tag as Sign does for the whole message, and counts towards the
// same limit of messages. The message need not fit in memory. dst may overlap the memory
// from which r reads.
//
// If r fails, SignReader returns dst unchanged and the error of r as it is. If 100
// consecutive calls of Read return neither bytes nor an error, SignReader returns
// [io.ErrNoProgress]. If r has a method WriteTo, SignReader calls it instead of Read, as
// [io.Copy] does.
func (k *UMACKey) SignReader(dst []byte, r io.Reader) ([]byte, error) {
	u := k.New()
	defer u.Destroy()
	if err := u.readFrom(r); err != nil {
		return dst, err
	}
	// The nonce is drawn last, because reading can be slow. If it were drawn first, a
	// snapshot of the machine that is made while reading, and restored, would repeat it.
	var nonce [signNonceSize]byte
	rand.Read(nonce[:])
	return u.AppendTag(append(dst, nonce[:]...), nonce[:]), nil
}

// VerifySignedReader reports whether sig is a result of [UMACKey.Sign] or
// [UMACKey.SignReader] for the message that r returns up to [io.EOF]. For a sig of
// another length it returns false and no error, and reads nothing. If r fails, it
// returns false and the same error as SignReader. Reading from r may overwrite sig.
//
// Use no part of the message before VerifySignedReader has returned true. The message
// that you use must be the one that was read: a file, for example, must not change in
// between.
func (k *UMACKey) VerifySignedReader(sig []byte, r io.Reader) (bool, error) {
	k.mustLive()
	if len(sig) != signNonceSize+int(k.pad.tagSize) {
		return false, nil
	}
	sig = bytes.Clone(sig) // it may be in the buffer of r, as after Peek of a bufio.Reader
	u := k.New()
	defer u.Destroy()
	if err := u.readFrom(r); err != nil {
		return false, err
	}
	return u.Verify(sig[signNonceSize:], sig[:signNonceSize]), nil
}

// readFrom adds what r returns to the message.
func (u *UMAC) readFrom(r io.Reader) error {
	to := readTo{u: u}
	defer func() { clear(to.buf) }()
	_, err := io.Copy(&to, r)
	return err
}

// readTo is a stream to which io.Copy copies. It has more methods than Write, because
// otherwise WriteTo of an os.File would copy through a buffer that nothing overwrites, and
// WriteTo of a strings.Reader would copy the whole string.
type readTo struct {
	u   *UMAC
	buf []byte // for ReadFrom
}

func (t *readTo) Write(p []byte) (int, error) { return t.u.Write(p) }

func (t *readTo) WriteString(s string) (int, error) {
	var buf [l1Block]byte
	for rest := s; rest != ""; {
		n := copy(buf[:], rest)
		t.u.Write(buf[:n])
		rest = rest[n:]
	}
	clear(buf[:])
	return len(s), nil
}

// ReadFrom calls Read of r, even if r has a method WriteTo.
func (t *readTo) ReadFrom(r io.Reader) (int64, error) {
	if t.buf == nil {
		t.buf = make([]byte, 64<<10)
	}
	total := int64(0)
	for empty := 0; empty < 100; {
		n, err := r.Read(t.buf)
		if n < 0 || n > len(t.buf) {
			panic("fastmac: Read returned a count of " + strconv.Itoa(n) + ": want 0 to " + strconv.Itoa(len(t.buf)))
		}
		t.u.Write(t.buf[:n])
		total += int64(n)
		if err == io.EOF {
			return total, nil
		}
		if err != nil {
			return total, err
		}
		if empty++; n > 0 {
			empty = 0
		}
	}
	return total, io.ErrNoProgress
}
