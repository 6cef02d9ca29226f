// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"example.com/fastmac/internal/sshpatch"
)

func (p *sshPatch) vendorSSH() string {
	return filepath.Join(p.root, "vendor", filepath.FromSlash(sshPath))
}

// vendorState is state where the go command uses the vendor folder.
func (p *sshPatch) vendorState() error {
	if _, err := os.Stat(p.vendorSSH()); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("vendor is in use and has no %s: write the program's import of it, run go mod vendor, and then fastmac patch-ssh", sshPath)
	}
	file := filepath.Join(p.vendorSSH(), sshpatch.Name)
	content, err := os.ReadFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("vendor is in use and %s does not exist: %w", p.short(file), errNotVendored)
	case err != nil:
		return err
	case string(content) != sshpatch.Source:
		return fmt.Errorf("%s is not the file of patch-ssh, or was changed: if nothing in it is of use, remove it, and run fastmac patch-ssh", p.short(file))
	}
	return nil
}

var errNotVendored = errors.New("run fastmac patch-ssh, and again after each go mod vendor, which removes the file")

// applyVendor adds the file. If it does not compile or work, it is removed again.
func (p *sshPatch) applyVendor(ctx context.Context) (string, error) {
	if err := p.vendorState(); !errors.Is(err, errNotVendored) {
		return "", err
	}
	file := filepath.Join(p.vendorSSH(), sshpatch.Name)
	err := os.WriteFile(file, []byte(sshpatch.Source), 0o666)
	if err == nil {
		err = p.verify(ctx, p.vendorSSH())
	}
	if err != nil {
		if removeErr := os.Remove(file); !errors.Is(removeErr, fs.ErrNotExist) {
			err = errors.Join(err, removeErr)
		}
		return "", err
	}
	return fmt.Sprintf("%s is added to %s %s, built and tested.\nRun patch-ssh again after each go mod vendor, which removes it.\n\n%s",
		p.short(file), cryptoPath, p.version, registerLines), nil
}

// revertVendor removes the file.
func (p *sshPatch) revertVendor() (string, error) {
	file := filepath.Join(p.vendorSSH(), sshpatch.Name)
	if p.ours() {
		return "", fmt.Errorf("vendor is made from %s, which go.mod replaces %s by: run GOFLAGS=-mod=mod fastmac patch-ssh --revert, and then go mod vendor", p.short(p.target), cryptoPath)
	}
	if _, err := os.Lstat(file); errors.Is(err, fs.ErrNotExist) {
		return fmt.Sprintf("there is no %s: nothing to revert\n", p.short(file)), nil
	}
	if err := p.vendorState(); err != nil {
		return "", err
	}
	if err := os.Remove(file); err != nil {
		return "", err
	}
	return fmt.Sprintf("%s is removed\n", p.short(file)), nil
}
