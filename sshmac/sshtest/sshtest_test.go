// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sshtest

import (
	"net"
	"testing"

	"golang.org/x/crypto/ssh"
)

// recorder records that a check failed.
type recorder struct {
	testing.TB
	failed bool
}

func (r *recorder) Helper()               {}
func (r *recorder) Errorf(string, ...any) { r.failed = true }

func TestCheckLog(t *testing.T) {
	const (
		up   = "debug1: kex: client->server cipher: aes128-ctr MAC: hmac-sha2-256 compression: none\r\n"
		down = "debug1: kex: server->client cipher: aes128-ctr MAC: hmac-sha2-256 compression: none\r\n"
	)
	for _, tt := range []struct {
		log    string
		a      Algorithms
		failed bool
	}{
		{up + down, Algorithms{"aes128-ctr", "hmac-sha2-256"}, false},
		{up + down + up + down, Algorithms{"aes128-ctr", "hmac-sha2-256"}, false},
		{"", Algorithms{"aes128-ctr", "hmac-sha2-256"}, true},
		{up + up, Algorithms{"aes128-ctr", "hmac-sha2-256"}, true},
		{up + down, Algorithms{"aes128-ctr", "hmac-sha2-512"}, true},
		{up + down, Algorithms{"aes256-ctr", "hmac-sha2-256"}, true},
	} {
		r := &recorder{TB: t}
		if tt.a.CheckLog(r, []byte(tt.log)); r.failed != tt.failed {
			t.Errorf("CheckLog(%q) of %v: failed %v, want %v", tt.log, tt.a, r.failed, tt.failed)
		}
	}
}

func TestCheckConn(t *testing.T) {
	a := Algorithms{"aes128-ctr", "hmac-sha2-256"}
	dir := NewDir(t)
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() {
		if raw, err := listener.Accept(); err == nil {
			ssh.NewServerConn(raw, dir.ServerConfig(a.Config()))
		}
	}()
	client, err := ssh.Dial("tcp4", listener.Addr().String(), dir.ClientConfig(a.Config()))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	for other, failed := range map[Algorithms]bool{
		a:                               false,
		{"aes256-ctr", "hmac-sha2-256"}: true,
		{"aes128-ctr", "hmac-sha2-512"}: true,
	} {
		r := &recorder{TB: t}
		if other.CheckConn(r, client.Conn); r.failed != failed {
			t.Errorf("CheckConn of %v: failed %v, want %v", other, r.failed, failed)
		}
	}
}
