// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package mactest

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// A Dying is a computation with a key or a stream that another goroutine destroys meanwhile. Either it
// returns what it would have returned, or it panics and leaves nothing behind.
type Dying struct {
	Name string

	// In is what in has, if it is not DyingInput.
	In []byte

	// New sets up a key, always the same one. compute returns what gets out: a tag, a packet, or 1 for a
	// verdict that is good, and nil for one that is not. in is an input of it, or room for its output,
	// DyingSize bytes that New itself does not touch. out is more room. kill destroys the key.
	New func(in, out []byte) (compute func() []byte, kill func())

	// Right reports whether a result is right, if it is not the same each time.
	Right func(result []byte) bool

	// Replaced says that kill sets up another key in the place of the first. A computation that begins after
	// that has its result.
	Replaced bool

	// Misses is for a computation that does not touch in: it cannot be stopped there.
	Misses bool
}

// DyingSize is the size of what a Dying works on in bytes, a page.
const DyingSize = 4096

// DyingTrials returns how often a computation is tried: FASTMAC_TEST_TRIALS says another number.
func DyingTrials() int {
	if n, err := strconv.Atoi(os.Getenv("FASTMAC_TEST_TRIALS")); err == nil {
		return n
	}
	switch {
	case Long():
		return 2000
	case testing.Short(): // for each set of kernels
		return 20
	}
	return fewTrials
}

const fewTrials = 60

const untouched = 0x55 // each byte of out before a computation

// TestDying tests all of them. Each is stopped half-way, at its first access to in, and destroyed there. And
// it is destroyed in so many trials, each after another delay; DyingTrials says how many are enough.
func TestDying(t *testing.T, trials int, all []Dying) {
	if Race {
		t.Skip("the race detector reports each of these programs, rightly")
	}
	for _, d := range all {
		t.Run(d.Name, func(t *testing.T) {
			if !d.Misses {
				d.stopped(t)
			}
			if trials > 0 {
				d.walk(t, trials)
			}
		})
	}
}

// DyingInput returns what in has, in an array of its own.
func DyingInput() []byte {
	in := make([]byte, DyingSize)
	rand.NewChaCha8([32]byte{1}).Read(in)
	return in
}

func (d *Dying) input() []byte {
	in := DyingInput()
	if d.In != nil {
		clear(in[copy(in, d.In):])
	}
	return in
}

// right returns what tells whether a result is right: that of a computation that nobody disturbs. It also
// checks that the computation panics after kill.
func (d *Dying) right(t *testing.T) func(result []byte) bool {
	t.Helper()
	out := newRoom()
	compute, _ := d.New(d.input(), out)
	want := bytes.Clone(compute())
	if want == nil {
		t.Fatal("nothing gets out")
	}
	right := d.Right
	if right == nil {
		right = func(result []byte) bool { return bytes.Equal(result, want) }
	}
	if !right(want) {
		t.Fatal("a result is not right")
	}
	compute, kill := d.New(d.input(), newRoom())
	kill()
	result, panicked := d.run(compute)
	if !d.Replaced && !panicked {
		t.Fatalf("returns %.40x after it was destroyed", result)
	}
	if d.Replaced && d.Right == nil {
		later := bytes.Clone(result)
		return func(result []byte) bool { return bytes.Equal(result, want) || bytes.Equal(result, later) }
	}
	return right
}

func newRoom() []byte { return bytes.Repeat([]byte{untouched}, 2*DyingSize) }

// run calls compute, and reports whether it panics because the key was destroyed.
func (d *Dying) run(compute func() []byte) (result []byte, panicked bool) {
	defer func() {
		if r := recover(); r != nil {
			if s := fmt.Sprint(r); !packages.MatchString(s) || !strings.Contains(s, "destroyed") {
				panic(fmt.Sprintf("%s: panics with %q", d.Name, s))
			}
			result, panicked = nil, true
		}
	}()
	return compute(), false
}

// cleared reports whether nothing was left in out: it has zeros, and what was there before.
func cleared(out []byte) bool {
	for _, b := range out {
		if b != 0 && b != untouched {
			return false
		}
	}
	return true
}

// stopped destroys the key when the computation accesses in, and has it go on after that.
func (d *Dying) stopped(t *testing.T) {
	right := d.right(t)
	in, err := newStopping(t, d.input())
	if err != nil {
		t.Logf("not stopped: %v", err)
		return
	}
	out := newRoom()
	compute, kill := d.New(in.bytes(), out)
	var result []byte
	var panicked bool
	if !in.stop(func() { result, panicked = d.run(compute) }, kill) {
		t.Fatal("does not access the memory at which it would be stopped")
	}
	if panicked = panicked || result == nil; !panicked {
		t.Errorf("returns %.40x, although its key was destroyed half-way (right: %v)", result, right(result))
	} else if !cleared(out) {
		t.Errorf("leaves %.40x, although its key was destroyed half-way", out)
	}
}

// walk destroys the key of many computations, each after another delay.
func (d *Dying) walk(t *testing.T, trials int) {
	right := d.right(t)
	input, in := d.input(), d.input()
	compute, _ := d.New(in, newRoom())
	begin := time.Now()
	const few = 20
	for range few {
		if d.run(compute); time.Since(begin) > time.Second {
			break
		}
	}
	spins := 200 + int(time.Since(begin)/few/time.Nanosecond) // one takes about a nanosecond, or more

	var kill func()
	var begun, ended atomic.Int32
	go func() {
		for i := int32(1); ; i++ {
			for n := 1; begun.Load() < i; n++ {
				if begun.Load() < 0 {
					return
				}
				rest(n)
			}
			spin(rand.IntN(spins))
			kill()
			ended.Store(i)
		}
	}()
	defer begun.Store(-1)
	var panics, wrong, left int
	begin = time.Now()
	for i := range int32(trials) {
		if i >= 20 && trials <= fewTrials && time.Since(begin) > 20*time.Millisecond {
			trials = int(i) // a long computation is hit more often
			break
		}
		out := newRoom()
		copy(in, input)
		compute, kill = d.New(in, out)
		begun.Store(i + 1)
		spin(rand.IntN(200))
		result, panicked := d.run(compute)
		for n := 1; ended.Load() < i+1; n++ {
			rest(n)
		}
		switch {
		case panicked:
			panics++
			if !cleared(out) {
				left++
			}
		case result != nil && !right(result):
			wrong++
		}
	}
	if wrong > 0 || left > 0 {
		t.Errorf("of %d trials %d have a wrong result, and %d panic and leave output", trials, wrong, left)
	}
	t.Logf("%d of %d trials panic", panics, trials)
}

// rest lets others run now and then: to ask each time takes longer than a computation.
func rest(n int) {
	if n%256 == 0 {
		runtime.Gosched()
	}
}

var spun atomic.Int32

func spin(n int) {
	for range n {
		spun.Load()
	}
}
