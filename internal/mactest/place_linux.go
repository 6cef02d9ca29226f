// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package mactest

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"strings"
)

// Finds are the pieces of a kind that a scan has found.
type Finds []find

type find struct {
	of    string // what Add was told
	at    uint64
	place string
}

// String says how many pieces there are, of what and where, for up to six such places.
func (f Finds) String() string {
	type group struct {
		text  string
		first uint64
		n     int
	}
	var groups []group
	for _, x := range f {
		text := strings.TrimPrefix(x.of+", in "+x.place, ", ")
		i := slices.IndexFunc(groups, func(g group) bool { return g.text == text })
		if i < 0 {
			i = len(groups)
			groups = append(groups, group{text, x.at, 0})
		}
		groups[i].n++
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d pieces", len(f))
	for i, g := range groups {
		if i == 6 {
			fmt.Fprintf(&b, "; and %d more places", len(groups)-i)
			break
		}
		fmt.Fprintf(&b, "; %d of %s, the first at %#x", g.n, g.text, g.first)
	}
	return b.String()
}

// InHeap returns those that are not on a stack.
func (f Finds) InHeap() Finds {
	return slices.DeleteFunc(slices.Clone(f), func(x find) bool { return x.place == onStack })
}

// AwaitScan waits in a process that [Secrets.ScanTest] has started, until it has been scanned. If it is
// asked to, it writes what the Go heap has to a file.
func AwaitScan() {
	for {
		fmt.Print(ScanReady)
		var name string
		if n, _ := fmt.Fscanln(os.Stdin, &name); n == 0 {
			return
		}
		f := Must(os.Create(name))
		debug.WriteHeapDump(f.Fd())
		f.Close()
	}
}

// A goHeap is what a dump of a Go heap says of it.
type goHeap struct {
	begin, end uint64            // all memory that the runtime has for objects and stacks
	objects    []object          // sorted
	pages      map[uint64]uint64 // the size of an object in each page that has one
}

type object struct{ begin, size uint64 }

const onStack = "the stack of a goroutine, or what was one"

const goPage = 8192 // an object does not share a page with a stack

// What a record of a dump has, by its tag, up to the last object: n is a number, s a string after its
// length, f a list of fields. See dumpobjs in runtime/heapdump.go, and https://go.dev/wiki/heapdump15-through-heapdump17.
var dumpRecords = map[uint64]string{1: "nsf", 3: "nnsn", 6: "nnnnssn", 8: "nn"}

// readHeap reads the objects of a dump.
func readHeap(name string) (*goHeap, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r := bufio.NewReader(f)
	if header, err := r.ReadString('\n'); err != nil || header != "go1.7 heap dump\n" {
		return nil, fmt.Errorf("fastmac: heap dump begins with %q: %v", header, err)
	}
	h := &goHeap{pages: make(map[uint64]uint64)}
	for {
		tag, err := binary.ReadUvarint(r)
		form, ok := dumpRecords[tag]
		if err != nil || !ok {
			slices.SortFunc(h.objects, func(a, b object) int { return cmp.Compare(a.begin, b.begin) })
			return h, err
		}
		var values []uint64 // of a string its length
		for _, c := range form {
			n, err := binary.ReadUvarint(r)
			values = append(values, n)
			switch {
			case err != nil:
			case c == 's':
				_, err = io.CopyN(io.Discard, r, int64(n))
			case c == 'f':
				for n != 0 && err == nil { // the kind of a field, and its offset
					if _, err = binary.ReadUvarint(r); err == nil {
						n, err = binary.ReadUvarint(r)
					}
				}
			}
			if err != nil {
				return nil, err
			}
		}
		switch tag {
		case 1:
			o := object{values[0], values[1]}
			h.objects = append(h.objects, o)
			for page := o.begin / goPage; page <= (o.begin+o.size-1)/goPage; page++ {
				h.pages[page] = o.size
			}
		case 6:
			h.begin, h.end = values[2], values[3]
		}
	}
}

// place returns what is at an address, in a mapping.
func (h *goHeap) place(at uint64, mapping string) string {
	if at < h.begin || at >= h.end {
		return mapping
	}
	i, found := slices.BinarySearchFunc(h.objects, at, func(o object, at uint64) int { return cmp.Compare(o.begin, at) })
	if !found {
		i--
	}
	if i >= 0 && at-h.objects[i].begin < h.objects[i].size {
		return fmt.Sprintf("an object of %d bytes of the Go heap", h.objects[i].size)
	}
	if size, ok := h.pages[at/goPage]; ok {
		return fmt.Sprintf("what was an object of the Go heap, beside one of %d bytes", size)
	}
	return onStack
}
