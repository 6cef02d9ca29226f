// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac

import (
	"crypto/fips140"
	"errors"
	"strings"

	"example.com/fastmac/internal/aes"
	"example.com/fastmac/internal/gcm"
	"example.com/fastmac/internal/kernel"
)

// Hardware returns, in one line for logs and reports of bugs, which implementations are in
// use on this machine, and what is missing for better ones. Its form may change.
func Hardware() string { return kernel.NewReport().String() }

// RequireAES reports whether AES runs on the CPU's AES instructions. Without them [crypto/aes]
// uses tables, whose access times can give away the UMAC key to others on the same machine.
// The error names the instructions that are missing, or the build tag purego, which leaves out
// all assembly. It wraps [errors.ErrUnsupported].
//
// The other layers are constant time in portable Go and require nothing; for CPUs on which a
// multiplication takes longer for some operands, see SECURITY.md in the module.
//
// A program that must not run on such a machine should call RequireAES once at startup.
func RequireAES() error { return require("constant-time AES needs", aes.Missing()) }

// RequireGCM reports whether GMAC and package aesgcm can be used: whether the CPU has the
// instructions that AES-GCM needs, AES and carry-less multiplication. The error names those
// that are missing, or the build tag purego. It wraps [errors.ErrUnsupported]. On arm64 with
// Windows, NetBSD and iOS RequireGCM returns an error too: crypto/cipher does not use the
// instructions there.
//
// With GODEBUG=fips140=only RequireGCM also returns an error on architectures other than amd64,
// where AES-GCM is crypto/cipher's.
func RequireGCM() error {
	if err := require("GMAC and AES-GCM need", gcm.Missing()); err != nil {
		return err
	}
	if fips140.Enforced() && kernel.Active(kernel.GCM) == "stdlib" {
		return errEnforced
	}
	return nil
}

// require returns an error if instructions are missing for what needs them.
func require(needs string, missing []string) error {
	switch {
	case kernel.Purego:
		return unsupportedError(needs + " assembly, which the build tag purego leaves out")
	case len(missing) > 0:
		return unsupportedError(needs + " CPU instructions that are missing: " + strings.Join(missing, ", "))
	}
	return nil
}

// errEnforced is the error of RequireGCM where crypto/cipher would refuse to make a key.
const errEnforced = unsupportedError("GMAC and AES-GCM cannot be used with GODEBUG=fips140=only: crypto/cipher then refuses nonces that the caller chooses")

// unsupportedError is an error with this text that wraps errors.ErrUnsupported.
type unsupportedError string

func (e unsupportedError) Error() string { return "fastmac: " + string(e) }
func (e unsupportedError) Unwrap() error { return errors.ErrUnsupported }
