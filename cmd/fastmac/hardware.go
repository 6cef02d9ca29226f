// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"runtime"

	"example.com/fastmac"
)

type hardwareReport struct {
	Platform string   `json:"platform"`
	NH       string   `json:"nh"`
	AES      string   `json:"aes"`
	SHA512   string   `json:"sha512"`
	Required bool     `json:"required_hardware"`
	Missing  []string `json:"missing,omitempty"`
	Error    string   `json:"error,omitempty"`
}

func newHardwareReport() hardwareReport {
	f := fastmac.Hardware()
	r := hardwareReport{
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

// hardware reports; a machine without AES instructions is not a failure of the
// report.
func hardware(args []string, stdout, stderr io.Writer) int {
	fs := newFlagSet("hardware")
	asJSON := fs.Bool("json", false, "")
	if err := parseFlags(fs, args); errors.Is(err, flag.ErrHelp) {
		return printUsage(stdout, stderr)
	} else if err != nil {
		return usageError(stderr, err)
	}

	r := newHardwareReport()
	var err error
	if *asJSON {
		err = writeJSON(stdout, r)
	} else {
		required := "RequireHardware is content"
		if !r.Required {
			required = "RequireHardware returns: " + r.Error
		}
		_, err = fmt.Fprintf(stdout, "platform  %s\nNH        %s\nAES       %s\nSHA-512   %s\n%s\n",
			r.Platform, r.NH, r.AES, r.SHA512, required)
	}
	if err != nil {
		complain(stderr, err)
		return exitFailed
	}
	return exitOK
}
