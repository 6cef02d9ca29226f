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
		var before, after Sum
		before.Add(id)
		before.Add(stream.ID())
		if l.End(); l.Is(id) || l.Is(l.Expect()) || stream.IsStillOf(&l) || other.IsStillOf(&l) || other.IsOf(&l) {
			t.Errorf("%d: there is a key after End", i)
		}
		if after.Add(l.ID()); after == before {
			t.Errorf("%d: the sum is the same after End", i)
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
