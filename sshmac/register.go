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

// macMode has the layout of x/crypto/ssh's type of the same name, which has not
// changed since 2017.
type macMode struct {
	keySize int
	etm     bool
	new     func(key []byte) hash.Hash
}

// macModes is x/crypto/ssh's own table of MACs. If it were renamed there, programs
// would still link, and this would be a nil map.
//
//go:linkname macModes golang.org/x/crypto/ssh.macModes
var macModes map[string]*macMode

// Register adds [Modes] to the MACs of the golang.org/x/crypto/ssh that is linked into the program.
// UMAC stays opt-in: a configuration whose MACs do not name it does not offer it. Register also
// replaces x/crypto's hmac-sha2-256 and hmac-sha2-512, and their ETM modes, with the HMAC of package
// fastmac, in all configurations, including the default one. It is faster where package fastmac has
// assembly for one message with that hash. A finalizer overwrites these hashes, and those of UMAC.
//
// Call Register before the first handshake of the process, because x/crypto reads its table of MACs
// without a lock. Register may be called any number of times, from any goroutine; all calls return
// the result of the first.
//
// x/crypto has no API for this, so Register changes its private table. It first checks entries that
// it knows. It returns an error and does not change the table if they are not as expected, or if
// Go's FIPS 140 mode is on, where UMAC is not approved. The program then still has the MACs of
// x/crypto. Only the error of FIPS 140 mode wraps [errors.ErrUnsupported].
//
// The check cannot detect a table that is no longer a map: the program would crash in Register.
// After an upgrade of x/crypto run this in your own module; it reads the source of the release that
// you use:
//
//	go test example.com/fastmac/sshmac
func Register() error { return registerOnce() }

var registerOnce = sync.OnceValue(func() error { return register(macModes, fips140.Enabled()) })

func register(table map[string]*macMode, fips bool) error {
	if fips {
		return fmt.Errorf("sshmac: UMAC is not approved in FIPS 140 mode: %w", errors.ErrUnsupported)
	}
	for _, known := range []struct {
		name string
		etm  bool
	}{{hmacSHA256, false}, {hmacSHA256ETM, true}} {
		m := table[known.name]
		if m == nil || m.keySize != 32 || m.etm != known.etm || m.new == nil {
			return fmt.Errorf("sshmac: the MAC table of golang.org/x/crypto/ssh does not have %s as expected: use another release of it, or fastmac patch-ssh", known.name)
		}
	}
	for _, m := range allModes() {
		// The padding keeps reads of fields that a later x/crypto might append
		// to its type within the entry.
		entry := &struct {
			macMode
			_ [128]byte
		}{macMode: macMode{m.KeySize, m.ETM, m.New}}
		table[m.Name] = &entry.macMode
	}
	return nil
}
