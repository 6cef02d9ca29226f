// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac

import (
	"errors"
	"strings"

	"example.com/fastmac/internal/aes"
	"example.com/fastmac/internal/gcm"
	"example.com/fastmac/internal/kernel"
	"example.com/fastmac/internal/sha2"
)

// Hardware returns one line for logs and bug reports: which implementations are in use on this
// machine, and what is missing for faster ones. Its form may change.
func Hardware() string {
	choose()
	gcm.Choose()
	sha2.ChooseAll()
	return kernel.NewReport().String()
}

// RequireAES returns nil if AES runs on the CPU's AES instructions. Without them [crypto/aes] uses
// tables, whose access times can reveal the UMAC key to other programs on the same machine. A
// program that must not run on such a machine should call RequireAES once at startup.
//
// The error names the instructions that are missing, or the build tag purego, which leaves out all
// assembly, or says that the instructions compute wrongly, as in some emulators. It wraps
// [errors.ErrUnsupported].
//
// The rest of UMAC, and HMAC, are constant time in portable Go and require nothing. Some
// CPUs take longer to multiply some operands: for those see docs/platforms.md in the module.
func RequireAES() error {
	aes.Choose() // not choose, which would have UMAC linked
	return require("constant-time AES needs", kernel.AES, aes.Missing())
}

// RequireGCM returns nil if GMAC and package aesgcm can be used: if the CPU has the instructions
// that AES-GCM needs, for AES and for carry-less multiplication. The error is as that of
// [RequireAES]. It wraps [errors.ErrUnsupported].
//
// With GODEBUG=fips140=only RequireGCM returns an error on all architectures except amd64 and
// arm64: on the others AES-GCM is crypto/cipher's, which then refuses nonces that the caller
// chooses.
func RequireGCM() error {
	if gcm.Choose(); kernel.InUse(kernel.GCM) { // for each new key
		return nil
	}
	if err := require("GMAC and AES-GCM need", kernel.GCM, gcm.Missing()); err != nil {
		return err
	}
	if kernel.Active(kernel.GCM) == "stdlib" && kernel.FIPSEnforced() {
		return errEnforced
	}
	return nil
}

// require returns an error if instructions are missing for what needs them, the kernels of a layer, or if
// all of these compute wrongly.
func require(needs string, l kernel.Layer, missing []string) error {
	switch {
	case kernel.Purego:
		return unsupportedError(needs + " assembly, which the build tag purego leaves out")
	case len(missing) > 0:
		return unsupportedError(needs + " CPU instructions that are missing: " + strings.Join(missing, ", "))
	case len(kernel.Wrong(l)) > 0 && !kernel.InUse(l):
		return unsupportedError(needs + " CPU instructions that compute wrongly on this machine")
	}
	return nil
}

// errEnforced is the error of RequireGCM where crypto/cipher would refuse to make a key.
const errEnforced = unsupportedError("GMAC and AES-GCM cannot be used with GODEBUG=fips140=only: crypto/cipher then refuses nonces that the caller chooses")

// unsupportedError is an error with this text that wraps errors.ErrUnsupported.
type unsupportedError string

func (e unsupportedError) Error() string { return "fastmac: " + string(e) }
func (e unsupportedError) Unwrap() error { return errors.ErrUnsupported }
