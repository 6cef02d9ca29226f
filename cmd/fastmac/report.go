// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// A report is the result of a run.
type report struct {
	Server    string         `json:"server"`
	Address   string         `json:"address"`
	OpenSSH   openSSHReport  `json:"openssh"`
	Hardware  hardwareReport `json:"hardware"`
	GoVersion string         `json:"go_version"`
	Cipher    string         `json:"cipher"`
	Size      int64          `json:"size"` // bytes each way
	Rows      []*row         `json:"rows"`
	Passed    bool           `json:"passed"`
}

// An openSSHReport has one of the two.
type openSSHReport struct {
	Version string `json:"version,omitempty"`
	Error   string `json:"error,omitempty"`
}

// conclude sets Passed.
func (r *report) conclude() {
	r.Passed = len(r.Rows) > 0
	for _, row := range r.Rows {
		r.Passed = r.Passed && row.passed()
	}
}

const tableNotes = `bytes: up and down together, as the client counts them.
MB/s:  10^6 bytes per second, from the server's go-ahead to the last byte. The
       time includes making the content, SHA-256, cipher and MAC on both ends,
       which share this machine; it does not include the handshake.
`

// writeTable prints the report for people.
func (r *report) writeTable(w io.Writer) error {
	var b strings.Builder
	size := byteSize(r.Size)
	fmt.Fprintf(&b, "%v up and %v down per row; server: %s on %s\n", &size, &size, r.Server, r.Address)
	fmt.Fprintf(&b, "OpenSSH: %s\n", r.OpenSSH.Version+r.OpenSSH.Error)
	h := r.Hardware
	fmt.Fprintf(&b, "%s %s; kernels: NH %s, AES %s, SHA-512 %s\n\n", r.GoVersion, h.Platform, h.NH, h.AES, h.SHA512)

	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "MAC\tclient\tnegotiated, as both sides report\tbytes\t  MB/s\tresult")
	passed := 0
	for _, row := range r.Rows {
		speed := fmt.Sprintf("%6.1f", row.MBps)
		if row.passed() {
			passed++
		} else {
			speed = "     -"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%d\t%s\t%s\n", row.MAC, row.Peer, row.agreed(), row.Bytes, speed, row.Result)
	}
	t.Flush()

	fmt.Fprintf(&b, "\n%s", tableNotes)
	if passed < len(r.Rows) {
		b.WriteString("\nfailed:\n")
		for _, row := range r.Rows {
			if !row.passed() {
				fmt.Fprintf(&b, "  %s, %s\n    %s\n", row.MAC, row.Peer, row.Error)
			}
		}
	}
	fmt.Fprintf(&b, "\n%d of %d rows passed\n", passed, len(r.Rows))
	_, err := io.WriteString(w, b.String())
	return err
}

// agreed returns what both sides of the row report in both directions; the
// row's error spells it out if that is not one thing.
func (r *row) agreed() string {
	client, server := r.Client.Negotiated, r.Server.Negotiated
	switch {
	case client == nil && server == nil:
		return "-"
	case client == nil || server == nil || *client != *server || client.ClientToServer != client.ServerToClient:
		return "they differ, see below"
	}
	return client.String()
}
