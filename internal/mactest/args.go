// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package mactest

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// Args are the slices that a call gets. Around each of them is memory that the call must not write, also where an
// append would write.
type Args struct {
	rng  *rand.ChaCha8
	args []arg
}

// An arg is one of them: only the bytes of memory from begin to end may not be as they were.
type arg struct {
	memory, was []byte
	begin, end  int
}

// argMargin is how much is before each slice, and behind it within its capacity, in bytes: more than a vector.
const argMargin = 72

// NewArgs returns Args that fill slices from rng.
func NewArgs(rng *rand.ChaCha8) *Args { return &Args{rng: rng} }

// In returns a slice of n bytes that is only read.
func (a *Args) In(n int) []byte { return a.slice(n, 0, 0) }

// Copy is In with these bytes.
func (a *Args) Copy(b []byte) []byte {
	p := a.In(len(b))
	last := &a.args[len(a.args)-1]
	copy(p, b)
	copy(last.was[argMargin:], b)
	return p
}

// Out returns a slice of n bytes that is overwritten.
func (a *Args) Out(n int) []byte { return a.slice(n, 0, n) }

// Room returns a slice of n bytes, behind which more are appended.
func (a *Args) Room(n, more int) []byte { return a.slice(n, n, n+more) }

// RoomFor is Room after these bytes.
func (a *Args) RoomFor(b []byte, more int) []byte {
	p := a.Copy(b)
	last := &a.args[len(a.args)-1]
	last.begin, last.end = argMargin+len(b), argMargin+len(b)+more
	return p
}

// slice returns n bytes, of which and behind which those from begin to end may be written.
func (a *Args) slice(n, begin, end int) []byte {
	memory := Random(a.rng, argMargin+max(n, end)+argMargin)
	a.args = append(a.args, arg{memory, bytes.Clone(memory), argMargin + begin, argMargin + end})
	return memory[argMargin:][:n]
}

// Check fails the test if what all slices are in was written where it must not be. Afterwards there are none.
func (a *Args) Check(t testing.TB, call string) {
	t.Helper()
	for i, arg := range a.args {
		for at := range arg.memory {
			if arg.memory[at] != arg.was[at] && (at < arg.begin || at >= arg.end) {
				t.Errorf("%s writes to byte %d of argument %d, where it may write to %d up to %d", call, at-argMargin, i+1, arg.begin-argMargin, arg.end-argMargin)
				break
			}
		}
	}
	a.args = nil
}
