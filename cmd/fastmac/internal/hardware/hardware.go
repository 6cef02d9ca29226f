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
	"slices"
	"strings"
	"unsafe"

	"example.com/fastmac"
	"example.com/fastmac/aesgcm"
	"example.com/fastmac/cmd/fastmac/internal/terminal"
	"example.com/fastmac/internal/aes"
	"example.com/fastmac/internal/kernel"
)

// A Report has the CPU's instruction sets that some implementation can use. It names the
// implementation of each part, what is missing for the best one, and the kernels that
// compute wrongly, as in [kernel.Report]. If AES does not run on AES instructions, Error is the error of
// [fastmac.RequireAES]. If GMAC and package aesgcm cannot be used, GCMError is that of
// [fastmac.RequireGCM]. If a part does not run on the best implementation that this module has for the
// architecture, BestError names it.
type Report struct {
	CPU         string   `json:"cpu"`
	Platform    string   `json:"platform"`
	Has         []string `json:"has"`
	NH          string   `json:"nh"`
	NHLacks     string   `json:"nh_lacks,omitempty"`
	AES         string   `json:"aes"`
	AESLacks    string   `json:"aes_lacks,omitempty"`
	SHA256      string   `json:"sha256"`
	SHA256Lacks string   `json:"sha256_lacks,omitempty"`
	SHA512      string   `json:"sha512"`
	SHA512Lacks string   `json:"sha512_lacks,omitempty"`
	GCM         string   `json:"gcm"`
	GCMLacks    string   `json:"gcm_lacks,omitempty"`
	Wrong       string   `json:"wrong,omitempty"`
	Required    bool     `json:"required_hardware"`
	Missing     []string `json:"missing,omitempty"`
	Error       string   `json:"error,omitempty"`
	GCMError    string   `json:"gcm_error,omitempty"`
	BestError   string   `json:"best_error,omitempty"`
	Gains       []Gain   `json:"gains,omitempty"`
	Sizes       []Size   `json:"sizes"`

	Style terminal.Style `json:"-"`

	required []string
}

// A Gain is what is missing, such as an instruction set, and what would be faster with it.
type Gain struct {
	Missing string   `json:"missing"`
	Faster  []string `json:"faster"`
}

// A Size is the size of a value of a type, without what it points to.
type Size struct {
	Type  string  `json:"type"`
	Bytes uintptr `json:"bytes"`
}

// New returns the report for this machine.
func New() *Report {
	fastmac.Hardware() // has the known answers of UMAC computed
	f := kernel.NewReport()
	r := &Report{
		CPU:      cpuName(),
		Platform: runtime.GOOS + "/" + runtime.GOARCH,
		Has:      append([]string{}, kernel.Has()...),
		NH:       f.NH, NHLacks: f.NHLacks,
		AES: f.AES, AESLacks: f.AESLacks,
		SHA256: f.SHA256, SHA256Lacks: f.SHA256Lacks,
		SHA512: f.SHA512, SHA512Lacks: f.SHA512Lacks,
		GCM: f.GCM, GCMLacks: f.GCMLacks,
		Wrong:    f.Wrong,
		Required: true,
		Style:    terminal.Plain,
		Sizes: []Size{
			{"UMACKey", unsafe.Sizeof(fastmac.UMACKey{})},
			{"UMAC", unsafe.Sizeof(fastmac.UMAC{})},
			{"HMACKey", unsafe.Sizeof(fastmac.HMACKey{})},
			{"GMACKey", unsafe.Sizeof(fastmac.GMACKey{})},
			{"GMAC", unsafe.Sizeof(fastmac.GMAC{})},
			{"aesgcm.Key", unsafe.Sizeof(aesgcm.Key{})},
		},
	}
	if err := fastmac.RequireAES(); err != nil {
		r.Required, r.Error = false, err.Error()
		if !kernel.Purego {
			r.Missing = aes.Missing()
		}
	}
	if err := fastmac.RequireGCM(); err != nil {
		r.GCMError = err.Error()
	}
	if err := r.best(); err != nil {
		r.BestError = err.Error()
	}
	r.Gains = r.gains()
	return r
}

// A layer is a part of the report.
type layer struct {
	layer             kernel.Layer
	name, runs, lacks string
}

func (r *Report) layers() []layer {
	return []layer{
		{kernel.NH, "NH", r.NH, r.NHLacks},
		{kernel.AES, "AES", r.AES, r.AESLacks},
		{kernel.SHA256, "SHA-256", r.SHA256, r.SHA256Lacks},
		{kernel.SHA512, "SHA-512", r.SHA512, r.SHA512Lacks},
		{kernel.GCM, "AES-GCM", r.GCM, r.GCMLacks},
	}
}

