// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sshmac

import (
	"crypto/fips140"
	"errors"
	"fmt"
	"hash"
	"sync"
	_ "unsafe" // for go:linkname

	_ "golang.org/x/crypto/ssh"
)

// macMode has the layout of the type of this name in x/crypto/ssh, which is the
// same in every release since 2017.
type macMode struct {
	keySize int
	etm     bool
	new     func(key []byte) hash.Hash
}

// macModes is x/crypto/ssh's own table of MACs. Were it renamed there, programs
// would still link, with a nil map here.
//
//go:linkname macModes golang.org/x/crypto/ssh.macModes
var macModes map[string]*macMode

// Register makes [Modes] negotiable in the golang.org/x/crypto/ssh that is linked
// into the program. UMAC stays opt-in: a configuration that does not name it in
// MACs does not offer it. The two of hmac-sha2-512 take the place of x/crypto's in
// all configurations, the default one included.
//
// x/crypto has no API for this, so Register adds to its private table. It first
// compares entries that it knows, and returns an error, with the table untouched,
// if they are not as expected, or if Go's FIPS 140 mode is on, where UMAC is not
// approved. The program then still has the MACs that x/crypto brings; to register
// without go:linkname, see the package documentation. What the
// comparison cannot see is a table that is no map any more: then the program would
// crash in Register. After an upgrade of x/crypto run
//
//	go test example.com/fastmac/sshmac
//
// in your own module, which reads the source of the release that you use.
//
// It must be called before the first handshake of the process: x/crypto reads the
// table without a lock. It may be called any number of times, also from several
// goroutines; the first call decides.
func Register() error { return registerOnce() }

var registerOnce = sync.OnceValue(func() error { return register(macModes, fips140.Enabled()) })

func register(table map[string]*macMode, fips bool) error {
	if fips {
		return errors.New("fastmac: UMAC is not registered for SSH: it is not approved in FIPS 140 mode; use hmac-sha2-256-etm@openssh.com or an AES-GCM cipher")
	}
	for _, known := range []struct {
		name string
		etm  bool
	}{{hmacSHA256, false}, {hmacSHA256ETM, true}} {
		m := table[known.name]
		if m == nil || m.keySize != 32 || m.etm != known.etm || m.new == nil {
			return fmt.Errorf("fastmac: UMAC is not registered for SSH: the MAC table of this golang.org/x/crypto/ssh has no %s of the expected shape; build with a release that sshmac is tested with (CHANGELOG.md), register with the command fastmac patch-ssh, or use hmac-sha2-256-etm@openssh.com", known.name)
		}
	}
	for _, m := range Modes() {
		// With room behind it, were x/crypto to add fields to its type.
		entry := &struct {
			macMode
			_ [128]byte
		}{macMode: macMode{m.KeySize, m.ETM, m.New}}
		table[m.Name] = &entry.macMode
	}
	return nil
}
