// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
)

// goPeer is the name of this program as a peer, with goOps.
const goPeer = "Go"

// A peer is a program that serves ops; see serve.go.
type peer struct {
	name string
	argv []string
}

// process is a running peer.
type process struct {
	peer
	cmd      *exec.Cmd
	requests io.WriteCloser
	replies  *bufio.Scanner
	versions map[string]string
}

// start starts the peer and waits until it is ready. It ends with ctx.
func (p peer) start(ctx context.Context, stderr io.Writer) (*process, error) {
	cmd := exec.CommandContext(ctx, p.argv[0], p.argv[1:]...)
	cmd.Stderr = stderr
	requests, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("fastmac: peer %s: %w", p.name, err)
	}
	r := &process{p, cmd, requests, bufio.NewScanner(stdout), make(map[string]string)}
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
			r.stop()
			return nil, fmt.Errorf("fastmac: peer %s: said %q, want versions or ready", p.name, line)
		}
		r.versions[name] = version
	}
}

// reply returns the next line. If there is none, the peer has ended.
func (p *process) reply() (string, error) {
	if p.replies.Scan() {
		return p.replies.Text(), nil
	}
	err := p.stop()
	if err == nil {
		err = io.ErrUnexpectedEOF
	}
	return "", fmt.Errorf("fastmac: peer %s ended: %w", p.name, err)
}

// run asks for n messages of size bytes and returns their time in nanoseconds
// and the last tag.
func (p *process) run(c contender, size, n int) (ns float64, tag string, err error) {
	if _, err := fmt.Fprintf(p.requests, "%s %d %d\n", c, size, n); err != nil {
		return 0, "", fmt.Errorf("fastmac: peer %s ended: %w", p.name, err)
	}
	line, err := p.reply()
	if err != nil {
		return 0, "", err
	}
	elapsed, tag, _ := strings.Cut(line, " ")
	if ns, err = strconv.ParseFloat(elapsed, 64); err != nil {
		return 0, "", fmt.Errorf("fastmac: peer %s: said %q, want a time and a tag", p.name, line)
	}
	return ns, tag, nil
}

// stop ends the peer by ending its input.
func (p *process) stop() error {
	p.requests.Close()
	return p.cmd.Wait()
}

// self returns the Go peer: this program again, with an argument that makes it
// serve.
func self() (peer, error) {
	path, err := os.Executable()
	if err != nil {
		return peer{}, fmt.Errorf("fastmac: %w", err)
	}
	return peer{goPeer, []string{path, serveArg}}, nil
}

// A lockedWriter is what several processes and this one may write to at once.
type lockedWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lockedWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}
