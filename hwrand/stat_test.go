// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package hwrand

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestStatistics looks at 8 MiB for faults that a mistake in the use of AES could make,
// such as a counter that stands still or bytes that are returned twice. It says nothing
// about AES. Random bytes fail each check with a probability of at most 2^-40.
func TestStatistics(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		r, err := New()
		if err != nil {
			t.Skip(err)
		}
		p := make([]byte, 1<<23)
		sizes := []int{16, 32, 1, 700, 15, 480, 5000, 70000, 3}
		for i, rest := 0, p; len(rest) > 0; i++ {
			n := min(sizes[i%len(sizes)], len(rest))
			r.Read(rest[:n])
			rest = rest[n:]
		}
		for _, fault := range faults(p) {
			t.Error(fault)
		}
	})
}

// TestFaults checks that TestStatistics would notice some faults.
func TestFaults(t *testing.T) {
	for want, spoil := range map[string]func(p []byte, i int){
		"monobit":           func(p []byte, i int) { p[i] |= byte(i) & 1 },
		"runs":              func(p []byte, i int) { p[i] = p[i]&^1 | p[i]>>1&1 },
		"chi-square, large": func(p []byte, i int) { p[i] = max(p[i], 8) },
		"chi-square, small": func(p []byte, i int) { p[i] = byte(i ^ i>>8 ^ i>>16) },
		"blocks":            func(p []byte, i int) { copy(p[i:], p[16:32]) },
		"":                  func(p []byte, i int) {},
	} {
		p := make([]byte, 1<<21)
		rand.NewChaCha8([32]byte{1}).Read(p)
		for i := len(p) - 16; i >= 32; i-- {
			if spoil(p, i); want == "blocks" {
				break
			}
		}
		got := strings.Join(faults(p), "; ")
		if want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("found %q, want %q", got, want)
		}
	}
}

// faults returns what is wrong with random bytes.
func faults(p []byte) (found []string) {
	fault := func(format string, a ...any) { found = append(found, fmt.Sprintf(format, a...)) }
	const nats = 40 * math.Ln2 // 2^-40 is e^-nats
	var ones, changes int
	var counts [256]float64
	last := p[0] >> 7
	for i := 0; i < len(p); i += 8 {
		word := binary.BigEndian.Uint64(p[i:])
		ones += bits.OnesCount64(word)
		changes += bits.OnesCount64(word ^ (word>>1 | uint64(last)<<63))
		last = byte(word & 1)
	}
	for _, b := range p {
		counts[b]++
	}

	// The number of ones is binomial, and so is the number of changes from a bit to the
	// next, runs less one. Hoeffding: of n fair bits, the ones are t or more away from n/2
	// with a probability of at most 2*exp(-2*t^2/n).
	n := float64(8 * len(p))
	limit := math.Sqrt(n * (nats + math.Ln2) / 2)
	if d := math.Abs(float64(ones) - n/2); d > limit {
		fault("monobit: %d ones in %.0f bits, %.0f more or fewer than half; limit %.0f", ones, n, d, limit)
	}
	if d := math.Abs(float64(changes) - (n-1)/2); d > limit {
		fault("runs: %d in %.0f bits, %.0f more or fewer than half; limit %.0f", changes+1, n, d, limit)
	}

	// Laurent and Massart, "Adaptive estimation of a quadratic functional by model
	// selection", 2000, lemma 1: with k degrees of freedom, chi-square is more than
	// k+2*sqrt(k*x)+2*x, or less than k-2*sqrt(k*x), with a probability of at most exp(-x)
	// each. That the statistic is distributed like chi-square is an approximation, which is
	// good here: 32,768 of each byte are expected.
	chi, expected := 0.0, float64(len(p))/256
	for _, count := range counts {
		chi += (count - expected) * (count - expected) / expected
	}
	const k, x = 255, nats + math.Ln2
	low, high := k-2*math.Sqrt(k*x), k+2*math.Sqrt(k*x)+2*x
	if chi < low {
		fault("chi-square, small: %.1f; limit %.1f", chi, low)
	} else if chi > high {
		fault("chi-square, large: %.1f; limit %.1f", chi, high)
	}

	// There are 2^19 blocks of 16 bytes, fewer than 2^37 pairs of them, and each pair is
	// equal with a probability of 2^-128.
	seen := make(map[[16]byte]bool, len(p)/16)
	for i := 0; i < len(p); i += 16 {
		block := [16]byte(p[i:])
		if seen[block] {
			fault("blocks: %x twice", block)
			break
		}
		seen[block] = true
	}
	return found
}
