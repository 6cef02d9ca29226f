// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package rivals holds what is measured: groups of contenders, the programs that run
// them, in Go, C and Rust, and the tags that all of them must compute.
//
// To add a rival: add a program that speaks the protocol of package serve, or ops to
// [GoOps]; build it in build.go; name its contenders in [Groups]; if its algorithm is
// new, add tags to known.json.
package rivals

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// A Contender is an op of a peer: implementation, algorithm and mode, as in
// "nettle:umac64:stream".
type Contender string

// Parts returns implementation, algorithm and mode.
func (c Contender) Parts() (impl, alg, mode string) {
	f := strings.SplitN(string(c), ":", 3)
	return f[0], f[1], f[2]
}

// Peer returns the name of the peer that serves the contender.
func (c Contender) Peer() string {
	impl, _, mode := c.Parts()
	if mode == Receiver || mode == Sender {
		return mode
	}
	switch impl {
	case "nettle", "OpenSSL", "OpenSSH", "fakeboboliu", "reading", "ipsec-mb", "RustCrypto", "ring", "orion", "aws-lc-rs", "BoringSSL":
		return impl
	}
	return GoPeer
}

// PerCall returns how many messages the contender tags in one call.
func (c Contender) PerCall() int {
	if _, _, mode := c.Parts(); mode == "batch" || mode == "apart" || mode == "sumbatch" {
		return BatchSize
	}
	return 1
}

// A Group is measured together: in each round, at each size, its contenders take
// turns.
type Group struct {
	Name       string
	Sizes      []int
	Contenders []Contender
	MinRun     int // the least number of messages in a run
	Longer     int // runs take this many times as long, in fewer rounds; 0 means 1
}

const (
	mib = 1 << 20

	// hmacSumSize is the size of the messages that have a key each.
	hmacSumSize = 28

	// CPUGroup is the name of the group that measures CPU time, of both ends of an SSH
	// connection in a process each.
	CPUGroup = "ssh-cpu"

	// sshSize is the most that x/crypto puts in an SSH packet.
	sshSize = 32768
)

var gcmSizes = []int{16, 64, 256, 1024, 1500, 4096, 16384}

