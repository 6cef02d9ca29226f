// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package sshmac gives golang.org/x/crypto/ssh the UMAC MACs of OpenSSH and the
// HMAC-SHA-512 of package fastmac.
//
// One call at the start of a program, before its first handshake, makes them
// negotiable; a configuration then has to ask for them:
//
//	if err := sshmac.Register(); err != nil {
//		log.Print(err) // the program goes on with the MACs it had
//	}
//	config.Ciphers = []string{"aes128-ctr"} // see below
//	config.MACs = sshmac.MACs()
//
// # Without go:linkname
//
// x/crypto has no API for new MACs, so [Register] uses go:linkname to add to its
// private table. Where that is not allowed, or Register refuses the table, the
// command
//
//	fastmac patch-ssh
//
// run in the program's module gives it a copy of x/crypto with one more file,
// which the compiler checks. In the program stands then, instead of Register:
//
//	for _, m := range sshmac.Modes() {
//		if !strings.HasPrefix(m.Name, "umac-") {
//			continue // x/crypto has an hmac-sha2-512 of its own
//		}
//		if err := ssh.RegisterMAC(m.Name, m.KeySize, m.ETM, m.New); err != nil {
//			log.Print(err) // the program goes on with the MACs it had
//		}
//	}
//
// # Ciphers
//
// The AEAD ciphers (aes128-gcm@openssh.com, chacha20-poly1305@openssh.com) bring
// their own authentication: with one of them no MAC is used at all. They come
// first in x/crypto's default order, so a MAC has an effect only where Ciphers is
// set to stream ciphers such as aes128-ctr or where the peer has no AEAD. With a
// CBC cipher x/crypto before v0.58.0 does not interoperate under any "-etm" MAC,
// its own included.
//
// # Nonces
//
// SSH gives UMAC the packet's sequence number as its nonce. x/crypto renews the
// keys after 2^31 packets at the latest, before a sequence number comes twice.
//
// # FIPS 140
//
// UMAC is not approved. In Go's FIPS 140 mode [Register] refuses and changes nothing;
// hmac-sha2-256-etm@openssh.com and the AES-GCM ciphers stay.
//
// # Failures
//
// A packet whose MAC is wrong ends the connection, and none of it is delivered. But
// what a program reads from a channel then ends with io.EOF, as it does after a whole
// message: ask Wait of the ssh.Conn for the reason, or send lengths.
//
// # Peers
//
// Offer umac-64 wherever umac-128 is offered: some builds of the OpenSSH that
// comes with Windows compute umac-128 wrongly and end with "Corrupted MAC on
// input". libssh, libssh2, PuTTY, Paramiko and russh have no UMAC; they negotiate
// one of the hmac-sha2 names that follow in [MACs].
//
// # Programs
//
// Some programs hand the MACs that their users name to x/crypto, which drops UMAC
// without a word, and then finds no MAC in common with a peer that insists on it.
// They need a call of [Register] in their package main, and no other change:
//
//   - rclone: --sftp-macs, whose help names UMAC, with --sftp-ciphers aes128-ctr
//   - Gitea's built-in server: SSH_SERVER_MACS, with SSH_SERVER_CIPHERS
//   - servers with github.com/gliderlabs/ssh or github.com/charmbracelet/wish: MACs
//     and Ciphers in what their ServerConfigCallback returns
//
// The module's folder internal/programs has examples to copy, run against OpenSSH,
// for rclone, both of these libraries and github.com/pkg/sftp.
//
// Others need a change of their own, for Register reaches none of their lists: sftpgo
// refuses names that ssh.SupportedAlgorithms or ssh.InsecureAlgorithms did not list
// when it started, Teleport those that are not among x/crypto's defaults, and Packer
// has no option for MACs.
package sshmac

import (
	"encoding/binary"
	"fmt"
	"hash"

	"example.com/fastmac"
)

// The names of UMAC in the SSH protocol. In the ETM (encrypt-then-MAC) modes the
// tag covers the ciphertext; prefer them.
const (
	UMAC64     = "umac-64@openssh.com"
	UMAC128    = "umac-128@openssh.com"
	UMAC64ETM  = "umac-64-etm@openssh.com"
	UMAC128ETM = "umac-128-etm@openssh.com"
)

const (
	hmacSHA512    = "hmac-sha2-512"
	hmacSHA512ETM = "hmac-sha2-512-etm@openssh.com"
	hmacSHA256    = "hmac-sha2-256"
	hmacSHA256ETM = "hmac-sha2-256-etm@openssh.com"

	// Sizes in bytes.
	umacKeySize  = 16
	hmacKeySize  = 64
	sequenceSize = 4
)

