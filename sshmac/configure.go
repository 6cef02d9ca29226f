// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sshmac

import (
	"slices"
	"strings"

	"golang.org/x/crypto/ssh"
)

// Configure calls [Register] and sets the fields Ciphers and MACs of c, the Config of an
// ssh.ClientConfig or ssh.ServerConfig, to [Ciphers] and [MACs], so that UMAC is preferred and
// peers without it are not shut out.
//
// What c had in these fields is replaced. If Configure returns an error, which is that of
// Register, c is unchanged. It then is still a valid configuration, without UMAC.
//
// In SSH the client's order decides: the first algorithm in it that the server has is
// used. So Configure has this effect:
//
//   - A client uses UMAC with every server that has it and a CTR cipher, as OpenSSH's
//     sshd has by default: aes128-ctr with umac-64-etm@openssh.com. With a server of
//     x/crypto's defaults it uses aes128-ctr with hmac-sha2-256-etm@openssh.com.
//   - A server uses what the client prefers. OpenSSH's ssh and x/crypto's client prefer
//     an AEAD cipher by default, and then there is no MAC. After ssh -o
//     Ciphers=aes128-ctr, OpenSSH's client and this server use umac-64-etm@openssh.com.
//
// A peer that has a CTR cipher and none of these MACs is shut out, even if it also has an
// AEAD cipher, because the cipher is chosen first. OpenSSH, x/crypto, PuTTY, libssh and
// libssh2 have hmac-sha2-256. For the same reason a server with a CTR cipher, an AEAD cipher
// and only an old MAC, such as hmac-sha1, uses the CTR cipher and that MAC with a client that
// Configure has set up, and the AEAD cipher with x/crypto's defaults.
//
// A server on which every connection must use a MAC needs Ciphers without the AEAD ones.
// It shuts out the clients that have nothing else.
func Configure(c *ssh.Config) error {
	if err := Register(); err != nil {
		return err
	}
	c.Ciphers, c.MACs = Ciphers(), MACs()
	return nil
}

// Ciphers returns names for the Ciphers field of an ssh.Config: x/crypto's default, with the CTR
// ciphers, which need a MAC, before the AEAD ciphers, which need none.
func Ciphers() []string {
	var defaults ssh.Config
	defaults.SetDefaults()
	isCTR := func(cipher string) bool { return strings.HasSuffix(cipher, "-ctr") }
	return append(
		slices.DeleteFunc(slices.Clone(defaults.Ciphers), func(name string) bool { return !isCTR(name) }),
		slices.DeleteFunc(slices.Clone(defaults.Ciphers), isCTR)...)
}

// MACs returns names for the MACs field of an ssh.Config: those of [Modes] and x/crypto's HMACs
// with SHA-2, in OpenSSH's order of preference, and then x/crypto's other defaults. Of these,
// hmac-sha1-96 is left out, which x/crypto calls insecure. x/crypto skips names in such a list
// that are not registered.
func MACs() []string {
	macs := []string{
		UMAC64ETM, UMAC128ETM, hmacSHA256ETM, hmacSHA512ETM,
		UMAC64, UMAC128, hmacSHA256, hmacSHA512,
	}
	var defaults ssh.Config
	defaults.SetDefaults()
	for _, name := range defaults.MACs {
		if name != insecureMAC && !slices.Contains(macs, name) {
			macs = append(macs, name)
		}
	}
	return macs
}

// insecureMAC is the one MAC among x/crypto's defaults that its InsecureAlgorithms lists.
// Old releases do not have that function.
const insecureMAC = "hmac-sha1-96"
