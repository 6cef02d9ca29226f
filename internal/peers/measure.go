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

const (
	// fewRounds is the least number of rounds in groups whose runs are longer: enough for
	// the 5th percentile to be more than a minimum.
	fewRounds = 40

	// between is about how long the peers take between runs: requests, and the collection
	// of garbage.
	between = 300 * time.Microsecond
)

// bench measures groups with the peers that were built.
type bench struct {
	peers   map[string]serve.Peer
	rounds  int
	minTime time.Duration // of a run
	stderr  io.Writer
	self    string // this program

	leftOut  []string          // what this machine cannot measure, and why
	versions map[string]string // peers add theirs when they start
	refused  []string          // contenders with wrong tags, and peers that do not start, and why
}

// A cell is a contender at a size.
type cell struct {
	rivals.Contender
	size int
	p    *serve.Process
	n    int           // messages in a run
	run  time.Duration // of a run, about
	ns   []float64     // per message, one for each round
}

// roundsOf returns the number of rounds of a group and the time of its runs.
func (b *bench) roundsOf(g rivals.Group) (rounds int, minTime time.Duration) {
	longer := max(1, g.Longer)
	return max(b.rounds/longer, min(b.rounds, fewRounds)), b.minTime * time.Duration(longer)
}

// estimate returns about how long a number of rounds of runs of this time takes, with the
// runs before them that are not timed.
func estimate(rounds int, run time.Duration) time.Duration {
	return time.Duration(rounds) * (run + run/8 + between)
}

// estimateAll returns about how long the groups take. Where a run has a least number of
// messages, one takes about the time of a miss of the caches or two.
func (b *bench) estimateAll(groups []rivals.Group) (d time.Duration) {
	for _, g := range groups {
		rounds, minTime := b.roundsOf(g)
		run := max(minTime, time.Duration(g.MinRun)*300*time.Nanosecond)
		d += time.Duration(len(g.Contenders)*len(g.Sizes)) * estimate(rounds, run)
	}
	return d
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
			if err != nil && peer.Name != rivals.GoPeer && ctx.Err() == nil {
				delete(b.peers, peer.Name)
				b.refused = append(b.refused, fmt.Sprintf("%s refused: %v", peer.Name, err))
				continue
			} else if err != nil {
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
	rounds, minTime := b.roundsOf(g)
	var about time.Duration
	for _, c := range cells {
		if err := c.calibrate(g.MinRun, minTime); err != nil {
			return nil, err
		}
		about += estimate(rounds, c.run)
	}
	fmt.Fprintf(b.stderr, "fastmac: timing %s: %d cells, %d rounds of %v or longer, about %v\n", g.Name, len(cells), rounds, minTime, about.Round(time.Second))
	// The order is new in each round, so that no contender always follows the same one.
	r := rand.New(rand.NewPCG(4418, uint64(len(cells))))
	for range rounds {
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
			c.run = time.Duration(ns * float64(c.n) / float64(n))
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
