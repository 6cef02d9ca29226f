// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"
)

// An end is what one side of a row reports.
type end struct {
	Negotiated *negotiated `json:"negotiated"` // null if it did not come to that
	BytesUp    int64       `json:"bytes_up"`
	BytesDown  int64       `json:"bytes_down"`
	SHA256Up   string      `json:"sha256_up,omitempty"`
	SHA256Down string      `json:"sha256_down,omitempty"`
}

func newEnd(n *negotiated, t transfer) *end {
	e := &end{Negotiated: n, BytesUp: t.upBytes, BytesDown: t.downBytes}
	if t.upSum != (digest{}) {
		e.SHA256Up = t.upSum.String()
	}
	if t.downSum != (digest{}) {
		e.SHA256Down = t.downSum.String()
	}
	return e
}

// A row is one MAC with one client.
type row struct {
	MAC           string  `json:"mac"`
	Peer          string  `json:"peer"`
	PeerVersion   string  `json:"peer_version"`
	ClientVersion string  `json:"client_version,omitempty"` // from its SSH identification
	Client        *end    `json:"client"`
	Server        *end    `json:"server"`
	Bytes         int64   `json:"bytes"` // both directions
	Seconds       float64 `json:"seconds"`
	SecondsUp     float64 `json:"seconds_up"`
	SecondsDown   float64 `json:"seconds_down"`
	MBps          float64 `json:"mb_per_s"`
	MBpsUp        float64 `json:"mb_per_s_up"`
	MBpsDown      float64 `json:"mb_per_s_down"`
	Result        string  `json:"result"`
	Error         string  `json:"error,omitempty"`
}

const (
	resultOK     = "ok"
	resultFailed = "failed"
)

func (r *row) passed() bool { return r.Result == resultOK }

// runRow moves the data of one row. It returns only after all that it started
// has ended.
func runRow(ctx context.Context, s *server, p *peer, mac string, size int64, stall time.Duration, progress func(int)) *row {
	r := &row{MAC: mac, Peer: p.name, PeerVersion: p.version, Client: &end{}, Server: &end{}}
	if p.broken != nil {
		r.conclude(p.broken)
		return r
	}

	var moved atomic.Int64
	watched, cancel := watch(ctx, stall, &moved)
	defer cancel()
	serving, stopServing := context.WithCancel(watched)
	defer stopServing()
	serverSide := make(chan served, 1)
	go func() { serverSide <- s.serve(serving, mac, size) }()

	d, clientErr := p.run(watched, job{mac, size, func(n int) {
		moved.Add(int64(n))
		progress(n)
	}})
	stopServing()
	sd := <-serverSide

	r.Client = newEnd(d.negotiated, d.transfer)
	r.Server = newEnd(sd.negotiated, sd.transfer)
	r.ClientVersion = sd.clientVersion
	r.time(d.transfer)
	if watched.Err() != nil {
		// All other errors follow from this one.
		r.conclude(context.Cause(watched))
		return r
	}
	r.conclude(wrap("client", clientErr), wrap("server", sd.err),
		r.checkNegotiated("client", d.negotiated), r.checkNegotiated("server", sd.negotiated))
	return r
}

func wrap(side string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", side, err)
}

func (r *row) time(t transfer) {
	r.Bytes = t.upBytes + t.downBytes
	r.SecondsUp, r.SecondsDown = t.upTime.Seconds(), t.downTime.Seconds()
	r.Seconds = r.SecondsUp + r.SecondsDown
	r.MBps = megabytesPerSecond(r.Bytes, r.Seconds)
	r.MBpsUp = megabytesPerSecond(t.upBytes, r.SecondsUp)
	r.MBpsDown = megabytesPerSecond(t.downBytes, r.SecondsDown)
}

func megabytesPerSecond(bytes int64, seconds float64) float64 {
	if seconds <= 0 {
		return 0 // JSON has no infinity
	}
	return float64(bytes) / 1e6 / seconds
}

// checkNegotiated returns an error unless n is the row's MAC and the test
// cipher in both directions.
func (r *row) checkNegotiated(side string, n *negotiated) error {
	want := algorithms{testCipher, r.MAC}
	if n != nil && n.ClientToServer == want && n.ServerToClient == want {
		return nil
	}
	return fmt.Errorf("the %s reports %v, not %v", side, n, want)
}

// conclude sets the result: passed if there is no error.
func (r *row) conclude(errs ...error) {
	r.Result = resultOK
	if err := errors.Join(errs...); err != nil {
		r.Result = resultFailed
		r.Error = strings.ReplaceAll(err.Error(), "\n", "; ")
	}
}
