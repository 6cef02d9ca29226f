// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"slices"
	"strings"
	"testing"
)

// TestBrokenGCM alters an instruction of each kernel of GCM. Its proof must fail.
func TestBrokenGCM(t *testing.T) {
	p := linkedProgram(t)
	for _, what := range []string{"a lane that is dropped", "the key of another round, or another power", "another constant", "an end that is off by one", "another round", "another register"} {
		tried := 0
		for _, x := range proofs {
			if !slices.Contains([]string{"initKey", "hash", "gmac", "seal", "open"}, x.kernels) {
				continue
			}
			for _, f := range p.find(x.kernels) {
				broken, n := f.altered(alterations[what], len(f.code)/2, p.executed(f))
				if broken == nil {
					continue
				}
				tried++
				if !p.refuses([]proof{x}, broken) {
					t.Errorf("%s: %s: %v: not refused", f.name, what, f.code[n])
				}
			}
		}
		t.Logf("%d kernels have %s", tried, what)
		if tried == 0 {
			t.Errorf("no kernel has %s", what)
		}
	}
}

// TestWrongConstants alters a bit of each word in the first 16 bytes of each constant of package
// gcm. The proof of a kernel that reads it must fail. Kernels use one half of the polynomial.
func TestWrongConstants(t *testing.T) {
	p := linkedProgram(t)
	var names []string
	for _, s := range p.symbols {
		read := slices.DeleteFunc(slices.Clone(p.functions), func(f *function) bool {
			return f.pkg != modulePath+"/internal/gcm" || strings.HasPrefix(f.name, "open") || !slices.ContainsFunc(f.code, func(i *instruction) bool {
				o := i.memoryOperand()
				return o != nil && o.base == none && s.Value <= o.number && o.number < s.Value+s.Size
			})
		})
		if len(read) == 0 {
			continue
		}
		names = append(names, s.Name)
		for at := uint64(0); at < 16; at += 8 {
			if s.Name == "polynomial" && at == 8 {
				continue
			}
			if !slices.ContainsFunc(read, func(f *function) bool { return p.needs(f, s.Value+at) }) {
				t.Errorf("%s, word %d: not refused", s.Name, at/8)
			}
		}
	}
	t.Log(names)
	if len(names) < 12 {
		t.Error("constants are missing")
	}
}

// needs reports whether the proofs of f fail if a byte of the program is another one.
func (p *program) needs(f *function, address uint64) bool {
	address += 6 // the first byte of onesZeros, and the last, are for no size
	q := *p
	q.data = slices.Clone(p.data)
	for k, s := range q.data {
		if s.address <= address && address < s.address+uint64(len(s.bytes)) {
			q.data[k].bytes = slices.Clone(s.bytes)
			q.data[k].bytes[address-s.address] ^= 1
		}
	}
	return q.refuses(f.proofs(), f)
}
