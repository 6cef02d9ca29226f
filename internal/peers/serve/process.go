// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package serve

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

// A Peer is a program that speaks the protocol.
type Peer struct {
	Name  string
	Argv  []string
	Files []*os.File // open in the program, from file descriptor 3 on
}

// A Process is a running peer.
type Process struct {
	Versions map[string]string

	name     string
	cmd      *exec.Cmd
	requests io.WriteCloser
	replies  *bufio.Scanner
}

// Start starts the peer and waits until it is ready. The process is killed when
// ctx is done.
func (p Peer) Start(ctx context.Context) (*Process, error) {
	cmd := exec.CommandContext(ctx, p.Argv[0], p.Argv[1:]...)
	cmd.Stderr, cmd.ExtraFiles = os.Stderr, p.Files
	requests, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("fastmac: peer %s: %w", p.Name, err)
	}
	r := &Process{make(map[string]string), p.Name, cmd, requests, bufio.NewScanner(stdout)}
	for {
		line, err := r.reply()
		if err != nil {
			return nil, err
		}
		if line == "ready" {
			return r, nil
		}
		name, version, ok := strings.Cut(strings.TrimPrefix(line, "version "), " ")
		if !ok {
			r.Stop()
			return nil, fmt.Errorf("fastmac: peer %s printed %q, want versions or ready", p.Name, line)
		}
		r.Versions[name] = version
	}
}

// reply returns the next line. If there is none, the peer has ended.
func (p *Process) reply() (string, error) {
	if p.replies.Scan() {
		return p.replies.Text(), nil
	}
	err := p.Stop()
	if err == nil {
		err = io.ErrUnexpectedEOF
	}
	return "", fmt.Errorf("fastmac: peer %s ended: %w", p.name, err)
}

// Run requests n messages of size bytes and returns the time they took in
// nanoseconds, and the last tag.
func (p *Process) Run(op string, size, n int) (ns float64, tag string, err error) {
	if _, err := fmt.Fprintf(p.requests, "%s %d %d\n", op, size, n); err != nil {
		return 0, "", fmt.Errorf("fastmac: peer %s ended: %w", p.name, err)
	}
	line, err := p.reply()
	if err != nil {
		return 0, "", err
	}
	elapsed, tag, _ := strings.Cut(line, " ")
	if ns, err = strconv.ParseFloat(elapsed, 64); err != nil {
		return 0, "", fmt.Errorf("fastmac: peer %s printed %q, want a time and a tag", p.name, line)
	}
	return ns, tag, nil
}

// Stop ends the peer by closing its input, and waits for it.
func (p *Process) Stop() error {
	p.requests.Close()
	return p.cmd.Wait()
}
