// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package demo

import (
	"slices"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"
)

func TestSuites(t *testing.T) {
	for _, tt := range []struct {
		ciphers, macs string
		want          string // rows, or the error
	}{
		{"", "", strings.Join(append(rowNames, "x/crypto", "sshmac"), ",")},
		{"", "umac-64-etm", "aes128-ctr umac-64-etm"},
		{"", "umac-64-etm@openssh.com,none,umac-64-etm", "aes128-ctr umac-64-etm,aes128-ctr no MAC"},
		{"", "hmac-sha2-256", "aes128-ctr hmac-sha2-256"},
		{"chacha20-poly1305", "", "chacha20-poly1305"},
		{"aes256-gcm@openssh.com,aes192-ctr", "umac-128", "aes256-gcm,aes192-ctr umac-128"},
		{"aes256-gcm,aes192-ctr,aes128-gcm", "umac-128", "aes256-gcm,aes192-ctr umac-128,aes128-gcm"},
		{"aes256-ctr,aes192-ctr", "umac-64,umac-128", "aes256-ctr umac-64,aes256-ctr umac-128,aes192-ctr umac-64,aes192-ctr umac-128"},
		{"aes256-gcm", "umac-128", "error: --mac: aes256-gcm needs no MAC: want a --cipher that does, such as aes128-ctr"},
		{"", "umac", "error: --mac \"umac\": want one or more of none, umac-64-etm, umac-128-etm, "},
		{"", noMAC, "error: --mac "},
		{"aes", "", "error: --cipher \"aes\": want one or more of aes128-ctr, "},
	} {
		split := func(s string) []string { return strings.FieldsFunc(s, func(r rune) bool { return r == ',' }) }
		rows, err := suites(split(tt.ciphers), split(tt.macs))
		var names []string
		for _, s := range rows {
			names = append(names, s.String())
		}
		got := strings.Join(names, ",")
		if err != nil {
			got = "error: " + err.Error()
		}
		if got != tt.want && (err == nil || !strings.HasPrefix(got, tt.want)) {
			t.Errorf("%q %q: %s, want %s", tt.ciphers, tt.macs, got, tt.want)
		}
		if tt.macs != noMAC && ((Options{MACs: split(tt.macs), Ciphers: split(tt.ciphers)}).Check() == nil) != (err == nil) {
			t.Errorf("%q %q: Check disagrees with %v", tt.ciphers, tt.macs, err)
		}
	}
}

// TestNoMAC checks that no configuration has the MAC that does nothing.
func TestNoMAC(t *testing.T) {
	if err := register(); err != nil {
		t.Fatal(err)
	}
	var defaults ssh.Config
	defaults.SetDefaults()
	if slices.Contains(defaults.MACs, noMAC) {
		t.Error("x/crypto offers it by default")
	}
	all := ssh.SupportedAlgorithms().MACs
	if slices.Contains(append(all, ssh.InsecureAlgorithms().MACs...), noMAC) {
		t.Error("x/crypto lists it")
	}
	if name, _, _ := strings.Cut(strings.TrimPrefix(noMAC, "no-mac-"), "@"); len(name) < 26 {
		t.Errorf("the name %s can be guessed", noMAC)
	}
}

// TestDemoChosen runs chosen rows only.
func TestDemoChosen(t *testing.T) {
	withoutSSH(t)
	d := newTestDemo(t)
	d.MACs, d.Ciphers = []string{"none", "umac-128"}, []string{"aes256-ctr", "chacha20-poly1305"}
	checkPassed(t, d.report(t, true).Rows, []string{"aes256-ctr no MAC", "aes256-ctr umac-128", "chacha20-poly1305"}, "Go x/crypto ", "SSH-2.0-Go")
	d.MACs = []string{"md5"}
	if r, err := d.run(t.Context()); err == nil || r != nil {
		t.Errorf("%v, %v", r, err)
	}
}
