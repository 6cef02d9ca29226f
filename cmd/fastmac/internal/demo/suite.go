// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package demo

import (
	"crypto/rand"
	"fmt"
	"hash"
	"slices"
	"strings"
	"sync"
	_ "unsafe" // for go:linkname

	"example.com/fastmac/sshmac"
	"golang.org/x/crypto/ssh"
)

// A suite is a cipher with a MAC, or an AEAD cipher alone. If server is set, nothing is
// configured at the client, and cipher and mac are what it negotiates with that server.
type suite struct{ cipher, mac, server string }

// Servers for a client at which nothing is configured.
const (
	defaultServer    = "x/crypto" // its defaults
	configuredServer = "sshmac"   // its ConfigureServer
)

// String returns the names without their domain.
func (s suite) String() string {
	pair := short(s.cipher)
	if s.mac != "" {
		pair += " " + macLabel(s.mac)
	}
	switch {
	case s.server == "":
		return pair
	case s.cipher == "":
		return s.server
	}
	return s.server + ": " + pair
}

// config returns the configuration of the server. If none is named it negotiates the suite and
// nothing else, and is also that of Go's client.
func (s suite) config() (c ssh.Config, err error) {
	switch s.server {
	case "":
		c.Ciphers = []string{s.cipher}
		if s.mac != "" {
			c.MACs = []string{s.mac}
		}
	case configuredServer:
		_, err = sshmac.ConfigureServer(&c)
	}
	return c, err
}

// ours reports whether package fastmac computes the MAC: all but noMAC.
func (s suite) ours() bool { return s.mac != "" && s.mac != noMAC }

func short(name string) string {
	name, _, _ = strings.Cut(name, "@")
	return name
}

func macLabel(name string) string {
	if name == noMAC {
		return "no MAC"
	}
	return short(name)
}

const none = "none" // selects noMAC

// Names for --cipher and --mac, without their domain, in the order of the rows. The
// ciphers from aeads on need no MAC.
var (
	cipherNames = []string{
		ssh.CipherAES128CTR, ssh.CipherAES192CTR, ssh.CipherAES256CTR,
		ssh.CipherAES128GCM, ssh.CipherAES256GCM, ssh.CipherChaCha20Poly1305,
	}
	aeads    = cipherNames[3:]
	macNames = []string{
		none,
		sshmac.UMAC64ETM, sshmac.UMAC128ETM, sshmac.UMAC64, sshmac.UMAC128,
		ssh.HMACSHA256ETM, ssh.HMACSHA256,
		ssh.HMACSHA512ETM, ssh.HMACSHA512,
	}
)

// Ciphers and MACs return the names that the options of the demo command accept, which
// also accept them with their domain.
func Ciphers() []string { return shortened(cipherNames) }
func MACs() []string    { return shortened(macNames) }

func shortened(names []string) []string {
	names = slices.Clone(names)
	for i, name := range names {
		names[i] = short(name)
	}
	return names
}

// suites returns the rows for a client, given the names in the options. Without any,
// these are aes128-ctr under every MAC, aes128-gcm, and both servers with nothing configured at the
// client.
func suites(ciphers, macs []string) ([]suite, error) {
	chosenCiphers, err := choose("--cipher", ciphers, cipherNames)
	if err != nil {
		return nil, err
	}
	chosenMACs, err := choose("--mac", macs, macNames)
	if err != nil {
		return nil, err
	}
	if len(macs) == 0 {
		chosenMACs = macNames
	}
	switch {
	case len(ciphers) > 0:
	case len(macs) > 0:
		chosenCiphers = cipherNames[:1]
	default:
		chosenCiphers = []string{ssh.CipherAES128CTR, ssh.CipherAES128GCM}
	}
	var rows []suite
	for _, cipher := range chosenCiphers {
		if slices.Contains(aeads, cipher) {
			rows = append(rows, suite{cipher: cipher})
			continue
		}
		for _, mac := range chosenMACs {
			if mac == none {
				mac = noMAC
			}
			rows = append(rows, suite{cipher: cipher, mac: mac})
		}
	}
	if len(ciphers) == 0 && len(macs) == 0 {
		rows = append(rows, suite{server: defaultServer}, suite{server: configuredServer})
	}
	if len(macs) > 0 && !slices.ContainsFunc(rows, func(s suite) bool { return s.mac != "" }) {
		return nil, fmt.Errorf("--mac: %s needs no MAC: want a --cipher that does, such as %s", short(rows[0].cipher), cipherNames[0])
	}
	return rows, nil
}

// choose returns those of known that names has, with or without their domain.
func choose(option string, names, known []string) ([]string, error) {
	var chosen []string
	for _, name := range names {
		i := slices.IndexFunc(known, func(k string) bool { return name == k || name == short(k) })
		if i < 0 {
			return nil, fmt.Errorf("%s %q: want one or more of %s", option, name, strings.Join(shortened(known), ", "))
		}
		if !slices.Contains(chosen, known[i]) {
			chosen = append(chosen, known[i])
		}
	}
	return chosen, nil
}

// noMAC is the name of a MAC that does nothing. It shows how much there is to gain from a
// faster MAC. No configuration can have it: the name is new in each process, and it is
// registered by the demo only.
var noMAC = "no-mac-" + rand.Text() + "@fastmac-demo.invalid"

// macModes is x/crypto/ssh's own table of MACs. Package sshmac checks its shape.
//
//go:linkname macModes golang.org/x/crypto/ssh.macModes
var macModes map[string]*macMode

// macMode has the layout of x/crypto/ssh's type of the same name.
type macMode struct {
	keySize int
	etm     bool
	new     func(key []byte) hash.Hash
	_       [128]byte // fields that a later x/crypto might have
}

// register adds the MACs to x/crypto/ssh. It must be called before the first handshake.
var register = sync.OnceValue(func() error {
	err := sshmac.Register()
	if err == nil {
		macModes[noMAC] = &macMode{keySize: 16, etm: true, new: func([]byte) hash.Hash { return null{} }}
	}
	return err
})

// null is noMAC. Its tag is 8 zeros.
type null struct{}

func (null) Write(b []byte) (int, error) { return len(b), nil }
func (null) Sum(b []byte) []byte         { return append(b, 0, 0, 0, 0, 0, 0, 0, 0) }
func (null) Reset()                      {}
func (null) Size() int                   { return 8 }
func (null) BlockSize() int              { return 1 }
