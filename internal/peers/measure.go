// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"example.com/fastmac/internal/peers/report"
	"example.com/fastmac/internal/peers/rivals"
	"example.com/fastmac/internal/peers/serve"
)

// bench measures groups with the peers that were built.
type bench struct {
	peers   map[string]serve.Peer
	rounds  int
	minTime time.Duration // of a run
	stderr  io.Writer

	versions map[string]string // peers add theirs when they start
	refused  []string          // contenders with wrong tags, and why
}

// A cell is a contender at a size.
type cell struct {
	rivals.Contender
	size int
	p    *serve.Process
	n    int       // messages in a run
	ns   []float64 // per message, one for each round
}

// measure measures a group. Its peers run for this group only, so that nothing that
// another group left in memory affects it.
func (b *bench) measure(ctx context.Context, g rivals.Group) ([]report.Row, error) {
	running := make(map[string]*serve.Process)
	defer func() {
		for _, p := range running {
			p.Stop()
		}
	}()
	var contenders []rivals.Contender
	for _, c := range g.Contenders {
		peer, ok := b.peers[c.Peer()]
		if !ok || c.Missing() != nil {
			continue
		}
		if running[peer.Name] == nil {
			p, err := peer.Start(ctx)
			if err != nil {
				return nil, err
			}
			running[peer.Name] = p
			maps.Copy(b.versions, p.Versions)
		}
		if err := c.Check(running[peer.Name], g.Sizes); err != nil {
			b.refused = append(b.refused, fmt.Sprintf("%s refused: %v", c.Title(), err))
			continue
		}
		contenders = append(contenders, c)
	}

	var cells []*cell
	for _, size := range g.Sizes {
		for _, c := range contenders {
			cells = append(cells, &cell{Contender: c, size: size, p: running[c.Peer()]})
		}
	}
	minTime := b.minTime * time.Duration(max(1, g.Longer))
	fmt.Fprintf(b.stderr, "fastmac: timing %s: %d cells, %d rounds, about %v\n", g.Name, len(cells), b.rounds,
		(time.Duration(len(cells)*b.rounds) * minTime * 5 / 4).Round(time.Second))
	for _, c := range cells {
		if err := c.calibrate(g.MinRun, minTime); err != nil {
			return nil, err
		}
	}
	// The order is new in each round, so that no contender always follows the same one.
	r := rand.New(rand.NewPCG(4418, uint64(len(cells))))
	for range b.rounds {
		for bySize := range slices.Chunk(cells, max(1, len(contenders))) {
			for _, i := range r.Perm(len(bySize)) {
				if err := bySize[i].time(); err != nil {
					return nil, err
				}
			}
		}
	}

	var rows []report.Row
	for _, c := range cells {
		rows = append(rows, report.NewRow(g.Name, c.Contender, c.size, c.ns))
	}
	return rows, nil
}

// calibrate sets n to the number of messages that take minTime, at least minRun, in
// whole batches.
func (c *cell) calibrate(minRun int, minTime time.Duration) error {
	batch := c.PerCall()
	for n := max(minRun, batch); ; {
		ns, _, err := c.p.Run(string(c.Contender), c.size, n)
		if err != nil {
			return err
		}
		enough := float64(n) * float64(minTime) / max(ns, 1)
		if ns >= float64(minTime)/2 {
			c.n = max(minRun, (int(enough)+batch-1)/batch*batch, batch)
			return nil
		}
		n = int(min(max(2*float64(n), 1.1*enough), 100*float64(n)))
	}
}

// time adds the time of a round. A first run, which is not timed, brings caches,
// branch predictors and clock rate back to this contender.
func (c *cell) time() error {
	if _, _, err := c.p.Run(string(c.Contender), c.size, c.n/8+1); err != nil {
		return err
	}
	ns, tag, err := c.p.Run(string(c.Contender), c.size, c.n)
	if err != nil {
		return err
	}
	if err := c.CheckTag(c.size, tag); err != nil {
		return fmt.Errorf("fastmac: %s, after %d messages: %w", c.Title(), c.n, err)
	}
	c.ns = append(c.ns, ns/float64(c.n))
	return nil
}
