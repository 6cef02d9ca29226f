// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package sshmac gives golang.org/x/crypto/ssh the UMAC MACs of OpenSSH, and the HMAC with SHA-256
// and SHA-512 of package fastmac.
//
// A server calls [ConfigureServer] before the first handshake of the program:
//
//	omitted, err := sshmac.ConfigureServer(&config.Config)
//	if err != nil {
//		log.Print(err) // config is unchanged
//	}
//
// On CPUs with instructions for AES-GCM, OpenSSH's ssh with its default configuration then uses
// AES-CTR with UMAC, or AES-GCM, which takes less CPU time of the server. Without the call it uses
// chacha20-poly1305, except on RHEL and Fedora. omitted is what the server no longer offers:
// chacha20-poly1305, on these CPUs.
//
// A client calls [Configure]. It then uses UMAC with the servers that have it:
//
//	if err := sshmac.Configure(&config.Config); err != nil {
//		log.Print(err) // config is unchanged
//	}
//
// The file docs/ssh.md of this module says what is gained with which peers and what it costs,
// how to see what was negotiated, which releases of x/crypto are supported, and how to do this
// in Gitea, Teleport, wish, rclone and other programs.
//
// # Names
//
// x/crypto negotiates UMAC only if [Register] has been called, which both calls above do, and if
// the MACs of the connection's ssh.Config name it. If a program already has options for ciphers
// and MACs, a call to Register in package main is enough.
//
// The MAC has no effect with an AEAD cipher (AES-GCM, chacha20-poly1305). So set Ciphers too. If
// all of them are CTR ciphers, name aes128-ctr and aes256-ctr, because some peers offer only one
// of them.
//
// # Nonces
//
// The nonce of UMAC is the sequence number of the packet. x/crypto renews the keys after at
// most 2^31 packets, before a number repeats.
//
// # FIPS 140
//
// UMAC is not approved. In Go's FIPS 140 mode Register changes nothing and returns an error that
// wraps [errors.ErrUnsupported]. x/crypto's hmac-sha2-256-etm@openssh.com and the AES-GCM ciphers
// remain available.
//
// # Failures
//
// A packet with a wrong MAC ends the connection, and none of it is delivered. A program that
// reads from a channel then sees io.EOF, as at the end of a complete message. Call Wait of the
// ssh.Conn for the reason, or send lengths.
//
// # Without go:linkname
//
// x/crypto has no API for new MACs, so Register adds to its private table by go:linkname. If
// Register reports that the table is not as expected, build with a release of x/crypto that
// docs/ssh.md names. If you cannot, or if go:linkname is not allowed, install the command fastmac
// from the folder cmd/fastmac of this module, and run
//
//	fastmac patch-ssh
//
// in the program's module. This gives it a copy of x/crypto with one more file. The program then
// contains, instead of a call to ConfigureServer or Configure:
//
//	for _, m := range sshmac.Modes() {
//		if err := ssh.RegisterMAC(m.Name, m.KeySize, m.ETM, m.New); err != nil {
//			return err // and leave config as it is
//		}
//	}
//	config.Ciphers = sshmac.ServerCiphers() // of a client: sshmac.Ciphers()
//	config.MACs = sshmac.MACs()
package sshmac

import (
	"crypto"
	"crypto/fips140"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/binary"
	"fmt"
	"hash"
	"runtime"
	"unsafe"

	"example.com/fastmac"
)

// The names of UMAC in the SSH protocol. In the ETM (encrypt-then-MAC) modes the tag covers the
// ciphertext: prefer them. Offer umac-64 wherever you offer umac-128: some builds of OpenSSH for
// Windows compute umac-128 wrongly.
const (
	UMAC64     = "umac-64@openssh.com"
	UMAC128    = "umac-128@openssh.com"
	UMAC64ETM  = "umac-64-etm@openssh.com"
	UMAC128ETM = "umac-128-etm@openssh.com"
)

// The names of HMAC in the SSH protocol. Old releases of x/crypto do not export them.
const (
	hmacSHA256    = "hmac-sha2-256"
	hmacSHA256ETM = "hmac-sha2-256-etm@openssh.com"
	hmacSHA512    = "hmac-sha2-512"
	hmacSHA512ETM = "hmac-sha2-512-etm@openssh.com"
)

// Sizes in bytes.
const (
	umacKeySize  = 16
	sequenceSize = 4
)

// Mode is an SSH MAC: its name, the size of its key in bytes, whether it is encrypt-then-MAC, and a
// function that sets it up.
//
// New panics if the key is not KeySize bytes long, which is 16 for UMAC. The hash that it returns
// expects the calls of an SSH transport: Reset, Write of the packet's sequence number (4 bytes,
// big-endian), Write of the packet, and Sum, which appends the tag (8 bytes for umac-64, 16 for
// umac-128). UMAC uses the sequence number as its nonce, not as a part of the message; if fewer
// than 4 bytes were written, the others count as zeros.
//
// The hash is a [hash.Cloner]. It is not safe for concurrent use. It has a method Destroy, which
// overwrites the hash and, except in a clone, its key. x/crypto does not call Destroy, so a
// finalizer does, once the hash and its clones are unreachable. Clones have no finalizer.
type Mode struct {
	Name    string
	KeySize int
	ETM     bool
	New     func(key []byte) hash.Hash
}

