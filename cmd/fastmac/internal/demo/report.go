// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package demo

import (
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"

	"example.com/fastmac/cmd/fastmac/internal/hardware"
)

// A Report is the result of a run.
type Report struct {
	Server    string           `json:"server"`
	Address   string           `json:"address"`
	OpenSSH   openSSHReport    `json:"openssh"`
	Hardware  *hardware.Report `json:"hardware"`
	GoVersion string           `json:"go_version"`
	Cipher    string           `json:"cipher"`
	Size      Size             `json:"size"` // in each direction
	Rows      []*row           `json:"rows"`
	Passed    bool             `json:"passed"`
}

// An openSSHReport has a version, or the reason why there are no rows for OpenSSH's
// client.
type openSSHReport struct {
	Version string `json:"version,omitempty"`
	Error   string `json:"error,omitempty"`
	Missing bool   `json:"missing,omitempty"` // not installed, which is not a failure
}

// Err returns an error if a row failed, or if there is an ssh that does not work.
func (r *Report) Err() error {
	failed := 0
	for _, row := range r.Rows {
		if !row.passed() {
			failed++
		}
	}
	switch {
	case failed > 0:
		return fmt.Errorf("%d of %d rows failed", failed, len(r.Rows))
	case r.OpenSSH.Error != "" && !r.OpenSSH.Missing:
		return errors.New("no rows for OpenSSH's client")
	}
	return nil
}

const tableNotes = `
MB/s is 10^6 bytes per second, in both directions together and without the
handshake. Both sides share this machine, and the time includes making the
content, SHA-256 and the cipher.
`

// String returns the report as a table of at most 80 columns.
func (r *Report) String() string {
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "each row\t%v up and %[1]v down, %s\n", &r.Size, r.Cipher)
	fmt.Fprintf(t, "server\t%s on %s\n", r.Server, r.Address)
	fmt.Fprintf(t, "OpenSSH\t%s\n", r.OpenSSH.Version+r.OpenSSH.Error)
	fmt.Fprintf(t, "machine\t%s %s; NH %s, AES %s, SHA-512 %s\n",
		r.GoVersion, r.Hardware.Platform, r.Hardware.NH, r.Hardware.AES, r.Hardware.SHA512)
	t.Flush()

	t = tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprint(t, "\nMAC\tclient\t  MB/s\tresult\n")
	passed := 0
	for _, row := range r.Rows {
		speed := "     -"
		if row.passed() {
			passed++
			speed = fmt.Sprintf("%6.1f", row.MBps)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", row.MAC, row.Client, speed, row.Result)
	}
	t.Flush()

	b.WriteString(tableNotes)
	r.writeFailures(&b)
	fmt.Fprintf(&b, "\n%d of %d rows passed\n", passed, len(r.Rows))
	return b.String()
}

// writeFailures prints each error once, after the rows that failed with it.
func (r *Report) writeFailures(b *strings.Builder) {
	var errs []string
	rows := make(map[string]string)
	for _, row := range r.Rows {
		if row.passed() {
			continue
		}
		if rows[row.Error] == "" {
			errs = append(errs, row.Error)
		}
		rows[row.Error] += fmt.Sprintf("  %s, %s\n", row.MAC, row.Client)
	}
	for _, err := range errs {
		fmt.Fprintf(b, "\nfailed:\n%s    %s\n", rows[err], err)
	}
}
