// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package serve

import (
	"bytes"
	"testing"

	"golang.org/x/crypto/ssh"
)

func TestSSHTransfer(t *testing.T) {
	c, err := dialSSH(SSHModes{ssh.CipherAES128CTR, ssh.HMACSHA256ETM, ssh.HMACSHA256ETM})
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range []int{1, 32768, 3*32768 + 1} {
		msg := Message(size)
		if got, err := c.transfer(msg, 3); err != nil || !bytes.Equal(got, msg) {
			t.Errorf("%d bytes: what arrived is equal: %v, error %v", size, bytes.Equal(got, msg), err)
		}
	}
	c.client.Close()
	if _, err := c.transfer(Message(1), 1); err == nil {
		t.Error("no error from a channel that is closed")
	}
}

// TestSSHRefuses asks for what cannot be negotiated: there must be no tag.
func TestSSHRefuses(t *testing.T) {
	for _, test := range [][2]string{
		{ssh.CipherAES128CTR, "unknown"},
		{"unknown", ssh.HMACSHA256ETM},
		{ssh.CipherAES128GCM, ssh.HMACSHA256ETM}, // is negotiated, without the MAC
	} {
		if tag := SSH(SSHModes{test[0], test[1], ssh.HMACSHA256ETM})(Message(32768), 1); tag != nil {
			t.Errorf("%s: tag %x", test, tag)
		}
	}
}
