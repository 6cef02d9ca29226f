// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"example.com/fastmac/internal/peers/report"
	"example.com/fastmac/internal/peers/rivals"
	"example.com/fastmac/internal/peers/serve"
)

// The arguments that make this program an end of SSH connections: one inherits its
// listener, the other gets an address.
const (
	receiveArg = serveArg + "-receive"
	sendArg    = serveArg + "-send="
	listenerFD = 3
)

// endOps returns the ops of the end that arg names.
func endOps(arg string) (map[string]serve.Op, error) {
	if n := runtime.NumCPU(); n != 1 {
		return nil, fmt.Errorf("an end of SSH connections on %d cores, want 1", n)
	}
	if arg == receiveArg {
		l, err := net.FileListener(os.NewFile(listenerFD, "listener"))
		if err != nil {
			return nil, err
		}
		return rivals.ReceiveOps(l), nil
	}
	addr, ok := strings.CutPrefix(arg, sendArg)
	if !ok {
		return nil, fmt.Errorf("unexpected argument %q", arg)
	}
	return rivals.SendOps(addr), nil
}

// An end is a process with one end of each connection, on a core of its own. The times of
// its runs are CPU time, of program and kernel.
type end struct {
	*serve.Process
	mode string
}

// startEnds starts both ends. They are killed when ctx is done.
func (b *bench) startEnds(ctx context.Context, cores [2]int) ([]end, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	defer l.Close()
	file, err := l.(*net.TCPListener).File()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	receiver, err := startOn(ctx, cores[0], serve.Peer{Name: rivals.Receiver, Argv: []string{b.self, receiveArg}, Files: []*os.File{file}})
	if err != nil {
		return nil, err
	}
	sender, err := startOn(ctx, cores[1], serve.Peer{Name: rivals.Sender, Argv: []string{b.self, sendArg + l.Addr().String()}})
	if err != nil {
		receiver.Stop()
		return nil, err
	}
	return []end{{receiver, rivals.Receiver}, {sender, rivals.Sender}}, nil
}

// measureCPU measures the group whose contenders are ends of SSH connections. Both ends of
// a connection run at the same time, and all connections take turns.
func (b *bench) measureCPU(ctx context.Context, g rivals.Group) ([]report.Row, error) {
	cores, err := twoCores()
	if err != nil {
		err = fmt.Errorf("%s left out: %w", g.Name, err)
		b.leftOut = append(b.leftOut, err.Error())
		printError(b.stderr, err)
		return nil, nil
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ends, err := b.startEnds(ctx, cores)
	if err != nil {
		return nil, err
	}
	defer func() {
		for _, e := range ends {
			e.Stop()
		}
	}()
	size := g.Sizes[0]
	var algs []string
	times := make(map[rivals.Contender][]float64)
	for _, c := range g.Contenders {
		impl, alg, _ := c.Parts()
		if name := impl + ":" + alg; !slices.Contains(algs, name) {
			algs = append(algs, name)
		}
	}
	run := func(name string, n int) error {
		errs := make(chan error, len(ends))
		ns := make([]float64, len(ends))
		for i, e := range ends {
			go func() {
				c := rivals.Contender(name + ":" + e.mode)
				t, tag, err := e.Run(string(c), size, n)
				if err == nil {
					err = c.CheckTag(size, tag)
				}
				if err != nil {
					err = fmt.Errorf("fastmac: %s, %s: %w", c.Title(), e.mode, err)
				}
				ns[i] = t / float64(n)
				errs <- err
			}()
		}
		var first error
		for range ends {
			if err := <-errs; err != nil && first == nil {
				first = err
				cancel() // the other end may wait forever
			}
		}
		for i, e := range ends {
			c := rivals.Contender(name + ":" + e.mode)
			times[c] = append(times[c], ns[i])
		}
		return first
	}
	for _, name := range algs {
		for _, n := range []int{1, g.MinRun / 4} { // connect, and warm up
			if err := run(name, n); err != nil {
				return nil, err
			}
		}
	}
	clear(times)
	rounds, minTime := b.roundsOf(g)
	fmt.Fprintf(b.stderr, "fastmac: timing %s: %d connections, %d rounds, about %v\n", g.Name, len(algs), rounds,
		(time.Duration(len(algs)*rounds) * 2 * minTime).Round(time.Second))
	r := rand.New(rand.NewPCG(4418, uint64(len(algs))))
	for range rounds {
		for _, i := range r.Perm(len(algs)) {
			if err := run(algs[i], g.MinRun); err != nil {
				return nil, err
			}
		}
	}
	var rows []report.Row
	for _, c := range g.Contenders {
		rows = append(rows, report.NewRow(g.Name, c, size, times[c]))
	}
	return rows, nil
}
