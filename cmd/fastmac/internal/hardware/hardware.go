// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package hardware reports which implementations package fastmac uses on this
// machine, as text and as JSON.
package hardware

import (
	"errors"
	"fmt"
	"runtime"

	"example.com/fastmac"
)

// A Report names the implementation of each part. If AES does not run on AES
// instructions, Error is the error of [fastmac.RequireHardware].
type Report struct {
	Platform string   `json:"platform"`
	NH       string   `json:"nh"`
	AES      string   `json:"aes"`
	SHA512   string   `json:"sha512"`
	Required bool     `json:"required_hardware"`
	Missing  []string `json:"missing,omitempty"`
	Error    string   `json:"error,omitempty"`
}

// New returns the report for this machine.
func New() *Report {
	f := fastmac.Hardware()
	r := &Report{
		Platform: runtime.GOOS + "/" + runtime.GOARCH,
		NH:       f.NH,
		AES:      f.AES,
		SHA512:   f.SHA512,
		Required: true,
	}
	if err := fastmac.RequireHardware(); err != nil {
		r.Required, r.Error = false, err.Error()
		if u, ok := errors.AsType[*fastmac.UnsupportedCPUError](err); ok {
			r.Missing = u.Missing
		}
	}
	return r
}

// Err returns an error if AES does not run on AES instructions.
func (r *Report) Err() error {
	if r.Required {
		return nil
	}
	return errors.New(r.Error)
}

// String returns the report as a table.
func (r *Report) String() string {
	verdict := "AES runs on AES instructions"
	if !r.Required {
		verdict = "AES does not run on AES instructions"
	}
	return fmt.Sprintf("platform  %s\nNH        %s\nAES       %s\nSHA-512   %s\n%s\n",
		r.Platform, r.NH, r.AES, r.SHA512, verdict)
}
