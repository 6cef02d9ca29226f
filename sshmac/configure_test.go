// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sshmac

import (
	"bytes"
	"crypto/fips140"
	"errors"
	"fmt"
	"net"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"example.com/fastmac"
	"example.com/fastmac/sshmac/sshtest"
	"golang.org/x/crypto/ssh"
)

const gcm128 = "aes128-gcm@openssh.com" // old releases of x/crypto do not export it

// configured returns a configuration that Configure made.
func configured(t *testing.T) ssh.Config {
	t.Helper()
	registered(t)
	var c ssh.Config
	if err := Configure(&c); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestConfigure(t *testing.T) {
	before := ssh.Config{RekeyThreshold: 1 << 20, KeyExchanges: []string{"curve25519-sha256"}, Ciphers: []string{"aes128-cbc"}, MACs: []string{"hmac-sha1-96"}}
	c := before
	err := Configure(&c)
	if fips140.Enabled() {
		if err == nil || !reflect.DeepEqual(c, before) {
			t.Errorf("in FIPS 140 mode: %v, %+v", err, c)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	var defaults ssh.Config
	defaults.SetDefaults()
	isAEAD := func(name string) bool { return !strings.HasSuffix(name, "-ctr") }
	first := slices.IndexFunc(c.Ciphers, isAEAD)
	if first < 3 || slices.ContainsFunc(c.Ciphers[first:], func(name string) bool { return !isAEAD(name) }) {
		t.Errorf("ciphers %q: want all CTR ciphers before the others", c.Ciphers)
	}
	if !slices.Equal(slices.Sorted(slices.Values(c.Ciphers)), slices.Sorted(slices.Values(defaults.Ciphers))) {
		t.Errorf("ciphers %q: want those of x/crypto, %q", c.Ciphers, defaults.Ciphers)
	}
	if !slices.Equal(c.Ciphers, Ciphers()) || !slices.Equal(c.MACs, MACs()) {
		t.Errorf("%q and %q, want those of Ciphers and MACs, %q and %q", c.Ciphers, c.MACs, Ciphers(), MACs())
	}
	before.Ciphers, before.MACs = c.Ciphers, c.MACs
	if !reflect.DeepEqual(c, before) {
		t.Errorf("%+v: another field has changed", c)
	}
}

func TestConfigureServer(t *testing.T) {
	before := ssh.Config{RekeyThreshold: 1 << 20, KeyExchanges: []string{"curve25519-sha256"}, Ciphers: []string{"aes128-cbc"}, MACs: []string{"hmac-sha1-96"}}
	c := before
	omitted, err := ConfigureServer(&c)
	if fips140.Enabled() {
		if err == nil || omitted != nil || !reflect.DeepEqual(c, before) {
			t.Errorf("in FIPS 140 mode: %q, %v, %+v", omitted, err, c)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	if fastmac.RequireGCM() == nil {
		want = []string{chaCha20}
	}
	if !slices.Equal(omitted, want) {
		t.Errorf("omitted %q, want %q", omitted, want)
	}
	var defaults ssh.Config
	defaults.SetDefaults()
	all := append(slices.Clone(c.Ciphers), omitted...)
	if !slices.Equal(slices.Sorted(slices.Values(all)), slices.Sorted(slices.Values(defaults.Ciphers))) {
		t.Errorf("ciphers %q and omitted %q: want those of x/crypto, %q", c.Ciphers, omitted, defaults.Ciphers)
	}
	if !slices.Equal(c.Ciphers, ServerCiphers()) || !slices.Equal(c.MACs, MACs()) {
		t.Errorf("%q and %q, want those of ServerCiphers and MACs, %q and %q", c.Ciphers, c.MACs, ServerCiphers(), MACs())
	}
	before.Ciphers, before.MACs = c.Ciphers, c.MACs
	if !reflect.DeepEqual(c, before) {
		t.Errorf("%+v: another field has changed", c)
	}
	if slices.Contains(serverCiphers(true), chaCha20) || !slices.Contains(serverCiphers(false), chaCha20) {
		t.Errorf("with instructions for AES-GCM a server has %q, and without %q", serverCiphers(true), serverCiphers(false))
	}
}

// TestConfigureFails checks that a config does not change if Register fails.
func TestConfigureFails(t *testing.T) {
	defer func(f func() error) { registerOnce = f }(registerOnce)
	want := errors.New("not registered")
	registerOnce = func() error { return want }
	before := ssh.Config{Ciphers: []string{"aes128-cbc"}, MACs: []string{"hmac-sha1-96"}}
	c := before
	if err := Configure(&c); err != want || !reflect.DeepEqual(c, before) {
		t.Errorf("Configure: %v, %+v", err, c)
	}
	if omitted, err := ConfigureServer(&c); omitted != nil || err != want || !reflect.DeepEqual(c, before) {
		t.Errorf("ConfigureServer: %q, %v, %+v", omitted, err, c)
	}
}

// TestLists checks that MACs has the defaults of x/crypto, and that the callers of the functions
// that return lists can change what they get, for themselves only.
func TestLists(t *testing.T) {
	var before ssh.Config
	before.SetDefaults()
	for _, name := range before.MACs {
		if !slices.Contains(MACs(), name) {
			t.Errorf("%s is not among MACs", name)
		}
	}
	lists := map[string]func() []string{"Ciphers": Ciphers, "ServerCiphers": ServerCiphers, "MACs": MACs}
	for _, gcm := range []bool{false, true} {
		lists[fmt.Sprintf("serverCiphers(%t)", gcm)] = func() []string { return serverCiphers(gcm) }
	}
	for name, list := range lists {
		want := slices.Clone(list())
		if got := slices.Compact(slices.Sorted(slices.Values(want))); len(got) != len(want) {
			t.Errorf("%s has a name twice: %q", name, want)
		}
		changed := list()
		clear(changed[:cap(changed)])
		if got := list(); !slices.Equal(got, want) {
			t.Errorf("%s after a change of what it has returned: %q, want %q", name, got, want)
		}
	}
	var after ssh.Config
	after.SetDefaults()
	if !slices.Equal(after.Ciphers, before.Ciphers) || !slices.Equal(after.MACs, before.MACs) {
		t.Errorf("x/crypto's defaults have changed from %+v to %+v", before, after)
	}
}

// TestCiphers negotiates each of Ciphers. TestRegister does that with each of MACs.
func TestCiphers(t *testing.T) {
	registered(t)
	for _, cipher := range Ciphers() {
		t.Run(cipher, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				config := only(MACs()...)
				config.Ciphers = []string{cipher}
				want := sshtest.Algorithms{Cipher: cipher}
				if strings.HasSuffix(cipher, "-ctr") {
					want.MAC = UMAC64ETM
				}
				client, server := connectMem(t, clientConfig(config))
				for _, e := range []end{client, server} {
					want.CheckConn(t, e.conn)
				}
				if err := both(client, server, 0, 10_000); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// TestConfigurePeers negotiates with ends that have another configuration.
func TestConfigurePeers(t *testing.T) {
	ours := configured(t)
	var defaults ssh.Config
	defaults.SetDefaults()
	server := ssh.Config{Ciphers: serverCiphers(true), MACs: MACs()}
	all := ssh.Config{Ciphers: append(serverCiphers(true), chaCha20), MACs: MACs()}
	openSSHMACs := []string{UMAC64ETM, UMAC128ETM, hmacSHA256ETM, hmacSHA512ETM, "hmac-sha1", UMAC64, UMAC128, hmacSHA256, hmacSHA512}
	ctrFirst := ssh.Config{Ciphers: []string{chaCha20, "aes128-ctr", "aes192-ctr", "aes256-ctr", gcm128}, MACs: openSSHMACs}
	gcmFirst := ssh.Config{Ciphers: []string{chaCha20, gcm128, "aes128-ctr", "aes192-ctr", "aes256-ctr"}, MACs: openSSHMACs}
	for _, tt := range []struct {
		name           string
		client, server ssh.Config
		want           sshtest.Algorithms
	}{
		{"both", ours, ours, sshtest.Algorithms{Cipher: "aes128-ctr", MAC: UMAC64ETM}},
		{"server of the defaults", ours, defaults, sshtest.Algorithms{Cipher: "aes128-ctr", MAC: hmacSHA256ETM}},
		{"client of the defaults", defaults, ours, sshtest.Algorithms{Cipher: defaults.Ciphers[0]}},
		{"server with AEAD only", ours, ssh.Config{Ciphers: []string{chaCha20}}, sshtest.Algorithms{Cipher: chaCha20}},
		{"client with AEAD only", ssh.Config{Ciphers: []string{chaCha20}}, ours, sshtest.Algorithms{Cipher: chaCha20}},
		{"server with one CTR size", ours, ssh.Config{Ciphers: []string{"aes192-ctr"}}, sshtest.Algorithms{Cipher: "aes192-ctr", MAC: hmacSHA256ETM}},
		// It also has an AEAD, but the cipher is chosen first.
		{"server with the oldest MAC", ours, ssh.Config{MACs: []string{"hmac-sha1"}}, sshtest.Algorithms{Cipher: "aes128-ctr", MAC: "hmac-sha1"}},
		{"our server, our client", ours, server, sshtest.Algorithms{Cipher: "aes128-ctr", MAC: UMAC64ETM}},
		{"our server, client of the defaults", defaults, server, sshtest.Algorithms{Cipher: gcm128}},
		{"our server, OpenSSH 9.9", ctrFirst, server, sshtest.Algorithms{Cipher: "aes128-ctr", MAC: UMAC64ETM}},
		{"our server, OpenSSH 10.0", gcmFirst, server, sshtest.Algorithms{Cipher: gcm128}},
		{"our server, client with the oldest MAC", ssh.Config{Ciphers: []string{chaCha20, "aes256-ctr"}, MACs: []string{"hmac-sha1-96"}}, server, sshtest.Algorithms{Cipher: "aes256-ctr", MAC: "hmac-sha1-96"}},
		{"our server with what is omitted", ctrFirst, all, sshtest.Algorithms{Cipher: chaCha20}},
		{"our server, client with AEAD only", ssh.Config{Ciphers: []string{chaCha20}}, server, sshtest.Algorithms{}},
		{"client with the other UMAC", ssh.Config{Ciphers: []string{"aes256-ctr"}, MACs: []string{UMAC128}}, ours, sshtest.Algorithms{Cipher: "aes256-ctr", MAC: UMAC128}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				clientRaw, serverRaw := newMemConns()
				serverErr := make(chan error, 1)
				var server end
				go func() {
					var err error
					server, _, err = serve(serverRaw, tt.server)
					serverErr <- err
				}()
				client, err := dial(clientRaw, clientConfig(tt.client), nil)
				if tt.want.Cipher == "" {
					if serverErr := <-serverErr; err == nil || serverErr == nil || !strings.Contains(serverErr.Error(), "no common algorithm") {
						t.Errorf("client %v, server %v, want no cipher in common", err, serverErr)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				if err := <-serverErr; err != nil {
					t.Fatal(err)
				}
				for _, e := range []end{client, server} {
					tt.want.CheckConn(t, e.conn)
				}
				if err := both(client, server, 0, 10_000); err != nil {
					t.Error(err)
				}
				client.conn.Close()
				server.conn.Close()
			})
		})
	}
}

// TestConfigureOpenSSHServer connects to an sshd with its default algorithms.
func TestConfigureOpenSSHServer(t *testing.T) {
	config := configured(t)
	dir := sshtest.NewDir(t)
	// A plus adds to the defaults, which have both.
	sshd := dir.SSHD(t, sshtest.Algorithms{Cipher: "+aes128-ctr", MAC: "+" + UMAC64ETM})
	var log bytes.Buffer
	sshd.Stderr = &log
	raw := sshtest.Start(t, sshd)
	conn, channels, requests, err := ssh.NewClientConn(raw, "", dir.ClientConfig(config))
	if err != nil {
		t.Fatalf("%v\n%s", err, &log)
	}
	want := sshtest.Algorithms{Cipher: "aes128-ctr", MAC: UMAC64ETM}
	want.CheckConn(t, conn)
	ssh.NewClient(conn, channels, requests).Close()
	sshd.Wait() // fails, because no session was opened
	want.CheckLog(t, log.Bytes())
}

// TestConfigureServerOpenSSH has OpenSSH's client connect with its default MACs, and with the
// first ciphers of its releases up to 9.9 and from 10.0 on.
func TestConfigureServerOpenSSH(t *testing.T) {
	registered(t)
	if err := fastmac.RequireGCM(); err != nil {
		t.Skip(err)
	}
	var config ssh.Config
	if _, err := ConfigureServer(&config); err != nil {
		t.Fatal(err)
	}
	dir := sshtest.NewDir(t)
	for _, tt := range []struct{ ciphers, want string }{
		{chaCha20 + ",aes128-ctr", " cipher: aes128-ctr MAC: " + UMAC64ETM + " "},
		{chaCha20 + "," + gcm128 + ",aes128-ctr", " cipher: " + gcm128 + " MAC: <implicit> "},
	} {
		listener, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer listener.Close()
		_, port, err := net.SplitHostPort(listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		cmd := dir.Client(t, "ssh", port, sshtest.Algorithms{Cipher: tt.ciphers, MAC: "+" + UMAC64ETM}, "127.0.0.1", "true")
		served := make(chan error, 1)
		go func() {
			raw, err := listener.Accept()
			if err == nil {
				var conn *ssh.ServerConn
				if conn, _, _, err = ssh.NewServerConn(raw, dir.ServerConfig(config)); err == nil {
					err = conn.Close()
				}
			}
			served <- err
		}()
		log, _ := cmd.CombinedOutput() // fails, because the server closes the connection
		if err := <-served; err != nil {
			t.Errorf("%s: %v\n%s", tt.ciphers, err, log)
		}
		if n := strings.Count(string(log), tt.want); n != 2 {
			t.Errorf("%s: %q is %d times in the log of ssh, want 2:\n%s", tt.ciphers, tt.want, n, log)
		}
	}
}
