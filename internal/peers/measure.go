// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// bench measures groups with the peers that there are.
type bench struct {
	peers   map[string]peer
	known   knownTags
	rounds  int
	minTime time.Duration // of a run
	stderr  io.Writer

	versions map[string]string // added to by peers that start
	refused  []string          // contenders with wrong tags, and why
}

// A cell is a contender at a size.
type cell struct {
	contender
	size int
	p    *process
	n    int       // messages in a run
	ns   []float64 // per message, one for each round
}

// measure measures a group. Its peers are started for it and end with it, so that
// no group is measured beside what another has left in memory.
func (b *bench) measure(ctx context.Context, g group) ([]row, error) {
	running := make(map[string]*process)
	defer func() {
		for _, p := range running {
			p.stop()
		}
	}()
	var contenders []contender
	for _, c := range g.contenders {
		p, ok := b.peers[c.peer()]
		if !ok {
			continue
		}
		if running[p.name] == nil {
			r, err := p.start(ctx, b.stderr)
			if err != nil {
				return nil, err
			}
			running[p.name] = r
			maps.Copy(b.versions, r.versions)
		}
		if err := b.check(running[p.name], c, g.sizes); err != nil {
			b.refused = append(b.refused, fmt.Sprintf("%s refused: %v", c.title(), err))
			continue
		}
		contenders = append(contenders, c)
	}

	var cells []*cell
	for _, size := range g.sizes {
		for _, c := range contenders {
			cells = append(cells, &cell{contender: c, size: size, p: running[c.peer()]})
		}
	}
	minTime := b.minTime * time.Duration(max(1, g.longer))
	fmt.Fprintf(b.stderr, "fastmac: timing %s: %d cells, %d rounds, about %v\n", g.name, len(cells), b.rounds,
		(time.Duration(len(cells)*b.rounds) * minTime * 5 / 4).Round(time.Second))
	for _, c := range cells {
		if err := b.calibrate(c, g.minRun, minTime); err != nil {
			return nil, err
		}
	}
	// In an order drawn anew each round, so that nobody always runs behind the
	// same neighbour.
	r := rand.New(rand.NewPCG(4418, uint64(len(cells))))
	for range b.rounds {
		for bySize := range slices.Chunk(cells, max(1, len(contenders))) {
			for _, i := range r.Perm(len(bySize)) {
				if err := b.time(bySize[i]); err != nil {
					return nil, err
				}
			}
		}
	}

	rows := make([]row, len(cells))
	for i, c := range cells {
		rows[i] = newRow(g.name, c)
	}
	return rows, nil
}

// check refuses a contender that does not compute the tags that it should: the
// first of a run, and one that others came before.
func (b *bench) check(p *process, c contender, sizes []int) error {
	for _, size := range sizes {
		for _, n := range []int{1, 3} {
			_, tag, err := p.run(c, size, n)
			if err == nil {
				err = b.known.check(c, size, tag)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// calibrate finds how many messages take minTime, and takes minRun if those are
// fewer.
func (b *bench) calibrate(c *cell, minRun int, minTime time.Duration) error {
	limit := float64(minTime)
	for c.n = max(1, minRun); ; {
		ns, _, err := c.p.run(c.contender, c.size, c.n)
		if err != nil {
			return err
		}
		n := float64(c.n) * limit / max(ns, 1)
		if ns >= limit/2 {
			c.n = max(minRun, 1, int(n))
			return nil
		}
		c.n = int(min(max(2*float64(c.n), 1.1*n), 100*float64(c.n)))
	}
}

// time adds a round's time to the cell. A first run that is not timed brings
// caches, branch predictors and clock back to this contender.
func (b *bench) time(c *cell) error {
	if _, _, err := c.p.run(c.contender, c.size, c.n/8+1); err != nil {
		return err
	}
	ns, tag, err := c.p.run(c.contender, c.size, c.n)
	if err != nil {
		return err
	}
	if err := b.known.check(c.contender, c.size, tag); err != nil {
		return fmt.Errorf("fastmac: %s, after %d messages: %w", c.title(), c.n, err)
	}
	c.ns = append(c.ns, ns/float64(c.n))
	return nil
}

// newRow returns the cell's median and quartiles.
func newRow(group string, c *cell) row {
	impl, alg, mode := c.parts()
	ns := slices.Sorted(slices.Values(c.ns))
	return row{
		Group: group, Impl: impl, Alg: alg, Mode: mode, Size: c.size,
		NS: quantile(ns, 0.5), Q1: quantile(ns, 0.25), Q3: quantile(ns, 0.75),
	}
}

// quantile interpolates between the elements of sorted, and rounds to what a
// reader can use: hundredths of a nanosecond.
func quantile(sorted []float64, q float64) float64 {
	at := q * float64(len(sorted)-1)
	i := int(at)
	v := sorted[i]
	if i+1 < len(sorted) {
		v += (at - float64(i)) * (sorted[i+1] - v)
	}
	return math.Round(100*v) / 100
}