// Groups is everything that is measured.
var Groups = []Group{
	{
		Name:  "message",
		Sizes: []int{16, 32, 64, 256, 1024, 1500, 4096, 16384, mib},
		Contenders: contenders(
			"fastmac:umac32,umac64,umac96,umac128:stream,oneshot",
			"fakeboboliu,OpenSSH,nettle:umac64,umac128:stream",
			"fastmac:gmac:stream,oneshot",
			"crypto/cipher,ring,RustCrypto,aws-lc-rs,BoringSSL,OpenSSL,ipsec-mb:gmac:stream",
			"x/crypto:poly1305:oneshot",
			"minio:highwayhash128,highwayhash256:oneshot",
			"dchest:siphash:oneshot",
			"zeebo:blake3:stream",
			"fastmac:hmac-sha256,hmac-sha512:stream,oneshot",
			"crypto/hmac:hmac-sha256,hmac-sha512:stream",
			"OpenSSL:kmac128,kmac256:stream",
		),
	},
	{
		Name:  "key",
		Sizes: []int{64}, // of the message whose tag shows that the key is right
		Contenders: contenders(
			"fastmac:umac32:new", "fastmac:umac64:new,init", "fastmac:umac96,umac128:new",
			"fakeboboliu,OpenSSH,nettle:umac64,umac128:new",
			"fastmac:gmac:new,init",
			"crypto/cipher,OpenSSL:gmac:new",
			"zeebo:blake3:new",
			"fastmac,crypto/hmac:hmac-sha256,hmac-sha384,hmac-sha512:new",
		),
	},
	{
		Name:  "hmac-sum",
		Sizes: []int{hmacSumSize},
		Contenders: contenders(
			"fastmac:hmac-sha256,hmac-sha384,hmac-sha512:sum,sumstream,sumbatch",
			"crypto/hmac:hmac-sha256,hmac-sha384,hmac-sha512:sum",
			"RustCrypto,ring,orion,aws-lc-rs,BoringSSL,OpenSSL,nettle:hmac-sha256,hmac-sha512:sum",
			"ipsec-mb:hmac-sha256,hmac-sha512:sumbatch",
		),
	},
	{
		Name:  "hmac",
		Sizes: []int{16, hmacSumSize, 32, 1024, 1500, 16384},
		Contenders: contenders(
			"fastmac:hmac-sha256,hmac-sha384,hmac-sha512:stream,oneshot,batch,apart",
			"crypto/hmac:hmac-sha256,hmac-sha384,hmac-sha512:stream",
			"RustCrypto,ring,orion,aws-lc-rs,BoringSSL,OpenSSL,nettle:hmac-sha256,hmac-sha512:stream",
			"ipsec-mb:hmac-sha256,hmac-sha512:batch,apart",
		),
	},
	{
		Name:  "pbkdf2",
		Sizes: []int{16}, // of the salt
		Contenders: contenders(
			"fastmac:pbkdf2-sha256,pbkdf2-sha512:derive,batch",
			"crypto/pbkdf2,RustCrypto,ring,aws-lc-rs,BoringSSL,OpenSSL,nettle:pbkdf2-sha256,pbkdf2-sha512:derive",
		),
	},
	{
		Name:  "hkdf",
		Sizes: []int{16}, // of the info
		Contenders: contenders(
			"fastmac,crypto/hkdf,RustCrypto,OpenSSL:hkdf-sha256,hkdf-sha512:derive",
		),
	},
	{
		Name:       "seal",
		Sizes:      gcmSizes,
		Contenders: contenders("fastmac,crypto/cipher,ring,RustCrypto,aws-lc-rs,BoringSSL,OpenSSL,ipsec-mb:aes256-gcm:seal"),
	},
	{
		Name:       "open",
		Sizes:      gcmSizes,
		Contenders: contenders("fastmac,crypto/cipher,ring,RustCrypto,aws-lc-rs,BoringSSL,OpenSSL,ipsec-mb:aes256-gcm:open"),
	},
	{
		Name:   "streams",
		Sizes:  []int{64},
		MinRun: 20 * StreamCount, // each stream has nonces in order
		Longer: 20,
		Contenders: contenders(
			"fastmac:umac64:inturn", "crypto/cipher:gmac:inturn",
			"fastmac:umac64:shuffled", "crypto/cipher:gmac:shuffled",
		),
	},
	{
		Name:       "cores",
		Sizes:      []int{16384},
		Longer:     8, // the start of the second core must not count
		Contenders: contenders("fastmac:umac64:onecore,allcores"),
	},
	{
		Name:   "ssh",
		Sizes:  []int{sshSize},
		Longer: 40, // the schedulers of Go and of the kernel affect these figures
		Contenders: contenders(
			string(NoMAC),
			"fastmac,fakeboboliu:umac-64-etm,umac-128-etm:ssh",
			"x/crypto:hmac-sha2-256-etm:ssh",
			"fastmac,x/crypto:hmac-sha2-512-etm:ssh",
			"x/crypto:aes128-gcm,chacha20-poly1305:ssh",
		),
	},
	{
		Name:   CPUGroup,
		Sizes:  []int{sshSize},
		MinRun: 128 * mib / sshSize,
		Longer: 40,
		Contenders: contenders(
			"nothing:null-64-etm:receive,send",
			"fastmac:umac-64-etm,umac-128-etm:receive,send",
			"x/crypto:hmac-sha2-256-etm:receive,send",
			"fastmac:hmac-sha2-512-etm:receive,send",
			"x/crypto:aes128-gcm:receive,send",
		),
	},
	{
		Name:       "read",
		Sizes:      []int{16 << 10, 4 * mib, 64 * mib},
		Contenders: contenders(string(Reading), "fastmac:umac64:stream"),
	},
}

// Only returns the groups with those contenders for which "GROUP:CONTENDER" matches, as
// "seal:fastmac:aes256-gcm:seal".
func Only(groups []Group, matches *regexp.Regexp) (some []Group) {
	for _, g := range groups {
		g.Contenders = slices.DeleteFunc(slices.Clone(g.Contenders), func(c Contender) bool {
			return !matches.MatchString(g.Name + ":" + string(c))
		})
		if len(g.Contenders) > 0 {
			some = append(some, g)
		}
	}
	return some
}

