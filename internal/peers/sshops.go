// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"hash"
	"os"
	"sync"

	"golang.org/x/crypto/ssh"

	"example.com/fastmac/sshmac"
)

// Names in the table of MACs that only this program knows.
const (
	// nullMAC does nothing: it is what a MAC could gain at most.
	nullMAC = "null-64-etm"

	// stdHMACSHA512 is x/crypto's own, whose name Register gives to fastmac's.
	stdHMACSHA512 = "x-crypto-hmac-sha2-512-etm"
)

// sshOps are the ops of group "ssh" in this process.
func sshOps() map[string]op {
	registerSSH()
	return map[string]op{
		"nothing:null-64-etm:ssh":        sshOp(ssh.CipherAES128CTR, nullMAC, ssh.HMACSHA256ETM),
		"fastmac:umac-64-etm:ssh":        sshMAC(sshmac.UMAC64ETM),
		"fastmac:umac-128-etm:ssh":       sshMAC(sshmac.UMAC128ETM),
		"fastmac:hmac-sha2-512-etm:ssh":  sshMAC(ssh.HMACSHA512ETM),
		"x/crypto:hmac-sha2-512-etm:ssh": sshMAC(stdHMACSHA512),
		"x/crypto:hmac-sha2-256-etm:ssh": sshMAC(ssh.HMACSHA256ETM),
		"x/crypto:aes128-gcm:ssh":        sshAEAD(ssh.CipherAES128GCM),
		"x/crypto:chacha20-poly1305:ssh": sshAEAD(ssh.CipherChaCha20Poly1305),
	}
}

// registerSSH adds to the table of MACs. If it cannot, no MAC but x/crypto's is
// negotiated, and the others are refused.
var registerSSH = sync.OnceFunc(func() {
	own := macModes[ssh.HMACSHA512ETM]
	if err := sshmac.Register(); err != nil {
		complain(os.Stderr, err)
		return
	}
	macModes[stdHMACSHA512] = own
	macModes[nullMAC] = &macMode{16, true, func([]byte) hash.Hash { return null{} }}
})

// null is a MAC with a tag of 8 zeros.
type null struct{}

func (null) Write(b []byte) (int, error) { return len(b), nil }
func (null) Sum(b []byte) []byte         { return append(b, 0, 0, 0, 0, 0, 0, 0, 0) }
func (null) Reset()                      {}
func (null) Size() int                   { return 8 }
func (null) BlockSize() int              { return 1 }
