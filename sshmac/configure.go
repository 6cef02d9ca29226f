// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sshmac

import (
	"slices"
	"strings"

	"example.com/fastmac"
	"golang.org/x/crypto/ssh"
)

// ConfigureServer calls [Register] and sets Ciphers and MACs of c, the Config of an
// ssh.ServerConfig:
//
//	c.Ciphers = sshmac.ServerCiphers()
//	c.MACs = sshmac.MACs()
//
// OpenSSH's clients, with nothing configured there, then use UMAC or AES-GCM in place of
// chacha20-poly1305. If ConfigureServer returns an error, it is the error of Register, and c is
// unchanged. Otherwise it replaces what c had in these fields. Call ConfigureServer once, before
// the first handshake of the process, not in a callback for each connection.
//
// In SSH the client's order decides: of the algorithms that the server has, the one that is first
// in the client's list is used. OpenSSH's ssh puts chacha20-poly1305 first. Without it, ssh up to
// version 9.9 uses aes128-ctr with umac-64-etm@openssh.com, whose tags have 64 bits, and from 10.0
// on aes128-gcm. Both take about half of the server's CPU time. Other clients that prefer
// chacha20-poly1305 use AES-GCM, or AES-CTR with the first of their MACs, which for old releases of
// Dropbear is hmac-sha1. docs/ssh.md in the module lists them, with figures for amd64.
//
// omitted has those of x/crypto's default ciphers that c no longer has:
// chacha20-poly1305@openssh.com where [fastmac.RequireGCM] returns nil, and elsewhere none. Clients
// that have no other cipher of x/crypto's can no longer connect, and neither can those that have
// only AES-CTR and none of its MACs. Old releases of thrussh are the only known ones. To let them
// in, keep the cipher, which OpenSSH then uses again:
//
//	c.Ciphers = append(c.Ciphers, omitted...)
func ConfigureServer(c *ssh.Config) (omitted []string, err error) {
	if err := Register(); err != nil {
		return nil, err
	}
	c.Ciphers, c.MACs = ServerCiphers(), MACs()
	for _, name := range defaults.Ciphers {
		if !slices.Contains(c.Ciphers, name) {
			omitted = append(omitted, name)
		}
	}
	return omitted, nil
}

// ServerCiphers returns the Ciphers that [ConfigureServer] sets: x/crypto's defaults, without
// chacha20-poly1305@openssh.com where [fastmac.RequireGCM] returns nil. Each call returns a new
// slice.
func ServerCiphers() []string { return serverCiphers(fastmac.RequireGCM() == nil) }

// serverCiphers is ServerCiphers of a machine on which AES-GCM runs on CPU instructions or not.
func serverCiphers(gcm bool) []string {
	return slices.DeleteFunc(slices.Clone(defaults.Ciphers), func(name string) bool {
		return gcm && name == chaCha20
	})
}

// Configure calls [Register] and sets Ciphers and MACs of c, the Config of an ssh.ClientConfig:
//
//	c.Ciphers = sshmac.Ciphers()
//	c.MACs = sshmac.MACs()
//
// The client then prefers UMAC, and can still connect to servers without it. If Configure returns
// an error, it is the error of Register, and c is unchanged. Otherwise it replaces what c had in
// these fields.
//
// With every server that has UMAC and a CTR cipher, the client uses aes128-ctr with
// umac-64-etm@openssh.com. OpenSSH's sshd has both by default, and so has a server that
// [ConfigureServer] has set up. With a server of x/crypto's defaults the client uses aes128-ctr
// with hmac-sha2-256-etm@openssh.com. For an ssh.ServerConfig use ConfigureServer: with Configure,
// clients that prefer chacha20-poly1305 use it.
//
// The cipher is chosen before the MAC. So the client cannot connect to a server that has a CTR
// cipher and none of these MACs, even if the server also has an AEAD cipher. OpenSSH, x/crypto,
// PuTTY, libssh and libssh2 have hmac-sha2-256. For the same reason, with a server that has a CTR
// cipher, an AEAD cipher and only an old MAC, such as hmac-sha1, the client uses the CTR cipher and
// that MAC. With x/crypto's defaults it would use the AEAD cipher.
//
// If every connection of a program must use a MAC, take the AEAD ciphers out of Ciphers. The
// program then cannot connect to servers that have nothing else.
func Configure(c *ssh.Config) error {
	if err := Register(); err != nil {
		return err
	}
	c.Ciphers, c.MACs = Ciphers(), MACs()
	return nil
}

// Ciphers returns the Ciphers that [Configure] sets for a client, in order of preference:
// x/crypto's defaults, with the CTR ciphers, which need a MAC, before the AEAD ciphers, which need
// none. Each call returns a new slice.
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

// MACs returns the MACs that [Configure] and [ConfigureServer] set, in order of preference: UMAC,
// HMAC-SHA-256 and HMAC-SHA-512 in OpenSSH's order, and then the rest of x/crypto's defaults,
// hmac-sha1 and hmac-sha1-96. Each call returns a new slice.
//
// Set Ciphers too: with x/crypto's default ciphers, most connections use an AEAD and no MAC.
// x/crypto skips names that are not registered, so without a successful call of [Register] it skips
// those of UMAC.
func MACs() []string {
	macs := []string{
		UMAC64ETM, UMAC128ETM, hmacSHA256ETM, hmacSHA512ETM,
		UMAC64, UMAC128, hmacSHA256, hmacSHA512,
	}
	for _, name := range defaults.MACs {
		if !slices.Contains(macs, name) {
			macs = append(macs, name)
		}
	}
	return macs
}

// chaCha20 is the default cipher that is slower than AES-GCM on CPU instructions. Old releases of
// x/crypto do not export the name.
const chaCha20 = "chacha20-poly1305@openssh.com"

// defaults has the lists of x/crypto. To make them, x/crypto reads its table of MACs without
// a lock, so this is done before Register can change the table.
var defaults = func() (c ssh.Config) {
	c.SetDefaults()
	return c
}()
