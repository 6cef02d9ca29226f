// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sshmac

import (
	"slices"
	"strings"

	"golang.org/x/crypto/ssh"
)

// Configure calls [Register] and sets Ciphers and MACs of c, the Config of an
// ssh.ClientConfig or ssh.ServerConfig, so that UMAC is preferred and peers without it are
// not shut out:
//
//	c.Ciphers = sshmac.Ciphers()
//	c.MACs = sshmac.MACs()
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

// Ciphers returns the list for the Ciphers of an ssh.Config that [Configure] sets, in order of
// preference: x/crypto's defaults, with the CTR ciphers, which need a MAC, before the AEAD
// ciphers, which need none. Each call returns a new slice.
func Ciphers() []string {
	var ctr, aead []string
	for _, name := range defaults.Ciphers {
		if strings.HasSuffix(name, "-ctr") {
			ctr = append(ctr, name)
		} else {
			aead = append(aead, name)
		}
	}
	return append(ctr, aead...)
}

// MACs returns the list for the MACs of an ssh.Config that [Configure] sets, in order of
// preference: UMAC, HMAC-SHA-256 and HMAC-SHA-512 in OpenSSH's order, and after them
// x/crypto's defaults that are not among them. Of these, hmac-sha1-96 is left out, which
// x/crypto calls insecure. Each call returns a new slice.
//
// Set Ciphers too: with x/crypto's default ciphers, most connections use an AEAD and no MAC.
// x/crypto skips names that are not registered: without [Register], or if it fails, those of
// UMAC.
func MACs() []string {
	macs := []string{
		UMAC64ETM, UMAC128ETM, hmacSHA256ETM, hmacSHA512ETM,
		UMAC64, UMAC128, hmacSHA256, hmacSHA512,
	}
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

// defaults has the lists of x/crypto. To make them, x/crypto reads its table of MACs without
// a lock, so this is done before Register can change the table.
var defaults = func() (c ssh.Config) {
	c.SetDefaults()
	return c
}()
