// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package list

import (
	"bytes"
	"strings"
	"testing"
)

// TestLines packs lines of all sizes, and takes little more memory than they have.
func TestLines(t *testing.T) {
	l := Lines{nonce: 3, tag: 2}
	state := func(i int) State {
		return State{int64(i), int64(i) << (i % 60), int64(i) << (i % 50), uint64(i) << (i % 64)}
	}
	path := func(i int) string { return strings.Repeat(string(rune('a'+i%26)), 1+i*i*i%(lastBlock/50)) }
	const n = 2000
	size := 0
	for i := range n {
		p := path(i)
		l.Add(Line{[]byte{byte(i), 1, 2}, []byte{3, byte(i)}, p, state(i)})
		size += len(p) + len(state(i).pack(nil)) + 5
	}
	i := 0
	for one := range l.All() {
		if one.Path != path(i) || one.State != state(i) || !bytes.Equal(one.Nonce, []byte{byte(i), 1, 2}) || !bytes.Equal(one.Tag, []byte{3, byte(i)}) || cap(one.Nonce) != 3 || cap(one.Tag) != 2 {
			t.Fatalf("line %d: %v %v", i, one.Nonce, one.Tag)
		}
		i++
	}
	room := 0
	for _, block := range l.blocks {
		room += cap(block)
	}
	if i != n || l.Len() != n || room > size+size/10+lastBlock {
		t.Errorf("%d lines, %d bytes for %d", i, room, size)
	}
	// A line that is larger than a block.
	l.Add(Line{make([]byte, 3), make([]byte, 2), strings.Repeat("x", 2*lastBlock), State{}})
	l.Add(Line{make([]byte, 3), make([]byte, 2), "y", State{}})
	if len(l.At(n).Path) != 2*lastBlock || l.At(n+1).Path != "y" {
		t.Error("another line")
	}
}