// best returns an error that names the layers that do not run on the best implementation for this
// architecture, and why. A kernel that computes wrongly is better than the one in use: that was tried
// later.
func (r *Report) best() error {
	var parts []string
	for _, l := range r.layers() {
		var reasons []string
		if l.lacks != "" && !strings.HasPrefix(l.lacks, "assembly for ") { // which this module does not have
			reasons = append(reasons, "lacks "+l.lacks)
		}
		for wrong := range strings.SplitSeq(r.Wrong, ", ") {
			if name, ok := strings.CutPrefix(wrong, l.layer.String()+" "); ok {
				reasons = append(reasons, name+" computes wrongly")
			}
		}
		if len(reasons) > 0 {
			parts = append(parts, fmt.Sprintf("%s runs %s (%s)", l.name, l.runs, strings.Join(reasons, "; ")))
		}
	}
	if len(parts) == 0 {
		return nil
	}
	return errors.New("fastmac: not the best implementation: " + strings.Join(parts, ", "))
}

// gains returns what each missing thing would speed up.
func (r *Report) gains() (gains []Gain) {
	aes, hmac256, hmac512 := "new keys and batches of UMAC, and hwrand", "HMAC-SHA-256", "HMAC-SHA-512"
	switch {
	case r.AES == "stdlib":
		aes = "keys and nonces of UMAC"
	case !strings.Contains(r.AESLacks, "VAES"): // the rest is as fast with vectors of 256 bits
		aes = "hwrand"
	}
	if r.SHA256 == "sha" {
		hmac256 = "batches of HMAC-SHA-256"
	}
	if r.SHA512 != "stdlib" {
		hmac512 = "batches of HMAC-SHA-512"
	}
	for _, layer := range []struct{ lacks, faster string }{
		{r.NHLacks, "UMAC"},
		{r.AESLacks, aes},
		{r.SHA256Lacks, hmac256},
		{r.SHA512Lacks, hmac512},
		{r.GCMLacks, "GMAC and AES-GCM"},
	} {
		for missing := range strings.SplitSeq(layer.lacks, ", ") {
			i := slices.IndexFunc(gains, func(g Gain) bool { return g.Missing == missing })
			switch {
			case missing == "":
			case i < 0:
				gains = append(gains, Gain{missing, []string{layer.faster}})
			default:
				gains[i].Faster = append(gains[i].Faster, layer.faster)
			}
		}
	}
	return gains
}

// Requirements are the names that Require accepts: AES on AES instructions, without which
// UMAC is not constant time, what GMAC and package aesgcm need, and the best implementation of
// each part.
var Requirements = []string{"umac", "gcm", "best"}

// Require sets what Err reports. It returns an error for other names than Requirements.
// Without it, Err reports on umac.
func (r *Report) Require(names []string) error {
	for _, name := range names {
		if !slices.Contains(Requirements, name) {
			return fmt.Errorf("--require %q: want one or more of %s", name, strings.Join(Requirements, ", "))
		}
	}
	r.required = names
	return nil
}

// tidy returns the name of a CPU without the spaces with which some fill a field.
func tidy(name string) string { return strings.Join(strings.Fields(name), " ") }

// Err returns an error if something required is missing.
func (r *Report) Err() error {
	switch {
	case !r.Required && (len(r.required) == 0 || slices.Contains(r.required, "umac")):
		return errors.New(r.Error)
	case r.GCMError != "" && slices.Contains(r.required, "gcm"):
		return errors.New(r.GCMError)
	case r.BestError != "" && slices.Contains(r.required, "best"):
		return errors.New(r.BestError)
	}
	return nil
}

// missingWidth is the width in columns of "validation (FIPS 140 mode)".
const missingWidth = 26

// String returns the report as tables.
func (r *Report) String() string {
	var b strings.Builder
	b.WriteString(r.Style.Wrap("CPU       ", r.CPU) + r.Style.Wrap("platform  ", r.Platform))
	if len(r.Has) > 0 {
		b.WriteString(r.Style.Wrap("has       ", strings.Join(r.Has, ", ")))
	}
	for _, l := range r.layers() {
		if l.lacks == "" {
			l.lacks = "nothing"
		}
		b.WriteString(r.Style.Wrap(fmt.Sprintf("%-8s  %-11s  ", l.name, l.runs), "lacks "+l.lacks))
	}
	if r.Wrong != "" {
		b.WriteString(r.Style.Wrap("wrong     ", r.Wrong+": not used, because they compute wrongly"))
	}
	if r.Required {
		b.WriteString("AES runs on AES instructions\n")
	} else {
		b.WriteString("AES does not run on AES instructions: UMAC is not constant time\n")
	}
	if r.GCMError == "" {
		b.WriteString("GMAC and aesgcm can be used\n")
	} else {
		b.WriteString("GMAC and aesgcm cannot be used\n")
	}
	if r.BestError == "" {
		b.WriteString("each part runs on the best implementation for it\n")
	} else {
		b.WriteString("not each part runs on the best implementation for it\n")
	}
	if len(r.Gains) > 0 {
		fmt.Fprintf(&b, "\n%-*s  %s\n", missingWidth, "missing", "faster with it")
	}
	for _, g := range r.Gains {
		b.WriteString(r.Style.Wrap(fmt.Sprintf("%-*s  ", missingWidth, g.Missing), strings.Join(g.Faster, ", ")))
	}
	b.WriteString("\ntype        bytes\n")
	for _, s := range r.Sizes {
		fmt.Fprintf(&b, "%-10s  %5d\n", s.Type, s.Bytes)
	}
	return b.String()
}
