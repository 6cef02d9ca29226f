// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"bytes"
	"reflect"
	"testing"

	"golang.org/x/crypto/ssh"

	"example.com/fastmac"
)

// TestSSHTable checks whose MAC is measured under which name.
func TestSSHTable(t *testing.T) {
	registerSSH()
	ours := reflect.TypeFor[*fastmac.HMACSHA512]()
	for name, want := range map[string]bool{ssh.HMACSHA512ETM: true, stdHMACSHA512: false} {
		m := macModes[name]
		if m == nil || !m.etm || (reflect.TypeOf(m.new(key[:m.keySize])) == ours) != want {
			t.Errorf("%s: fastmac's is wanted: %v", name, want)
		}
	}
}

func TestSSHConn(t *testing.T) {
	registerSSH()
	c, err := newSSHConn(ssh.CipherAES128CTR, nullMAC)
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range []int{1, sshSize, 3*sshSize + 1} {
		msg := newMessage(size)
		if got, err := c.transfer(msg, 3); err != nil || !bytes.Equal(got, msg) {
			t.Errorf("%d bytes: what arrived is equal: %v, error %v", size, bytes.Equal(got, msg), err)
		}
	}
	c.client.Close()
	if _, err := c.transfer(newMessage(1), 1); err == nil {
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
		if tag := sshOp(test[0], test[1], ssh.HMACSHA256ETM)(newMessage(sshSize), 1); tag != nil {
			t.Errorf("%s: tag %x", test, tag)
		}
	}
}