// Modes returns the MACs that x/crypto lacks: the four of UMAC. Pass them to RegisterMAC, the
// function that the command fastmac patch-ssh adds to x/crypto. It refuses the names of MACs that
// x/crypto has.
func Modes() []Mode {
	return []Mode{
		newMode(UMAC64, umacKeySize, false, newUMAC(fastmac.UMAC64Size)),
		newMode(UMAC128, umacKeySize, false, newUMAC(fastmac.UMAC128Size)),
		newMode(UMAC64ETM, umacKeySize, true, newUMAC(fastmac.UMAC64Size)),
		newMode(UMAC128ETM, umacKeySize, true, newUMAC(fastmac.UMAC128Size)),
	}
}

// allModes returns what Register puts into x/crypto's table: Modes, and HMAC in place of x/crypto's.
// The key of HMAC is as long as its hash, RFC 6668 section 2.
func allModes() []Mode {
	return append(Modes(),
		newMode(hmacSHA256, sha256.Size, false, newHMAC(crypto.SHA256)),
		newMode(hmacSHA256ETM, sha256.Size, true, newHMAC(crypto.SHA256)),
		newMode(hmacSHA512, sha512.Size, false, newHMAC(crypto.SHA512)),
		newMode(hmacSHA512ETM, sha512.Size, true, newHMAC(crypto.SHA512)),
	)
}

// newMode returns a Mode that checks the size of the key before it calls new.
func newMode(name string, keySize int, etm bool, new func(key []byte) hash.Hash) Mode {
	return Mode{name, keySize, etm, func(key []byte) hash.Hash {
		if len(key) != keySize {
			panic(fmt.Sprintf("sshmac: key of %d bytes for %s: want %d", len(key), name, keySize))
		}
		return new(key)
	}}
}

// newUMAC returns the function of a Mode of UMAC with tags of so many bytes.
func newUMAC(tagSize int) func(key []byte) hash.Hash {
	return func(key []byte) hash.Hash {
		u, err := fastmac.NewUMAC(key, tagSize)
		if err != nil {
			panic(err) // impossible with this key size
		}
		// Transports do not destroy their MACs. The finalizer is that of u, which can be in use
		// for longer than the packetUMAC: by a call of its methods that is the last use of
		// that, and by clones, which have its key.
		runtime.SetFinalizer(u, (*fastmac.UMAC).Destroy)
		return &packetUMAC{u: u, missing: sequenceSize}
	}
}

// newHMAC returns the function of a Mode of HMAC with this hash.
func newHMAC(h crypto.Hash) func(key []byte) hash.Hash {
	return func(key []byte) hash.Hash {
		m, err := fastmac.NewHMAC(h, key)
		if err != nil {
			panic(err) // impossible with this key size
		}
		if !fips140.Enabled() { // then crypto/hmac can be in use for longer than m
			runtime.SetFinalizer(m, (*fastmac.HMAC).Destroy)
		}
		return m
	}
}

// packetUMAC is UMAC as an SSH transport calls it.
type packetUMAC struct {
	u *fastmac.UMAC

	// The packet's sequence number, and how many of its bytes are still to be
	// written.
	number  uint64
	missing int
}

func (p *packetUMAC) Write(b []byte) (int, error) {
	body := b
	if p.missing > 0 {
		body = b[p.writeNumber(b):]
	}
	p.u.Write(body) // never fails
	return len(b), nil
}

// WriteString is Write of the bytes of s, without a copy.
func (p *packetUMAC) WriteString(s string) (int, error) {
	return p.Write(unsafe.Slice(unsafe.StringData(s), len(s)))
}

// writeNumber reads the missing bytes of the sequence number from the start of b,
// and returns how many it read.
func (p *packetUMAC) writeNumber(b []byte) int {
	if p.missing == sequenceSize && len(b) >= sequenceSize {
		p.number, p.missing = uint64(binary.BigEndian.Uint32(b)), 0
		return sequenceSize
	}
	n := min(len(b), p.missing)
	for _, x := range b[:n] {
		p.missing--
		p.number |= uint64(x) << (8 * p.missing)
	}
	return n
}

// Sum appends the tag to b, which in x/crypto's CBC mode is the packet itself.
func (p *packetUMAC) Sum(b []byte) []byte {
	var nonce [8]byte // OpenSSH's: the sequence number, big-endian
	binary.BigEndian.PutUint64(nonce[:], p.number)
	return p.u.Tag(b, nonce[:])
}

func (p *packetUMAC) Reset() {
	p.u.Reset()
	p.number, p.missing = 0, sequenceSize
}

// Destroy overwrites the hash, and the key if p is not a clone.
func (p *packetUMAC) Destroy() {
	p.u.Destroy()
	runtime.SetFinalizer(p.u, nil)
}

func (p *packetUMAC) Size() int      { return p.u.Size() }
func (p *packetUMAC) BlockSize() int { return p.u.BlockSize() }

func (p *packetUMAC) Clone() (hash.Cloner, error) {
	u, err := p.u.Clone()
	if err != nil {
		return nil, err
	}
	c := *p
	c.u = u.(*fastmac.UMAC)
	return &c, nil
}

// The name and tag size of u are printed, and nothing of the packet.
func (p *packetUMAC) String() string                { return p.u.String() }
func (p *packetUMAC) Format(s fmt.State, verb rune) { p.u.Format(s, verb) }