// contenders expands patterns in which commas separate alternatives.
func contenders(patterns ...string) (all []Contender) {
	for _, pattern := range patterns {
		impls, algs, modes := Contender(pattern).Parts()
		for impl := range strings.SplitSeq(impls, ",") {
			for alg := range strings.SplitSeq(algs, ",") {
				for mode := range strings.SplitSeq(modes, ",") {
					all = append(all, Contender(impl+":"+alg+":"+mode))
				}
			}
		}
	}
	return all
}

// Contenders that others are compared with.
const (
	GMAC    Contender = "crypto/cipher:gmac:stream"
	Seal    Contender = "crypto/cipher:aes256-gcm:seal"
	Open    Contender = "crypto/cipher:aes256-gcm:open"
	Reading Contender = "reading:memory:loop"

	NoMAC   Contender = "nothing:null-64-etm:ssh"
	SSHHMAC Contender = "x/crypto:hmac-sha2-256-etm:ssh"
	SSHGCM  Contender = "x/crypto:aes128-gcm:ssh"
)

var algTitles = map[string]string{
	"umac32":         "UMAC-32",
	"umac64":         "UMAC-64",
	"umac96":         "UMAC-96",
	"umac128":        "UMAC-128",
	"gmac":           "GMAC",
	"aes256-gcm":     "AES-256-GCM",
	"poly1305":       "Poly1305",
	"highwayhash128": "HighwayHash-128",
	"highwayhash256": "HighwayHash-256",
	"siphash":        "SipHash-2-4",
	"blake3":         "BLAKE3 keyed",
	"hmac-sha256":    "HMAC-SHA-256",
	"hmac-sha384":    "HMAC-SHA-384",
	"hmac-sha512":    "HMAC-SHA-512",
	"pbkdf2-sha256":  "PBKDF2-HMAC-SHA-256",
	"pbkdf2-sha512":  "PBKDF2-HMAC-SHA-512",
	"hkdf-sha256":    "HKDF-SHA-256",
	"hkdf-sha512":    "HKDF-SHA-512",
	"kmac128":        "KMAC128",
	"kmac256":        "KMAC256",
}

// Title names the contender for readers. It has the mode if an implementation has
// several.
func (c Contender) Title() string {
	impl, alg, mode := c.Parts()
	alg = cmp.Or(algTitles[alg], alg)
	switch {
	case c == Reading:
		return "reading alone"
	case impl == "nothing":
		return "a MAC that does nothing"
	case mode == "seal" || mode == "open":
		alg += " " + mode
	case c.PerCall() > 1:
		alg += fmt.Sprintf(", batches of %d", BatchSize)
		if mode == "apart" {
			alg += fmt.Sprintf(", %d bytes apart", gap)
		}
	case impl != "fastmac":
	case mode == "oneshot":
		alg += ", one-shot"
	case mode == "sumstream":
		alg += ", a stream for each"
	case mode == "init":
		alg += ", Init"
	}
	return impl + " " + alg
}

// Version returns the key of the contender's version among those that peers report, and a
// name to print before it where it is not that of the implementation. There is no version
// of reading alone.
func (c Contender) Version() (key, name string) {
	impl, alg, _ := c.Parts()
	switch impl {
	case "reading":
		return "", ""
	case "OpenSSH":
		return "OpenSSH umac.c", "umac.c "
	case "fakeboboliu":
		return "fakeboboliu/umac", ""
	case "x/crypto":
		return "golang.org/x/crypto", ""
	case "minio":
		return "minio/highwayhash", ""
	case "dchest":
		return "dchest/siphash", ""
	case "zeebo":
		return "zeebo/blake3", ""
	case "ring", "orion", "aws-lc-rs":
		return "crate " + impl, ""
	case "BoringSSL":
		return "crate boring-sys", "boring-sys "
	case "RustCrypto":
		crate, _, _ := strings.Cut(alg, "-")
		if crate != "hmac" && crate != "pbkdf2" && crate != "hkdf" {
			crate = "aes-gcm"
		}
		return "crate " + crate, crate + " "
	}
	return impl, ""
}
