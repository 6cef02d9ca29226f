// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package rivals

import (
	"crypto"
	"hash"
	"net"
	"strings"
	"sync"

	"golang.org/x/crypto/ssh"

	"example.com/fastmac"
	"example.com/fastmac/internal/peers/serve"
	"example.com/fastmac/sshmac"
)

// sshModes returns what is measured in SSH, by implementation and algorithm. fastmac's MACs
// are registered under other names than in real use, so that x/crypto's HMAC-SHA-512 keeps
// its name.
var sshModes = sync.OnceValue(func() map[string]serve.SSHModes {
	const nullMAC = "null-64-etm"
	serve.RegisterSSHMAC(nullMAC, 16, func([]byte) hash.Hash { return null{} })
	modes := map[string]serve.SSHModes{
		"nothing:null-64-etm":        {Cipher: ssh.CipherAES128CTR, MAC: nullMAC, TagMAC: ssh.HMACSHA256ETM},
		"x/crypto:hmac-sha2-256-etm": {Cipher: ssh.CipherAES128CTR, MAC: ssh.HMACSHA256ETM, TagMAC: ssh.HMACSHA256ETM},
		"x/crypto:hmac-sha2-512-etm": {Cipher: ssh.CipherAES128CTR, MAC: ssh.HMACSHA512ETM, TagMAC: ssh.HMACSHA512ETM},
		"x/crypto:aes128-gcm":        {Cipher: ssh.CipherAES128GCM, TagMAC: ssh.HMACSHA256ETM},
		"x/crypto:chacha20-poly1305": {Cipher: ssh.CipherChaCha20Poly1305, TagMAC: ssh.HMACSHA256ETM},
	}
	hmac := sshmac.Mode{Name: ssh.HMACSHA512ETM, KeySize: 64, ETM: true, New: func(key []byte) hash.Hash {
		return must(fastmac.NewHMAC(crypto.SHA512, key))
	}}
	for _, m := range append(sshmac.Modes(), hmac) {
		if !m.ETM {
			continue
		}
		name := fastmacSSH + m.Name
		serve.RegisterSSHMAC(name, m.KeySize, m.New)
		alg, _, _ := strings.Cut(m.Name, "@")
		modes["fastmac:"+alg] = serve.SSHModes{Cipher: ssh.CipherAES128CTR, MAC: name, TagMAC: name}
	}
	return modes
})

// sshOps returns an op for each of sshModes, which op makes.
func sshOps(mode string, op func(serve.SSHModes) serve.Op) map[string]serve.Op {
	ops := make(map[string]serve.Op)
	for name, m := range sshModes() {
		ops[name+":"+mode] = op(m)
	}
	return ops
}

// ReceiveOps returns the ops of a process that receives through SSH.
func ReceiveOps(l net.Listener) map[string]serve.Op {
	return sshOps(Receiver, func(m serve.SSHModes) serve.Op { return serve.Receive(l, m) })
}

// SendOps returns the ops of a process that sends through SSH to one with [ReceiveOps].
func SendOps(addr string) map[string]serve.Op {
	return sshOps(Sender, func(m serve.SSHModes) serve.Op { return serve.Send(addr, m) })
}

// Receiver and Sender are the modes of the ends of an SSH connection in two processes,
// and the names of these processes as peers.
const (
	Receiver = "receive"
	Sender   = "send"
)

// fastmacSSH is the prefix of fastmac's MACs in x/crypto's table.
const fastmacSSH = "fastmac-"

// null is a MAC that does nothing: its tag is 8 zeros. It shows how much there is to
// gain from a faster MAC.
type null struct{}

func (null) Write(b []byte) (int, error) { return len(b), nil }
func (null) Sum(b []byte) []byte         { return append(b, 0, 0, 0, 0, 0, 0, 0, 0) }
func (null) Reset()                      {}
func (null) Size() int                   { return 8 }
func (null) BlockSize() int              { return 1 }
