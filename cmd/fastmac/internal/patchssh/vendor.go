// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package patchssh

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"example.com/fastmac/internal/sshpatch"
)

// A vendorPatch is the file in the vendor folder.
type vendorPatch struct {
	*module
	sshDir, file string
}

func newVendorPatch(m *module, o Options) (*vendorPatch, error) {
	if o.Out != "" {
		return nil, errors.New("-o: the vendor folder is in use: want no -o, or GOFLAGS=-mod=mod")
	}
	sshDir := m.abs("vendor/" + sshPath)
	p := &vendorPatch{m, sshDir, filepath.Join(sshDir, sshpatch.Name)}
	return p, m.inside(p.file)
}

func (p *vendorPatch) state(context.Context) error {
	if !exists(p.sshDir) {
		return fmt.Errorf("there is no %s: want a module that imports %s, after go mod vendor", p.sshDir, sshPath)
	}
	content, err := os.ReadFile(p.file)
	if err == nil && p.workspace != "" {
		return fmt.Errorf("it is in the vendor folder, which builds in the workspace %s do not use: want GOWORK=off", p.workspace)
	}
	if err == nil && string(content) != sshpatch.Source {
		err = fmt.Errorf("%s is not what patch-ssh makes: want it unchanged, or nothing there", p.file)
	}
	return err
}

// apply adds the file, after a test.
func (p *vendorPatch) apply(ctx context.Context) (string, error) {
	if err := p.state(ctx); !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if err := p.verify(ctx, p.sshDir); err != nil {
		return "", err
	}
	if err := os.WriteFile(p.file, []byte(sshpatch.Source), 0o666); err != nil {
		return "", errors.Join(err, os.RemoveAll(p.file))
	}
	return fmt.Sprintf("%s is added to %s %s, built and tested.\nRun patch-ssh again after each go mod vendor, which removes it.\n",
		p.file, cryptoPath, p.version), nil
}

// revert removes the file.
func (p *vendorPatch) revert(ctx context.Context) (string, error) {
	if !exists(p.file) {
		return fmt.Sprintf("nothing to revert: there is no %s\n", p.file), nil
	}
	if p.replace != nil && p.replace.New.Version == "" {
		return "", fmt.Errorf("%s comes from %s, which replaces %s: want --revert with GOFLAGS=-mod=mod, and go mod vendor after it",
			p.file, p.replace.New.Path, cryptoPath)
	}
	if err := p.state(ctx); err != nil {
		return "", err
	}
	return fmt.Sprintf("%s is removed\n", p.file), os.Remove(p.file)
}
