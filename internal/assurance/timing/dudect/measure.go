// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"time"
)

// A subject is a function whose time is measured on inputs of two classes.
type subject struct {
	name      string
	control   bool   // leaks on purpose
	unclaimed string // why no claim is made, if none is
	size      int    // of an input in bytes

	classes [2]filler
	before  func()          // called before each run, not timed; may be nil
	run     func(in []byte) // timed
}

// A filler makes an input.
type filler func(in []byte, r *rand.ChaCha8)

func random(in []byte, r *rand.ChaCha8) { r.Read(in) }

func fixed(content []byte) filler {
	return func(in []byte, _ *rand.ChaCha8) { copy(in, content) }
}

func repeated(b byte) filler {
	return func(in []byte, _ *rand.ChaCha8) {
		for i := range in {
			in[i] = b
		}
	}
}

// wrong copies content and changes the byte at i, which counts from the end if negative.
func wrong(content []byte, i int) filler {
	if i < 0 {
		i += len(content)
	}
	return func(in []byte, r *rand.ChaCha8) {
		copy(in, content)
		in[i] ^= byte(1 + r.Uint64()%255)
	}
}

// start is the origin of the times.
var start = time.Now()

// nanotime is the clock: one call of clock_gettime, which reads RDTSC without entering the kernel.
func nanotime() int64 { return int64(time.Since(start)) }

// A meter measures subjects. Nothing that it does depends on the class, except the content of the
// input.
type meter struct {
	now     func() int64
	rand    *rand.ChaCha8
	samples []sample
}

const (
	batchBytes  = 1 << 17
	batchInputs = 512
	warmUp      = 1000 // discarded samples, at least
	collect     = 8192 // samples between two garbage collections
)

// A maker makes the inputs of a subject, one batch after the other.
type maker struct {
	s       *subject
	rand    *rand.ChaCha8
	stride  int // of inputs in batch
	batch   []byte
	classes []int
	both    [2][]byte
}

func newMaker(s *subject, r *rand.ChaCha8) *maker {
	stride := (s.size + 7) &^ 7
	inputs := max(16, min(batchInputs, batchBytes/stride))
	return &maker{
		s: s, rand: r, stride: stride,
		batch: make([]byte, inputs*stride), classes: make([]int, inputs),
		both: [2][]byte{make([]byte, stride), make([]byte, stride)},
	}
}

// next makes the next batch. The classes alternate at random.
func (k *maker) next() {
	for i := range k.classes {
		// The inputs of both classes are made, in turn, and one is selected. Inputs that
		// only one class needs would leave the caches in a state that depends on it.
		for class, fill := range k.s.classes {
			fill(k.both[class][:k.s.size], k.rand)
		}
		k.classes[i] = int(k.rand.Uint64() & 1)
		selectInput(k.batch[i*k.stride:][:k.stride], &k.both, k.classes[i])
	}
}

// measure returns n samples. All inputs of a batch are made before the first is measured. Each is
// then copied to one place, from which the subject reads it.
func (m *meter) measure(s *subject, n int) []sample {
	m.samples = m.samples[:0]
	k := newMaker(s, m.rand)
	in := make([]byte, k.stride)
	for made := 0; len(m.samples) < n; made += len(k.classes) {
		if made/collect != (made+len(k.classes))/collect {
			runtime.GC() // which is off otherwise
		}
		k.next()
		for i, class := range k.classes {
			copy(in, k.batch[i*k.stride:])
			if s.before != nil {
				s.before()
			}
			begin := m.now()
			s.run(in[:s.size])
			end := m.now()
			if made >= warmUp && len(m.samples) < n {
				m.samples = append(m.samples, newSample(end-begin, class))
			}
		}
	}
	return m.samples
}

// influence compares the times of class 1 with the bytes of the inputs, which it makes again from r, in
// the state before the samples. It returns the byte on whose value the times depend most, and its z: about
// normal with variance 1 if they do not depend on it. If no byte has two values that are frequent
// enough, it returns -1.
//
// The slowest tenth of the times is left out. The fastest twentieth counts as one time: a few
// times below all others would be most of the variance.
func influence(s *subject, r *rand.ChaCha8, samples []sample) (at int, z float64) {
	sorted := slices.Sorted(slices.Values(samples))
	least, limit := sorted[len(sorted)/20].ns(), sorted[len(sorted)*9/10].ns()
	type cell struct{ n, sum uint32 }
	cells := make([][256]cell, s.size)
	var all moments
	k, next := newMaker(s, r), 0
	for made := 0; next < len(samples); made += len(k.classes) {
		k.next()
		if made < warmUp {
			continue
		}
		for i, class := range k.classes[:min(len(k.classes), len(samples)-next)] {
			x := samples[next+i]
			if x.class() != class {
				panic("fastmac: these inputs are not those of the samples")
			}
			if class == 0 || x.ns() > limit {
				continue
			}
			above := max(0, x.ns()-least)
			all.add(float64(above))
			for j, b := range k.batch[i*k.stride:][:s.size] {
				cells[j][b].n++
				cells[j][b].sum += uint32(above)
			}
		}
		next += len(k.classes)
	}
	at, z = -1, 0
	for j := range cells {
		// Chi-squared of the means for each value, and what Wilson and Hilferty (1931) make of it.
		chi, freedom := 0.0, -1.0
		for _, c := range cells[j] {
			if c.n >= enough/10 {
				d := float64(c.sum)/float64(c.n) - all.mean()
				chi += d * d * float64(c.n)
				freedom++
			}
		}
		if freedom < 1 {
			continue
		}
		if chi > 0 {
			chi /= all.variance() * all.n
		}
		v := 2 / (9 * freedom)
		if zj := (math.Cbrt(chi/freedom) - 1 + v) / math.Sqrt(v); at < 0 || zj > z {
			at, z = j, zj
		}
	}
	return at, z
}

// selectInput copies the input of a class without a branch and without an address that
// depends on it. The sizes are multiples of 8.
func selectInput(to []byte, both *[2][]byte, class int) {
	mask := -uint64(class)
	for i := 0; i < len(to); i += 8 {
		a := binary.NativeEndian.Uint64(both[0][i:])
		b := binary.NativeEndian.Uint64(both[1][i:])
		binary.NativeEndian.PutUint64(to[i:], a^(a^b)&mask)
	}
}

// test measures a subject.
func (m *meter) test(s *subject, n int) result {
	before := *m.rand
	samples := m.measure(s, n)
	at, z := influence(s, &before, samples)
	a := analyse(samples)
	a.Byte, a.Z = at, z
	return result{Test: s.name, Control: s.control, Unclaimed: s.unclaimed, Runs: []analysis{a}}
}

// distances reads the clock many times in a row, and returns how far apart two readings are:
// their mean in ns, and the five most frequent distances.
func distances(now func() int64) string {
	const reads = 1 << 18
	counts := make(map[int64]int)
	begin := now()
	end := begin
	for range reads {
		t := now()
		counts[t-end]++
		end = t
	}
	frequent := slices.SortedFunc(maps.Keys(counts), func(a, b int64) int {
		return cmp.Or(counts[b]-counts[a], cmp.Compare(a, b))
	})
	apart := fmt.Sprintf("%.1f ns apart", float64(end-begin)/reads)
	for _, d := range frequent[:min(5, len(frequent))] {
		apart += fmt.Sprintf(", %d (%.0f %%)", d, 100*float64(counts[d])/reads)
	}
	return apart
}
