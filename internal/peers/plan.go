// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"fmt"
	"strings"
)

// A contender is an op of a peer: implementation, algorithm and mode, as in
// "nettle:umac64:stream".
type contender string

func (c contender) parts() (impl, alg, mode string) {
	f := strings.SplitN(string(c), ":", 3)
	return f[0], f[1], f[2]
}

// peer returns the name of the peer that the contender is an op of.
func (c contender) peer() string {
	impl, _, _ := c.parts()
	switch impl {
	case "nettle", "OpenSSL", "OpenSSH", "fakeboboliu", "reading", "RustCrypto", "ring", "orion", "aws-lc-rs":
		return impl
	}
	return goPeer
}

// A group is what is measured together: in every round all its contenders take
// turns at each size.
type group struct {
	name       string
	sizes      []int
	contenders []contender
	minRun     int // messages in a run, at least
	longer     int // factor to the time of a run; 0 is 1
}

const (
	mib = 1 << 20

	// keySize is the size of the message that shows that a key is right.
	keySize    = 64
	streamSize = 64
	coresSize  = 16384

	// hmacSumSize is the size of the messages that have a key each.
	hmacSumSize = 28

	// sshSize is the most that x/crypto puts in an SSH packet.
	sshSize = 32768
)

var groups = []group{
	{
		name:  "message",
		sizes: []int{16, 32, 64, 256, 1024, 1500, 4096, 16384, mib},
		contenders: []contender{
			"fastmac:umac32:stream", "fastmac:umac32:oneshot",
			"fastmac:umac64:stream", "fastmac:umac64:oneshot",
			"fastmac:umac96:stream", "fastmac:umac96:oneshot",
			"fastmac:umac128:stream", "fastmac:umac128:oneshot",
			"fakeboboliu:umac64:stream", "fakeboboliu:umac128:stream",
			"OpenSSH:umac64:stream", "OpenSSH:umac128:stream",
			"nettle:umac64:stream", "nettle:umac128:stream",
			"crypto/cipher:gmac:stream", "OpenSSL:gmac:stream",
			"x/crypto:poly1305:oneshot",
			"minio:highwayhash128:oneshot", "minio:highwayhash256:oneshot",
			"dchest:siphash:oneshot",
			"zeebo:blake3:stream",
			"crypto/hmac:hmac-sha256:stream",
			"fastmac:hmac-sha512:stream", "fastmac:hmac-sha512:oneshot",
			"crypto/hmac:hmac-sha512:stream",
			"OpenSSL:kmac128:stream", "OpenSSL:kmac256:stream",
		},
	},
	{
		name:  "key",
		sizes: []int{keySize},
		contenders: []contender{
			"fastmac:umac32:new", "fastmac:umac64:new", "fastmac:umac64:init",
			"fastmac:umac96:new", "fastmac:umac128:new",
			"fakeboboliu:umac64:new", "fakeboboliu:umac128:new",
			"OpenSSH:umac64:new", "OpenSSH:umac128:new",
			"nettle:umac64:new", "nettle:umac128:new",
			"crypto/cipher:gmac:new", "OpenSSL:gmac:new",
			"zeebo:blake3:new",
			"crypto/hmac:hmac-sha256:new",
			"fastmac:hmac-sha512:new", "crypto/hmac:hmac-sha512:new",
		},
	},
	{
		name:  "hmac-sum",
		sizes: []int{hmacSumSize},
		contenders: []contender{
			"fastmac:hmac-sha512:sum", "fastmac:hmac-sha512:sumbatch",
			hmacSumContender,
			"RustCrypto:hmac-sha512:sum", "ring:hmac-sha512:sum",
			"orion:hmac-sha512:sum", "aws-lc-rs:hmac-sha512:sum",
			"OpenSSL:hmac-sha512:sum", "nettle:hmac-sha512:sum",
		},
	},
	{
		name:  "hmac",
		sizes: []int{hmacSumSize, 32, 1024, 1500, 16384},
		contenders: []contender{
			"fastmac:hmac-sha512:stream", "fastmac:hmac-sha512:oneshot", "fastmac:hmac-sha512:batch",
			hmacContender,
			"RustCrypto:hmac-sha512:stream", "ring:hmac-sha512:stream",
			"orion:hmac-sha512:stream", "aws-lc-rs:hmac-sha512:stream",
			"OpenSSL:hmac-sha512:stream", "nettle:hmac-sha512:stream",
		},
	},
	{
		name:   "streams",
		sizes:  []int{streamSize},
		minRun: streamCount,
		longer: 20, // so that a stream has a hundred turns, with nonces in order
		contenders: []contender{
			"fastmac:umac64:inturn", "crypto/cipher:gmac:inturn",
			"fastmac:umac64:shuffled", "crypto/cipher:gmac:shuffled",
		},
	},
	{
		name:       "cores",
		sizes:      []int{coresSize},
		longer:     8, // a core that is late to start must not count
		contenders: []contender{"fastmac:umac64:onecore", "fastmac:umac64:allcores"},
	},
	{
		name:   "ssh",
		sizes:  []int{sshSize},
		longer: 10, // two schedulers, of Go and of the kernel, move these figures
		contenders: []contender{
			nullContender,
			"fastmac:umac-64-etm:ssh", "fastmac:umac-128-etm:ssh",
			"fakeboboliu:umac-64-etm:ssh", "fakeboboliu:umac-128-etm:ssh",
			sshHMACContender,
			"fastmac:hmac-sha2-512-etm:ssh", "x/crypto:hmac-sha2-512-etm:ssh",
			sshGCMContender, "x/crypto:chacha20-poly1305:ssh",
		},
	},
	{
		name:       "read",
		sizes:      []int{16 << 10, 4 * mib, 64 * mib},
		contenders: []contender{"reading:memory:loop", "fastmac:umac64:stream"},
	},
}

