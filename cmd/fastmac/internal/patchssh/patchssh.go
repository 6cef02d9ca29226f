// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package patchssh gives the golang.org/x/crypto/ssh of a module a public
// RegisterMAC: in a copy of x/crypto, or in the vendor folder.
package patchssh

import (
	"context"
	"fmt"
	"io"
	"os"

	"example.com/fastmac/internal/sshpatch"
)

const (
	cryptoPath = "golang.org/x/crypto"
	sshPath    = cryptoPath + "/ssh"
)

// registerLines are what a program with the patch needs.
const registerLines = `
In the program, before its first handshake:

	for _, m := range sshmac.Modes() {
		if err := ssh.RegisterMAC(m.Name, m.KeySize, m.ETM, m.New); err != nil {
			return err // and leave config as it is
		}
	}
	config.Ciphers = sshmac.ServerCiphers() // for a client: sshmac.Ciphers()
	config.MACs = sshmac.MACs()
`

// Options are those of the patch-ssh command.
type Options struct {
	Dir    string // the module, or a folder in it
	Out    string // where the copy goes; a relative path begins at the module
	Check  bool   // only report
	Revert bool   // remove the patch
}

// A patch is a copy of x/crypto, or a file in the vendor folder.
type patch interface {
	// state returns nil if the patch is in place.
	state(context.Context) error
	// apply and revert return what to print.
	apply(context.Context) (string, error)
	revert(context.Context) (string, error)
}

// Run does what the options ask for and returns what to print. If it fails, the
// module is unchanged, except that a step that cannot be undone is in the error. If it waits for
// another run, it says so on stderr.
func Run(ctx context.Context, o Options, stderr io.Writer) (string, error) {
	scratch, err := os.MkdirTemp("", "fastmac-patch-ssh-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(scratch)
	m, err := findModule(ctx, o.Dir, scratch)
	switch {
	case err != nil:
		return "", err
	case !o.Check && m.workspace != "":
		return "", fmt.Errorf("the workspace %s is in use: want a single module, as with GOWORK=off", m.workspace)
	case !o.Check:
		unlock, err := m.lock(ctx, stderr)
		if err != nil {
			return "", err
		}
		defer unlock()
	}
	if err := m.load(ctx); err != nil {
		return "", err
	}
	var p patch
	if m.vendored {
		p, err = newVendorPatch(m, o)
	} else {
		p, err = newCopyPatch(m, o)
	}
	switch {
	case err != nil:
		return "", err
	case o.Revert:
		return p.revert(ctx)
	case m.version == "":
		return "", fmt.Errorf("go.mod has no %s: want a module that imports %s, after go mod tidy", cryptoPath, sshPath)
	case minor(m.version) < minor(sshpatch.Oldest):
		return "", fmt.Errorf("go.mod has %s %s: want %s or newer, as package sshmac does", cryptoPath, m.version, sshpatch.Oldest)
	}
	err = p.state(ctx)
	switch {
	case err == nil:
		return fmt.Sprintf("ssh.RegisterMAC is in place for %s %s\n", cryptoPath, m.version), nil
	case o.Check:
		return "", fmt.Errorf("ssh.RegisterMAC is not in place: %w", err)
	}
	text, err := p.apply(ctx)
	if err != nil {
		return "", err
	}
	return text + registerLines, nil
}

// minor returns the N of a version v0.N.P of x/crypto. It orders them: the releases are v0.N.0,
// and the go command calls a commit after one v0.N.1-0 and so on.
func minor(version string) (n int) {
	fmt.Sscanf(version, "v0.%d.", &n)
	return n
}
