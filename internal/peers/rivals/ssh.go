// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package rivals

import (
	"hash"
	"strings"

	"golang.org/x/crypto/ssh"

	"example.com/fastmac/internal/peers/serve"
	"example.com/fastmac/sshmac"
)

// sshOps returns the SSH ops of this process. fastmac's MACs are registered under
// other names than in real use, so that x/crypto's HMAC-SHA-512 keeps its name.
func sshOps() map[string]serve.Op {
	const nullMAC = "null-64-etm"
	serve.RegisterSSHMAC(nullMAC, 16, func([]byte) hash.Hash { return null{} })
	ops := map[string]serve.Op{
		string(NoMAC):                    serve.SSH(ssh.CipherAES128CTR, nullMAC, ssh.HMACSHA256ETM),
		string(SSHHMAC):                  serve.SSHMAC(ssh.HMACSHA256ETM),
		"x/crypto:hmac-sha2-512-etm:ssh": serve.SSHMAC(ssh.HMACSHA512ETM),
		string(SSHGCM):                   serve.SSH(ssh.CipherAES128GCM, "", ssh.HMACSHA256ETM),
		"x/crypto:chacha20-poly1305:ssh": serve.SSH(ssh.CipherChaCha20Poly1305, "", ssh.HMACSHA256ETM),
	}
	for _, m := range sshmac.Modes() {
		if !m.ETM {
			continue
		}
		serve.RegisterSSHMAC(fastmacSSH+m.Name, m.KeySize, m.New)
		alg, _, _ := strings.Cut(m.Name, "@")
		ops["fastmac:"+alg+":ssh"] = serve.SSHMAC(fastmacSSH + m.Name)
	}
	return ops
}

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