// The contenders that others are compared with.
const (
	gmacContender contender = "crypto/cipher:gmac:stream"
	readContender contender = "reading:memory:loop"

	hmacContender    contender = "crypto/hmac:hmac-sha512:stream"
	hmacSumContender contender = "crypto/hmac:hmac-sha512:sum"

	nullContender    contender = "nothing:null-64-etm:ssh"
	sshHMACContender contender = "x/crypto:hmac-sha2-256-etm:ssh"
	sshGCMContender  contender = "x/crypto:aes128-gcm:ssh"
)

var algTitles = map[string]string{
	"umac32":         "UMAC-32",
	"umac64":         "UMAC-64",
	"umac96":         "UMAC-96",
	"umac128":        "UMAC-128",
	"gmac":           "GMAC",
	"poly1305":       "Poly1305",
	"highwayhash128": "HighwayHash-128",
	"highwayhash256": "HighwayHash-256",
	"siphash":        "SipHash-2-4",
	"blake3":         "BLAKE3 keyed",
	"hmac-sha256":    "HMAC-SHA-256",
	"hmac-sha512":    "HMAC-SHA-512",
	"kmac128":        "KMAC128",
	"kmac256":        "KMAC256",
}

// title names the contender for readers. The mode is told where an
// implementation has several.
func (c contender) title() string {
	impl, alg, mode := c.parts()
	if algTitles[alg] != "" {
		alg = algTitles[alg]
	}
	switch {
	case c == readContender:
		return "merely reading"
	case c == nullContender:
		return "a MAC that does nothing"
	case impl != "fastmac":
	case mode == "oneshot":
		return impl + " " + alg + ", one-shot"
	case mode == "batch", mode == "sumbatch":
		return fmt.Sprintf("%s %s, batches of %d", impl, alg, batchSize)
	case mode == "init":
		return impl + " " + alg + ", Init"
	}
	return impl + " " + alg
}
