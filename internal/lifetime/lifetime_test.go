// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package lifetime

import "testing"

func TestLifetime(t *testing.T) {
	var l Lifetime
	for i := range 10 {
		none, early := l.ID(), l.Expect()
		if !none.None() || l.Is(early) {
			t.Fatalf("%d: %d, %d: there is a key", i, none, early)
		}
		l.Begin()
		id := l.ID()
		if id.None() || id != l.Expect() || !l.Is(id) || l.Is(early) || l.Is(none) {
			t.Fatalf("%d: %d after %d and %d", i, id, none, early)
		}
		stream, other := OfStream(id), OfStream(id)
		if !stream.IsOf(&l) || !stream.IsStillOf(&l) {
			t.Errorf("%d: a stream is of another key", i)
		}
		other.EndStream()
		if l.End(); l.Is(id) || l.Is(l.Expect()) || stream.IsStillOf(&l) || other.IsStillOf(&l) || other.IsOf(&l) {
			t.Errorf("%d: there is a key after End", i)
		}
	}
	l.Begin()
	l.Begin()
	if id := l.ID(); !l.Is(id) || id.None() {
		t.Error("no key after a second Begin")
	}
	l = Lifetime{^uint32(0)} // a key, the last ID of all
	stream := Lifetime{^uint32(0)}
	stream.EndStream()
	if l.End(); !l.ID().None() || stream.IsOf(&l) {
		t.Error("a key after the last one")
	}
	l.Begin()
	if l.ID().None() {
		t.Error("none after Begin")
	}
}

// TestSum checks that a sum changes with the end of any one of its keys, and of two.
func TestSum(t *testing.T) {
	var keys [3]Lifetime
	sum := func() (s Sum) {
		for i := range keys {
			s.Add(keys[i].ID())
		}
		return s
	}
	for _, ended := range [][]int{{0}, {1}, {2}, {0, 1}, {0, 2}, {1, 2}} {
		for i := range keys {
			keys[i].Begin()
		}
		before := sum()
		for _, i := range ended {
			keys[i].End()
		}
		if sum() == before {
			t.Errorf("the sum is the same after End of keys %v", ended)
		}
	}
}
