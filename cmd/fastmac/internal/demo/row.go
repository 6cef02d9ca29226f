// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package demo

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"
)

// A sideReport is what one side of a row reports.
type sideReport struct {
	Negotiated *negotiated `json:"negotiated"` // null if the handshake failed
	BytesUp    int64       `json:"bytes_up"`
	BytesDown  int64       `json:"bytes_down"`
}

func newSideReport(n *negotiated, t transfer) *sideReport {
	return &sideReport{Negotiated: n, BytesUp: t.upBytes, BytesDown: t.downBytes}
}

// A row is one suite with one client.
type row struct {
	suite
	Cipher        string      `json:"cipher"`
	MAC           string      `json:"mac,omitempty"`    // none for an AEAD
	Server        string      `json:"server,omitempty"` // what has set its algorithms, if nothing is configured at the client
	Client        string      `json:"client"`
	ClientVersion string      `json:"client_version"`
	ClientID      string      `json:"client_id,omitempty"` // its SSH identification
	ClientReport  *sideReport `json:"client_report"`
	ServerReport  *sideReport `json:"server_report"`
	Bytes         int64       `json:"bytes"` // in both directions
	Seconds       float64     `json:"seconds"`
	SecondsUp     float64     `json:"seconds_up"`
	SecondsDown   float64     `json:"seconds_down"`
	MBps          float64     `json:"mb_per_s"`
	MBpsUp        float64     `json:"mb_per_s_up"`
	MBpsDown      float64     `json:"mb_per_s_down"`
	CPUSeconds    float64     `json:"cpu_seconds,omitempty"` // of both ends; 0 if unknown
	CPUPerGiB     float64     `json:"cpu_seconds_per_gib,omitempty"`
	Result        string      `json:"result"`
	Error         string      `json:"error,omitempty"`
}

const (
	resultOK     = "ok"
	resultFailed = "failed"
)

func (r *row) passed() bool { return r.Result == resultOK }

// runRow moves the data of one row. It returns only after everything that it
// started has ended.
func runRow(ctx context.Context, s *server, c *client, j *job, stall time.Duration, progress func(int)) *row {
	r := &row{suite: j.suite, Server: j.server, Client: c.name, ClientVersion: c.version}

	var moved atomic.Int64
	watched, cancel := watch(ctx, stall, &moved)
	defer cancel()
	serving, stopServing := context.WithCancel(watched)
	defer stopServing()
	serverResults := make(chan serverResult, 1)
	go func() { serverResults <- s.serve(serving, j) }()

	fromClient, clientErr := c.run(watched, j, func(n int) {
		moved.Add(int64(n))
		progress(n)
	})
	stopServing()
	fromServer := <-serverResults

	r.ClientReport = newSideReport(fromClient.negotiated, fromClient.transfer)
	r.ServerReport = newSideReport(fromServer.negotiated, fromServer.transfer)
	r.ClientID = fromServer.clientID
	if n := fromServer.negotiated; r.server != "" && n != nil {
		r.cipher, r.mac = n.ClientToServer.Cipher, n.ClientToServer.MAC
	}
	r.Cipher, r.MAC = r.cipher, r.mac
	if r.mac == noMAC {
		r.MAC = none
	}
	r.setTimes(fromClient.transfer)
	switch {
	case watched.Err() != nil:
		// All other errors follow from this one.
		r.setResult(context.Cause(watched))
	case clientErr != nil || fromServer.err != nil:
		r.setResult(wrap("client", clientErr), wrap("server", fromServer.err))
	default:
		r.setResult(r.checkNegotiated("client", fromClient.negotiated), r.checkNegotiated("server", fromServer.negotiated))
	}
	return r
}

func wrap(side string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", side, err)
}

func (r *row) setTimes(t transfer) {
	r.Bytes = t.upBytes + t.downBytes
	r.SecondsUp, r.SecondsDown = t.upTime.Seconds(), t.downTime.Seconds()
	r.Seconds = r.SecondsUp + r.SecondsDown
	r.MBps = megabytesPerSecond(r.Bytes, r.Seconds)
	r.MBpsUp = megabytesPerSecond(t.upBytes, r.SecondsUp)
	r.MBpsDown = megabytesPerSecond(t.downBytes, r.SecondsDown)
	r.CPUSeconds = t.cpuTime.Seconds()
	if r.Bytes > 0 {
		r.CPUPerGiB = r.CPUSeconds / (float64(r.Bytes) / (1 << 30))
	}
}

func megabytesPerSecond(bytes int64, seconds float64) float64 {
	if seconds <= 0 {
		return 0 // JSON has no infinity
	}
	return float64(bytes) / 1e6 / seconds
}

// checkNegotiated returns an error unless n is the row's suite in both directions.
func (r *row) checkNegotiated(side string, n *negotiated) error {
	want := algorithms{r.cipher, r.mac}
	if n != nil && n.ClientToServer == want && n.ServerToClient == want {
		return nil
	}
	return fmt.Errorf("the %s reports %v, not %v", side, n, want)
}

// setResult sets the result: the row passed if there is no error.
func (r *row) setResult(errs ...error) {
	r.Result = resultOK
	if err := errors.Join(errs...); err != nil {
		r.Result = resultFailed
		r.Error = strings.ReplaceAll(err.Error(), "\n", "; ")
	}
}
