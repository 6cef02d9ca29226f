// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package hardware reports, as text and as JSON, which implementations package fastmac
// uses on this machine, what is missing for better ones, and how large keys and streams
// are.
package hardware

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"unsafe"

	"example.com/fastmac"
	"example.com/fastmac/aesgcm"
)

// A Report names the implementation of each part, and what is missing for the best
// one, as in [fastmac.Features]. If AES does not run on AES instructions, Error is the
// error of [fastmac.RequireHardware].
type Report struct {
	Platform    string   `json:"platform"`
	NH          string   `json:"nh"`
	NHLacks     string   `json:"nh_lacks,omitempty"`
	AES         string   `json:"aes"`
	AESLacks    string   `json:"aes_lacks,omitempty"`
	SHA512      string   `json:"sha512"`
	SHA512Lacks string   `json:"sha512_lacks,omitempty"`
	GCM         string   `json:"gcm"`
	GCMLacks    string   `json:"gcm_lacks,omitempty"`
	Required    bool     `json:"required_hardware"`
	Missing     []string `json:"missing,omitempty"`
	Error       string   `json:"error,omitempty"`
	Sizes       []Size   `json:"sizes"`
}

// A Size is the size of a value of a type, without what it points to.
type Size struct {
	Type  string  `json:"type"`
	Bytes uintptr `json:"bytes"`
}

// New returns the report for this machine.
func New() *Report {
	f := fastmac.Hardware()
	r := &Report{
		Platform: runtime.GOOS + "/" + runtime.GOARCH,
		NH:       f.NH, NHLacks: f.NHLacks,
		AES: f.AES, AESLacks: f.AESLacks,
		SHA512: f.SHA512, SHA512Lacks: f.SHA512Lacks,
		GCM: f.GCM, GCMLacks: f.GCMLacks,
		Required: true,
		Sizes: []Size{
			{"UMACKey", unsafe.Sizeof(fastmac.UMACKey{})},
			{"UMAC", unsafe.Sizeof(fastmac.UMAC{})},
			{"HMACSHA512Key", unsafe.Sizeof(fastmac.HMACSHA512Key{})},
			{"HMACSHA512", unsafe.Sizeof(fastmac.HMACSHA512{})},
			{"GMACKey", unsafe.Sizeof(fastmac.GMACKey{})},
			{"GMAC", unsafe.Sizeof(fastmac.GMAC{})},
			{"aesgcm.Key", unsafe.Sizeof(aesgcm.Key{})},
		},
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

// String returns the report as tables.
func (r *Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "platform  %s\n", r.Platform)
	for _, layer := range []struct{ name, runs, lacks string }{
		{"NH", r.NH, r.NHLacks},
		{"AES", r.AES, r.AESLacks},
		{"SHA-512", r.SHA512, r.SHA512Lacks},
		{"AES-GCM", r.GCM, r.GCMLacks},
	} {
		if layer.lacks == "" {
			layer.lacks = "nothing"
		}
		fmt.Fprintf(&b, "%-8s  %-7s  lacks %s\n", layer.name, layer.runs, layer.lacks)
	}
	if r.Required {
		b.WriteString("AES runs on AES instructions\n")
	} else {
		b.WriteString("AES does not run on AES instructions\n")
	}
	b.WriteString("\ntype           bytes\n")
	for _, s := range r.Sizes {
		fmt.Fprintf(&b, "%-13s  %5d\n", s.Type, s.Bytes)
	}
	return b.String()
}