// Mode is an SSH MAC: its name, the size of its key in bytes, whether it is
// encrypt-then-MAC, and how to make one.
//
// New panics on a key of another size than KeySize. The hash it returns follows
// the order of calls of an SSH transport: Reset, Write of the packet's sequence
// number in 4 bytes, big-endian, Write of the packet, Sum. The first four bytes
// after Reset are that number for UMAC too, where they become the nonce and are
// not part of the message; bytes that were not written count as zeros. It is a
// [hash.Cloner], and not safe for concurrent use.
type Mode struct {
	Name    string
	KeySize int
	ETM     bool
	New     func(key []byte) hash.Hash
}

// Modes returns the MACs that this package implements: the four of UMAC, and
// HMAC-SHA-512 in both modes.
func Modes() []Mode {
	return []Mode{
		{UMAC64, umacKeySize, false, newUMAC(fastmac.NewUMAC64)},
		{UMAC128, umacKeySize, false, newUMAC(fastmac.NewUMAC128)},
		{UMAC64ETM, umacKeySize, true, newUMAC(fastmac.NewUMAC64)},
		{UMAC128ETM, umacKeySize, true, newUMAC(fastmac.NewUMAC128)},
		{hmacSHA512, hmacKeySize, false, newHMACSHA512},
		{hmacSHA512ETM, hmacKeySize, true, newHMACSHA512},
	}
}

// MACs returns names for the MACs field of an ssh.Config, in OpenSSH's order of
// preference: those of [Modes], with HMAC-SHA-256, which x/crypto brings, at its
// place among them. In a list, x/crypto skips names that are not registered.
func MACs() []string {
	return []string{
		UMAC64ETM, UMAC128ETM, hmacSHA256ETM, hmacSHA512ETM,
		UMAC64, UMAC128, hmacSHA256, hmacSHA512,
	}
}

// newUMAC returns a Mode.New for UMAC.
func newUMAC(newStream func(key []byte) (*fastmac.UMAC, error)) func(key []byte) hash.Hash {
	return func(key []byte) hash.Hash {
		mustSize(key, umacKeySize)
		u, err := newStream(key)
		if err != nil {
			panic(err) // not with this size
		}
		return &packetUMAC{u: u, missing: sequenceSize}
	}
}

func newHMACSHA512(key []byte) hash.Hash {
	mustSize(key, hmacKeySize)
	return fastmac.NewHMACSHA512(key)
}

func mustSize(key []byte, size int) {
	if len(key) != size {
		panic(fmt.Sprintf("fastmac: SSH MAC key of %d bytes: want %d", len(key), size))
	}
}

// shortSize is the size in bytes up to which copying a packet costs less than it
// gains.
const shortSize = 512

// packetUMAC is UMAC as an SSH transport calls it.
type packetUMAC struct {
	u *fastmac.UMAC

	// The packet's sequence number, and how many of its bytes have not been
	// written yet.
	number  uint64
	missing int

	// A transport writes a packet in pieces, of a few bytes at its ends. A short
	// one is gathered here and hashed at once; one that does not fit is long.
	short    [shortSize]byte
	gathered int
	long     bool
}

func (p *packetUMAC) Write(b []byte) (int, error) {
	body := b
	if p.missing > 0 {
		body = b[p.writeNumber(b):]
	}
	if !p.long && len(body) <= len(p.short)-p.gathered {
		p.gathered += copy(p.short[p.gathered:], body)
	} else {
		p.flush()
		p.long = true
		p.u.Write(body) // never fails
	}
	return len(b), nil
}

// writeNumber takes what is missing of the sequence number from the start of b.
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

func (p *packetUMAC) flush() {
	if p.gathered > 0 {
		p.u.Write(p.short[:p.gathered])
		clear(p.short[:p.gathered]) // plaintext, in the modes that are not ETM
		p.gathered = 0
	}
}

// Sum appends: x/crypto's CBC mode passes the packet itself as b.
func (p *packetUMAC) Sum(b []byte) []byte {
	p.flush()
	var nonce [8]byte // OpenSSH's: the sequence number, big-endian
	binary.BigEndian.PutUint64(nonce[:], p.number)
	return p.u.AppendTag(b, nonce[:])
}

func (p *packetUMAC) Reset() {
	p.u.Reset()
	p.number, p.missing = 0, sequenceSize
	clear(p.short[:p.gathered])
	p.gathered, p.long = 0, false
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

// What is printed is the name and tag size of u, and nothing of the packet.
func (p *packetUMAC) String() string                { return p.u.String() }
func (p *packetUMAC) Format(s fmt.State, verb rune) { p.u.Format(s, verb) }
func (p *packetUMAC) MarshalText() ([]byte, error)  { return p.u.MarshalText() }
